"""What a running part of the lab is: a command, its environment, and how to see that it is well."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict


class Health(BaseModel):
    """An URL that answers 200 once the component is well.

    ``ca`` is the certificate that signs the answer; without one an https answer on loopback is not verified (the
    controllers sign their own). ``token`` is a file with a bearer token. ``seconds`` is the deadline of a start.
    """

    model_config = ConfigDict(frozen=True)

    url: str
    ca: Path | None = None
    token: Path | None = None
    seconds: float = 60.0


class Component(BaseModel):
    """A process of the lab, complete: it can be started again from this alone.

    ``environment`` is added to the few variables that every component gets (PATH, HOME, TMPDIR): nothing of the
    user's cloud credentials or proxies reaches it. ``files`` are written before each start (path to content),
    ``initial`` ones only when absent. ``grace`` is the seconds between SIGTERM and SIGKILL.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    argv: tuple[str, ...]
    environment: dict[str, str] = {}
    files: dict[Path, str] = {}
    initial: dict[Path, str] = {}
    health: Health
    grace: float = 10.0
