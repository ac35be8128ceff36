"""Finds the lab's tools and builds those that are absent."""

import json
import shutil
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from lab.tools import golang, store
from lab.tools.catalogue import TOOLS, SourceFiles, Tool
from lab.tools.errors import ToolError
from lab.tools.path import fitting_on_path
from lab.tools.progress import Display, Lines, Progress

_FREE_BYTES = 3 << 30
_TAIL_LINES = 20


def find(name: str) -> Path | None:
    """A tool that is ready now: a fitting one on PATH, else one built before; None when it must be built.

    A tool without a package is the folder that holds its files. Raises ToolError for an unknown name.
    """
    tool = _tool(name)
    on_path = fitting_on_path(tool)
    if on_path is not None:
        return on_path
    go = golang.go_path()
    try:
        build_key = store.key(tool, golang.go_settings(go, store.module_of(tool))) if go else None
    except ToolError:
        build_key = None
    folder = store.installed(tool, build_key)
    if folder is None:
        return None
    return folder if tool.package is None else folder / tool.name


def ensure(names: Iterable[str], progress: Progress | None = None) -> dict[str, Path]:
    """The paths of tools, each built first when it is not ready; several are built one after the other.

    Without a progress the terminal shows a live table, and a log one line at the start and end of each build.
    Raises ToolError with what to do about it.
    """
    wanted = list(dict.fromkeys(names))
    ready = {name: find(name) for name in wanted}
    missing = [name for name, path in ready.items() if path is None]
    with ExitStack() as stack:
        if progress is None:
            terminal = Console(stderr=True).is_terminal
            progress = stack.enter_context(Display(missing)) if terminal and missing else Lines()
        built = {name: build(TOOLS[name], progress) for name in missing}
    return {name: path or built[name] for name, path in ready.items()}


def build(tool: Tool, progress: Progress) -> Path:
    """Builds one tool into the cache, or waits for another process that does. Raises ToolError."""
    go = golang.require_go()
    module = store.module_of(tool)
    build_key = store.key(tool, golang.go_settings(go, module))
    try:
        with store.lock(tool, lambda holder: progress.waiting(tool.name, holder)):
            folder = store.installed(tool, build_key)
            if folder is None:
                folder = _build_locked(tool, go, build_key, progress)
    except OSError as error:
        raise ToolError(
            f"{tool.name} can't be installed in {store.root()}: {error}. "
            "Make room or set HEADROOM_CACHE to a folder that can be written."
        ) from error
    return folder if tool.package is None else folder / tool.name


def _build_locked(tool: Tool, go: Path, build_key: str, progress: Progress) -> Path:
    free = shutil.disk_usage(store.root()).free
    if tool.package and free < _FREE_BYTES:
        raise ToolError(
            f"{tool.name} needs about {_FREE_BYTES >> 30} GiB of disk to build; {store.root()} has "
            f"{free / (1 << 30):.1f} GiB free. Make room or set HEADROOM_CACHE to a folder on another disk."
        )
    progress.begin(tool.name, store.estimate(tool))
    began = time.monotonic()
    module = store.module_of(tool)
    with store.staging(tool, build_key) as folder:
        if tool.package:
            _compile(tool, go, folder, progress)
        for files in tool.files:
            _copy(files, golang.module_folder(go, module, files.module), folder / files.into)
        facts = {"tool": tool.name, "version": tool.version, "inputs": store.inputs_digest(tool)}
        (folder / "build.json").write_text(json.dumps(facts, indent=1))
    seconds = time.monotonic() - began
    store.remember_duration(tool, seconds)
    store.prune(tool)
    progress.done(tool.name, seconds)
    return store.root() / f"{tool.name}-{build_key}"


def _compile(tool: Tool, go: Path, folder: Path, progress: Progress) -> None:
    source = store.module_of(tool)
    if tool.embeds:
        work = folder / "source"
        shutil.copytree(source, work)
        for files in tool.embeds:
            _copy(files, golang.module_folder(go, source, files.module), work / files.into)
        _amend(tool, work)
        source = work
    stamps = "".join(f" -X {variable}={value}" for variable, value in sorted(tool.stamp.items()))
    argv = [str(go), "build", "-mod=readonly", "-buildvcs=false", "-trimpath", f"-tags={','.join(tool.tags)}"]
    argv += ["-ldflags", f"-s -w{stamps}", "-o", str(folder / tool.name), str(tool.package)]
    log = store.log_path(tool)
    code = golang.run_logged(argv, source, log, lambda elapsed: progress.tick(tool.name, elapsed))
    if code != 0:
        raise ToolError(_failure(tool, code, log))
    shutil.rmtree(folder / "source", ignore_errors=True)


def _amend(tool: Tool, work: Path) -> None:
    for path in sorted(work.rglob("*.go")) if tool.renames else ():
        text = path.read_text()
        for old, new in tool.renames:
            text = text.replace(f'"{old}', f'"{new}')
        path.write_text(text)
    for one in tool.amendments:
        text = (work / one.file).read_text()
        if text.count(one.find) != 1:
            raise ToolError(
                f"{tool.pin} {tool.version} has {one.find!r} {text.count(one.find)} times in {one.file}."
            )
        (work / one.file).write_text(text.replace(one.find, one.replace))


def _failure(tool: Tool, code: int, log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    tail = "\n".join(lines[-_TAIL_LINES:]) or "(the log is empty)"
    way_out = "Run the same command again: what was compiled is kept, so it goes on from there."
    if "no space left on device" in tail:
        way_out = "The disk is full: make room (`go clean -cache` frees Go's own cache) and run it again."
    elif code < 0:
        way_out = f"It was ended by signal {-code}; 9 often means too little memory. {way_out}"
    return f"{tool.name} {tool.version} did not build (exit {code}). {way_out}\nLog: {log}\n{tail}"


def _copy(files: SourceFiles, module: Path, into: Path) -> None:
    origin = module / files.folder
    found = [path for path in sorted(origin.glob(files.pattern)) if path.is_file()]
    if not found:
        raise ToolError(
            f"{files.module} has no {files.folder}/{files.pattern}: the pin and the catalogue disagree."
        )
    for path in found:
        target = into / path.relative_to(origin)
        target.parent.mkdir(parents=True, exist_ok=True)
        # Copies the content alone: files in Go's module cache are read-only.
        shutil.copyfile(path, target)


def _tool(name: str) -> Tool:
    if name not in TOOLS:
        raise ToolError(f"There is no tool {name!r}. There are: {', '.join(sorted(TOOLS))}.")
    return TOOLS[name]
