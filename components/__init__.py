"""What exists: one ComponentResource a file; the thinking stands in specs."""
