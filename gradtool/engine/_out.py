"""Results written to the tensors of ``out=``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradtool.engine import _pytree
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dtype_support import C_NAMES, TYPE_NAMES
from gradtool.engine._ops.core.inplace import check_cast, check_in_place, replace, write
from gradtool.engine._ops.core.overlap import (
    APART_FROM_OUT,
    check_apart,
    check_distinct_elements,
    check_overlap,
)
from gradtool.engine._ops.shape.expansion import broadcast_shapes
from gradtool.engine._ops.shape.memory import resize
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._run_hooks import keep_computed_form

IN_DTYPE_OF_OUT = frozenset((
    "cumprod", "cumsum", "empty", "eye", "full", "linspace", "logspace", "ones", "prod", "sum",
    "zeros",
))  # fmt: skip
"""Functions that compute in the dtype of ``out=``."""

_FILLS = ("full", "ones", "zeros")
"""Functions that write one value to all elements, which may share memory."""

_LAID_OUT_BEFORE = ("index_select", "masked_select", "take")
"""Functions that refuse an expanded ``out=`` even where it gets another shape.

Those of single elements do as well.
"""

_OF_RUNS = ("cumprod", "cumsum", "tril", "triu")
"""Functions that may run in place and are not of single elements."""

_OF_ONE_DTYPE = (
    "abs", "bitwise_not", "ceil", "clamp", "conj_physical", "floor", "frac", "neg", "negative",
    "round", "sgn", "sign", "trunc",
)  # fmt: skip
_LIKE_INPUT = (
    "argmax", "argmin", "diag", "gather", "max", "min", "norm", "softmax", "sort", "tril", "triu",
)  # fmt: skip
_PRODUCTS = ("bmm", "dot", "matmul", "mm", "mv")

_REFUSALS: dict[str, str] = {
    **dict.fromkeys(_OF_ONE_DTYPE, "Found dtype {out} but expected {result}"),
    **dict.fromkeys(
        _LIKE_INPUT, "Expected out tensor to have dtype {c_result}, but got {c_out} instead"
    ),
    **dict.fromkeys(_PRODUCTS, "result dtype {out} does not match input dtype {result}"),
    **dict.fromkeys(
        ("amax", "amin"),
        "Expected the dtype for input and out to match, but got {result} for input's dtype and "
        "{out} for out's dtype.",
    ),
    **dict.fromkeys(
        ("index_select", "masked_select"),
        "{name}(): self and result must have the same scalar type",
    ),
    **dict.fromkeys(("isneginf", "isposinf"), "{name} does not support non-boolean outputs."),
    **dict.fromkeys(("all", "any"), "{name} only supports bool tensor for result, got: {out}"),
    "nan_to_num": "nan_to_num: dtype of out: {out} should be same as input: {result}",
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {result} "
    "and out.dtype = {out}",
    "where": "Expected out type to be {result} but got {out}",
}
"""What functions say that write to no dtype but that of the result."""


def written(name: str, out: Any, result: Any, args: Any, params: dict[str, Any]) -> Any:
    """The results, written to the tensors that were given for them.

    Raises:
        RuntimeError: a gradient would have to flow through, or the shape or dtype does not fit.
        TypeError: `out` is no tensor.
    """
    if isinstance(result, Tensor) and not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    read = list(_tensors((args, tuple(params.values()))))
    given = [*read, *_tensors((out,))]
    if any(_is_dual(each) for each in given):
        # As in torch, after the values were written.
        written(name, *[_primals(each) for each in (out, result, args, params)])
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
        check: Callable[[Tensor, Any], None] = check_overlap
        if name in APART_FROM_OUT and not (name in {"max", "min"} and len(read) > 1):
            check = check_apart  # Of two tensors, these are computed element by element.
        if name in _LAID_OUT_BEFORE or _is_of_single_elements(name):
            check_distinct_elements(out)
        for each in read:
            check(out, each)
        if out.shape != result.shape and any(each is out for each in read):
            _refuse_to_grow(out, result, read)
        return _fill(name, out, result, of_complex=any(each.is_complex() for each in read))
    return type(result)(*[_fill(name, *pair) for pair in zip(out, result, strict=True)])


def _is_of_single_elements(name: str) -> bool:
    """Return True for a function such as ``add``, which may run in place element by element."""
    return name not in _OF_RUNS and hasattr(Tensor, f"{name}_")


def _is_dual(value: Any) -> bool:
    """Return True for a tensor with a tangent, as long as its level lasts."""
    return getattr(value, "_tangent", None) is not None and value._level.alive


def _primals(values: Any) -> Any:
    """The same values, of tensors with a tangent the primal alone."""
    return _pytree.tree_map(lambda each: each._value if _is_dual(each) else each, values)


def _refuse_to_grow(out: Tensor, result: Tensor, read: Sequence[Tensor]) -> None:
    """Refuse to give an operand another shape, as it is read while it is written.

    Raises:
        RuntimeError: the result is what the operands broadcast to.
    """
    if broadcast_shapes(*[each.shape for each in read]) == result.shape:
        raise RuntimeError(
            f"output with shape {list(out.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}"
        )


def _tensors(values: Any) -> Iterator[Tensor]:
    for each in values:
        if isinstance(each, Tensor):
            yield each
        elif isinstance(each, tuple | list):
            yield from _tensors(each)


def _fill(name: str, out: Tensor, result: Tensor, *, of_complex: bool = False) -> Tensor:
    differentiable = result.dtype.is_differentiable
    if differentiable:
        check_in_place(out)
    _check_dtype(name, out, result, of_complex)
    if out.shape != result.shape:
        if out.numel():
            _warn_of_size(out, result)
        keep_computed_form(out)
        resize(out, tuple(result.shape))
    if not differentiable:
        write(out, result, name in _FILLS)
        out._bump()
        return out
    return replace(out, result, name in _FILLS)


def _warn_of_size(out: Tensor, result: Tensor) -> None:
    warnings.warn(
        f"An output with one or more elements was resized since it had shape {list(out.shape)}, "
        f"which does not match the required output shape {list(result.shape)}. This behavior is "
        "deprecated, and in a future PyTorch release outputs will not be resized unless they have "
        "zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero "
        "elements with t.resize_(0).",
        stacklevel=4,
    )


def _check_dtype(name: str, out: Tensor, result: Tensor, of_complex: bool) -> None:
    words = _REFUSALS.get(name)
    if words is not None and out.dtype is not result.dtype and not (name == "abs" and of_complex):
        names = {"out": _name(out), "result": _name(result)}
        c_names = {"c_out": _c_name(out), "c_result": _c_name(result)}
        raise RuntimeError(words.format(name=name, **names, **c_names))
    try:
        check_cast(result, out)
    except RuntimeError:
        if name not in ("cat", "stack"):
            raise
        raise TypeError(
            f"torch.cat(): input types can't be cast to the desired output type {_name(out)}"
        ) from None


def _name(x: Tensor) -> str:
    return str(TYPE_NAMES[x._array.dtype.name])


def _c_name(x: Tensor) -> str:
    return str(C_NAMES.get(x._array.dtype.name, x._array.dtype.name))
