"""etcd: the store of the API server."""

from lab.control.component import Component, Health
from lab.control.parts.context import Context


def etcd(lab: Context) -> Component:
    """One member on loopback. Without fsync: a lab need not outlive the machine's power."""
    client, peer = lab.url("etcd"), lab.url("etcd-peer")
    argv = [lab.tool("etcd"), "--name=lab", f"--data-dir={lab.layout.data('etcd')}", "--unsafe-no-fsync"]
    argv += [f"--listen-client-urls={client}", f"--advertise-client-urls={client}"]
    argv += [
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=lab={peer}",
    ]
    argv += ["--log-level=warn", "--auto-compaction-mode=periodic", "--auto-compaction-retention=10m"]
    return Component(name="etcd", argv=tuple(argv), health=Health(url=f"{client}/health"))
