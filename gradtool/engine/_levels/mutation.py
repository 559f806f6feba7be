"""In-place changes inside transforms: those that a transform could not follow are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine._levels import NotBatchableError
from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine._views import InferenceStorage, TransformStorage

if TYPE_CHECKING:
    from gradtool.engine._levels import Level

_ARITHMETIC = frozenset(
    {
        "clamp_max_", "clamp_min_", "copy_", "div_", "divide_", "logical_and_", "logical_or_",
        "logical_xor_", "masked_fill_", "mul_", "multiply_", "sub_", "subtract_", "true_divide_",
    }
)  # fmt: skip
"""Operations that torch's message calls arithmetic."""
_WITH_RULE = frozenset(
    {"fill_", "index_add_", "index_fill_", "index_put_", "scatter_add_", "scatter_reduce_"}
)
"""Operations that torch's message names without a prefix."""
_BROADCAST = frozenset({"__iand__", "add_", "arctan2_", "atan2_", "copysign_", "gcd_"})
"""Operations that torch refuses only because their result would have another shape."""
_OVERLOADS = dict.fromkeys(("add_", "div_", "mul_", "sub_"), ".Tensor") | {"fill_": ".Scalar"}


def check_change(x: Any, name: str, others: Sequence[Any]) -> None:
    """Refuse an operation that changes `x` by way of `others`, if a transform cannot follow it.

    Raises:
        RuntimeError: it changes a tensor from outside of a derivative's function, or one that all
            examples share by values that differ from example to example.
    """
    if name.startswith("__i") and name != "__iand__":
        name = f"{name[3:-2]}_".replace("true", "")
    for level in reversed(modes.levels):
        level.check_change(x, name, others)
        x, others = level.below(x), [level.below(each) for each in others]


def refuse_captured(level: Level, x: Any, name: str) -> None:
    """Refuse the change of a tensor that was made outside of the level.

    Raises:
        RuntimeError: it was.
    """
    if level.owns(x):
        return
    while x._level is not None:
        x = x._value
    storage = x._storage
    if isinstance(storage, TransformStorage | InferenceStorage) and level in storage.levels:
        return
    raise RuntimeError(
        "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call "
        f"in-place operation (aten::{name}{_OVERLOADS.get(name, '')}) that would mutate a captured "
        "Tensor. This is not supported; please rewrite the function being transformed to "
        "explicitly accept the mutated Tensor(s) as inputs."
    )


def refuse_shared(x: Tensor, name: str, others: Sequence[Tensor]) -> None:
    """Refuse the change of a tensor that all examples share by `others`, which they do not.

    Raises:
        NotBatchableError: always.
    """
    if name in _BROADCAST:
        one = np.broadcast_shapes(x.shape, *[each.shape for each in others])
        raise NotBatchableError(
            f"output with shape {list(x.shape)} doesn't match the broadcast shape "
            f"{[len(others[0]._array.behind), *one]}"
        )
    called = "inplace arithmetic" if name in _ARITHMETIC else name
    if name not in _ARITHMETIC and name not in _WITH_RULE:
        called = f"aten::{name}"
    instead = "inplace arithmetic" if name in _ARITHMETIC else called
    raise NotBatchableError(
        f"vmap: {called}(self, *extra_args) is not possible because there exists a Tensor `other` "
        "in extra_args that has more elements than `self`. This happened due to `other` being "
        "vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
        f"operators instead of {instead}. If said operator is being called inside the PyTorch "
        "framework, please file a bug report instead."
    )
