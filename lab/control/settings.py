"""What can be chosen about a lab. The defaults are those of the EKS cluster that the program builds."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Subnet(BaseModel):
    """A subnet of the account with the tags by which it is found."""

    model_config = ConfigDict(frozen=True)

    zone: str
    cidr: str
    tags: dict[str, str] = {}


class AwsSettings(BaseModel):
    """The account that moto plays: what Karpenter looks up in it by name or tag.

    ``discovery`` is the value of the ``karpenter.sh/discovery`` tag on the private subnets and the node security
    group; None means the cluster's name, as Karpenter's own guide has it. Without ``subnets`` there is a private one
    in each zone.
    """

    model_config = ConfigDict(frozen=True)

    cluster: str = "headroom"
    region: str = "us-east-1"
    zones: tuple[str, ...] = ("us-east-1a", "us-east-1b", "us-east-1c")
    vpc_cidr: str = "10.0.0.0/16"
    discovery: str | None = None
    node_role: str = "headroom-node"
    queue: str = "headroom-interruptions"
    subnets: tuple[Subnet, ...] = ()

    @property
    def discovery_tag(self) -> str:
        """The value of the discovery tag."""
        return self.discovery or self.cluster


class LabSettings(BaseModel):
    """A lab's choices; seconds unless said otherwise. A changed value restarts only what it concerns.

    ``own_images`` is a regular expression (Go's syntax): kwok gives pods with such an image an address and leaves
    their life to the lab's own engines and routers; all other pods run at once. ``system_nodes`` stand for the
    managed node group. ``launch_seconds`` is the time from a launch to the node's registration that a new lab
    begins with; ``launches.write`` changes it on the way.
    """

    model_config = ConfigDict(frozen=True)

    hpa_sync_seconds: Annotated[int, Field(ge=1)] = 15
    scrape_seconds: Annotated[int, Field(ge=1)] = 5
    system_nodes: Annotated[int, Field(ge=0)] = 2
    launch_seconds: Annotated[float, Field(ge=0)] = 30.0
    own_images: str = "vllm/"
    feature_gates: str = ""
    aws: AwsSettings = AwsSettings()
