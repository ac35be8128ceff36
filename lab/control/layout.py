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

    def write(self, path: Path, text: str) -> None:
        """Writes one of its files so that a reader sees the old or the new one, never half of it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(text)
        partial.replace(path)

    def data(self, component: str) -> Path:
        """What a component stores."""
        return self.root / "data" / component
