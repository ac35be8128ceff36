"""The recorded cloud: the real Pulumi engine against providers that answer from a book instead of from AWS.

What is real: the engine, its state, its diffs and its order of work; the program; the policy pack. What is
recorded: what AWS, the pulumi-eks plugin and Helm would have answered. Nothing leaves the machine and no
credentials are read.
"""
