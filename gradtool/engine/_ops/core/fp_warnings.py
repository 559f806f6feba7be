"""NumPy's floating-point warnings turned off: torch computes infinities and NaNs silently.

``np.errstate`` as a decorator costs more than a small operation does, because it builds the
state at every entry. The state is a context variable of NumPy, so here it is built once
and only set and reset. CuPy never warns.

The hottest operations cannot afford even that. They compute as NumPy's state is, under a
filter for the warnings of this package; where a later filter makes warnings errors, they
compute once more in silence.
"""

from __future__ import annotations

import contextvars
import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Compute = TypeVar("Compute", bound=Callable[..., Any])


def _silent_state() -> tuple[contextvars.ContextVar[Any], Any] | None:
    """NumPy's variable and its value when all warnings are off; None if NumPy has it elsewhere."""
    with np.errstate(all="ignore"):
        # Copied inside: a context lists a variable only once it has been set.
        context = contextvars.copy_context()
    found = [var for var in context if var.name == "numpy.ufunc.extobj"]
    return (found[0], context[found[0]]) if found else None


_state = _silent_state()

warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradtool\.engine\.")


def ignore_fp_warnings(compute: Compute) -> Compute:
    """Wrap a function to compute without NumPy's warnings of overflow and division by zero."""
    if _state is None:
        return np.errstate(all="ignore")(compute)
    variable, value = _state
    enter, leave = variable.set, variable.reset

    @functools.wraps(compute, assigned=("__name__", "__doc__"), updated=())
    def silent(*args: Any, **params: Any) -> Any:
        token = enter(value)
        try:
            return compute(*args, **params)
        finally:
            leave(token)

    return silent  # type: ignore[return-value]
