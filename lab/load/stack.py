"""The load of one model of a stack on a lab: its name, sizes and routers."""

from pathlib import Path

from lab.load.errors import LoadError
from lab.load.load import Load
from lab.load.profile import Closed, Open, Profile, of_trace, trace_of
from lab.load.request import Asking
from lab.load.targets import Routers
from planner.engine import request_size
from specs.problems import Problem, shown
from specs.settings.model import Model
from specs.settings.stack import Settings


def model_of(settings: Settings, name: str | None) -> Model:
    """The model named, or the first that is served. Raises LoadError."""
    models = {model.name: model for model in settings.active_models}
    if name is None and models:
        return next(iter(models.values()))
    if name not in models:
        allowed = f"one of {', '.join(models)}" if models else "a stack with a model"
        raise LoadError([Problem("--model", shown(name), allowed, "name a model that the stack serves")])
    return models[name]


def asking_of(model: Model, *, stream: float = 0.8, chat: float = 0.5) -> Asking:
    """Requests of the sizes that the model's capacity was measured with."""
    prompt, output = request_size(model)
    return Asking(
        prompt_tokens=prompt,
        output_tokens=output,
        stream_share=stream,
        chat_share=chat,
        longest_context=model.max_model_len,
    )


def of_stack(
    settings: Settings,
    kubeconfig: Path,
    profile: Profile,
    *,
    model: str | None = None,
    seed: int = 0,
    stream: float = 0.8,
) -> Load:
    """A load on the routers of a model in the cluster of a kubeconfig. Raises LoadError."""
    chosen = model_of(settings, model)
    routers = Routers(kubeconfig, chosen.namespace, chosen.name)
    return Load(routers, chosen.api_name, profile, seed, asking=asking_of(chosen, stream=stream))


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
) -> Closed | Open:
    """What the command line asks for: 50 clients unless arrivals are named. Raises LoadError."""
    if arrivals is None:
        return Closed(**({} if clients is None else {"clients": clients}), seconds=seconds, requests=requests)
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
