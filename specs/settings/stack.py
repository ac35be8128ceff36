"""The whole configuration of a stack: everything under `headroom:` except the models' own types."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from specs.settings.deployments import Deployments
from specs.settings.model import Model
from specs.settings.types import (
    Ami,
    Cidr,
    Image,
    Name,
    PositiveCount,
    PositiveFloat,
    PositiveSeconds,
    Seconds,
    Section,
)

REGION = r"^[a-z]{2}(-[a-z]+)+-\d$"
Zone = Annotated[
    str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-\d[a-z]$"), Field(examples=["us-east-1a"])
]
InstanceType = Annotated[
    str,
    StringConstraints(
        pattern=r"^[a-z][a-z0-9-]*\.([0-9]+x|x)?(nano|micro|small|medium|large|xlarge|metal)(-[0-9]+xl)?$"
    ),
    Field(examples=["g5.2xlarge"]),
]
Family = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=20), Field(examples=["g6"])
]
Version = Annotated[
    str, StringConstraints(pattern=r"^v?\d+\.\d+(\.\d+)?([-+][0-9A-Za-z.-]+)?$"), Field(examples=["1.15.2"])
]
ChartSource = Annotated[
    str,
    StringConstraints(pattern=r"^(oci|https)://[^\s]+$"),
    Field(examples=["oci://registry.example.com/charts"]),
]


class Network(Section):
    """The VPC; unused with `cluster.mode: existing`."""

    cidr: Cidr = "10.0.0.0/16"
    """Address range of the VPC, /16 to /20."""
    zones: Annotated[tuple[Zone, ...], Field(min_length=2, max_length=6)] | None = None
    """Availability zones, at least two; null takes a, b and c of the region."""
    nat_gateways: Literal["perZone", "single"] = "perZone"
    """perZone survives the loss of a zone; single is cheaper."""
    endpoints: bool = True
    """Private endpoints for the AWS services the nodes use; S3 always has one."""


class Endpoint(Section):
    """The Kubernetes API endpoint."""

    public: bool = False
    """Reachable from the internet."""
    public_cidrs: tuple[Cidr, ...] = ()
    """Who may reach the public endpoint; needed when public."""
    private: bool = True
    """Reachable from inside the VPC."""


class SystemNodes(Section):
    """The managed node group for controllers and routers."""

    instance_types: Annotated[tuple[InstanceType, ...], Field(min_length=1, max_length=20)] = ("m7i.large",)
    """Instance types, all of one architecture."""
    min: Annotated[int, Field(ge=2, le=100)] = 2
    """Fewest nodes; Karpenter's two replicas need two."""
    max: PositiveCount = 4
    """Most nodes."""


class Cluster(Section):
    """The EKS cluster, or the existing one to use."""

    mode: Literal["eks", "existing"] = "eks"
    """existing uses the kubeconfig context below and builds no AWS resource."""
    kube_context: Annotated[str, StringConstraints(min_length=1, max_length=253)] | None = None
    """kubeconfig context for mode existing; null takes the current one."""
    version: Annotated[str, StringConstraints(pattern=r"^1\.\d{2}$")] = Field(
        default="1.35", examples=["1.35"]
    )
    """Kubernetes version of the control plane, quoted."""
    endpoint: Endpoint = Endpoint()
    """The API endpoint."""
    system_nodes: SystemNodes = SystemNodes()
    """Nodes for controllers and routers."""
    hpa_sync_seconds: Annotated[int, Field(ge=10, le=15)] = 15
    """Seconds between two looks of the HPA controller; below 15 needs EKS Provisioned Control Plane."""
    deletion_protection: bool = True
    """EKS refuses to delete the cluster while set."""


class Chart(Section):
    """One platform part installed by Helm."""

    install: bool = True
    """false uses what the cluster already has."""
    version: Version | None = None
    """Chart version; null takes the pinned one."""
    values: dict[str, object] = Field(default_factory=dict)
    """Merged over the generated chart values; one that other objects rest on is refused."""
    chart_source: ChartSource | None = None
    """Repository or OCI folder that holds the chart, for an air-gapped mirror."""


class Prometheus(Chart):
    """Metrics: kube-prometheus-stack, or an existing Prometheus, Mimir or AMP."""

    scrape_seconds: Annotated[int, Field(ge=1, le=300)] = 5
    """Seconds between two scrapes of engines and routers."""
    address: Annotated[str, StringConstraints(pattern=r"^https?://[^\s]+$", max_length=2048)] | None = Field(
        default=None, examples=["http://prometheus.monitoring.svc:9090"]
    )
    """An existing Prometheus to query instead."""
    tenant: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!._*'()-]{1,150}$")] | None = None
    """Mimir tenant, sent as X-Scope-OrgID."""
    auth: Literal["none", "sigv4"] = "none"
    """sigv4 signs queries to Amazon Managed Prometheus through Pod Identity."""


class Router(Section):
    """vllm-router, one Deployment per model, alive at zero replicas."""

    image: Image = "vllm/vllm-router:nightly-20260809-d2ba586"
    """Router image; only dated nightly tags and digests are published."""
    replicas: PositiveCount = 2
    """Router replicas per model."""


class Platform(Section):
    """The controllers around the models."""

    chart_source: ChartSource | None = None
    """Mirror for all charts; a part's own chartSource wins."""
    karpenter: Chart = Chart()
    """Node autoscaler."""
    keda: Chart = Chart()
    """Event-driven autoscaler."""
    prometheus: Prometheus = Prometheus()
    """Metrics."""
    load_balancer_controller: Chart = Chart()
    """AWS Load Balancer Controller."""
    gpu_plugin: Chart = Chart()
    """NVIDIA device plugin; left out on Bottlerocket, which has its own."""
    gpu_metrics: Chart = Chart()
    """DCGM exporter."""
    router: Router = Router()
    """The models' routers."""


class Weights(Section):
    """Where the weights come from."""

    backend: Literal["s3", "efs", "fsx", "hub", "image"] = "s3"
    """s3: streamed from the bucket; efs, fsx: mounted; hub: Hugging Face; image: at /weights/models/<name>/<version>."""
    bucket_name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$")] | None = (
        Field(default=None, examples=["example-com-llm-weights"])
    )
    """Bucket of backend s3; names are global, so state your own where headroom-<stack>-weights-<region> is taken."""
    bucket_retain: bool = True
    """Keep the bucket when the stack is destroyed."""
    kms: bool = True
    """Encrypt with the stack's own KMS key."""


class Consolidation(Section):
    """When Karpenter removes nodes."""

    policy: Literal["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"] = "WhenEmpty"
    """WhenEmpty never evicts a serving replica."""
    after_seconds: Seconds = 300
    """Quiet time before a node goes."""


class Disk(Section):
    """The nodes' disk for images and caches."""

    size_gi_b: Annotated[int, Field(ge=1, le=16_384, alias="sizeGiB")] = 150
    """gp3 volume size in GiB."""
    iops: Annotated[int, Field(ge=3000, le=16_000)] = 3000
    """gp3 operations a second."""
    throughput: Annotated[int, Field(ge=125, le=1000)] = 600
    """gp3 MiB a second."""
    instance_store: bool = False
    """Local NVMe as RAID0 for images and caches."""


class Taint(Section):
    """A taint of the pool's nodes."""

    key: Annotated[
        str,
        StringConstraints(
            pattern=r"^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"
        ),
    ]
    """Taint key."""
    value: Annotated[
        str, StringConstraints(pattern=r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$")
    ] = "true"
    """Taint value."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"
    """What the taint does."""


class GpuPool(Section):
    """A Karpenter NodePool with its EC2NodeClass."""

    name: Name
    """Name of the NodePool; models refer to it."""
    families: Annotated[tuple[Family, ...], Field(min_length=1, max_length=20)] | None = None
    """Instance families; or give instanceTypes."""
    instance_types: Annotated[tuple[InstanceType, ...], Field(min_length=1, max_length=60)] | None = None
    """Instance types; or give families."""
    capacity_types: Annotated[tuple[Literal["spot", "on-demand", "reserved"], ...], Field(min_length=1)] = (
        "spot",
        "on-demand",
    )
    """How capacity is bought; reserved is tried first, then spot."""
    zones: Annotated[tuple[Zone, ...], Field(min_length=1)] | None = None
    """Zones of the pool; null takes all of the network's."""
    gpu_limit: PositiveCount
    """Most GPUs the pool may hold."""
    ami: Ami = "bottlerocket@v1.60.0"
    """Machine image by pinned alias."""
    node_class: Literal["ec2", "kwok"] = "ec2"
    """kwok is the lab's light alternative."""
    consolidation: Consolidation = Consolidation()
    """When nodes are removed."""
    expire_after_hours: PositiveCount | None = 168
    """Age at which a node is replaced; null never."""
    termination_grace_seconds: PositiveSeconds | None = 1800
    """Deadline of a node's drain; needed with an expiry."""
    disk: Disk = Disk()
    """The nodes' disk."""
    taints: Annotated[tuple[Taint, ...], Field(min_length=1)] = (
        Taint.model_validate_json('{"key": "nvidia.com/gpu"}'),
    )
    """Taints that keep other workloads away."""


class GpuBudget(Section):
    """The hard caps of the stack."""

    max_gpus: PositiveCount
    """Most GPUs of all pools and models together."""
    max_monthly_usd: PositiveFloat | None = None
    """Most the stack may cost in a month at its ceiling."""


class Settings(Section):
    """The configuration of one stack."""

    region: Annotated[str, StringConstraints(pattern=REGION)] = Field(
        default="us-east-1", examples=["us-east-1"]
    )
    """AWS region, from `aws:region`."""
    network: Network = Network()
    """The VPC."""
    cluster: Cluster = Cluster()
    """The cluster."""
    platform: Platform = Platform()
    """The controllers around the models."""
    weights: Weights = Weights()
    """Where the weights come from."""
    gpu_pools: tuple[GpuPool, ...]
    """The GPU pools."""
    gpu_budget: GpuBudget
    """The hard caps."""
    models: tuple[Model, ...]
    """The served models."""
    deployments: Deployments | None = None
    """Pulumi Deployments and policy groups; null needs nothing of Pulumi Cloud."""

    @property
    def active_models(self) -> tuple[Model, ...]:
        """The enabled models, in the order of the configuration."""
        return tuple(model for model in self.models if model.enabled)

    @property
    def zones(self) -> tuple[str, ...]:
        """The network's zones; a, b and c of the region unless stated."""
        return self.network.zones or tuple(self.region + letter for letter in "abc")

    def pool(self, name: str) -> GpuPool:
        """The pool of that name. Raises KeyError, which the checks exclude."""
        for pool in self.gpu_pools:
            if pool.name == name:
                return pool
        raise KeyError(name)
