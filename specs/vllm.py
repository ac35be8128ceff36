"""What a vLLM image understands, by its version."""

from __future__ import annotations

from typing import Final, Literal

from specs.metrics_names import vllm_version

Feature = Literal["--shutdown-timeout", "--safetensors-load-strategy", "distributed streaming"]

SINCE: Final[dict[Feature, tuple[int, int]]] = {
    # vllm pull request 34730: reverted by 36628, back by 36666, first in 0.18.
    "--shutdown-timeout": (0, 18),
    # vllm pull request 24469, merged 2025-09.
    "--safetensors-load-strategy": (0, 11),
    # vllm pull request 27230: the GPUs of a replica read each file once between them.
    "distributed streaming": (0, 12),
}
CURRENT: Final = (0, 33)
"""The newest version this was checked against."""


def understands(image: str, feature: Feature) -> bool:
    """Whether the image's vLLM knows a feature. An image that does not tell its version (a digest alone, a
    nightly, an own tag) counts as current: without --shutdown-timeout it would cut every request at
    scale-down, while with a flag it does not know it stops at once and the rollout keeps the old replicas.
    """
    return (vllm_version(image) or CURRENT) >= SINCE[feature]
