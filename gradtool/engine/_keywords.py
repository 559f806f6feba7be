"""Arguments by the names that torch's functions have for them: ``input=``, ``other=``, ``out=``.

Only the functions of the public namespace are wrapped. Methods and operators, which are called
far more often and hardly ever by name, are the bare functions of the op table.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]

SYNONYMS = {
    "axis": "dim", "keepdims": "keepdim", "axis0": "dim0", "axis1": "dim1", "other": "y",
    "x2": "y", "input2": "L", "sections": "indices_or_sections", "indices": "indices_or_sections",
}  # fmt: skip
"""torch's name -> the one in the op table, of functions that have no parameter of torch's name."""


def with_keywords(function: Function) -> Function:
    """`function`, callable by torch's names of its arguments as well."""

    @functools.wraps(function)
    def named(*args: Any, **params: Any) -> Any:
        # `input=` and `out=` can only come by name.
        if not params:
            return function(*args)
        out = params.pop("out", None)
        if out is not None:
            return _into(out, *args, **params)
        aliases = aliases_of(function)
        for name in aliases.keys() & params.keys():
            params[aliases[name]] = params.pop(name)
        return function(*args, **params)

    def _into(out: Any, *args: Any, **params: Any) -> Any:
        from gradtool.engine._out import IN_DTYPE_OF_OUT, written

        name = function.__name__
        if name in IN_DTYPE_OF_OUT:
            params.setdefault("dtype", out.dtype)
        return written(name, out, named(*args, **params), args, params)

    return named


@functools.cache
def aliases_of(function: Function) -> dict[str, str]:
    """The names by which a function's parameters can be given apart from their own."""
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters if each.kind not in several]
    aliases = {theirs: ours for theirs, ours in SYNONYMS.items() if ours in names}
    if names:
        aliases["input"] = "x" if "x" in names else names[0]
    return {theirs: ours for theirs, ours in aliases.items() if theirs not in names}


__all__ = ["with_keywords"]
