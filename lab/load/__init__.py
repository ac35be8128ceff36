"""Load on the lab's routers: OpenAI requests, streamed and not, each one accounted for.

``Load(["http://127.0.0.1:8000"], "llama3-8b", Closed(clients=50, seconds=120)).run()`` gives a ``LoadResult``;
``of_stack`` finds name, sizes and routers of a model by the stack's settings.
"""

from lab.load.errors import LoadError
from lab.load.ledger import Counts, Failure, Percentiles, Second
from lab.load.live import view, watched
from lab.load.load import Load
from lab.load.profile import Closed, Open, Profile, of_trace, trace_of
from lab.load.request import Asking
from lab.load.result import LoadResult
from lab.load.stack import asking_of, both, model_of, of_stack, profile_of
from lab.load.targets import Fixed, Routers, Targets

__all__ = [
    "Asking",
    "Closed",
    "Counts",
    "Failure",
    "Fixed",
    "Load",
    "LoadError",
    "LoadResult",
    "Open",
    "Percentiles",
    "Profile",
    "Routers",
    "Second",
    "Targets",
    "asking_of",
    "both",
    "model_of",
    "of_stack",
    "of_trace",
    "profile_of",
    "trace_of",
    "view",
    "watched",
]
