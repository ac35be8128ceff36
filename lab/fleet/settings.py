"""What the fleet is told about each model: speeds, start-up seconds, and how unlucky its exits are."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from planner.calibrated import engine_model
from planner.engine import EngineModel, request_size
from specs.fit import fitting_types
from specs.settings.stack import Settings
from specs.stages import tiers

HANG_SHARE = 0.4
"""Share of exits with default flags that never end by themselves: 2 of 5 (vLLM 0.32.0, measured 2026-11-30)."""
EXIT_SECONDS = 6.0
"""From the last request, or from SIGTERM when idle, to the exit: 5.9 to 9 s (vLLM 0.32.0)."""
ABORT_SECONDS = 1.0
"""The same with default flags: 0.7 to 1.2 s."""


class ModelTiming(BaseModel):
    """One model. ``engines`` are speeds by instance type; ``engine`` is for every other type. Times in seconds."""

    model_config = ConfigDict(frozen=True)

    engine: EngineModel
    engines: dict[str, EngineModel] = {}
    image: Annotated[float, Field(ge=0)]
    weights: Annotated[float, Field(ge=0)]
    start: Annotated[float, Field(ge=0)]
    output_tokens: Annotated[int, Field(ge=1)] = 200


UNKNOWN = ModelTiming(
    # An 8B model in bf16 on an A10G: 15 GiB over 420 GB/s, 128 KiB of cache a token, 35 TFLOPS of prefill.
    engine=EngineModel(
        step=0.038,
        per_sequence=0.0004,
        per_prompt_token=0.0005,
        max_sequences=256,
        kv_tokens=33_000,
        batched_tokens=8192,
    ),
    image=60.0,
    weights=54.0,
    start=60.0,
)
"""For an engine that no stack told about."""


class FleetSettings(BaseModel):
    """``models`` by ``namespace/served name``. ``factor`` multiplies all start-up and exit seconds, not the speed
    of serving and not what the pods state themselves (probes, preStop, drain, grace).
    """

    model_config = ConfigDict(frozen=True)

    factor: Annotated[float, Field(ge=0)] = 1.0
    hang_share: Annotated[float, Field(ge=0, le=1)] = HANG_SHARE
    exit_seconds: Annotated[float, Field(ge=0)] = EXIT_SECONDS
    abort_seconds: Annotated[float, Field(ge=0)] = ABORT_SECONDS
    own_images: str = "vllm/"
    models: dict[str, ModelTiming] = {}
    unknown: ModelTiming = UNKNOWN

    def timing(self, namespace: str, model_name: str) -> ModelTiming:
        """What is known about a served model."""
        return self.models.get(f"{namespace}/{model_name}", self.unknown)


def of_stack(
    settings: Settings, *, factor: float = 1.0, own_images: str = "vllm/", hang_share: float = HANG_SHARE
) -> FleetSettings:
    """The fleet of a stack: the engine model of the replay on each fitting type, and the plan's cold tier."""
    models: dict[str, ModelTiming] = {}
    for model in settings.active_models:
        cold = tiers(settings, model)[0]
        types = fitting_types(model, settings.pool(model.pool))
        models[f"{model.namespace}/{model.api_name}"] = ModelTiming(
            engine=engine_model(settings, model),
            engines={entry.type: engine_model(settings, model, entry) for entry in types},
            image=cold.image,
            weights=cold.weights,
            start=cold.engine,
            output_tokens=max(1, round(request_size(model)[1])),
        )
    return FleetSettings(factor=factor, own_images=own_images, hang_share=hang_share, models=models)


class Told:
    """The settings in a file that may be replaced at any time; the defaults while there is none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version: tuple[int, int] | None = None
        self._settings = FleetSettings()

    def __call__(self) -> FleetSettings:
        """As they are now."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return self._settings
        version = (found.st_ino, found.st_mtime_ns)
        if version != self._version:
            self._settings = FleetSettings.model_validate_json(self._path.read_text())
            self._version = version
        return self._settings
