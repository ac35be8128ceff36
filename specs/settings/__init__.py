"""Settings: the configuration contract, read once."""

from specs.settings.model import Model
from specs.settings.read import read
from specs.settings.stack import GpuPool, Settings

__all__ = ["GpuPool", "Model", "Settings", "read"]
