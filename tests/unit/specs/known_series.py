"""Every series that anybody exports or records, as the specs write them once."""

from __future__ import annotations

from functools import cache

from specs import metrics_names, series

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
    return frozenset(named - set(HISTOGRAMS)) | parts | {"ALERTS"}
