"""Where special functions come from: SciPy, CuPy's own, or the standard library.

The array library has none of them. SciPy's are used where it is installed, CuPy's for its
arrays, and otherwise the standard library's, element by element, for the few that it has.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.engine._ops.core.quiet import quiet
from gradtool.engine._ops.core.unsupported import refusing_complex

Compute = Callable[..., Any]


@functools.cache
def _library_of(array_module: str) -> Any:
    """The special functions for arrays of a module; None if there are none for NumPy's."""
    if array_module != "numpy":
        return importlib.import_module("cupyx.scipy.special")
    try:
        return importlib.import_module("scipy.special")
    except ImportError:
        return None


def special(name: str, one: Callable[[float], float] | None = None, *, scipy: str = "") -> Compute:
    """A special function of arrays.

    Args:
        name: torch's name for it.
        one: the function of one number, to be used without SciPy.
        scipy: SciPy's name for it, where that is another.
    """
    each = None if one is None else np.frompyfunc(one, 1, 1)
    theirs = scipy or name

    @quiet
    def compute(x: Any, *others: Any) -> Any:
        library = _library_of(module_of(x).__name__)
        if library is not None:
            return getattr(library, theirs)(x, *others).astype(x.dtype)
        if each is None:
            raise missing_scipy(name)
        return np.asarray(each(x), dtype=x.dtype)

    return refusing_complex(name, compute)


def missing_scipy(name: str) -> ModuleNotFoundError:
    """The error for a function that SciPy alone computes, when it is not installed."""
    return ModuleNotFoundError(
        f"torch.{name} is computed by SciPy, which is not installed: pip install 'gradtool[scipy]'",
        name="scipy",
    )
