"""The CrossGuard pack: what any program's resources may be. It imports nothing outside this folder."""
