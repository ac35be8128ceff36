"""Stack files on disk: YAML in, raw configuration out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from specs.problems import Problem, SettingsError, shown

_STACK_FILE = re.compile(r"Pulumi\.(?P<stack>[A-Za-z0-9_.-]{1,100})\.ya?ml")
MAX_BYTES = 2**18  # 200 models take 90 KiB; pure-Python YAML reads about 100 KiB a second


@dataclass(frozen=True)
class StackFile:
    """A stack's configuration as written: `config` maps `headroom:models` and the like to plain values."""

    stack: str
    config: Mapping[str, object]


def stack_path(project: Path, stack: str) -> Path:
    """The file Pulumi keeps the configuration of `stack` in."""
    return project / f"Pulumi.{stack}.yaml"


def load(path: Path) -> StackFile:
    """Read a stack file. Raises SettingsError when there is nothing usable in it."""
    match = _STACK_FILE.fullmatch(path.name)
    stack = (
        match["stack"] if match else re.sub(r"[^A-Za-z0-9-]+", "-", path.stem).strip("-").lower() or "stack"
    )
    document = _parse(path)
    config = document.get("config")
    if not isinstance(config, Mapping) or not config:
        raise _refuse("config", "missing" if config is None else shown(cast(object, config)),
                      "a mapping with keys such as headroom:models", "start from a copy of Pulumi.dev.yaml")  # fmt: skip
    try:
        json.dumps(config, default=str)  # the engine hands configuration over as JSON
    except (TypeError, ValueError, RecursionError) as error:
        raise _refuse(
            "config", str(error), "values without cycles and with plain keys", "mend the anchors"
        ) from error
    return StackFile(stack, _plain(cast(Mapping[object, object], config)))


def _refuse(path: str, given: str, allowed: str, fix: str) -> SettingsError:
    return SettingsError([Problem(path, given, allowed, fix)])


def _parse(path: Path) -> Mapping[str, object]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _refuse(
                str(path), f"{path.stat().st_size} bytes", f"at most {MAX_BYTES} bytes", "name a stack file"
            )
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or "unreadable"
        raise _refuse(str(path), reason, "a readable stack file", "check the path or --stack name") from error
    except UnicodeDecodeError as error:
        raise _refuse(
            str(path), f"byte {error.start} is not UTF-8", "UTF-8 text", "save it as UTF-8"
        ) from error
    # YAML 1.2 as the Pulumi engine reads it; the safe loader builds nothing but plain values.
    yaml = YAML(typ="safe", pure=True)
    try:
        document: object = yaml.load(text)
    except MarkedYAMLError as error:
        place = re.search(r"line \d+, column \d+", str(error))
        where = place[0] if place else "an unknown place"
        raise _refuse(str(path), f"{error.problem or 'not YAML'} at {where}", "valid YAML with unique keys",
                      "mend that line") from error  # fmt: skip
    except (YAMLError, ValueError, RecursionError) as error:
        raise _refuse(str(path), f"not YAML: {shown(str(error))}", "valid YAML", "mend the file") from error
    if not isinstance(document, Mapping) or not document:
        given = "an empty file" if document is None else shown(cast(object, document))
        raise _refuse(
            str(path), given, "a mapping with a config: key", "start from a copy of Pulumi.dev.yaml"
        )
    return cast(Mapping[str, object], document)


def _plain(config: Mapping[object, object]) -> dict[str, object]:
    return {str(key): value for key, value in config.items()}
