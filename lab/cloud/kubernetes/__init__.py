"""Kubernetes as the recorded cloud knows it: objects and Helm releases, recorded or passed on to a real API
server."""
