"""Random bursts, kills and notices by a seed, on a stack under steady load: what is lost, and what was to blame."""
