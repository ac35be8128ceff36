"""Talking to AWS: clients, retries, and errors in words."""
