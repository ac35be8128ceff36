"""What a stack tells the fleet."""

from pathlib import Path

from lab.fleet.settings import UNKNOWN, FleetSettings, Told, of_stack
from planner.calibrated import engine_model
from specs.catalogue import catalogue
from specs.stages import tiers
from tests.unit.lab.fleet.bodies import local


def test_engines_have_the_replays_speed_on_each_type_and_the_plans_seconds() -> None:
    settings = local()
    model = settings.active_models[0]
    timing = of_stack(settings).timing("llm-serving", model.api_name)
    cold = tiers(settings, model)[0]
    assert (timing.image, timing.weights, timing.start) == (cold.image, cold.weights, cold.engine)
    (l4,) = [entry for entry in catalogue().types if entry.type == "g6.2xlarge"]
    assert timing.engines["g6.2xlarge"] == engine_model(settings, model, l4)
    assert timing.engines["g5.2xlarge"] != timing.engines["g6.2xlarge"]
    assert timing.output_tokens == 211


def test_settings_survive_their_file() -> None:
    made = of_stack(local(), factor=0.1)
    assert FleetSettings.model_validate_json(made.model_dump_json()) == made


def test_a_model_of_no_stack_has_the_stated_defaults() -> None:
    assert FleetSettings().timing("default", "x") == UNKNOWN


def test_a_fleet_that_runs_heeds_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "fleet.json"
    told = Told(path)
    assert told() == FleetSettings()
    for factor in (0.5, 0.25):
        partial = tmp_path / "partial"
        partial.write_text(FleetSettings(factor=factor).model_dump_json())
        partial.replace(path)
        assert told().factor == factor
    assert told() is told()
