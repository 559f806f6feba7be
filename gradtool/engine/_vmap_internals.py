"""The older vmap, inside of which code may do what it does outside, and None is an output."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from gradtool.engine import _pytree
from gradtool.engine._levels.batch import RowsLevel
from gradtool.engine._tensor import Tensor
from gradtool.engine.func._vmap import examined, named, without_examples

__all__ = ["vmap"]


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """`func` over a new dimension of its arguments; deprecated for ``torch.vmap``."""
    warnings.warn(
        "Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.",
        FutureWarning,
        stacklevel=2,
    )
    return _vmap(func, in_dims, out_dims)


def _vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    allow_none_pass_through: bool = False,
) -> Callable[..., Any]:
    """`func` over a new dimension of its arguments; it returns a tensor or a tuple of them.

    Raises:
        ValueError: the dimensions do not fit the arguments or outputs, or an output is no tensor.
    """

    @functools.wraps(func)
    def batched(*args: Any) -> Any:
        _check_out_dims(func, out_dims)
        batch = examined(func, in_dims, args)
        with RowsLevel(batch.size) as level:
            wrapped = [
                leaf if dim is None else level.wrap_along(leaf, dim)
                for leaf, dim in zip(batch.leaves, batch.dims)
            ]
            outputs = func(*_pytree.tree_unflatten(wrapped, batch.spec))
            _check_outputs(func, outputs, none_too=allow_none_pass_through)
            several = outputs if isinstance(outputs, tuple) else (outputs,)
            dims = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(several)
            if len(dims) != len(several):
                raise ValueError(
                    f"vmap({named(func)}, ..., out_dims={out_dims}): `out_dims` must have one dim "
                    f"per output (got {len(several)} outputs) of {named(func)}."
                )
            placed = tuple(
                None if each is None else without_examples(level, each, dim)
                for each, dim in zip(several, dims)
            )
        return placed if isinstance(outputs, tuple) else placed[0]

    return batched


def _check_out_dims(func: Any, out_dims: Any) -> None:
    dims = out_dims if isinstance(out_dims, tuple) else (out_dims,)
    if not all(isinstance(dim, int) for dim in dims):
        raise ValueError(
            f"vmap({named(func)}, ..., out_dims={out_dims}): `out_dims` must be an int or a tuple "
            "of int representing where in the outputs the vmapped dimension should appear."
        )


def _check_outputs(func: Any, outputs: Any, *, none_too: bool) -> None:
    if isinstance(outputs, Tensor):
        return
    refused = f"vmap({named(func)}, ...): `{named(func)}` must only return Tensors, got type"
    if not isinstance(outputs, tuple):
        raise ValueError(f"{refused} {type(outputs)} as the return.")
    for at, output in enumerate(outputs):
        if not isinstance(output, Tensor) and not (output is None and none_too):
            raise ValueError(f"{refused} {type(output)} for return {at}.")
