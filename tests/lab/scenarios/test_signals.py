"""Signals that go away: a forecast, Prometheus, KEDA. The replicas never fall below what the load asks for."""

from dataclasses import dataclass

import pytest
from lightkube.types import PatchType

from lab.control.kubernetes import MANAGER
from lab.doctor.kinds import RULE
from lab.load import Closed, LoadResult
from lab.scenario.kinds import HPA, SCALED_OBJECT, Body, condition
from lab.scenario.model import Change, Watched
from lab.scenario.outages import crash, outage
from specs.metrics_names import FORECAST, recorded_labels
from specs.offered import target_rate
from tests.lab.scenarios.theatre import Theatre, evenly, model

RATE = 2.8
REACTIVE = 2
"""Replicas that the load alone asks for: 2.8 requests a second at 1.6 each."""
FORESEEN = 4
DOWN_SECONDS = 30
"""Ten times shorter than in production, as long as the rate's short window: a Prometheus that comes back to a lab
that is younger than its long window sees half the load for so long.
"""
OUTAGE_SYNCS = 18
"""Longer than the scale-down window and the fallback's patience, in HPA syncs."""
POOLS = ()
MODELS = (
    model(
        "steady",
        replicas={"min": 1, "max": FORESEEN},
        scaling={"scaleDown": {"pods": 2, "periodSeconds": 4, "stabilizationSeconds": DOWN_SECONDS}},
    ),
)
EXTRA = "foreseen"


@dataclass(frozen=True)
class Forecast:
    """Replicas wanted from the moment at which the forecast's rules went, and how the autoscaler stood then."""

    steady: Watched
    raised: int
    after: list[Change]
    hpas: list[Body]
    scaled_object: Body


@dataclass(frozen=True)
class Outages:
    """What was wanted during each outage; the autoscaler in the middle of Prometheus' and after each."""

    forecast: Forecast
    without_prometheus: list[Change]
    failing: Body
    healed: Body
    without_keda: list[Change]
    grown: int
    result: LoadResult


def play(theatre: Theatre) -> Forecast:
    """Steady load, a forecast that asks for more, and then no forecast any more."""
    steady = theatre.watched("steady")
    theatre.load("steady", evenly(RATE, 1800), stream=0.2)
    theatre.until(lambda: len(steady.engines(ready=True)) == REACTIVE, "what the load asks for")
    chosen = steady.model
    with theatre.stage.plane.client() as client:
        client.patch(
            RULE.resource,
            EXTRA,
            RULE.resource(_rule(steady)),
            namespace=chosen.namespace,
            patch_type=PatchType.APPLY,
            force=True,
            field_manager=MANAGER,
        )
        raised = theatre.until(lambda: _wants(steady, FORESEEN), "what the forecast asks for")
        theatre.until(lambda: len(steady.engines(ready=True)) == FORESEEN, "engines for the forecast")
        gone = theatre.clock()
        for name in (chosen.name, EXTRA):
            client.delete(RULE.resource, name, namespace=chosen.namespace)
    theatre.until(lambda: not theatre.query(FORECAST + _labels(steady)), "no forecast")
    theatre.until(lambda: _wants(steady, REACTIVE), "what the load alone asks for")
    theatre.pause_syncs(5)
    states = [one.body for one in theatre.timeline.seen(HPA, since=gone) if one.key[1] == chosen.name]
    scaled = theatre.timeline.now(SCALED_OBJECT)[chosen.namespace, chosen.name]
    return Forecast(steady, raised, steady.wanted(gone), states, scaled)


def alone(theatre: Theatre, forecast: Forecast) -> Outages:
    """Prometheus away for longer than every window; then KEDA's two processes die together."""
    steady, plane = forecast.steady, theatre.stage.plane
    down = theatre.clock()
    with outage(plane, "prometheus"):
        failing = theatre.until(lambda: _failing(steady), "an autoscaler that says what it misses")
        theatre.pause_syncs(OUTAGE_SYNCS)
        failing = steady.hpa() or failing
    healed = theatre.until(lambda: _active(steady), "an autoscaler that reads again")
    back = theatre.clock()
    without_prometheus = [one for one in steady.wanted(down) if one.at <= back]
    for component in ("keda-operator", "keda-adapter"):
        crash(plane, component, theatre.timeline)
    burst = theatre.load("steady", Closed(clients=60, seconds=900), stream=0.1)
    grown = theatre.until(lambda: _wants(steady, FORESEEN), "what the burst asks for, read by the new KEDA")
    without_keda = steady.wanted(back)
    burst.stop()
    steady_load = next(one for one in theatre.loads if one.model == "steady")
    steady_load.stop()
    burst.wait(600)
    return Outages(forecast, without_prometheus, failing, healed, without_keda, grown, steady_load.wait(600))


def _wants(steady: Watched, replicas: int) -> int:
    wanted = steady.wanted()
    return replicas if wanted and wanted[-1].value == replicas else 0


def _failing(steady: Watched) -> Body | None:
    return steady.hpa() if steady.events("FailedGetExternalMetric") else None


def _active(steady: Watched) -> Body | None:
    found = steady.hpa()
    return found if found is not None and condition(found, "ScalingActive") == "True" else None


def _labels(steady: Watched) -> str:
    pairs = ",".join(f'{name}="{value}"' for name, value in recorded_labels(steady.model))
    return "{" + pairs + "}"


def _rule(steady: Watched) -> dict[str, object]:
    """A forecast beside the program's own, which needs days of the past to say anything."""
    labels = dict(recorded_labels(steady.model)) | {"source": "rehearsal"}
    value = (FORESEEN - 0.5) * target_rate(steady.model)
    rules = [{"record": FORECAST, "expr": f"vector({value:g})", "labels": labels}]
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": EXTRA, "namespace": steady.model.namespace},
        "spec": {"groups": [{"name": "foreseen", "interval": "1s", "rules": rules}]},
    }


@pytest.fixture
def outages(played: Outages) -> Outages:
    """What was seen."""
    return played


def test_a_forecast_that_disappears_never_lowers_below_the_load(outages: Outages) -> None:
    forecast = outages.forecast
    assert forecast.raised == FORESEEN
    assert min(change.value for change in forecast.after) == REACTIVE


def test_a_forecast_that_disappears_breaks_nothing(outages: Outages) -> None:
    forecast = outages.forecast
    # A metric that went on failing would hold the four replicas; one query that timed out on a busy machine does not.
    assert condition(forecast.hpas[-1], "ScalingActive") == "True"
    assert condition(forecast.scaled_object, "Ready") == "True"
    assert condition(forecast.scaled_object, "Fallback") == "False"


def test_an_outage_of_prometheus_never_lowers_the_replicas(outages: Outages) -> None:
    assert min(change.value for change in outages.without_prometheus) >= REACTIVE
    assert condition(outages.healed, "ScalingActive") == "True"


def test_a_crash_of_keda_never_lowers_and_the_next_burst_is_seen(outages: Outages) -> None:
    assert min(change.value for change in outages.without_keda) >= REACTIVE
    assert outages.grown == FORESEEN


def test_no_request_is_lost_to_an_outage_of_the_controllers(outages: Outages) -> None:
    result = outages.result
    assert (result.lost, result.completed) == (0, result.sent), result.by_cause
