"""The one error of the tool builder: what was wanted, what was found, and the way out."""


class ToolError(Exception):
    """A tool can't be had. The text is for the user and complete in itself."""
