"""The load of one model of a stack on a lab: its name, sizes and routers."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, cast

from lab.load.errors import LoadError
from lab.load.load import Load
from lab.load.profile import PUBLISHED_CLIENTS, Closed, Profile, of_trace, trace_of
from lab.load.request import Asking
from lab.load.targets import Routers
from planner.engine import request_size
from specs.patience import hold_seconds
from specs.problems import Problem, shown
from specs.settings.model import Model
from specs.settings.stack import Settings

STREAM_SHARE: Final = 0.8


def model_of(settings: Settings, name: str | None) -> Model:
    """The model named, or the first that is served. Raises LoadError."""
    models = {model.name: model for model in settings.active_models}
    if name is None and models:
        return next(iter(models.values()))
    if name not in models:
        allowed = f"one of {', '.join(models)}" if models else "a stack with a model"
        raise LoadError([Problem("--model", shown(name), allowed, "name a model that the stack serves")])
    return models[name]


def asking_of(settings: Settings, model: Model, *, stream: float = STREAM_SHARE) -> Asking:
    """Requests of the sizes that the model's capacity was measured with.

    They wait a minute longer than the router holds a request, ten minutes at least, and five more for the rest.
    """
    prompt, output = request_size(model)
    patience = max(600.0, hold_seconds(settings, model) + 60.0)
    return Asking(
        prompt_tokens=prompt,
        output_tokens=output,
        stream_share=stream,
        longest_context=model.max_model_len,
        first_byte_seconds=patience,
        total_seconds=patience + 300.0,
    )


def of_stack(
    settings: Settings,
    kubeconfig: Path,
    profile: Profile,
    *,
    model: str | None = None,
    seed: int = 0,
    asking: Asking | None = None,
) -> Load:
    """A load on the routers of a model in the cluster of a kubeconfig. Raises LoadError."""
    chosen = model_of(settings, model)
    routers = Routers(kubeconfig, chosen.namespace, chosen.name)
    return Load(routers, chosen.api_name, profile, seed, asking=asking or asking_of(settings, chosen))


def profile_of(
    settings: Settings,
    *,
    model: str | None = None,
    clients: int | None = None,
    arrivals: str | None = None,
    scale: float = 1.0,
    speed: float = 1.0,
    seconds: float | None = None,
    requests: int | None = None,
    seed: int = 0,
) -> Profile:
    """Clients, 50 unless said, or the arrivals named. Raises LoadError."""
    if arrivals is None:
        return Closed(
            clients=PUBLISHED_CLIENTS if clients is None else clients, seconds=seconds, requests=requests
        )
    if clients is not None:
        given = "both --clients and --arrivals"
        raise LoadError([Problem("command line", given, "one of them", "leave one out")])
    prompt, output = request_size(model_of(settings, model))
    return of_trace(
        trace_of(arrivals, seed),
        scale=scale,
        speed=speed,
        seed=seed,
        seconds=seconds,
        requests=requests,
        prompt_tokens=prompt,
        output_tokens=output,
    )


def both(asking: Callable[[], Asking], profile: Callable[[], Profile]) -> tuple[Asking, Profile]:
    """What is asked and when. Raises one LoadError with the problems of either."""
    problems: list[Problem] = []
    made: list[Asking | Profile] = []
    for make in (asking, profile):
        try:
            made.append(make())
        except LoadError as error:
            problems += error.problems
    if problems:
        raise LoadError(problems)
    return cast(tuple[Asking, Profile], tuple(made))
