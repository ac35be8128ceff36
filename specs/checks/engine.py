"""Arguments the engine gets twice, or must not get at all."""

from __future__ import annotations

from collections.abc import Iterator

from specs.checks.places import active
from specs.engine_args import loader
from specs.extra_args import PARALLEL, arguments
from specs.problems import Problem, shown
from specs.quantity import GIBI, parse_bytes
from specs.settings.model import Model
from specs.settings.stack import Settings

GENERATED = {
    "--model": "model",
    "--served-model-name": "servedName",
    "--max-model-len": "maxModelLen",
    "--max-num-seqs": "maxNumSeqs",
    "--max-num-batched-tokens": "maxBatchedTokens",
    "--gpu-memory-utilization": "gpuMemoryUtilization",
    "--shutdown-timeout": "drain.shutdownSeconds",
    "--load-format": "weights.backend",
    "--config": "",
    "--headless": "",
    "--disable-log-stats": "",
    "--ssl-keyfile": "",
    "--ssl-certfile": "",
    "--data-parallel-size": "replicas",
    "-dp": "replicas",
    "--port": "",
    "--host": "",
}
SECRETS = ("--api-key", "--hf-token")
# NCCL moves tensors through /dev/shm once a replica has several GPUs (NVIDIA/nccl issue 525).
SHARED_MEMORY_GIB = 8


def _abbreviates(name: str, full: str) -> bool:
    """argparse takes any unambiguous beginning of a long option."""
    return name.startswith("--") and len(name) > len("--m") and full.startswith(name)


def problems(settings: Settings) -> Iterator[Problem]:
    """extraArgs against the settings, and shared memory against the memory limit."""
    for path, model in active(settings):
        given = arguments(model)
        # Of what an option says twice the engine takes the last: the loader would be undone.
        own = (word for word in loader(settings, model) if word.startswith("--"))
        generated = GENERATED | dict.fromkeys(own, "weights.backend")
        yield from _parallel(f"{path}.extraArgs", model, given)
        for word in model.extra_args:
            if any(char.isspace() for char in word) and word.startswith("-") and "=" not in word:
                yield Problem(
                    f"{path}.extraArgs",
                    shown(word),
                    "one list element for each word",
                    'write ["--name", "value"]',
                )
        for name in given:
            full = next(
                (option for option in generated if name == option or _abbreviates(name, option)), None
            )
            if full is not None:
                key = generated[full]
                yield Problem(
                    f"{path}.extraArgs",
                    shown(name),
                    "arguments that the program does not set or rely on itself",
                    f"remove it and set {key}"
                    if key
                    else "remove it: probes, router and autoscaler rely on it",
                )
        for secret in (name for name in given if name in SECRETS):
            yield Problem(
                f"{path}.extraArgs",
                f'"{secret}" with its value hidden',
                "no secret among arguments: they show in the process list and in the stack's state",
                "put VLLM_API_KEY or HF_TOKEN into the secret named by secretName",
            )
        memory = parse_bytes(model.resources.memory) / GIBI
        if model.gpus_per_replica > 1 and memory <= SHARED_MEMORY_GIB:
            yield Problem(
                f"{path}.resources.memory",
                shown(model.resources.memory),
                f"more than {SHARED_MEMORY_GIB}Gi: /dev/shm of that size counts against it with several GPUs",
                "raise it to 24Gi or more",
            )


def _parallel(path: str, model: Model, given: dict[str, str]) -> Iterator[Problem]:
    sizes = {PARALLEL[name]: value for name, value in given.items() if name in PARALLEL}
    if not sizes:
        return
    try:
        product = int(sizes.get("tp", str(model.gpus_per_replica) if "pp" not in sizes else "1")) * int(
            sizes.get("pp", "1")
        )
    except ValueError:
        product = -1
    if product != model.gpus_per_replica:
        text = ", ".join(f"{name} {value}" for name, value in given.items() if name in PARALLEL)
        yield Problem(
            path,
            shown(text),
            f"tensor x pipeline parallel size equal to gpusPerReplica, {model.gpus_per_replica}",
            "set gpusPerReplica and remove the argument",
        )


def warnings(settings: Settings) -> Iterator[Problem]:
    """Batches that make no sense together."""
    for path, model in active(settings):
        if model.max_batched_tokens < model.max_num_seqs:
            yield Problem(
                f"{path}.maxBatchedTokens",
                shown(model.max_batched_tokens),
                f"at least maxNumSeqs, {model.max_num_seqs}: each running request takes a token a step",
                "raise it to 8192",
            )
