"""The headroom command: thin, each command calls a room's own function and shows what it returns."""
