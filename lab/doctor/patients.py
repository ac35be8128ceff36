"""What can be examined: a lab on this machine, or a cluster of a kubeconfig."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lightkube import Client

from lab.control import plane, report
from lab.doctor import cluster
from lab.doctor.diagnosis import Diagnosis, diagnose
from lab.doctor.gather import gather
from lab.doctor.kinds import NODE
from lab.doctor.prometheus import Prometheus
from lab.doctor.seen import Unread
from lab.watch.targets import FORWARDED, client_of
from specs.problems import Problem, SettingsError, shown
from specs.settings.stack import Settings


@dataclass(frozen=True, kw_only=True)
class Patient:
    """A stack on a cluster, with the settings that hold there. Close it."""

    name: str
    stack: str
    settings: Settings
    client: Client
    prometheus: Prometheus
    state_dir: Path | None = None
    """The lab's folder; None for a cluster."""

    def examined(self, *, aws: bool = False) -> Diagnosis:
        """One look at everything. Never raises for what can't be read: that is unknown, or a failure."""
        seen = gather(
            self.settings,
            self.stack,
            self.client,
            self.prometheus,
            processes=partial(_processes, self.state_dir) if self.state_dir else None,
            aws=aws,
        )
        return diagnose(seen, self.settings, self.stack, self.name)

    def close(self) -> None:
        """Ends its connections."""
        self.prometheus.close()
        self.client.close()


def on_lab(state_dir: Path, stack: str, settings: Settings, prometheus: str | None = None) -> Patient:
    """The stack on the lab of a folder. Raises LabError when there is none, SettingsError when it does not answer."""
    lab = plane.attach(state_dir)
    # A stage writes the lab's own address into the stack: its port is chosen anew for each lab.
    address = lab.url("prometheus")
    asked = settings.platform.prometheus.model_copy(update={"address": address})
    platform = settings.platform.model_copy(update={"prometheus": asked})
    found = Patient(
        name=f"{stack} on the lab in {lab.state_dir}",
        stack=stack,
        settings=settings.model_copy(update={"platform": platform}),
        client=lab.client(),
        prometheus=Prometheus(prometheus or address),
        state_dir=lab.state_dir,
    )
    fix = "see `headroom lab status`; `headroom lab up` mends what died"
    return _answering(found, "--state", str(lab.state_dir), fix)


def on_cluster(
    context: str, kubeconfig: Path, stack: str, settings: Settings, prometheus: str | None = None
) -> Patient:
    """The stack on the cluster of a context. Raises SettingsError unless its API server answers."""
    found = Patient(
        name=f"{stack} on {context}",
        stack=stack,
        settings=settings,
        client=client_of(context, kubeconfig, "--kube-context"),
        prometheus=Prometheus(prometheus or FORWARDED, settings.platform.prometheus.tenant),
    )
    fix = f"see what `kubectl --context {context} get nodes` says"
    return _answering(found, "--kube-context", shown(context), fix)


def _processes(state_dir: Path) -> dict[str, str]:
    return {one.name: one.condition for one in report.status(state_dir).components}


def _answering(found: Patient, option: str, given: str, fix: str) -> Patient:
    first = cluster.listed(found.client, NODE)
    if isinstance(first, Unread) and first.why == "away":
        found.close()
        raise SettingsError([Problem(option, given, f"an API server that answers ({first.reason})", fix)])
    return found
