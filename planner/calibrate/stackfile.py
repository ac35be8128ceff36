"""The measured capacity into the stack file, everything else as it was, comments included."""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from planner.calibrate.result import Calibration, refused
from specs.settings import read
from specs.settings.source import load

MODELS = "headroom:models"
_NOTES = r"(?:[ ]*#[^\n]*\n|\n)*"
DASH = r"^(?P<key> *)[^\s#-][^\n]*:[^\n]*\n" + _NOTES + r"(?P<dash> *)-(?P<gap> +)\S"
"""The first list below a key: how far its dashes and its contents are moved in."""
STEP = r"^config:[^\n]*\n" + _NOTES + r"(?P<step> +)\S"


def write_capacity(path: Path, model: str, calibration: Calibration) -> None:
    """Set the model's `capacity`. The file is replaced in one piece, and only by one that is still accepted. Raises
    CalibrationError, or SettingsError where the file can't be read.
    """
    if not calibration.safe:
        raise refused(
            f"models[{model}].capacity",
            f"at most {calibration.requests_per_second:.3g} requests a second (p95 {calibration.ttft_p95:.2f} s)",
            f"a rate served within slo.ttftSeconds, {calibration.slo:g}",
            "scrape at a lower load, or let `headroom calibrate` search with --endpoint",
        )
    place = path.resolve()
    before = load(place).config  # tells what is wrong with an unreadable file
    text = _changed(place, model, calibration.capacity())
    try:
        _replace(path, place, text, before, model, calibration)
    except OSError as error:
        given = error.strerror or "not writable"
        fix = f"write it by hand: capacity: {calibration.capacity()}"
        raise refused(str(path), given, "a stack file that can be written", fix) from error


def _replace(
    path: Path, place: Path, text: str, before: Mapping[str, object], model: str, calibration: Calibration
) -> None:
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    fresh = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        after = load(fresh).config
        read(after)
        if _without(before, model) != _without(after, model):
            raise refused(str(path), "YAML whose layout can't be kept", "a change of capacity alone",
                          f"write it by hand: capacity: {calibration.capacity()}")  # fmt: skip
        fresh.chmod(place.stat().st_mode)
        fresh.replace(place)
    finally:
        fresh.unlink(missing_ok=True)


def _without(config: Mapping[str, object], model: str) -> object:
    """The configuration less this model's capacity."""
    plain = json.loads(json.dumps(config, default=str))
    for entry in plain[MODELS]:
        if entry.get("name") == model:
            entry.pop("capacity", None)
    return plain


def _changed(path: Path, model: str, capacity: Mapping[str, float]) -> str:
    text = path.read_text(encoding="utf-8")
    yaml = _yaml(text)
    document = yaml.load(text)
    entry = _entry(document, path, model)
    values = {key: int(value) if float(value).is_integer() else value for key, value in capacity.items()}
    present = cast(object, entry.get("capacity"))
    if isinstance(present, CommentedMap):
        for key, value in values.items():
            present[key] = value
    else:
        fresh = CommentedMap(values)
        fresh.fa.set_flow_style()
        entry.pop("capacity", None)
        entry.insert(_after(entry, "replicas", "weightsGiB", "name"), "capacity", fresh)
    out = io.StringIO()
    yaml.dump(document, out)
    return out.getvalue()


def _yaml(text: str) -> YAML:
    """A round-trip loader with the file's own indentation."""
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    dash = re.search(DASH, text, re.MULTILINE)
    offset = len(dash["dash"]) - len(dash["key"]) if dash else 2
    gap = len(dash["gap"]) if dash else 1
    step = re.search(STEP, text, re.MULTILINE)
    yaml.indent(
        mapping=len(step["step"]) if step else 2, sequence=max(0, offset) + 1 + gap, offset=max(0, offset)
    )
    return yaml


def _entry(document: Any, path: Path, model: str) -> CommentedMap:
    try:
        entries = document["config"][MODELS]
        named = [entry for entry in entries if entry["name"] == model]
        known = ", ".join(str(entry["name"]) for entry in entries)
    except (KeyError, TypeError) as error:
        raise refused(str(path), "no headroom:models", "a list of models", "add the model first") from error
    if len(named) != 1:
        raise refused("--model", model, f"one of {known}", "name one with --model")
    return cast(CommentedMap, named[0])


def _after(entry: CommentedMap, *names: str) -> int:
    keys = [str(key) for key in cast(Mapping[object, object], entry)]
    return next((keys.index(name) + 1 for name in names if name in keys), len(keys))
