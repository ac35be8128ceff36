"""What one served model asks for: the `headroom:models` entries."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from specs.settings.types import (
    Count,
    Cpu,
    Fraction,
    Image,
    Memory,
    Name,
    Number,
    PositiveCount,
    PositiveFloat,
    PositiveSeconds,
    Seconds,
    Section,
)

ModelId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$", max_length=200),
    Field(examples=["meta-llama/Meta-Llama-3-8B-Instruct"]),
]
Text = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class Parameters(Section):
    """Shape of the network; enables the check that weights and KV cache fit the GPU."""

    layers: PositiveCount
    """Transformer layers."""
    kv_heads: PositiveCount
    """Key/value heads (grouped-query attention)."""
    head_dim: PositiveCount
    """Size of one attention head."""
    heads: PositiveCount
    """Attention heads."""
    dtype_bytes: Annotated[PositiveFloat, Field(le=8)] = 2
    """Bytes of one KV-cache element (2 for bf16, 1 for fp8)."""


class Resources(Section):
    """CPU and memory of one replica; requests equal limits for memory."""

    cpu: Cpu = "6"
    """CPU request of the engine container."""
    memory: Memory = "24Gi"
    """Memory request and limit of the engine container."""


class Replicas(Section):
    """The autoscaler's range."""

    min: Count = 1
    """Fewest replicas; 0 lets the model scale to zero."""
    max: PositiveCount = 10
    """Most replicas."""


class Capacity(Section):
    """What one replica serves at its target; `headroom calibrate` measures it."""

    requests_per_second: PositiveFloat
    """Requests a second one replica serves within `slo.ttftSeconds`."""
    prompt_tokens: PositiveFloat
    """Mean prompt tokens of a request in that measurement."""
    output_tokens: PositiveFloat
    """Mean generated tokens of a request in that measurement."""


class Forecast(Section):
    """Scaling one lead time ahead; it can only raise."""

    enabled: bool = True
    """Publish and use the forecast."""
    horizon_seconds: Literal["auto"] | PositiveSeconds = "auto"
    """How far ahead to look; auto is the lead time of a new replica in the stack's tier."""


class ScheduleEntry(Section):
    """A floor of replicas inside a time window."""

    timezone: Text = Field(examples=["America/New_York"])
    """IANA time zone."""
    start: Text = Field(examples=["45 8 * * 1-5"])
    """Cron expression (five fields) at which the floor begins."""
    end: Text = Field(examples=["0 18 * * 1-5"])
    """Cron expression (five fields) at which the floor ends."""
    replicas: PositiveCount
    """Replicas held inside the window."""


class ScaleUp(Section):
    """How fast replicas may be added; the larger of the two allowances counts."""

    pods: PositiveCount = 9
    """Replicas that may be added in one period."""
    percent: PositiveCount = 400
    """Share of the current replicas that may be added in one period."""
    period_seconds: Annotated[int, Field(ge=1, le=1800)] = 15
    """Length of the period."""


class ScaleDown(Section):
    """How slowly replicas are removed."""

    pods: PositiveCount = 1
    """Replicas that may be removed in one period."""
    period_seconds: Annotated[int, Field(ge=1, le=1800)] = 60
    """Length of the period."""
    stabilization_seconds: Annotated[int, Field(ge=0, le=3600)] = 300
    """The highest recommendation of this window is kept."""


class Trigger(Section):
    """An extra Prometheus trigger; its query must reduce to one series."""

    name: Name
    """Name of the trigger."""
    query: Text
    """PromQL that returns exactly one series."""
    threshold: Number
    """Target of the trigger, in the query's unit."""
    metric_type: Literal["AverageValue", "Value"] = "AverageValue"
    """AverageValue divides a total by the replicas; Value compares a level."""


class Scaling(Section):
    """How the replicas follow the load."""

    strategy: Literal["rate", "concurrency", "queue"] = "rate"
    """rate: offered load against measured capacity; concurrency: requests in flight; queue: waiting and KV cache."""
    utilization: Fraction = 0.8
    """Share of the measured capacity that is planned for."""
    queue_threshold: PositiveFloat = 2
    """Waiting requests per replica above which the queue override adds replicas."""
    kv_cache_threshold: Fraction = 0.85
    """KV-cache usage above which the cache override adds replicas."""
    forecast: Forecast = Forecast()
    """Scaling ahead of the load."""
    schedule: tuple[ScheduleEntry, ...] = ()
    """Floors of replicas by time of day."""
    warm_spares: Count = 0
    """Nodes kept warm for this model beyond its running replicas."""
    scale_up: ScaleUp = ScaleUp()
    """Speed of growth."""
    scale_down: ScaleDown = ScaleDown()
    """Speed of shrinking."""
    cooldown_seconds: Seconds = 300
    """Quiet time before the last replica goes; acts only with min 0."""
    polling_seconds: PositiveSeconds = 5
    """How often KEDA looks for a first request; acts only with min 0."""
    triggers: tuple[Trigger, ...] = ()
    """Extra triggers."""


class Drain(Section):
    """How a replica leaves without losing a request."""

    pre_stop_seconds: Seconds = 20
    """Wait before SIGTERM, while routers and balancers forget the replica."""
    shutdown_seconds: PositiveSeconds = 60
    """vLLM --shutdown-timeout: the longest time a request in flight may still take."""


class Slo(Section):
    """What the callers were promised."""

    ttft_seconds: PositiveFloat = 2
    """p95 time to first token."""
    ready_seconds: PositiveFloat = 60
    """Time from a burst to a new replica that serves."""


class Ingress(Section):
    """The application load balancer in front of the model's router."""

    enabled: bool = True
    """Create an Ingress."""
    host: (
        Annotated[
            str,
            StringConstraints(
                pattern=r"^(\*\.)?([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$", max_length=253
            ),
        ]
        | None
    ) = Field(default=None, examples=["llama.example.com"])
    """Host name the balancer answers for; null answers for every host."""
    scheme: Literal["internal", "internet-facing"] = "internal"
    """Whether the balancer has public addresses."""
    certificate_arn: (
        Annotated[
            str,
            StringConstraints(pattern=r"^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[A-Za-z0-9-]+$"),
        ]
        | None
    ) = Field(
        default=None,
        examples=["arn:aws:acm:us-east-1:111122223333:certificate/12345678-1234-1234-1234-123456789012"],
    )
    """ACM certificate for HTTPS."""
    idle_timeout_seconds: Annotated[int, Field(ge=1, le=4000)] = 300
    """Longest silence on a connection before the balancer closes it."""


class Model(Section):
    """One served model: an engine Deployment, its router, autoscaler, disruption budget and ingress."""

    name: Name
    """Name of the model's objects; part of the stack's state, so it never changes."""
    namespace: Name = "llm-serving"
    """Kubernetes namespace."""
    enabled: bool = True
    """false keeps the entry and removes its objects."""
    pool: Name
    """Name of the GPU pool that serves it."""
    model: ModelId
    """Model id as vLLM takes it (Hugging Face repository)."""
    served_name: (
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:-]*$", max_length=200)] | None
    ) = Field(default=None, examples=["llama3-8b"])
    """Name callers use in the API; null takes `name`."""
    weights_gi_b: Annotated[PositiveFloat, Field(le=10_000, alias="weightsGiB")]
    """Size of the weights in GiB."""
    weights_version: Name = "v1"
    """Version folder of the weights in the bucket."""
    parameters: Parameters | None = None
    """Shape of the network; enables the memory checks."""
    image: Image = "vllm/vllm-openai:v0.33.0"
    """vLLM image, by tag or digest."""
    gpus_per_replica: Annotated[int, Field(ge=1, le=8)] = 1
    """GPUs of one replica; also the tensor-parallel size."""
    max_model_len: Annotated[int, Field(ge=1, le=16_777_216)] = 8192
    """Longest context in tokens."""
    max_num_seqs: PositiveCount = 64
    """Most requests in one engine's batch."""
    max_batched_tokens: Annotated[int, Field(ge=1, le=16_777_216)] = 8192
    """Most tokens of one engine step."""
    gpu_memory_utilization: Fraction = 0.9
    """Share of the GPU memory vLLM may take."""
    resources: Resources = Resources()
    """CPU and memory of one replica."""
    extra_args: tuple[Text, ...] = ()
    """More vLLM arguments, one list element each."""
    secret_name: Name | None = None
    """Secret in the model's namespace that holds HF_TOKEN and VLLM_API_KEY, as needed; only named, never read."""
    replicas: Replicas = Replicas()
    """The autoscaler's range."""
    capacity: Capacity | None = None
    """Measured capacity of one replica; needed by strategy rate."""
    scaling: Scaling = Scaling()
    """How the replicas follow the load."""
    drain: Drain = Drain()
    """How a replica leaves."""
    slo: Slo = Slo()
    """What the callers were promised."""
    ingress: Ingress = Ingress()
    """The load balancer."""

    @property
    def api_name(self) -> str:
        """Name callers use and vLLM's `model_name` label shows."""
        return self.served_name or self.name
