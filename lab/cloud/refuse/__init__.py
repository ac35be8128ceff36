"""What AWS would refuse, where it is cheap to know before asking it.

Each rule reads one resource's inputs, and what the same run declared before it, and yields problems. A value
that is not known yet is never a problem.
"""
