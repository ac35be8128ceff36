"""Pulumi Cloud as the recorded cloud knows it: deployment settings, schedules, policy packs and groups."""
