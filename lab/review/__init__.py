"""What a change does to a stack: the base's stack brought up, the head's previewed against it."""
