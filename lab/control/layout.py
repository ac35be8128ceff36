"""Where a lab keeps its files: everything lies in one folder."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The paths below a lab's state folder."""

    root: Path

    @property
    def state(self) -> Path:
        """Ports, settings and processes; its presence makes the folder a lab."""
        return self.root / "lab.json"

    @property
    def lock(self) -> Path:
        """Held by whoever changes the lab."""
        return self.root / "lock"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.root / "kubeconfig"

    @property
    def certificates(self) -> Path:
        """Certificates, keys and tokens, readable by their owner only."""
        return self.root / "certificates"

    @property
    def logs(self) -> Path:
        """One log a component."""
        return self.root / "logs"

    def log(self, component: str) -> Path:
        """The log of a component."""
        return self.logs / f"{component}.log"

    def config(self, name: str) -> Path:
        """A rendered configuration file."""
        return self.root / "config" / name

    def data(self, component: str) -> Path:
        """What a component stores."""
        return self.root / "data" / component
