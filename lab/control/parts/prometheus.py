"""Prometheus: scrapes and rules come from the monitors in the API server (see ``lab.control.monitors``)."""

from lab.control.component import Component, Health
from lab.control.parts.context import Context


def prometheus(lab: Context) -> Component:
    """Starts with what the keeper last wrote, or with nothing to scrape."""
    config = lab.layout.config("prometheus.yml")
    argv = [
        lab.tool("prometheus"),
        f"--config.file={config}",
        f"--storage.tsdb.path={lab.layout.data('prometheus')}",
        "--storage.tsdb.retention.time=2d",
        f"--web.listen-address={lab.address('prometheus')}",
        "--web.enable-lifecycle",
        "--log.level=warn",
    ]
    health = Health(url=f"{lab.url('prometheus')}/-/ready")
    return Component(name="prometheus", argv=tuple(argv), initial={config: "global: {}\n"}, health=health)
