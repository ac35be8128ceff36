"""What the lab builds: every binary, its module, version and stamp, and what of its source goes beside it.

The versions are those of the go.mod files under ``modules/``; a unit test holds the two together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True)
class OnPath:
    """How a binary found on PATH is asked for its version, and which versions will do.

    ``at_least`` is inclusive and ``below`` exclusive; both are dotted numbers.
    """

    arguments: tuple[str, ...]
    at_least: str
    below: str


@dataclass(frozen=True, kw_only=True)
class SourceFiles:
    """Files of a pinned module that a tool needs at run time (CRDs, stages) or to compile (embedded schemas).

    ``folder`` is inside the module; ``pattern`` is a glob below it. The files keep their place under ``folder``
    below ``into``.
    """

    module: str
    folder: str
    pattern: str
    into: str


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One thing to build. ``seconds`` is what it took on two shared cores, the first estimate shown.

    ``package`` is None for a tool that only carries files. ``embeds`` are copied beside our own main before
    compiling; ``files`` are installed under ``share/`` beside the binary.
    """

    name: str
    module: str
    package: str | None
    pin: str
    version: str
    seconds: int
    stamp: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    tags: tuple[str, ...] = ()
    on_path: OnPath | None = None
    embeds: tuple[SourceFiles, ...] = ()
    files: tuple[SourceFiles, ...] = ()


TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        tool.name: tool
        for tool in (
            Tool(
                name="pulumi",
                module="pulumi",
                package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
                pin="github.com/pulumi/pulumi/pkg/v3",
                version="v3.274.1",
                # Unstamped, the Automation API refuses the CLI as older than the SDK.
                stamp={"github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": "v3.274.1"},
                on_path=OnPath(arguments=("version",), at_least="3.272.0", below="4"),
                seconds=385,
            ),
            Tool(
                name="promtool",
                module="prometheus",
                package="github.com/prometheus/prometheus/cmd/promtool",
                pin="github.com/prometheus/prometheus",
                version="v0.316.0",
                stamp={"github.com/prometheus/common/version.Version": "3.16.0"},
                tags=("remove_all_sd", "enable_kubernetes_sd"),
                on_path=OnPath(arguments=("--version",), at_least="3.1", below="4"),
                seconds=150,
            ),
            Tool(
                name="prometheus",
                module="prometheus",
                package="github.com/prometheus/prometheus/cmd/prometheus",
                pin="github.com/prometheus/prometheus",
                version="v0.316.0",
                stamp={"github.com/prometheus/common/version.Version": "3.16.0"},
                # The lab discovers targets from Kubernetes only; the other discoveries double the build.
                tags=("remove_all_sd", "enable_kubernetes_sd"),
                on_path=OnPath(arguments=("--version",), at_least="3.1", below="4"),
                seconds=100,
            ),
        )
    }
)
