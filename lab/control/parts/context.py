"""What every part is rendered from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.control.certificates import Certificates
from lab.control.layout import Layout
from lab.control.settings import LabSettings


@dataclass(frozen=True, kw_only=True)
class Context:
    """The lab's paths, ports by purpose, choices, certificates and tools; ``pods`` is the pods' loopback network."""

    layout: Layout
    ports: Mapping[str, int]
    pods: str
    settings: LabSettings
    certificates: Certificates
    tools: Mapping[str, Path]

    def address(self, purpose: str) -> str:
        """host:port of a purpose."""
        return f"127.0.0.1:{self.ports[purpose]}"

    def url(self, purpose: str, scheme: str = "http") -> str:
        """The root URL of a purpose."""
        return f"{scheme}://{self.address(purpose)}"

    def tool(self, name: str) -> str:
        """A tool's path as an argument."""
        return str(self.tools[name])
