"""The binaries of the lab: found on PATH, or built from pinned Go modules into a cache outside the tree."""

from lab.tools.build import ensure, find
from lab.tools.catalogue import TOOLS, Tool
from lab.tools.errors import ToolError
from lab.tools.progress import Display, Lines, Progress, Silent

__all__ = ["TOOLS", "Display", "Lines", "Progress", "Silent", "Tool", "ToolError", "ensure", "find"]
