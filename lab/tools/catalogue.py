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

    ``folder`` is inside the module and ``pattern`` a glob below it. Below ``into`` the files keep the place
    that they have in ``folder``.
    """

    module: str
    folder: str
    pattern: str
    into: str


@dataclass(frozen=True, kw_only=True)
class Amendment:
    """One replacement in a file copied for compiling; ``find`` must be there exactly once."""

    file: str
    find: str
    replace: str


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One thing to build. ``seconds`` is what it took on two shared cores after those above it, the first estimate.

    ``package`` is None for a tool that carries ``files`` in place of a binary. ``embeds`` are copied beside our
    own main before compiling, with every ``renames`` applied to their import paths and ``amendments`` to single
    places. ``plugin`` names a Pulumi resource plugin, which may lie in Pulumi's own folder.
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
    plugin: str | None = None
    embeds: tuple[SourceFiles, ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    amendments: tuple[Amendment, ...] = ()
    files: tuple[SourceFiles, ...] = ()


_PROMETHEUS_STAMP = {"github.com/prometheus/common/version.Version": "3.16.0"}
# The lab discovers targets from Kubernetes only; the other discoveries double the build.
_PROMETHEUS_TAGS = ("remove_all_sd", "enable_kubernetes_sd")
_KUBERNETES_STAMP = {
    "k8s.io/component-base/version.gitVersion": "v1.35.4",
    "k8s.io/component-base/version.gitMajor": "1",
    "k8s.io/component-base/version.gitMinor": "35",
}
_KUBERNETES_ON_PATH = OnPath(arguments=("--version",), at_least="1.35", below="1.36")
_KARPENTER = "sigs.k8s.io/karpenter"
_KARPENTER_AWS = "github.com/aws/karpenter-provider-aws"
_KARPENTER_STAMP = {"sigs.k8s.io/karpenter/pkg/operator.Version": "1.14.1"}
_KEDA = "github.com/kedacore/keda/v2"
_KWOK = "sigs.k8s.io/kwok"
_PULUMI_KUBERNETES = "github.com/pulumi/pulumi-kubernetes/provider/v4"


def _kubernetes(name: str, seconds: int) -> Tool:
    return Tool(
        name=name,
        module="kubernetes",
        package=f"k8s.io/kubernetes/cmd/{name}",
        pin="k8s.io/kubernetes",
        version="v1.35.4",
        stamp=_KUBERNETES_STAMP,
        on_path=_KUBERNETES_ON_PATH,
        seconds=seconds,
    )


def _prometheus(name: str, seconds: int) -> Tool:
    return Tool(
        name=name,
        module="prometheus",
        package=f"github.com/prometheus/prometheus/cmd/{name}",
        pin="github.com/prometheus/prometheus",
        version="v0.316.0",
        stamp=_PROMETHEUS_STAMP,
        tags=_PROMETHEUS_TAGS,
        # 2.x lacks what the rules use, and Debian's 2.42 the Kubernetes discovery too.
        on_path=OnPath(arguments=("--version",), at_least="3.1", below="4"),
        seconds=seconds,
    )


def _keda(name: str, package: str, seconds: int) -> Tool:
    return Tool(
        name=name,
        module="keda",
        package=f"{_KEDA}/cmd/{package}",
        pin=_KEDA,
        version="v2.21.0",
        stamp={f"{_KEDA}/version.Version": "2.21.0"},
        seconds=seconds,
    )


def _files(name: str, module: str, pin: str, version: str, *wanted: tuple[str, str]) -> Tool:
    """CRDs and tables of a module, to be had in seconds: what the API server needs does not wait for a compiler."""
    files = tuple(
        SourceFiles(module=pin, folder=folder, pattern=pattern, into=".") for folder, pattern in wanted
    )
    return Tool(name=name, module=module, package=None, pin=pin, version=version, files=files, seconds=5)


_ALL = (
    Tool(
        name="pulumi",
        module="pulumi",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        pin="github.com/pulumi/pulumi/pkg/v3",
        version="v3.274.1",
        # Unstamped, the Automation API refuses the CLI as older than the SDK.
        stamp={"github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": "v3.274.1"},
        on_path=OnPath(arguments=("version",), at_least="3.272.0", below="4"),
        seconds=260,
    ),
    Tool(
        name="pulumi-resource-kubernetes",
        module="pulumi-kubernetes",
        package=".",
        pin=_PULUMI_KUBERNETES,
        version="v4.0.0-20260115033456-f47bc2d6f199",
        # The commit is between the releases 4.24 and 4.25; its Python SDK 4.25 is the one that matches.
        stamp={f"{_PULUMI_KUBERNETES}/pkg/version.Version": "4.25.0"},
        # It has no flag that tells its version, but Pulumi's plugin folder does.
        on_path=OnPath(arguments=(), at_least="4.25.0", below="5"),
        plugin="kubernetes",
        embeds=(
            SourceFiles(
                module=_PULUMI_KUBERNETES, folder="cmd/pulumi-resource-kubernetes", pattern="*.json", into="."
            ),
        ),
        seconds=556,
    ),
    _prometheus("promtool", 71),
    _prometheus("prometheus", 47),
    Tool(
        name="etcd",
        module="kubernetes",
        package="go.etcd.io/etcd/server/v3",
        pin="go.etcd.io/etcd/server/v3",
        version="v3.6.16",
        # Before 3.5.13 the API server's watches break: "RequestWatchProgress is disabled".
        on_path=OnPath(arguments=("--version",), at_least="3.5.13", below="4"),
        seconds=21,
    ),
    _kubernetes("kube-apiserver", 199),
    _kubernetes("kube-controller-manager", 94),
    _kubernetes("kube-scheduler", 5),
    Tool(
        name="kubectl",
        # Apart from the cluster's own module: its libraries would be one more reason to build all of that again.
        module="kubectl",
        package="k8s.io/kubernetes/cmd/kubectl",
        pin="k8s.io/kubernetes",
        version="v1.35.4",
        stamp=_KUBERNETES_STAMP,
        # A minor version off the server's will do (https://kubernetes.io/releases/version-skew-policy/#kubectl).
        on_path=OnPath(arguments=("version", "--client"), at_least="1.34", below="1.37"),
        seconds=60,
    ),
    Tool(
        name="kwok",
        module="kwok",
        package=f"{_KWOK}/cmd/kwok",
        pin=_KWOK,
        version="v0.8.0",
        stamp={f"{_KWOK}/pkg/consts.Version": "0.8.0"},
        seconds=88,
    ),
    Tool(
        name="karpenter",
        module="kubernetes",
        # Its package main for KWOK, copied to take launch times and lost capacity from a file (see launch.go).
        package="./karpenter",
        pin=_KARPENTER_AWS,
        version="v1.14.1",
        stamp=_KARPENTER_STAMP,
        embeds=(SourceFiles(module=_KARPENTER_AWS, folder="kwok", pattern="**/*.go", into="karpenter"),),
        renames=((f"{_KARPENTER_AWS}/kwok/", "headroom.dev/tools/kubernetes/karpenter/"),),
        amendments=(
            Amendment(
                file="karpenter/ec2/ec2.go",
                find="c.clock.After(30 * time.Second)",
                replace="c.clock.After(launch.Delay())",
            ),
            Amendment(
                file="karpenter/ec2/ec2.go",
                find="\n\tvar fleetInstances []",
                replace="\n\tif refused := launch.Refuse(input); refused != nil {\n\t\treturn refused, nil\n\t}\n"
                "\n\tvar fleetInstances []",
            ),
            Amendment(
                file="karpenter/ec2/ec2.go",
                find="ltConfig := input.LaunchTemplateConfigs[0]",
                replace="ltConfig := launch.Cheapest(input, c.strategy.GetScore)",
            ),
            Amendment(
                file="karpenter/ec2/ec2.go",
                find="import (",
                replace='import (\n\t"headroom.dev/tools/kubernetes/launch"\n',
            ),
        ),
        seconds=141,
    ),
    Tool(
        name="karpenter-core",
        module="kubernetes",
        package=f"{_KARPENTER}/kwok",
        pin=_KARPENTER,
        version="v1.14.1",
        stamp=_KARPENTER_STAMP,
        seconds=5,
    ),
    Tool(
        name="actionlint",
        module="workflows",
        package="github.com/rhysd/actionlint/cmd/actionlint",
        pin="github.com/rhysd/actionlint",
        version="v1.7.12",
        stamp={"github.com/rhysd/actionlint.version": "1.7.12"},
        on_path=OnPath(arguments=("-version",), at_least="1.7.12", below="2"),
        seconds=8,
    ),
    _keda("keda-operator", "operator", 411),
    _keda("keda-adapter", "adapter", 91),
    _files("kwok-stages", "kwok", _KWOK, "v0.8.0", ("kustomize/stage", "**/*.yaml")),
    _files(
        "karpenter-files",
        "kubernetes",
        _KARPENTER_AWS,
        "v1.14.1",
        ("pkg/apis/crds", "*.yaml"),
        ("pkg/providers/pricing", "zz_generated.pricing_aws.go"),
    ),
    _files("karpenter-core-files", "kubernetes", _KARPENTER, "v1.14.1", ("kwok/apis/crds", "*.yaml")),
    _files("keda-crds", "keda", _KEDA, "v2.21.0", ("config/crd/bases", "*.yaml")),
    _files(
        "monitor-crds",
        "monitors",
        "github.com/prometheus-operator/prometheus-operator",
        "v0.85.0",
        *(
            ("example/prometheus-operator-crd", f"monitoring.coreos.com_{kind}.yaml")
            for kind in ("podmonitors", "servicemonitors", "prometheusrules")
        ),
    ),
)

TOOLS: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in _ALL})
