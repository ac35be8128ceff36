"""What the lab measures."""
