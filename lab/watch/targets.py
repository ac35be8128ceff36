"""What can be watched: a lab on this machine, or a cluster of a kubeconfig with a Prometheus beside it."""

from dataclasses import dataclass
from pathlib import Path

from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ConfigError
from yaml import YAMLError

from lab.control import plane
from lab.watch.figures import Sample
from lab.watch.sample import Sampler
from specs.names import METRICS_NAMESPACE
from specs.problems import Problem, SettingsError, shown
from specs.settings.stack import Settings

FORWARDED = "http://127.0.0.1:9090"
"""Where a port-forward of Prometheus answers."""
_STAGED = Path("stack") / "project"
"""Where a lab keeps the stack file of the stack that is on it."""


@dataclass(frozen=True)
class Target:
    """Something to watch, in words, and its sampler. Close it."""

    name: str
    sampler: Sampler
    client: Client

    def close(self) -> None:
        """Ends its connections."""
        self.sampler.close()
        self.client.close()


def staged_stack(state_dir: Path) -> Path | None:
    """The stack file of the stack that was last put on the lab, with the rehearsal's changes."""
    return next(iter(sorted((state_dir / _STAGED).glob("Pulumi.*.yaml"))), None)


def of_lab(state_dir: Path, stack: str, settings: Settings, prometheus: str | None = None) -> Target:
    """The lab in a folder. Raises LabError when there is none, SettingsError when it does not answer."""
    lab = plane.attach(state_dir)
    client = lab.client()
    target = Target(
        f"{stack} on the lab", Sampler(prometheus or lab.url("prometheus"), client, settings), client
    )
    first = target.sampler.sample()
    if set(first.problems) == {"prometheus", "kubernetes"}:
        target.close()
        fix = "see `headroom lab status`; `headroom lab up` mends what died"
        raise SettingsError(
            [
                Problem("--state", str(lab.state_dir), f"a lab that answers ({reason})", fix)
                for reason in [first.problems["kubernetes"]]
            ]
        )
    return target


def of_cluster(
    context: str, kubeconfig: Path, stack: str, settings: Settings, prometheus: str | None = None
) -> Target:
    """A cluster by its kubeconfig context. Raises SettingsError unless it and its Prometheus answer."""
    client = client_of(context, kubeconfig)
    url = prometheus or FORWARDED
    target = Target(f"{stack} on {context}", Sampler(url, client, settings), client)
    problems = _unreachable(target.sampler.sample(), context, url, settings)
    if problems:
        target.close()
        raise SettingsError(problems)
    return target


def client_of(context: str, kubeconfig: Path, option: str = "--context") -> Client:
    """A client of a context's cluster. Raises SettingsError, about `option`, for one that is not there."""
    given = f"{shown(context)} in {kubeconfig}"
    fix = "name one of `kubectl config get-contexts`; `aws eks update-kubeconfig --name CLUSTER` adds one"
    try:
        return Client(config=KubeConfig.from_file(kubeconfig).get(context))
    except ConfigError as error:
        raise SettingsError([Problem(option, given, f"a context that is there ({error})", fix)]) from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError, AssertionError, YAMLError) as error:
        # lightkube asserts that a context has a user, and trips over files of another shape.
        reason = f"a readable kubeconfig ({type(error).__name__})"
        raise SettingsError([Problem(option, given, reason, fix)]) from error


def _unreachable(first: Sample, context: str, url: str, settings: Settings) -> list[Problem]:
    found: list[Problem] = []
    if "kubernetes" in first.problems:
        allowed = f"an API server that answers ({first.problems['kubernetes']})"
        fix = f"see what `kubectl --context {context} get nodes` says"
        found.append(Problem("--context", shown(context), allowed, fix))
    if "prometheus" in first.problems:
        allowed = f"a Prometheus that answers ({first.problems['prometheus']})"
        found.append(Problem("--prometheus", url, allowed, forwarding(settings, context)))
    return found


def forwarding(settings: Settings, context: str | None = None) -> str:
    """How to bring the stack's Prometheus within reach of this machine."""
    prometheus = settings.platform.prometheus
    if prometheus.auth == "sigv4":
        return "run aws-sigv4-proxy on this machine and give its address"
    if not prometheus.install and prometheus.address:
        return f"forward a local port to {prometheus.address} and give it as http://127.0.0.1:PORT"
    chosen = f" --context {context}" if context else ""
    return (
        f"run `kubectl{chosen} -n {METRICS_NAMESPACE} port-forward svc/prometheus-operated 9090` "
        f"and give {FORWARDED}"
    )
