"""The one error of the control plane: what failed, where its log is, and the way out."""


class LabError(Exception):
    """The lab can't do what was asked. The text is for the user and complete in itself."""
