"""The error function and its kind.

The array library has none of them. SciPy's are used where it is installed, CuPy's own for
its arrays, and otherwise the standard library's, element by element.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.engine._ops._kinds import unary
from gradtool.engine._ops._unsupported import refusing_complex
from gradtool.engine._ops.elementwise import exp


@functools.cache
def _library_of(array_module: str) -> Any:
    """The special functions for arrays of a module; None if there are none for NumPy's."""
    if array_module != "numpy":
        return importlib.import_module("cupyx.scipy.special")
    try:
        return importlib.import_module("scipy.special")
    except ImportError:
        return None


def _special(name: str, one: Callable[[float], float]) -> Callable[[Any], Any]:
    """A special function of arrays, given that of one number."""
    each = np.frompyfunc(one, 1, 1)

    def compute(x: Any) -> Any:
        library = _library_of(module_of(x).__name__)
        if library is not None:
            return getattr(library, name)(x).astype(x.dtype)
        return np.asarray(each(x), dtype=x.dtype)

    return refusing_complex(name, compute)


_SLOPE = 2 / math.sqrt(math.pi)

erf = unary("erf", _special("erf", math.erf), lambda x: exp(-x * x) * _SLOPE)
erfc = unary("erfc", _special("erfc", math.erfc), lambda x: exp(-x * x) * -_SLOPE)

__all__ = ["erf", "erfc"]
