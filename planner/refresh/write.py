"""The two data files, a line an entry, replaced together."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast


def catalogue_text(head: Mapping[str, str], types: Sequence[Mapping[str, Any]]) -> str:
    """specs/data/instances.json."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    rows = ",\n".join(f"    {json.dumps(entry)}" for entry in types)
    return "{\n" + "\n".join(lines) + '\n  "types": [\n' + rows + "\n  ]\n}\n"


def prices_text(document: Mapping[str, Any]) -> str:
    """specs/data/prices.json: mappings of the first level a line an entry."""
    parts: list[str] = []
    for key, value in document.items():
        if isinstance(value, Mapping) and value:
            entries = cast(Mapping[str, Any], value)
            rows = ",\n".join(
                f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items()
            )
            parts.append(f"  {json.dumps(key)}: {{\n{rows}\n  }}")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def replace(texts: Mapping[Path, str]) -> None:
    """Write all files beside their places, then rename them: a full disk leaves the old ones. Raises OSError."""
    fresh: list[tuple[Path, Path]] = []
    try:
        for path, text in texts.items():
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            fresh.append((Path(name), path))
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).chmod(path.stat().st_mode if path.exists() else 0o644)
        for temporary, path in fresh:
            temporary.replace(path)
    finally:
        for temporary, _ in fresh:
            temporary.unlink(missing_ok=True)
