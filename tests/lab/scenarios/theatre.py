"""One lab and one stack for all scenarios: each brings its models and a play, plays run side by side."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx2

from lab.cloud.outcome import Outcome
from lab.fleet.component import control_url
from lab.load import Asking, Load, Open, Routers
from lab.load.profile import Profile
from lab.scenario.kinds import Body
from lab.scenario.model import Watched
from lab.scenario.timeline import Timeline
from lab.stage.project import configuration, with_cap
from lab.stage.stage import PROJECT, Stage, lab_settings, open_stage
from specs import checks
from specs.settings.model import Model

FACTOR = 0.02
"""Nodes, images, weights and engines start in a fiftieth of the planned seconds."""
HPA_SECONDS, SCRAPE_SECONDS = 2, 1
PATIENCE = 400.0
"""Seconds that a step of a play may take on a machine that is busy with other things. No test asserts on it."""
Part = Mapping[str, Any]


class Play(Protocol):
    """What a scenario's module offers. Where it has them, ``alone`` runs when all plays are over, and ``final``,
    which ends the lab, after these.
    """

    __name__: str
    MODELS: Sequence[Part]
    POOLS: Sequence[Part]
    play: Callable[["Theatre"], Any]


def model(name: str, **given: Any) -> dict[str, Any]:
    """An entry of `headroom:models`: a quick model whose engines take eight requests at a time."""
    entry: dict[str, Any] = {
        "name": name,
        "enabled": True,
        "pool": "inference",
        "model": "meta-llama/Meta-Llama-3-8B-Instruct",
        "weightsGiB": 15,
        "maxNumSeqs": 8,
        "capacity": {"requestsPerSecond": 2, "promptTokens": 60, "outputTokens": 50},
        "drain": {"preStopSeconds": 3, "shutdownSeconds": 40},
        "ingress": {"enabled": False},
        "replicas": {"min": 1, "max": 1},
    }
    return entry | given


def evenly(rate: float, seconds: float) -> Open:
    """Requests at even distances, so many a second, answered or not."""
    times = [number / rate for number in range(int(rate * seconds))]
    return Open(name="even", times=times, seconds=seconds)


def overrides(plays: Iterable[Play]) -> dict[str, Any]:
    """The local stack with the models and pools of these plays alone."""
    plays = list(plays)
    models = {one["name"]: dict(one) for play in plays for one in play.MODELS}
    gpus = sum(one["replicas"]["max"] for one in models.values()) + len(models)
    off = [{"name": name, "enabled": False} for name in ("llama3-8b", "mistral-7b") if name not in models]
    pools: list[Part] = [
        {"name": "inference", "gpuLimit": gpus, "consolidation": {"afterSeconds": 10}},
        *(pool for play in plays for pool in play.POOLS),
    ]
    budget = gpus + sum(pool["gpuLimit"] for pool in pools[1:])
    return {
        "headroom:platform": {"prometheus": {"scrapeSeconds": SCRAPE_SECONDS}},
        "headroom:gpuPools": pools,
        "headroom:gpuBudget": {"maxGpus": budget},
        "headroom:models": [*off, *models.values()],
    }


@dataclass
class Theatre:
    """The lab with the stack on it, the timeline of both, and what the plays gave."""

    stage: Stage
    timeline: Timeline
    plays: Sequence[Play]
    brought_up: Outcome
    results: dict[str, Future[Any]] = field(default_factory=dict[str, "Future[Any]"])
    loads: list[Load] = field(default_factory=list[Load])

    def settings_of(self, name: str) -> Model:
        """A model by its name."""
        return next(one for one in self.stage.settings.active_models if one.name == name)

    def watched(self, name: str) -> Watched:
        """The model on the timeline."""
        return Watched(self.timeline, self.settings_of(name))

    def clock(self) -> float:
        """The clock of the timeline."""
        return time.monotonic()

    def pause_syncs(self, syncs: int) -> None:
        """Lets the HPA look so many times: for what must not happen meanwhile."""
        time.sleep(syncs * HPA_SECONDS)

    def engines(self, name: str) -> list[dict[str, Any]]:
        """A model's engines as the fleet sees them: name, load (requests in it), ready."""
        url = f"{control_url(self.stage.plane.pods)}/pods"
        pods: list[dict[str, Any]] = httpx2.get(url, timeout=60, trust_env=False).json()
        return [pod for pod in pods if pod["role"] == "engine" and pod["name"].startswith(f"{name}-")]

    def load_of(self, name: str, pod: Body) -> int:
        """Requests in one engine; 0 when it is gone."""
        found = (one["load"] for one in self.engines(name) if one["name"] == pod["metadata"]["name"])
        return next(found, 0)

    def query(self, expression: str) -> list[Any]:
        """What Prometheus answers to an instant query."""
        url = f"{self.stage.plane.url('prometheus')}/api/v1/query"
        answer = httpx2.get(url, params={"query": expression}, timeout=60, trust_env=False)
        return answer.json()["data"]["result"]

    def up_with(self, changed: Part) -> Outcome:
        """`pulumi up` with another entry for one model."""
        wanted = overrides(self.plays)
        models = [changed if one["name"] == changed["name"] else one for one in wanted["headroom:models"]]
        return self.stage.up({**wanted, "headroom:models": models})

    def until(self, holds: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
        """Waits for something; WaitError names it when it does not come."""
        return self.timeline.until(holds, seconds, what)

    def load(
        self, name: str, profile: Profile, *, stream: float = 1.0, output: float = 50, seed: int = 0
    ) -> Load:
        """Starts requests on the model's routers."""
        chosen = self.settings_of(name)
        asking = Asking(prompt_tokens=60, output_tokens=output, stream_share=stream, spread=False)
        routers = Routers(self.stage.plane.kubeconfig, chosen.namespace, chosen.name, PATIENCE)
        made = Load(routers, chosen.api_name, profile, seed, asking=asking)
        self.loads.append(made)
        made.start()
        return made

    def perform(self) -> None:
        """All plays side by side, then one after the other those that want to be alone."""
        with ThreadPoolExecutor(max_workers=len(self.plays)) as pool:
            self.results = {play.__name__: pool.submit(play.play, self) for play in self.plays}
        for play in self.plays:
            alone: Callable[[Theatre, Any], Any] | None = getattr(play, "alone", None)
            first = self.results[play.__name__]
            if alone is not None and first.exception() is None:
                self.results[play.__name__] = _done(lambda first=first, act=alone: act(self, first.result()))
        for one in self.loads:
            one.stop(now=True)
        for play in self.plays:
            final: Callable[[Theatre], Any] | None = getattr(play, "final", None)
            if final is not None:
                self.results[play.__name__] = _done(lambda act=final: act(self))


def _done(act: Callable[[], Any]) -> "Future[Any]":
    future: Future[Any] = Future()
    try:
        future.set_result(act())
    except Exception as error:  # noqa: BLE001 - raised again by the tests of that play
        future.set_exception(error)
    return future


def open_theatre(folder: Path, plays: Sequence[Play], held: ExitStack) -> Theatre:
    """Brings up the lab and the stack; ``held`` ends both."""
    wanted = overrides(plays)
    settings, findings = checks.examine(configuration(PROJECT, "local", wanted))
    assert settings is not None, findings.problems
    lab = lab_settings(settings, "local", factor=FACTOR).model_copy(
        update={"hpa_sync_seconds": HPA_SECONDS, "scrape_seconds": SCRAPE_SECONDS}
    )
    cap = wanted["headroom:gpuBudget"]["maxGpus"]
    policies = with_cap(PROJECT, "local", cap, folder / "policies.json")
    stage = open_stage(folder / "lab", factor=FACTOR, overrides=wanted, lab=lab, policies=policies)
    held.callback(stage.close)
    timeline = held.enter_context(Timeline(stage.plane.kubeconfig))
    outcome = stage.up()
    assert outcome.ok, outcome.problems
    return Theatre(stage=stage, timeline=timeline, plays=plays, brought_up=outcome)
