"""Notes the arguments of every custom Function's ``apply`` in the process it runs in.

It uses the standard library and the torch of the program alone, because the Python of the program
need not have gradtool. Each new set of arguments is one line of JSON in a file of the process:
what the process noted is kept however it ends. A set is looked at once: equal shapes, dtypes and
plain values are recognized by their key, without a look at any entry.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import math
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

_FUNCTION_MODULE = "torch.autograd.function"

_MOST_ENTRIES = 64
"""Entries that are written out if they are whole numbers; of more, only the bounds are."""

_MOST_STRUCTURED = 256
"""The same for a floating tensor whose entries depend on each other."""

_DIGITS = 4
"""Significant digits of the bounds of random entries."""

_SETS_PER_CASE = 10
"""Sets of arguments noted for each case to be written, so that there are small ones to choose."""


def start() -> None:
    """Observe the Functions of the torch that this process will import, if it does."""
    if _answers_torch():
        sys.path.append(os.environ["GRADTOOL_RECORD_HOME"])
        from gradtool.collect.torch_alias import alias

        alias.install()
        import torch

        _observe(torch)
        return
    sys.meta_path.insert(0, _Watcher())


def _answers_torch() -> bool:
    """Return True if ``import torch`` is to give gradtool's engine."""
    engine = os.environ.get("GRADTOOL_RECORD_ENGINE", "")
    if engine:
        return engine == "bundled"
    return importlib.util.find_spec("torch") is None


class _Watcher(MetaPathFinder):
    """Lets the module that defines ``Function`` be changed as soon as it is loaded."""

    def find_spec(
        self,
        fullname: str,
        path: Any = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname != _FUNCTION_MODULE:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loading(spec.loader)
        return spec


class _Loading(Loader):
    """A loader that begins the observation once the module is complete."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self._loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _wrap(module.Function)


def _observe(torch: Any) -> None:
    _wrap(torch.autograd.Function)


def _wrap(function: Any) -> None:
    """Replace ``Function.apply`` by one that notes its arguments first."""
    own = vars(function)["apply"].__func__
    notes = _Notes()

    @functools.wraps(own)
    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        notes.take(cls, args, kwargs)
        return own(cls, *args, **kwargs)

    function.apply = classmethod(apply)


class _Notes:
    """The sets of arguments seen in this process."""

    def __init__(self) -> None:
        self._limit = _SETS_PER_CASE * int(os.environ.get("GRADTOOL_RECORD_LIMIT", "10"))
        self._root = Path(os.environ["GRADTOOL_RECORD_ROOT"])
        self._seen: dict[Any, set[Any]] = {}
        self._skipped: dict[Any, bool] = {}

    def take(self, cls: Any, args: Any, kwargs: Any) -> None:
        """Note a call, if its arguments are new; never raises."""
        try:
            if self._is_skipped(cls):
                return
            seen = self._seen.setdefault(cls, set())
            key = _key((args, kwargs))
            if key in seen or len(seen) >= self._limit or _is_checked():
                return
            seen.add(key)
            written = {name: _written(value) for name, value in kwargs.items()}
            self._write(cls, {"args": [_written(value) for value in args], "kwargs": written})
        except Exception as error:  # The recorded program has to run, recorded or not.
            self._skipped[cls] = True
            self._give_up(cls, error)

    def _is_skipped(self, cls: Any) -> bool:
        if cls not in self._skipped:
            file = _file_of(cls)
            inside = file is not None and file.is_relative_to(self._root)
            self._skipped[cls] = file is None or not inside or "site-packages" in file.parts
        return self._skipped[cls]

    def _give_up(self, cls: Any, error: Exception) -> None:
        """Note why no more calls are noted: what this process prints, pytest may swallow."""
        # Where notes cannot be written, neither can this one.
        with contextlib.suppress(Exception):
            self._write(cls, {"problem": f"looking at its arguments raised {error!r}"})

    def _write(self, cls: Any, noted: dict[str, Any]) -> None:
        note = {"file": str(_file_of(cls)), "function": cls.__qualname__, **noted}
        # A name for each process: one that was forked writes to a file of its own.
        path = Path(os.environ["GRADTOOL_RECORD"]) / f"{os.getpid()}.jsonl"
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")


def _is_checked() -> bool:
    """Return True for a call by gradtool's checker, whose arguments are not the program's."""
    # Not inspect.stack, which reads the source of every frame.
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("gradtool.checking."):
            return True
        frame = frame.f_back
    return False


def _file_of(cls: Any) -> Path | None:
    """The file that defines a Function."""
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file else None


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _key(value: Any) -> Any:
    """Return what tells one set of arguments from another, without a look at any entry."""
    if _is_tensor(value):
        spec = tuple(value.shape), str(value.dtype), bool(value.requires_grad)
        return ("tensor", *spec, str(value.layout))
    if isinstance(value, tuple | list):
        return (type(value).__name__, *map(_key, value))
    if isinstance(value, dict):
        return ("dict", *((str(name), _key(inner)) for name, inner in value.items()))
    if value is None or isinstance(value, bool | int | float | str):
        return (type(value).__name__, value)
    return type(value).__qualname__


def _written(value: Any) -> Any:
    """Return the value as a configuration writes it; a mapping with ``cannot`` for any other."""
    if _is_tensor(value):
        return _tensor(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        # Read back, it would be a list, whose entries have no names.
        return {"cannot": f"a named tuple of type {type(value).__name__}"}
    if isinstance(value, tuple | list):
        return [_written(each) for each in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        plain = {name: _written(inner) for name, inner in value.items()}
        return {"literal": plain} if {"shape", "values", "literal"} & plain.keys() else plain
    if value is None or type(value) in {bool, int, str}:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"cannot": f"the number {value}"}
    if isinstance(value, int) and not isinstance(value, bool):  # An IntEnum, a subclass.
        return int(value)
    return {"cannot": f"an object of type {type(value).__name__}"}


def _tensor(tensor: Any) -> dict[str, Any]:
    plain = tensor.detach()
    layout = str(plain.layout).rpartition(".")[2]
    if layout != "strided":
        return {"cannot": f"a tensor of layout {layout}"}
    dtype = str(plain.dtype).rpartition(".")[2]
    if dtype == "bfloat16":
        dtype = "float32"
    spec: dict[str, Any] = {"shape": list(plain.shape)}
    if dtype != "float64":
        spec["dtype"] = dtype
    floating = plain.is_floating_point() or plain.is_complex()
    if floating:
        spec.update(_entries(plain))
        if "values" in spec:
            del spec["shape"]
        if not tensor.requires_grad:
            spec["requires_grad"] = False
        return spec
    if plain.numel() <= _MOST_ENTRIES:
        return {"values": plain.tolist(), **({"dtype": dtype} if _needs_dtype(plain) else {})}
    if dtype != "bool":
        spec.update(low=int(plain.min()), high=int(plain.max()) + 1)
    return spec


def _needs_dtype(tensor: Any) -> bool:
    name = str(tensor.dtype).rpartition(".")[2]
    return name not in {"int64", "bool"} or not tensor.numel()


def _entries(tensor: Any) -> dict[str, Any]:
    """The bounds of the entries; the entries themselves where they depend on each other."""
    if tensor.is_complex() or not tensor.numel():
        return {}
    wide = tensor.double()
    low, high = float(wide.min()), float(wide.max())
    if low != high and (_is_structured(wide) or _is_whole(wide)):
        return {"values": wide.tolist()}
    if not (math.isfinite(low) and math.isfinite(high)):
        return {}
    return {"low": _inwards(low, high), "high": _inwards(high, low)}


def _inwards(bound: float, other: float) -> float:
    """Round a bound to a few digits, towards the other one and not beyond it."""
    if not bound or bound == other:
        return bound
    grain = 10.0 ** (math.floor(math.log10(abs(bound))) + 1 - _DIGITS)
    upward = bound < other
    rounded = (math.ceil if upward else math.floor)(bound / grain) * grain
    written = float(f"{rounded:.{_DIGITS}g}")
    return written if (bound <= written <= other or other <= written <= bound) else bound


def _is_whole(tensor: Any) -> bool:
    """Return True for a few whole numbers, such as spikes or the entries of a mask."""
    return tensor.numel() <= _MOST_ENTRIES and bool((tensor == tensor.round()).all())


def _is_structured(tensor: Any) -> bool:
    """Return True for small symmetric, triangular or orthogonal matrices."""
    if tensor.dim() < 2 or tensor.shape[-1] != tensor.shape[-2] or tensor.shape[-1] < 2:
        return False
    if tensor.numel() > _MOST_STRUCTURED:
        return False
    turned = tensor.transpose(-1, -2)
    triangular = any(bool((part == tensor).all()) for part in (tensor.tril(), tensor.triu()))
    symmetric = bool(((tensor - turned).abs() <= 1e-6 * tensor.abs().max()).all())
    square = turned @ tensor
    ones = square.diagonal(0, -2, -1)
    off = square - square.tril().triu()
    orthogonal = bool(((ones - 1).abs() < 1e-4).all() and off.abs().max() < 1e-4)
    return triangular or symmetric or orthogonal
