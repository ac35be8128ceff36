"""Free ports and pod networks: chosen once per lab, never the same for two labs of one machine."""

import fcntl
import hashlib
import json
import os
import socket
import tempfile
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from lab.control.errors import LabError

# Below the kernel's ephemeral range (32768 on, ip_local_port_range), from which a passing connection could take
# the port of a component that is restarting.
_FIRST, _LAST = 20000, 32000
_NETWORKS = range(10, 250)

CUSTOMARY: Mapping[str, int] = MappingProxyType({"prometheus": 9090})
"""Taken when free: the address that a stack file names for a Prometheus on this machine."""


def is_free(port: int) -> bool:
    """Whether a server could listen on the port of 127.0.0.1 now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def choose(root: Path, names: Iterable[str], kept: Mapping[str, int]) -> dict[str, int]:
    """A port for each name: those of ``kept`` first, new ones free now and claimed by no other lab."""
    wanted = list(names)
    with _claims() as claims:
        taken = {port for lab, claim in claims.items() if lab != str(root) for port in claim["ports"]}
        ports = {name: port for name, port in kept.items() if name in wanted}
        taken |= set(ports.values())
        width = _LAST - _FIRST
        start = int.from_bytes(hashlib.sha256(str(root).encode()).digest()[:4], "big")
        candidates = (_FIRST + (start + step) % width for step in range(width))
        free = (port for port in candidates if port not in taken and is_free(port))
        for name in wanted:
            if name not in ports:
                usual = CUSTOMARY.get(name)
                wants = usual is not None and usual not in taken and is_free(usual)
                port = usual if wants else next(free, None)
                if port is None:
                    raise LabError(
                        f"No free port between {_FIRST} and {_LAST} on 127.0.0.1; stop other labs."
                    )
                ports[name] = port
        mine = claims.setdefault(str(root), {"ports": [], "network": []})
        mine["ports"] = sorted(ports.values())
        return ports


def pod_network(root: Path) -> str:
    """The loopback network of the lab's pods, such as 127.10.0.0/16, shared with no other lab of this machine."""
    with _claims() as claims:
        mine = claims.setdefault(str(root), {"ports": [], "network": []})
        taken = {number for lab, claim in claims.items() if lab != str(root) for number in claim["network"]}
        if not mine["network"]:
            free = next((number for number in _NETWORKS if number not in taken), None)
            if free is None:
                raise LabError(f"{len(_NETWORKS)} labs hold all pod networks of this machine; stop some.")
            mine["network"] = [free]
        return f"127.{mine['network'][0]}.0.0/16"


def release(root: Path) -> None:
    """Gives a lab's ports and network back."""
    with _claims() as claims:
        claims.pop(str(root), None)


@contextmanager
def _claims() -> Generator[dict[str, dict[str, list[int]]]]:
    """The claims of all labs of this user; those of labs whose folder is gone are dropped."""
    path = Path(tempfile.gettempdir()) / f"headroom-labs-{os.getuid()}.json"
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            claims: dict[str, dict[str, list[int]]] = json.loads(file.read() or "{}")
        except json.JSONDecodeError:
            claims = {}
        claims = {lab: claim for lab, claim in claims.items() if Path(lab).is_dir()}
        yield claims
        file.seek(0)
        file.truncate()
        json.dump(claims, file)
