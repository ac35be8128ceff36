"""The stack's configuration as the engine will read it, in a folder of ours: the user's own file is never
written.

With the passphrase provider the engine adds an `encryptionsalt` to the file it reads, and a user's file may
hold secrets sealed with a key that is not ours to ask for.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ruamel.yaml import YAML, YAMLError

SEALED = "sealed-in-the-stack-file"
"""What a secret of the stack file reads as in the recorded cloud: it is never opened."""

_FOREIGN = ("encryptionsalt", "encryptedkey", "secretsprovider", "environment")


class StackFileError(ValueError):
    """The project has no usable file for this stack; the message says what is there and what is allowed."""


def copy(project: Path, stack: str, into: Path) -> list[str]:
    """Writes Pulumi.yaml and Pulumi.<stack>.yaml into the folder and returns what was left out, one line
    each."""
    source = project / f"Pulumi.{stack}.yaml"
    content = _read(source, project, stack)
    notes: list[str] = []
    config = _open_secrets(cast(Mapping[str, Any], content.get("config") or {}), notes)
    if "environment" in content:
        notes.append(f"{source.name}: environment is left out: a Pulumi ESC environment needs an account")
    into.mkdir(parents=True, exist_ok=True)
    target = into / source.name
    salt = _own_salt(target)
    if notes or set(content) & set(_FOREIGN):
        kept = {key: value for key, value in content.items() if key not in (*_FOREIGN, "config")}
        _write(target, {**salt, **kept, "config": config})
    else:
        lines = [
            source.read_text(encoding="utf-8").rstrip(),
            *(f"{key}: {value}" for key, value in salt.items()),
            "",
        ]
        target.write_text("\n".join(lines), encoding="utf-8")
    _write(into / "Pulumi.yaml", _project(project))
    return notes


def _read(source: Path, project: Path, stack: str) -> Mapping[str, Any]:
    if not source.is_file():
        there = sorted(path.name[len("Pulumi.") : -len(".yaml")] for path in project.glob("Pulumi.*.yaml"))
        raise StackFileError(
            f"stack: given {stack}; allowed {', '.join(there) or 'none yet'}; write {source.name}"
        )
    content = _load(source)
    if content is None:
        return {}
    if not isinstance(content, Mapping):
        raise StackFileError(
            f"{source.name}: given a {type(content).__name__}; allowed a mapping with config:; fix it"
        )
    return cast(Mapping[str, Any], content)


def _project(project: Path) -> Mapping[str, Any]:
    source = project / "Pulumi.yaml"
    if not source.is_file():
        raise StackFileError(
            f"project: given {project}; allowed a folder with Pulumi.yaml; run from the project's root"
        )
    content = cast(Mapping[str, Any], _load(source))
    return {"name": content["name"], "runtime": "python"} | (
        {"config": content["config"]} if "config" in content else {}
    )


def _load(source: Path) -> object:
    try:
        return YAML(typ="safe", pure=True).load(source.read_text(encoding="utf-8"))
    except (YAMLError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())
        raise StackFileError(
            f"{source.name}: given text that is not YAML ({said}); allowed YAML 1.2; fix it"
        ) from error


def _write(target: Path, content: Mapping[str, Any]) -> None:
    with target.open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump(dict(content), file)


def _own_salt(target: Path) -> Mapping[str, Any]:
    before = cast(dict[str, Any], (_load(target) or {}) if target.is_file() else {})
    return {"encryptionsalt": before["encryptionsalt"]} if "encryptionsalt" in before else {}


def _open_secrets(config: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    return {key: _opened(value, key, notes) for key, value in config.items()}


def _opened(value: Any, path: str, notes: list[str]) -> Any:
    """The value with every secret in it, however deep, replaced by the same text."""
    if isinstance(value, Mapping):
        inside = cast(Mapping[str, Any], value)
        if set(inside) == {"secure"}:
            notes.append(f"{path}: the secret stays sealed; the program reads {SEALED!r} instead")
            return SEALED
        return {key: _opened(item, f"{path}.{key}", notes) for key, item in inside.items()}
    if isinstance(value, list):
        items = cast(list[Any], value)
        return [_opened(item, f"{path}[{index}]", notes) for index, item in enumerate(items)]
    return value
