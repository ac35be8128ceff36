"""Runs a Pulumi program's `__main__.py` inside this process, as if it were alone in it."""

import asyncio
import contextlib
import importlib
import io
import runpy
import sys
import threading
import traceback
import warnings
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pulumi
from pulumi.errors import RunError

_ALONE = threading.Lock()
"""`sys.modules` and `sys.path` belong to the process: programs run one after the other."""


@dataclass(frozen=True)
class Program:
    """The program whose text is `main`."""

    main: Path

    @contextlib.contextmanager
    def at_home(self) -> Generator[None]:
        """Around a whole run, from the first line to the last output: functions that outputs are given to import
        late, and the SDK asks a component's module for the types of its outputs.

        The program's folder is first on the import path; modules that it imported from there are forgotten afterwards
        unless the folder was importable before, so that two projects never see each other's modules.
        """
        with _ALONE, _importable(self.main.parent):
            yield

    def declare(self) -> None:
        """Runs the text, as the Automation API takes it; its folder is the working directory meanwhile. A failure
        becomes one message with the line of the program it came from."""
        try:
            with _as_script(self.main):
                with _passed_on():
                    runpy.run_path(str(self.main), run_name="__main__")
                _load_what_outputs_name()
        except RunError:
            raise
        except SystemExit as stop:
            if isinstance(stop.code, str):
                raise RunError(stop.code) from None
            if stop.code:
                raise RunError(f"the program stopped itself with exit status {stop.code}") from None
        except Exception as error:  # noqa: BLE001 - whatever it is, it becomes one line
            raise RunError(self.describe(error)) from None

    async def begun(self) -> None:
        """Runs the text and lets each registration begin, as the SDK's `run_pulumi_func` may be given it.

        A registration counts as under way from its task's first step. With none under way yet, the SDK waits for any
        of all the outputs, again at each that comes: seconds in the square of the resources (pulumi 3.272,
        runtime/stack.py, wait_for_rpcs).
        """
        self.declare()
        await asyncio.sleep(0)

    def describe(self, error: BaseException) -> str:
        """The error, and the innermost line of the program's own files that led to it."""
        home = self.main.parent
        own = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename).is_relative_to(home)
        ]
        outside = [frame for frame in own if ".venv" not in Path(frame.filename).parts]
        where = f" ({Path(outside[-1].filename).relative_to(home)}:{outside[-1].lineno})" if outside else ""
        return f"{type(error).__name__}: {error}{where}"


@contextlib.contextmanager
def _passed_on() -> Generator[None]:
    """Hands what the program prints to the engine, which shows it as a message; our own output may be JSON."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            yield
        finally:
            if said := printed.getvalue().strip():
                pulumi.log.info(said)


_NAMED_BY_EKS = (
    ("pulumi_aws.ec2", "SecurityGroup"),
    ("pulumi_aws.eks", "Cluster"),
    ("pulumi_aws.iam", "Role"),
    ("pulumi_kubernetes.core.v1", "ConfigMap"),
    ("pulumi_kubernetes.storage.v1", "StorageClass"),
)


def _load_what_outputs_name() -> None:
    """Loads the modules that the types of pulumi_eks's outputs name, while this program is alone.

    The SDKs load them lazily when the first output arrives, and Python 3.11's LazyLoader is not safe when two
    programs do so at once: one of them finds a module without its classes (python/cpython#114763).
    """
    if "pulumi_eks" in sys.modules:
        for module, name in _NAMED_BY_EKS:
            getattr(importlib.import_module(module), name)


@contextlib.contextmanager
def _as_script(main: Path) -> Generator[None]:
    argv = sys.argv
    sys.argv = [str(main)]
    try:
        # pulumi-eks 4.4 warns of its own deprecated NodeGroup when it is imported: no business of the program's.
        with (
            contextlib.chdir(main.parent),
            warnings.catch_warnings(action="ignore", category=DeprecationWarning),
        ):
            yield
    finally:
        sys.argv = argv


@contextlib.contextmanager
def _importable(home: Path) -> Generator[None]:
    if str(home) in (str(Path(entry).resolve()) for entry in sys.path):
        yield
        return
    path, before = list(sys.path), dict(sys.modules)
    sys.path.insert(0, str(home))
    try:
        yield
    finally:
        sys.path[:] = path
        _forget_modules(before, home)


def _forget_modules(before: dict[str, ModuleType], home: Path) -> None:
    for name in [name for name in sys.modules if name not in before]:
        source = getattr(sys.modules[name], "__file__", None)
        if source is not None and Path(source).is_relative_to(home):
            del sys.modules[name]
