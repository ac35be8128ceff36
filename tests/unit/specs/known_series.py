"""Every series that anybody exports or records, as the specs write them once."""

from __future__ import annotations

from functools import cache

from specs import metrics_names, series

NO_SERIES = (
    metrics_names.MODEL_LABEL,
    metrics_names.NO_WORKERS,
    series.SPOT_NOTICE,
    series.GPU_RESOURCE,
    series.KUBE_GPU_RESOURCE,
    series.GPU_HOST,
)
"""Labels and their values, which stand beside the names."""
HISTOGRAMS = (metrics_names.TTFT, metrics_names.ITL, metrics_names.END_TO_END, metrics_names.QUEUED)


@cache
def known() -> frozenset[str]:
    """All names, those of histograms with their suffixes, and Prometheus' own ALERTS."""
    named = {
        value
        for module in (metrics_names, series)
        for key, value in vars(module).items()
        if key.isupper() and isinstance(value, str)
    }
    parts = {f"{name}{suffix}" for name in HISTOGRAMS for suffix in ("_bucket", "_sum", "_count")}
    return frozenset(named - {*HISTOGRAMS, *NO_SERIES}) | parts | {"ALERTS"}
