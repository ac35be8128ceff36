"""What was asked of the account and changed it, so that an account that was killed comes back with its instances."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import parse_qs

_READS = ("Describe", "Get", "List")


@dataclass(frozen=True)
class Change:
    """A call: the headers by which moto knows service, region and operation, and the body."""

    headers: Mapping[str, str]
    body: str


def changes(operation: str, body: str) -> bool:
    """Whether a call leaves something behind. The name of a call says so in all services; a dry run does not.

    Messages are left out: an interruption queue's are read within seconds, and a receipt cannot be read twice.
    """
    return not operation.startswith((*_READS, "SendMessage", "ReceiveMessage", "DeleteMessage")) and (
        parse_qs(body).get("DryRun") != ["true"]
    )


class Journal:
    """Changes in the order in which they were made.

    It belongs to one seeding of the account, of which ``seed`` is the text: ids drawn after another one would differ.
    """

    def __init__(self, file: Path, seed: str) -> None:
        self._file = file
        mark = hashlib.sha256(seed.encode()).hexdigest()
        lines = file.read_text().splitlines() if file.exists() else []
        self.past = list(_readable(lines[1:])) if lines[:1] == [mark] else []
        """What was made before this process."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join([mark, *(json.dumps(asdict(one)) for one in self.past)]) + "\n")
        self._length = len(self.past)

    def write(self, change: Change) -> int:
        """Keeps a change that is about to be made; its number."""
        with self._file.open("a") as file:
            file.write(json.dumps(asdict(change)) + "\n")
        self._length += 1
        return self._length


def _readable(lines: Iterable[str]) -> Iterator[Change]:
    for line in lines:
        try:
            yield Change(**json.loads(line))
        except ValueError:
            return  # the line at which the last process died
