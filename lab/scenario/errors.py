"""The error of a wait that was in vain."""


class WaitError(RuntimeError):
    """What was awaited did not come; the text says what, for how long, and how things stood."""
