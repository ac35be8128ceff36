"""vllm-router from its wheel: one process for each router pod or model; not part of every lab."""

import sys
from collections.abc import Mapping
from pathlib import Path

from lab.control.component import Component, Health


def router(
    *,
    name: str,
    kubeconfig: Path,
    namespace: str,
    selector: Mapping[str, str],
    host: str,
    port: int,
    metrics_port: int,
    arguments: tuple[str, ...] = (),
    engine_port: int = 8000,
) -> Component:
    """A router that finds its engines through the API server.

    ``arguments`` are the container's own (policy, retries, circuit breaker), so that the lab runs what the program
    declares; those for discovery and addresses are the lab's. Health is /liveness: /readiness is 503 at zero
    workers (vllm-router 0.1.17).
    """
    argv = [sys.executable, "-m", "vllm_router.launch_router", "--host", host, "--port", str(port)]
    argv += ["--service-discovery", "--service-discovery-namespace", namespace]
    argv += ["--service-discovery-port", str(engine_port), "--selector"]
    argv += [f"{key}={value}" for key, value in sorted(selector.items())]
    argv += ["--prometheus-host", host, "--prometheus-port", str(metrics_port), *arguments]
    return Component(
        name=name,
        argv=tuple(argv),
        environment={"KUBECONFIG": str(kubeconfig)},
        health=Health(url=f"http://{host}:{port}/liveness"),
        # It waits for held requests without a limit; the pod's grace ends that in a cluster.
        grace=30.0,
    )
