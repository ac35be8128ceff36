"""The whole plan: contract, recommendations, differences, tables."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from rich.console import Console

from planner.generator import generate
from planner.plan import Plan, as_markdown, difference, plan, render_difference, render_table
from planner.plan.load import Load, Typical, typical
from planner.plan.machines import machines
from planner.plan.prices import prices
from planner.replay import ReplayError, ReplayResult
from planner.traces import of_rates
from specs.settings import Model, Settings, read
from specs.settings.source import load

Make = Callable[..., Settings]
PROJECT = Path(__file__).resolve().parents[4]
SCHEMA = json.loads((PROJECT / "docs/json/plan.schema.json").read_text(encoding="utf-8"))


def shipped(stack: str) -> Settings:
    return read(load(PROJECT / f"Pulumi.{stack}.yaml").config)


def printed(show: Callable[[Console], None], width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width, soft_wrap=True)
    show(console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


STEADY = {"chat": generate("constant", 0.1, 4.0)}


@pytest.fixture(scope="module")
def dev() -> Plan:
    quick = generate("constant", 0.1, 2.0)
    return plan(shipped("dev"), "dev", {"llama3-8b": quick, "mistral-7b": quick})


@pytest.mark.parametrize("stack", ["dev", "prod", "local"])
def test_the_document_of_each_shipped_stack_fits_its_schema(stack: str) -> None:
    document = plan(shipped(stack), stack, search=False).as_json()
    jsonschema.validate(json.loads(json.dumps(document)), SCHEMA)


def test_the_document_with_recommendations_fits_its_schema(dev: Plan) -> None:
    jsonschema.validate(json.loads(json.dumps(dev.as_json())), SCHEMA)


def test_the_keys_of_the_contract_are_there(make: Make) -> None:
    document: dict[str, Any] = plan(make(), "x", search=False).as_json()
    assert {"models", "caps", "quotas", "cost", "recommendations"} <= document.keys()
    model = document["models"][0]
    assert {"name", "tiers", "timeToZeroSeconds", "firstCallerAtZero"} <= model.keys()
    assert [tier["tier"] for tier in model["tiers"]] == ["cold", "snapshot", "warm", "forecast"]
    for tier in model["tiers"]:
        assert set(tier["stages"]) == {"detect", "node", "image", "weights", "engine"}
        assert isinstance(tier["meetsSlo"], bool)


def test_the_same_stack_gives_the_same_bytes(make: Make) -> None:
    one, other = (json.dumps(plan(make(), "x", search=False).as_json()) for _ in range(2))
    assert one == other


def test_a_trace_decides_the_typical_month(make: Make) -> None:
    quiet = plan(make(), "x", {"chat": generate("constant", 0.1, 1.0)}, search=False)
    busy = plan(make(), "x", {"chat": generate("constant", 0.1, 8.0)}, search=False)
    assert quiet.cost.floor < quiet.cost.typical < busy.cost.typical < busy.cost.ceiling
    assert quiet.models[0].month.source == "constant-0.1d-seed0"


def test_a_trace_at_twice_the_scale_costs_more(make: Make) -> None:
    once, twice = (plan(make(), "x", STEADY, scale, search=False) for scale in (1.0, 2.0))
    assert twice.cost.typical > once.cost.typical


def test_a_model_without_measured_capacity_still_has_a_plan(make: Make) -> None:
    settings = make(model={"capacity": None, "scaling": {"strategy": "queue"}})
    found = plan(settings, "x", search=False)
    assert found.cost.floor < found.cost.typical < found.cost.ceiling
    assert found.models[0].month.violation_share is None


def test_a_disabled_model_is_not_in_the_plan(make: Make) -> None:
    found = plan(make(model={"enabled": False}), "x")
    assert (found.models, found.caps.replicas) == ((), 0)


def test_types_are_refused_for_gpus_memory_and_cpu_each_with_its_reason(make: Make) -> None:
    """KP4, VL8, and allocatable CPU less the DaemonSets'."""
    settings = make(
        model={
            "weightsGiB": 15,
            "maxModelLen": 131072,
            "parameters": {"layers": 32, "kvHeads": 8, "headDim": 128, "heads": 32},
        },
        pool={"instanceTypes": ["g5.2xlarge", "g5.12xlarge", "g6e.xlarge", "g6e.2xlarge"]},
    )
    reasons = {machine.type.type: machine.reason for machine in machines(settings, settings.models[0])}
    assert "tokens fit" in reasons["g5.2xlarge"]
    assert "4 GPUs" in reasons["g5.12xlarge"]
    assert "CPU" in reasons["g6e.xlarge"]
    assert reasons["g6e.2xlarge"] == ""


def test_bursts_that_outrun_a_start_are_answered_with_a_floor(make: Make) -> None:
    """Three minutes of seven requests a second in each hour of a trickle."""
    rates = np.full(180, 0.2)
    for begin in (30, 90, 150):
        rates[begin : begin + 3] = 7.0
    found = plan(make(), "x", {"chat": of_rates("bursts", rates, 60)})
    floors = [entry for entry in found.recommendations if entry.kind == "floor"]
    assert floors
    assert all(entry.usd > 0 and isinstance(entry.wanted, int) and entry.wanted > 1 for entry in floors)


def test_a_spare_is_recommended_where_it_meets_the_goal_and_priced(make: Make) -> None:
    settings = make(model={"slo": {"readySeconds": 120}, "replicas": {"min": 1, "max": 9}})
    spares = [entry for entry in plan(settings, "x", STEADY).recommendations if entry.kind == "warmSpares"]
    assert len(spares) == 1
    assert (spares[0].given, spares[0].wanted) == (0, 1)
    assert spares[0].ready_seconds is not None
    assert spares[0].ready_seconds <= 120
    assert spares[0].usd > 500


def test_a_spare_that_the_goal_does_not_need_is_recommended_away(make: Make) -> None:
    settings = make(
        model={"slo": {"readySeconds": 300}, "replicas": {"min": 1, "max": 9}, "scaling": {"warmSpares": 1}}
    )
    spares = [entry for entry in plan(settings, "x", STEADY).recommendations if entry.kind == "warmSpares"]
    assert [(entry.given, entry.wanted) for entry in spares] == [(1, 0)]
    assert spares[0].usd < -500


def test_no_spare_is_recommended_where_none_would_meet_the_goal(make: Make) -> None:
    settings = make(model={"slo": {"readySeconds": 20}, "replicas": {"min": 1, "max": 9}})
    assert not [entry for entry in plan(settings, "x", STEADY).recommendations if entry.kind == "warmSpares"]


def test_spot_is_recommended_where_drains_fit_the_notice_and_only_there(make: Make) -> None:
    """DR8: about 110 s."""
    short, long = (
        plan(make(), "x", STEADY),
        plan(make(model={"drain": {"shutdownSeconds": 250}}), "x", STEADY),
    )
    kinds = [[entry.kind for entry in found.recommendations] for found in (short, long)]
    assert "capacityTypes" in kinds[0]
    assert "capacityTypes" not in kinds[1]


def test_a_cheaper_family_is_recommended_and_marked_as_an_estimate(make: Make) -> None:
    found = plan(make(pool={"instanceTypes": ["g5.16xlarge"]}), "x", STEADY)
    family = [entry for entry in found.recommendations if entry.kind == "families"]
    assert family
    assert family[0].usd < 0
    assert family[0].estimated


def test_equal_plans_differ_in_nothing(make: Make) -> None:
    one, other = (plan(make(), "x", search=False) for _ in range(2))
    assert difference(one, other).changes == ()
    assert "Nothing changes." in as_markdown(difference(one, other))


def test_one_more_replica_shows_as_a_key_a_cap_a_quota_and_dollars(make: Make) -> None:
    before = plan(
        make(pool={"gpuLimit": 9}, budget={"maxGpus": 10}, model={"replicas": {"max": 9}}), "x", search=False
    )
    after = plan(make(), "x", search=False)
    changes = {change.item: change for change in difference(before, after).changes}
    assert changes["models[chat].replicas.max"].after == 10
    assert changes["caps.replicasGpus"].delta == 1
    assert changes["quotas.L-DB2E81BA"].delta == 8
    more = changes["cost.ceilingUsd"].delta
    assert more is not None
    assert more > 1.212 * 730


def test_the_difference_as_json_fits_its_schema(make: Make, dev: Plan) -> None:
    found = difference(plan(make(), "x", search=False), dev).as_json()
    schema = {**SCHEMA, "$ref": "#/$defs/difference"}
    schema = {key: schema[key] for key in ("$schema", "$ref", "$defs")}
    jsonschema.validate(json.loads(json.dumps(found)), schema)


def test_a_model_that_only_one_side_has_is_one_change(make: Make, dev: Plan) -> None:
    found = difference(plan(make(), "x", search=False), dev).changes
    assert [change.item for change in found if change.item.startswith("models[chat]")] == ["models[chat]"]


def test_markdown_has_a_table_of_consequences_and_one_of_settings(make: Make, dev: Plan) -> None:
    text = as_markdown(difference(plan(make(), "x", search=False), dev))
    assert text.startswith("### Plan: x → dev\n")
    assert "| consequence | before | after | change |" in text
    assert "| setting | before | after |" in text
    assert "| `cost.ceilingUsd` | $" in text


@pytest.mark.parametrize("full", [False, True])
def test_the_tables_name_every_model_tier_and_total(dev: Plan, full: bool) -> None:
    text = printed(lambda console: render_table(dev, console, full))
    for word in (
        "llama3-8b",
        "mistral-7b",
        "cold (this stack)",
        "snapshot",
        "forecast",
        "ceiling",
        "published",
    ):
        assert word in text


@pytest.mark.parametrize("width", [80, 120])
def test_the_plan_of_two_models_fits_the_width_and_two_screens(dev: Plan, width: int) -> None:
    lines = printed(lambda console: render_table(dev, console), width).rstrip().splitlines()
    assert max(map(len, lines[:-1])) <= width
    assert len(lines) <= 60


def test_only_the_full_plan_has_each_line_of_the_bill_and_each_refused_type(dev: Plan) -> None:
    short, full = (
        printed(lambda console, full=full: render_table(dev, console, full)) for full in (False, True)
    )
    for word in ("gpuNodes (llama3-8b)", "has 4 GPUs, the replica asks 1"):
        assert word in full
        assert word not in short


def test_a_trace_that_the_stack_meets_late_is_told_with_the_way_out(make: Make) -> None:
    found = plan(make(model={"replicas": {"max": 2}}), "x", {"chat": generate("constant", 0.1, 8.0)})
    text = " ".join(printed(lambda console: render_table(found, console)).split())
    assert "the trace constant-0.1d-seed0 for chat (late" in text
    assert "raise replicas.max" in text


def test_an_assumed_load_is_said_to_be_one(make: Make) -> None:
    text = printed(lambda console: render_table(plan(make(), "x", search=False), console))
    assert "an assumed diurnal day" in text
    typical_ = plan(make(), "x", STEADY, search=False).as_json()["models"]
    assert isinstance(typical_, list)
    assert typical_[0]["typical"]["assumed"] is False


@pytest.mark.parametrize(
    ("changed", "named", "scale"),
    [({}, "nobody", 1.0), ({"capacity": None}, "chat", 1.0), ({}, "chat", 0.0)],
    ids=["another model", "no capacity", "no scale"],
)
def test_a_trace_that_cannot_be_replayed_is_refused(
    make: Make, changed: dict[str, Any], named: str, scale: float
) -> None:
    with pytest.raises(ReplayError):
        plan(make(model=changed), "x", {named: STEADY["chat"]}, scale, search=False)


def test_the_difference_table_keeps_square_brackets(make: Make, dev: Plan) -> None:
    text = printed(
        lambda console: render_difference(difference(plan(make(), "x", search=False), dev), console)
    )
    assert "models[chat]" in text


def test_prices_of_another_region_are_told(make: Make) -> None:
    settings = make().model_copy(update={"region": "eu-west-1"})
    assert plan(settings, "x", search=False).sources()["ofStackRegion"] is False


def test_a_refreshed_catalogue_tells_types_that_the_zones_do_not_offer(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = prices().model_copy(update={"offerings": {"g5.2xlarge": ("us-east-1f",)}})
    monkeypatch.setattr("planner.plan.machines.prices", lambda: known)
    settings = make()
    assert "us-east-1f alone" in machines(settings, settings.models[0])[0].reason


def test_models_alike_cost_alike_and_are_replayed_once(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty-four of them would otherwise take minutes."""
    replays: list[str] = []
    real = typical

    def counted(settings: Settings, model: Model, load: Load, result: ReplayResult | None = None) -> Typical:
        replays.append(model.name)
        return real(settings, model, load, result)

    monkeypatch.setattr("planner.plan.build.typical", counted)
    one = make().models[0]
    twins = [
        one.model_dump(mode="json", by_alias=True) | {"name": name, "replicas": {"max": 5}} for name in "ab"
    ]
    found = plan(make(models=twins), "x", search=False)
    assert found.models[0].month == found.models[1].month
    assert replays == ["a"]
