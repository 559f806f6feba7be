"""Which functions of the op table are methods of Tensor, and which have an in-place form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtool.engine._ops import (
    comparison,
    conversion,
    creation,
    elementwise,
    indexing,
    joining,
    linalg,
    random,
    reduction,
    scan,
    shape,
    sorting,
)
from gradtool.engine._ops.inplace import in_place
from gradtool.engine._ops.item_assignment import fill_, setitem, zero_
from gradtool.engine._tensor import Tensor

FAMILIES = (
    comparison, conversion, creation, elementwise, indexing, joining, linalg, random, reduction,
    scan, shape, sorting,
)  # fmt: skip

METHODS = """
    abs acos acosh add addmm all allclose amax amin any argmax argmin argsort asin asinh atan
    atan2 atanh baddbmm bernoulli bitwise_and bitwise_not bitwise_or bitwise_xor bmm broadcast_to
    ceil chunk clamp clamp_max clamp_min clip clone contiguous cos cosh count_nonzero cpu cumsum
    diag diag_embed diagonal div divide dot double eq equal erf erfc exp expand expand_as expm1
    flatten flip float floor floor_divide fmod gather ge gt half hypot index_add index_copy
    index_put index_select int isclose isfinite isinf isnan kthvalue le lerp log log10 log1p log2
    log_softmax logical_and logical_not logical_or logical_xor logsumexp long lt masked_fill
    masked_select matmul max maximum mean median min minimum mm movedim mul multiply mv narrow ne
    neg negative new_empty new_full new_ones new_tensor new_zeros nonzero norm numel outer permute
    pin_memory positive pow prod ravel reciprocal relu remainder repeat repeat_interleave reshape
    reshape_as roll round rsqrt scatter scatter_add select sigmoid sign sin sinh softmax sort split
    sqrt square squeeze std sub subtract sum sum_to_size swapaxes t take take_along_dim tan tanh
    tile to topk trace transpose tril triu true_divide trunc type type_as unbind unflatten unique
    unsqueeze var view view_as bool short char byte
""".split()
"""Methods that are the function of the same name."""

IN_PLACE = """
    abs acos add addcdiv addcmul addmm asin atan ceil clamp clamp_max clamp_min clip cos cosh cumsum
    div erf exp expm1 floor floor_divide fmod index_add index_copy index_put lerp log log10 log1p
    log2 masked_fill mul neg pow reciprocal relu remainder round rsqrt scatter scatter_add sigmoid
    sign sin sinh sqrt square sub tan tanh tril triu true_divide trunc
""".split()
"""Functions whose name with an underscore is their in-place form."""

OPERATORS = {
    "__add__": "add", "__radd__": "add", "__mul__": "mul", "__rmul__": "mul", "__sub__": "sub",
    "__truediv__": "div", "__floordiv__": "floor_divide", "__mod__": "remainder",
    "__pow__": "pow", "__matmul__": "matmul", "__neg__": "neg", "__abs__": "abs",
    "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__eq__": "eq",
    "__ne__": "ne", "__and__": "bitwise_and", "__rand__": "bitwise_and", "__or__": "bitwise_or",
    "__ror__": "bitwise_or", "__xor__": "bitwise_xor", "__rxor__": "bitwise_xor",
    "__invert__": "bitwise_not",
}  # fmt: skip

REFLECTED = {
    "__rsub__": "sub", "__rtruediv__": "div", "__rfloordiv__": "floor_divide",
    "__rmod__": "remainder", "__rpow__": "pow", "__rmatmul__": "matmul",
}  # fmt: skip

AUGMENTED = {
    "__iadd__": "add", "__isub__": "sub", "__imul__": "mul", "__itruediv__": "div",
    "__ifloordiv__": "floor_divide", "__imod__": "remainder", "__ipow__": "pow",
    "__iand__": "bitwise_and", "__ior__": "bitwise_or", "__ixor__": "bitwise_xor",
}  # fmt: skip


def attach() -> None:
    """Give Tensor its methods."""
    functions = dict(table(FAMILIES))
    for name in METHODS:
        setattr(Tensor, name, functions[name])
    for name in IN_PLACE:
        setattr(Tensor, f"{name}_", in_place(functions[name], f"{name}_"))
    for dunder, name in OPERATORS.items():
        setattr(Tensor, dunder, functions[name])
    for dunder, name in REFLECTED.items():
        setattr(Tensor, dunder, _reflected(functions[name], dunder))
    for dunder, name in AUGMENTED.items():
        setattr(Tensor, dunder, in_place(functions[name], dunder))
    Tensor.__getitem__ = indexing.getitem  # type: ignore[method-assign]
    Tensor.__setitem__ = setitem  # type: ignore[method-assign]
    Tensor.__array_priority__ = 1000  # type: ignore[attr-defined]  # NumPy then leaves operators to us
    Tensor.zero_ = zero_
    Tensor.fill_ = fill_
    Tensor.copy_ = in_place(_copied, "copy_")
    for name in ("T", "mT", "H", "mH", "real", "imag"):
        setattr(Tensor, name, property(functions_of_property(name)))


def functions_of_property(name: str) -> Callable[[Tensor], Tensor]:
    """The function behind a property such as ``x.T``."""
    found: Callable[[Tensor], Tensor] = getattr(shape, f"property_{name}")
    return found


def table(families: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    """(name, function) of everything public in these modules."""
    for family in families:
        for name in family.__all__:
            yield name, getattr(family, name)


def _reflected(operation: Callable[..., Tensor], name: str) -> Callable[[Any, Any], Tensor]:
    def method(x: Tensor, other: Any) -> Tensor:
        return operation(other, x)

    method.__name__ = method.__qualname__ = name
    return method


def _copied(x: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:  # noqa: ARG001, FBT001, FBT002 - torch's signature
    """`source` with the shape and dtype of `x`: what ``copy_`` writes over it."""
    return source.to(x.dtype).expand(x.shape)
