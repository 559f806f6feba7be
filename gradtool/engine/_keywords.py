"""Arguments by the names that torch's functions have for them: ``input=``, ``other=``, ``out=``.

Only the functions of the public namespace are wrapped. Methods and operators, which are called
far more often and hardly ever by name, are the bare functions of the op table.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor

Function = Callable[..., Any]

SYNONYMS = {
    "axis": "dim", "keepdims": "keepdim", "axis0": "dim0", "axis1": "dim1", "other": "y",
    "x2": "y", "input2": "L", "sections": "indices_or_sections", "indices": "indices_or_sections",
}  # fmt: skip
"""torch's name -> the one in the op table, of functions that have no parameter of torch's name."""


_IN_DTYPE_OF_OUT = ("cumprod", "cumsum")
"""Functions that compute in the dtype of ``out=``, as torch has them."""


def with_keywords(function: Function) -> Function:
    """`function`, callable by torch's names of its arguments as well."""

    @functools.wraps(function)
    def named(*args: Any, **params: Any) -> Any:
        # `input=` and `out=` can only come by name.
        if not params:
            return function(*args)
        out = params.pop("out", None)
        if out is not None and function.__name__ in _IN_DTYPE_OF_OUT:
            params.setdefault("dtype", out.dtype)
        aliases = aliases_of(function)
        for name in aliases.keys() & params.keys():
            params[aliases[name]] = params.pop(name)
        result = function(*args, **params)
        return result if out is None else _written(function.__name__, out, result, args, params)

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


def _written(name: str, out: Any, result: Any, args: Any, params: dict[str, Any]) -> Any:
    """The results, written to the tensors that were given for them.

    Raises:
        RuntimeError: a gradient would have to flow through, or the shape or dtype does not fit.
    """
    given = [each for each in (*args, *params.values(), out) if isinstance(each, Tensor)]
    if any(getattr(each, "_tangent", None) is not None for each in given):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an "
            "out= function"
        )
    single = isinstance(result, Tensor)
    if (
        modes.grad
        and any(each.requires_grad for each in given)
        and (result if single else result[0]).dtype.is_differentiable
    ):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    if single:
        if out._storage is not None:
            from gradtool.engine._ops.core.overlap import check_overlap

            for each in args:
                check_overlap(out, each)
        return _fill(out, result)
    return type(result)(*[_fill(*pair) for pair in zip(out, result, strict=True)])


def _fill(out: Tensor, result: Tensor) -> Tensor:
    from gradtool.engine._ops.core.inplace import check_cast, check_in_place, replace, write

    check_in_place(out)
    check_cast(result, out)
    if out.shape != result.shape:
        # As torch resizes it; as there, the memory of before keeps its values.
        out._array = np.empty(result.shape, out._array.dtype)
    if not result.dtype.is_differentiable:
        write(out, result)
        out._bump()
        return out
    return replace(out, result)


__all__ = ["with_keywords"]
