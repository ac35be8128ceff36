"""Starts components again that died, as a kubelet would: at once, then with a growing pause."""

import time
from dataclasses import dataclass, field

from lab.control import process
from lab.control.errors import LabError
from lab.control.layout import Layout
from lab.control.state import Running, load, locked, save

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 10.0
_CALM_SECONDS = 60.0


@dataclass
class _Record:
    deaths: int = 0
    last: float = 0.0


@dataclass
class Supervisor:
    """Remembers how often each component died lately."""

    layout: Layout
    own: str
    records: dict[str, _Record] = field(default_factory=dict[str, _Record])

    def look(self) -> list[str]:
        """Restarts what died; the names. Skips a round while another command changes the lab."""
        state = load(self.layout)
        dead = [] if state is None else [name for name, one in state.running.items() if self._due(name, one)]
        if not dead:
            return []
        try:
            with locked(self.layout, seconds=0.0):
                return [name for name in dead if self._restart(name)]
        except LabError:
            return []

    def _due(self, name: str, running: Running) -> bool:
        if name == self.own or not running.wanted or process.find(running.identity):
            return False
        record = self.records.setdefault(name, _Record())
        pause = min(_FIRST_PAUSE_SECONDS * 2**record.deaths, _LONGEST_PAUSE_SECONDS) if record.deaths else 0.0
        return time.monotonic() - record.last >= pause

    def _restart(self, name: str) -> bool:
        state = load(self.layout)
        running = state.running.get(name) if state else None
        if state is None or running is None or not running.wanted or process.find(running.identity):
            return False
        record, now = self.records[name], time.monotonic()
        record.deaths = record.deaths + 1 if now - record.last < _CALM_SECONDS else 1
        record.last = now
        running.identity = process.start(running.component, self.layout.log(name))
        running.restarts += 1
        save(self.layout, state)
        return True
