"""Keeps a running Prometheus in step with the monitors and rules in the API server."""

import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lightkube import Client

from lab import tools
from lab.control import kubernetes
from lab.control.layout import Layout
from lab.control.monitors.config import Body, Configuration, configuration
from lab.control.monitors.jobs import Job
from lab.control.state import State

_GROUP = ("monitoring.coreos.com", "v1")
_OWN_SECONDS = 30
"""Interval of the controllers' own jobs, the default of the Prometheus operator. Karpenter answers with 50,000
series, which cost it half a second of processor time: asked each second, it launches no more nodes (2026-12-01).
"""


@dataclass
class Feed:
    """Reads, renders, and reloads when something changed. ``say`` gets one line for each event and problem."""

    layout: Layout
    say: Callable[[str], None]
    _shown: tuple[str, ...] = ()
    _loaded: Configuration | None = None

    def look(self, to: Client, state: State) -> None:
        """One round. Raises ApiError or an HTTP error while the API server does not answer."""
        folder = self.layout.config("rules")
        wanted = configuration(
            pod_monitors=_all(to, "PodMonitor", "podmonitors"),
            service_monitors=_all(to, "ServiceMonitor", "servicemonitors"),
            rules=_all(to, "PrometheusRule", "prometheusrules"),
            services=_bodies(to, kubernetes.resource("", "v1", "Service", "services")),
            own_jobs=_own_jobs(state),
            kubeconfig=self.layout.kubeconfig,
            rules_folder=folder,
            seconds=state.settings.scrape_seconds,
        )
        if wanted.problems != self._shown:
            self._shown = wanted.problems
            for problem in wanted.problems:
                self.say(problem)
        if wanted == self._loaded:
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, text in wanted.rules.items():
            if self._is_sound(folder / name, text):
                (folder / name).write_text(text)
        self.layout.config("prometheus.yml").write_text(wanted.prometheus)
        if self._reload(f"http://127.0.0.1:{state.ports['prometheus']}/-/reload"):
            self._loaded = wanted

    def _is_sound(self, path: Path, text: str) -> bool:
        """Whether promtool takes a rule file: one bad file would make Prometheus refuse all."""
        draft = path.with_suffix(".draft")
        draft.write_text(text)
        argv = [str(_promtool()), "check", "rules", "--lint=none", str(draft)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        draft.unlink()
        if done.returncode != 0:
            self.say(f"PrometheusRule {path.stem} is left out: {(done.stdout + done.stderr).strip()}")
        return done.returncode == 0

    def _reload(self, url: str) -> bool:
        request = urllib.request.Request(url, method="POST")  # noqa: S310 - our own URL on loopback
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30):
                self.say("Prometheus has read the monitors and rules anew")
                return True
        except urllib.error.HTTPError as error:
            self.say(f"Prometheus refused its configuration: {error.read().decode(errors='replace').strip()}")
            return True
        except OSError:
            # It is down; it reads the file when it starts, but only this says that it did.
            return False


def _all(to: Client, kind: str, plural: str) -> list[Body]:
    return _bodies(to, kubernetes.resource(*_GROUP, kind, plural))


def _bodies(to: Client, resource: Any) -> list[Body]:
    listed: Any = to.list(resource, namespace="*")
    return list(listed)


def _own_jobs(state: State) -> list[Job]:
    """The controllers, which are processes here and not pods; their jobs have the names of their charts."""
    jobs = {"karpenter": "karpenter-metrics", "keda-operator": "keda-metrics"}
    # 50,000 series of offerings and prices that change by the hour would be most of Prometheus' memory.
    drop = {
        "action": "drop",
        "source_labels": ["__name__"],
        "regex": "karpenter_cloudprovider_instance_type_.*",
    }
    return [
        {
            "job_name": job,
            "scrape_interval": f"{_OWN_SECONDS}s",
            "static_configs": [{"targets": [f"127.0.0.1:{state.ports[port]}"]}],
            "metric_relabel_configs": [drop],
        }
        for job, port in jobs.items()
        if port in state.ports
    ]


@cache
def _promtool() -> Path:
    return tools.ensure(["promtool"])["promtool"]
