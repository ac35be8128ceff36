"""The whole loop, watched: a stack on a lab, a burst, the way up to the most replicas and back, nothing lost."""
