"""The engine model: continuous batching on one replica, shared by the replay and the lab's simulated engines.

One iteration takes step + per_sequence x batch + per_prompt_token x prefilled tokens seconds and gives every
running request one token; waiting prompts are prefilled as soon as batch and KV cache have room, up to
max_batched_tokens a step (vLLM's chunked prefill). Shapes come from GPU memory bandwidth and arithmetic; one
common factor makes the model meet the calibrated rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from specs.catalogue import InstanceType
from specs.fit import fitting_types, kv_bytes_per_token, kv_cache_gib
from specs.quantity import GIBI
from specs.settings.model import Model
from specs.settings.stack import Settings

# GB/s of memory and dense bf16 TFLOPS (vendor data sheets); only their ratio shapes a calibrated model.
HARDWARE: dict[str, tuple[float, float]] = {
    "t4": (320, 65),
    "a10g": (600, 70),
    "l4": (300, 121),
    "l40s": (864, 362),
    "a100": (1555, 312),
    "h100": (3350, 989),
    "h200": (4800, 989),
    "b200": (8000, 2250),
    "b300": (8000, 2250),
    "rtx-pro-4500": (896, 200),
    "rtx-pro-server-6000": (1597, 503),
}
DEFAULT_HARDWARE = (600.0, 70.0)
BANDWIDTH_SHARE = 0.7
"""Share of the memory bandwidth that decoding reaches."""
COMPUTE_SHARE = 0.5
"""Share of the arithmetic that prefill reaches."""
BYTES_PER_PARAMETER = 2.0
PROMPT_TOKENS = 1000.0
OUTPUT_TOKENS = 200.0
"""A request where no calibration says otherwise."""
KV_BYTES_PER_TOKEN_PER_GIB = 8738.0
"""KV bytes of a token per GiB of weights where no shape is given: 128 KiB for 15 GiB (Llama 3 8B)."""
KV_SPARE = 1.25


@dataclass(frozen=True)
class EngineModel:
    """One replica's speeds and limits. Times in seconds, sizes in tokens."""

    step: float
    """Seconds of one iteration that do not depend on the batch: reading the weights."""
    per_sequence: float
    """Seconds that each running request adds to an iteration: reading its KV cache."""
    per_prompt_token: float
    """Seconds that each prefilled token adds."""
    max_sequences: int
    kv_tokens: int
    """Tokens the KV cache holds."""
    batched_tokens: int
    """Most tokens of one iteration."""

    def curve(self, prompt: float, output: float) -> Curve:
        """The steady state for requests of this mean size."""
        batch = min(float(self.max_sequences), self.kv_tokens / (prompt + output / 2))
        fixed = output * self.step
        shared = output * self.per_sequence + prompt * self.per_prompt_token
        return Curve(batch, fixed, shared, prompt * self.per_prompt_token + self.step, prompt + output / 2)

    def scaled(self, factor: float) -> EngineModel:
        """The same engine, `factor` times as fast."""
        return replace(
            self,
            step=self.step / factor,
            per_sequence=self.per_sequence / factor,
            per_prompt_token=self.per_prompt_token / factor,
        )


@dataclass(frozen=True)
class Curve:
    """Throughput against batch size: r running requests are served at r / (fixed + shared x r) a second."""

    batch: float
    """Most requests in the batch, by max_num_seqs or the KV cache."""
    fixed: float
    shared: float
    prefill: float
    """Seconds from admission to the first token on an idle engine."""
    context: float
    """Mean tokens a running request holds in the KV cache."""

    @property
    def capacity(self) -> float:
        """Requests a second at the batch limit."""
        return self.batch / (self.fixed + self.shared * self.batch)

    def running(self, rate: float) -> float:
        """Requests in the batch at `rate` a second; the limit at and beyond capacity."""
        if rate >= self.capacity:
            return self.batch
        return rate * self.fixed / (1.0 - rate * self.shared)

    def residence(self, running: float) -> float:
        """Seconds a request stays in a batch of that size."""
        return self.fixed + self.shared * running


def physical_model(settings: Settings, model: Model, instance: InstanceType | None = None) -> EngineModel:
    """One replica on `instance` (default: the first type of the pool that fits) from data sheets alone."""
    if instance is None:
        instance = next(iter(fitting_types(model, settings.pool(model.pool))), None)
    prompt, output = request_size(model)
    bandwidth, compute = HARDWARE.get(instance.gpu if instance else "", DEFAULT_HARDWARE)
    bandwidth *= 1e9 * BANDWIDTH_SHARE * model.gpus_per_replica
    compute *= 1e12 * COMPUTE_SHARE * model.gpus_per_replica
    weights = model.weights_gi_b * GIBI
    per_token = (
        kv_bytes_per_token(model) if model.parameters else KV_BYTES_PER_TOKEN_PER_GIB * model.weights_gi_b
    )
    kv_tokens = int(model.max_num_seqs * (prompt + output) * KV_SPARE)
    if model.parameters and instance is not None:
        kv_tokens = int(max(0.0, kv_cache_gib(model, instance)) * GIBI / per_token)
    return EngineModel(
        step=weights / bandwidth,
        per_sequence=per_token * (prompt + output / 2) / bandwidth,
        per_prompt_token=2.0 * weights / BYTES_PER_PARAMETER / compute,
        max_sequences=model.max_num_seqs,
        kv_tokens=max(kv_tokens, model.max_model_len),
        batched_tokens=model.max_batched_tokens,
    )


def request_size(model: Model) -> tuple[float, float]:
    """Mean prompt and output tokens of a request, as calibrated or assumed."""
    mix = model.capacity
    return (mix.prompt_tokens, mix.output_tokens) if mix else (PROMPT_TOKENS, OUTPUT_TOKENS)


def planning_curve(settings: Settings, model: Model) -> Curve:
    """The steady state that plans are made with: at the batch limit it serves exactly the calibrated rate.

    The calibrated rate is what a replica serves within its SLO, so this is a careful view of an engine that can
    be pushed further at longer waits (planner.calibrated).
    """
    prompt, output = request_size(model)
    raw = physical_model(settings, model)
    if model.capacity is None:
        return raw.curve(prompt, output)
    factor = model.capacity.requests_per_second / raw.curve(prompt, output).capacity
    return raw.scaled(factor).curve(prompt, output)
