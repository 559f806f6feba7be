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
"""Everything under the bundled engine, and GT702 where PyTorch disagrees."""
ENGINES = (BUNDLED, TORCH, BOTH)

_OLDEST = (2, 4)
"""Version of PyTorch from which on all is there that the checker asks of it."""


def require_engine(engine: str) -> None:
    """Refuse an engine that is not installed. Imports nothing.

    Raises:
        UsageError: It is unknown, missing or too old; the text says what to do.
    """
    if engine not in ENGINES:
        raise UsageError(f"--engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if engine != BUNDLED:
        _require_torch(engine)


def _require_torch(engine: str) -> None:
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise UsageError(
            f"--engine {engine} needs PyTorch beside gradtool: pip install torch, or leave "
            "--engine away"
        )
    version = _torch_version()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise UsageError(
            f"--engine {engine} needs PyTorch {oldest} or later; {version} is installed"
        )


def chosen_engine(engine: str | None, function: object, cases: Iterable[object]) -> str:
    """The `engine` that a test suite asks for, or the one that `function` computes with.

    Raises:
        UsageError: It is unknown or missing, or it is two: a Function is of one.
    """
    if engine is None:
        return engine_of(function, [value for case in cases for value in _values(case)])
    require_engine(engine)
    if engine == BOTH:
        raise UsageError("engine must be 'bundled' or 'torch' here: a Function is of one of them")
    return engine


def _values(case: object) -> tuple[object, ...]:
    """The arguments of a case as a test suite gives it."""
    if isinstance(case, tuple | list):
        return tuple(case)
    args, kwargs = getattr(case, "args", (case,)), getattr(case, "kwargs", {})
    return (*args, *kwargs.values())


def engine_of(function: object, values: Iterable[object]) -> str:
    """The engine that `function` computes with, as it and the `values` it is called with tell."""
    torch = sys.modules.get("torch")
    if torch is None or torch.__name__ != "torch" or not hasattr(torch, "Tensor"):
        return BUNDLED  # What is not imported, nobody computes with.
    owner = getattr(function, "__self__", function)
    kind = owner if isinstance(owner, type) else type(owner)
    classes = torch.autograd.Function, torch.nn.Module, torch.library.CustomOpDef
    is_of_torch = issubclass(kind, classes) or any(isinstance(v, torch.Tensor) for v in values)
    return TORCH if is_of_torch else BUNDLED


def shown(engine: str) -> str:
    """The engine and its version, as reports name it."""
    if engine == BUNDLED:
        return BUNDLED
    torch = f"PyTorch {_torch_version()}"
    return torch if engine == TORCH else f"{BUNDLED} and {torch}"


def _torch_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # 20 ms that only this needs

    try:
        return version("torch")
    except PackageNotFoundError:
        raise UsageError(
            "PyTorch is not installed, though something else has its name: look for a folder or "
            "a file called torch"
        ) from None


def computing_with(engine: str) -> AbstractContextManager[None]:
    """In this context the adapters compute with the engine.

    Raises:
        UsageError: It does not load.
    """
    from gradtool.adapters.library import load, using

    return using(load(BUNDLED) if engine == BUNDLED else _pytorch())


def require_device_of(engine: str, device: str) -> None:
    """Refuse a device that the engine does not see. Of the bundled engine that is known already.

    Raises:
        UsageError: PyTorch has no such device.
    """
    if engine != TORCH or device == "cpu":
        return
    cuda = _pytorch().torch.cuda
    count = cuda.device_count() if cuda.is_available() else 0
    index = int(device.partition(":")[2] or 0)
    if not count:
        raise UsageError(f"--device {device} cannot be used: PyTorch sees no CUDA device here")
    if index >= count:
        raise UsageError(f"--device {device} does not exist: PyTorch sees {count} here")


def _pytorch() -> Library:
    """The PyTorch that is installed.

    Raises:
        UsageError: It does not load.
    """
    from gradtool.adapters.library import load

    try:
        return load(TORCH)
    except (ImportError, OSError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise UsageError(f"PyTorch {_torch_version()} does not load: {reason}") from None


def engine_imports(engine: str) -> AbstractContextManager[None]:
    """In this context, imports of gradtool's engine give the engine of the run."""
    if engine == BUNDLED:
        return nullcontext()
    from gradtool.adapters.torch.import_alias import answer_engine_imports

    return answer_engine_imports(_pytorch().torch)
