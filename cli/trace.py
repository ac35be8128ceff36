"""How the commands that replay a trace speak of it."""

from __future__ import annotations

from typing import Final

TRACE_HELP: Final = (
    "A CSV or JSON file, or generate:KIND[:DAYS[:RPS]] with KIND diurnal, weekly, bursty, season-free,"
    " step or constant."
)
MODEL_HELP: Final = "Model of the stack; the first unless named."
SCALE_HELP: Final = "Factor on the trace's rate."
SEED_HELP: Final = "Seed of every random choice."
POLICY_HELP: Final = (
    "Repeatable: ours, published, hpa-gpu, static, clairvoyant, running-plus-10-waiting, gateway-queue,"
    " quantile-forecast."
)
