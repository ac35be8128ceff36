"""Simulated vLLM engines and the kubelet's part in the life of their pods, one process for a whole lab."""
