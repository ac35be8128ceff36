"""The part of prometheus-operator that the lab needs: monitors and rules of the API server become Prometheus' own."""

from lab.control.monitors.config import Configuration, configuration

__all__ = ["Configuration", "configuration"]
