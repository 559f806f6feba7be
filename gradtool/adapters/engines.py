"""The engines that checked code can compute with: gradtool's own, and the user's PyTorch."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from gradtool.errors import UsageError

if TYPE_CHECKING:
    from gradtool.adapters.library import Library

BUNDLED = "bundled"
TORCH = "torch"
BOTH = "both"
"""Check everything with the bundled engine, and report GT702 if PyTorch disagrees."""
ENGINES = (BUNDLED, TORCH, BOTH)

_OLDEST = (2, 4)
"""Oldest version of PyTorch that has everything the checker uses."""


def require_engine(engine: str) -> None:
    """Reject an engine that is not installed, without importing it.

    Raises:
        UsageError: It is unknown, missing or too old.
    """
    if engine not in ENGINES:
        raise UsageError(f"--engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if engine != BUNDLED:
        _require_torch(engine)


def _require_torch(engine: str) -> None:
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise UsageError(
            f"--engine {engine} also needs PyTorch: pip install torch, or omit --engine"
        )
    version = _torch_version()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise UsageError(
            f"--engine {engine} needs PyTorch {oldest} or later; {version} is installed"
        )


def chosen_engine(engine: str | None, function: object, cases: Iterable[object]) -> str:
    """Return the `engine` that a test suite chose, or the one that `function` computes with.

    Raises:
        UsageError: It is unknown or missing, or stands for both: a Function belongs to one.
    """
    if engine is None:
        return engine_of(function, [value for case in cases for value in _values(case)])
    require_engine(engine)
    if engine == BOTH:
        raise UsageError(
            "engine must be 'bundled' or 'torch' here: a Function belongs to one of them"
        )
    return engine


def _values(case: object) -> tuple[object, ...]:
    """Return the arguments of a case in any form that a test suite may use."""
    if isinstance(case, tuple | list):
        return tuple(case)
    args, kwargs = getattr(case, "args", (case,)), getattr(case, "kwargs", {})
    return (*args, *kwargs.values())


def engine_of(function: object, values: Iterable[object]) -> str:
    """Infer the engine of `function` from its type and the `values` it is called with."""
    torch = sys.modules.get("torch")
    if torch is None or torch.__name__ != "torch" or not hasattr(torch, "Tensor"):
        return BUNDLED  # Nothing can compute with PyTorch before it is imported.
    owner = getattr(function, "__self__", function)
    kind = owner if isinstance(owner, type) else type(owner)
    classes = torch.autograd.Function, torch.nn.Module, torch.library.CustomOpDef
    is_of_torch = issubclass(kind, classes) or any(isinstance(v, torch.Tensor) for v in values)
    return TORCH if is_of_torch else BUNDLED


def shown(engine: str) -> str:
    """Return the engine and its version, as reports name it."""
    if engine == BUNDLED:
        return BUNDLED
    torch = f"PyTorch {_torch_version()}"
    return torch if engine == TORCH else f"{BUNDLED} and {torch}"


def _torch_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # takes 20 ms

    try:
        return version("torch")
    except PackageNotFoundError:
        raise UsageError(
            "PyTorch is not installed, but something else is named torch: look for a folder "
            "or a file of that name"
        ) from None


def computing_with(engine: str) -> AbstractContextManager[None]:
    """Let the adapters compute with the engine in this context.

    Raises:
        UsageError: It does not load.
    """
    from gradtool.adapters.library import load, using

    return using(load(BUNDLED) if engine == BUNDLED else _pytorch())


def require_device_of(engine: str, device: str) -> None:
    """Reject a device that PyTorch does not see; the bundled engine's are checked elsewhere.

    Raises:
        UsageError: PyTorch has no such device.
    """
    if engine != TORCH or device == "cpu":
        return
    cuda = _pytorch().torch.cuda
    count = cuda.device_count() if cuda.is_available() else 0
    index = int(device.partition(":")[2] or 0)
    if not count:
        raise UsageError(f"--device {device} cannot be used: PyTorch finds no CUDA device here")
    if index >= count:
        raise UsageError(
            f"--device {device} does not exist; CUDA devices that PyTorch finds here: {count}"
        )


def _pytorch() -> Library:
    """Load the installed PyTorch.

    Raises:
        UsageError: It does not load.
    """
    from gradtool.adapters.library import load

    try:
        return load(TORCH)
    except (ImportError, OSError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise UsageError(f"PyTorch {_torch_version()} cannot be loaded: {reason}") from None


def engine_imports(engine: str) -> AbstractContextManager[None]:
    """Resolve imports of gradtool's engine to the engine of the run in this context."""
    if engine == BUNDLED:
        return nullcontext()
    from gradtool.adapters.torch.import_alias import answer_engine_imports

    return answer_engine_imports(_pytorch().torch)


def join_group_of_one(engine: str) -> None:
    """Let ``torch.distributed`` be a group of this process alone, as in the bundled engine."""
    if engine == TORCH:
        from gradtool.adapters.torch.process_group import join

        join(_pytorch().torch)
