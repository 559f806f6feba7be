"""A stand-in for CuPy: its modules, with arrays that are as particular as CuPy's.

Functions come from what is on record about CuPy; what is not on record is not there. Streams
run what they are given at once, and events read a clock that a test can set.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.device.facts import facts, hold_to
from tests.device.fake_array import (
    Device as ArrayDevice,
)
from tests.device.fake_array import (
    call_function,
    call_ufunc,
    ndarray,
    note,
    to_host,
)
from tests.device.fake_runtime import make_cuda


class Ufunc:
    """A ufunc of the module's own."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_ufunc(self.name, getattr(np, self.name), args, kwargs)

    def at(self, *args: Any, **kwargs: Any) -> None:
        hold_to(facts()["ufunc_methods"]["at"], f"{self.name}.at", args, kwargs)
        note(f"{self.name}.at", args, kwargs)
        array, key, values = args
        if not facts()["ufuncs"][self.name]["at"]:
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        if array.dtype.char not in (SCATTERED if self.name == "add" else COMPARED):
            raise TypeError(f"scatter_add does not take {array.dtype}")
        key = key if isinstance(key, tuple) else (key,)
        where = tuple(part._host if isinstance(part, ndarray) else part for part in key)
        given = to_host(values)
        if self.name in ("maximum", "minimum") and array.dtype == np.float64:
            given = np.asarray(given).astype(np.float32)  # so are atomic comparisons of CuPy 14.2
        getattr(np, self.name).at(array._host, where, given)


SCATTERED = "iefdIQL"
"""Codes of the dtypes for which a device adds atomically."""

COMPARED = "ifdIQL"
"""The same for the larger or smaller of two."""


class Submodule:
    """A module inside the package, by NumPy's."""

    def __init__(self, path: str, host: Any) -> None:
        self.path, self.host = path, host

    def __getattr__(self, name: str) -> Any:
        path = f"{self.path}.{name}"
        if path not in facts()["functions"]:
            raise AttributeError(f"module 'cupy.{self.path}' has no attribute {name!r}")
        return lambda *args, **kwargs: call_function(path, getattr(self.host, name), args, kwargs)


class Cupy(ModuleType):
    """The package."""

    def __init__(self) -> None:
        super().__init__("cupy")
        self.ndarray = ndarray
        self.__version__ = facts()["version"]
        self.cuda = make_cuda()
        self.linalg = Submodule("linalg", np.linalg)
        self.fft = Submodule("fft", np.fft)
        self.lib = SimpleNamespace(
            stride_tricks=Submodule("lib.stride_tricks", np.lib.stride_tricks)
        )

    def __getattr__(self, name: str) -> Any:
        if name in facts()["ufuncs"]:
            return Ufunc(name)
        if name not in facts()["functions"] or not hasattr(np, name):
            raise AttributeError(f"module 'cupy' has no attribute {name!r}")
        return lambda *args, **kwargs: self._placed(
            call_function(name, getattr(np, name), args, kwargs)
        )

    def _placed(self, value: Any) -> Any:
        if isinstance(value, ndarray):
            value.device = ArrayDevice(self.cuda.runtime.current)
        return value

    def asarray(self, a: Any, *args: Any, **kwargs: Any) -> Any:
        hold_to(facts()["functions"]["asarray"], "asarray", (a, *args), kwargs)
        note("asarray", (a, *args), kwargs)
        if isinstance(a, ndarray) and not args:
            return a
        return self._placed(ndarray(np.array(to_host(a) if isinstance(a, ndarray) else a)))

    array = asarray

    def get_default_memory_pool(self) -> Any:
        return self.cuda.pool

    def get_default_pinned_memory_pool(self) -> Any:
        return self.cuda.pinned_pool


class Special(ModuleType):
    """``cupyx.scipy.special``, by SciPy's where that is installed."""

    def __getattr__(self, name: str) -> Any:
        path = f"cupyx.scipy.special.{name}"
        kind = "ufuncs" if path in facts()["ufuncs"] else "functions"
        if path not in facts()[kind]:
            raise AttributeError(f"module 'cupyx.scipy.special' has no attribute {name!r}")
        special = pytest.importorskip("scipy.special", reason="stands in for CuPy's with SciPy's")
        call = call_ufunc if kind == "ufuncs" else call_function
        return lambda *args, **kwargs: call(path, getattr(special, name), args, kwargs)


def install(monkeypatch: pytest.MonkeyPatch) -> Cupy:
    """Let ``import cupy`` find the stand-in."""
    cupy = Cupy()
    cupyx = ModuleType("cupyx")
    cupyx.empty_pinned = cupy.cuda.empty_pinned  # type: ignore[attr-defined]
    for name, module in {
        "cupy": cupy, "cupyx": cupyx, "cupyx.scipy": ModuleType("cupyx.scipy"),
        "cupyx.scipy.special": Special("cupyx.scipy.special"),
    }.items():  # fmt: skip
        monkeypatch.setitem(sys.modules, name, module)
    return cupy
