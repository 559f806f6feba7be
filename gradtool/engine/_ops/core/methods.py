"""The operators of Tensor, and its methods attached to it as the ops declare them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradtool.engine._ops.core.inplace import in_place
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.core.op import ATTRIBUTES, FUNCTIONS, METHODS, method
from gradtool.engine._ops.creation import (
    conversion,
    creation,
    distributions,
    generators,
    literals,
    random,
)
from gradtool.engine._ops.elementwise import (
    arithmetic,
    comparison,
    complex_parts,
    conjugates,
    elementwise,
    gamma,
    powers,
    selection,
    special,
)
from gradtool.engine._ops.indexing import (
    assignment,
    copying,
    gathering,
    indexing,
    overwriting,
    scattering,
    slicing,
    strided,
    view_copies,
    views,
)
from gradtool.engine._ops.linalg import (
    cholesky,
    contraction,
    einsum,
    householder,
    inverses,
    legacy,
    linalg,
    low_rank,
    lu,
    matrix_functions,
    norms,
    pseudoinverse,
)
from gradtool.engine._ops.reductions import (
    counting,
    cumulative,
    distinct,
    extremum,
    gradient,
    histograms,
    norm,
    reduction,
    softmax,
    sorting,
    statistics,
)
from gradtool.engine._ops.shape import (
    axes,
    diagonals,
    expansion,
    joining,
    memory,
    metadata,
    parts,
    shape,
    views_in_place,
)
from gradtool.engine._ops.signal import spectrograms
from gradtool.engine._tensor import Tensor

FAMILIES = (
    arithmetic, assignment, axes, comparison, complex_parts, conjugates, contraction, conversion,
    copying, counting, creation, cumulative, diagonals, distinct, distributions, einsum,
    elementwise, expansion, extremum, gamma,
    gathering, generators, gradient, histograms, indexing, inverses, joining, linalg, literals, lu,
    cholesky, householder,
    low_rank, matrix_functions, memory, metadata, norm, norms, legacy, overwriting, parts, powers,
    pseudoinverse, random, reduction, scattering, selection, shape, slicing, softmax, sorting,
    special, spectrograms, statistics, strided, views, view_copies, views_in_place,
)  # fmt: skip
"""Every family of ops. Importing a family declares its ops."""

OPERATORS = {
    "__add__": "add", "__radd__": "add", "__mul__": "mul", "__rmul__": "mul", "__sub__": "sub",
    "__truediv__": "div", "__floordiv__": "floor_divide", "__mod__": "remainder",
    "__pow__": "pow", "__matmul__": "matmul", "__neg__": "neg", "__abs__": "abs",
    "__and__": "bitwise_and", "__rand__": "bitwise_and", "__or__": "bitwise_or",
    "__ror__": "bitwise_or", "__xor__": "bitwise_xor", "__rxor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift", "__pos__": "positive",
}  # fmt: skip

COMPARISONS = {
    "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__eq__": "eq", "__ne__": "ne",
}  # fmt: skip

REFLECTED = {
    "__rsub__": "sub", "__rfloordiv__": "floor_divide",
    "__rmod__": "remainder", "__rpow__": "pow", "__rmatmul__": "matmul",
    "__rlshift__": "bitwise_left_shift", "__rrshift__": "bitwise_right_shift",
}  # fmt: skip

AUGMENTED = {
    "__iadd__": "add", "__isub__": "sub", "__imul__": "mul", "__itruediv__": "div",
    "__ifloordiv__": "floor_divide", "__imod__": "remainder", "__ipow__": "pow",
    "__iand__": "bitwise_and", "__ior__": "bitwise_or", "__ixor__": "bitwise_xor",
    "__ilshift__": "bitwise_left_shift", "__irshift__": "bitwise_right_shift",
}  # fmt: skip


_REFLECTED_NODES = {"__rsub__": "RsubBackward1", "__rpow__": "PowBackward2"}
"""What PyTorch does with a number on the left."""


def attach() -> None:
    """Give Tensor its methods, operators and computed attributes."""
    for name, function in METHODS.items():
        setattr(Tensor, name, function)
    for name, function in ATTRIBUTES.items():
        setter = _part_setter(function) if name in ("real", "imag") else None
        setattr(Tensor, name, property(function, setter))
    for dunder, function in _operators():
        setattr(Tensor, dunder, function)
    Tensor.__array_priority__ = 1000  # type: ignore[attr-defined]  # NumPy then leaves operators to us


def _part_setter(part: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Any], None]:
    """Return the function that ``x.real = value`` calls: it writes over that view of `x`."""

    def write(x: Tensor, value: Any) -> None:
        copying.copy_(part(x), value)

    return write


def _operators() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each operator's method under Python's name for it."""
    yield from (("__getitem__", indexing.getitem), ("__setitem__", assignment.setitem))
    bare = FUNCTIONS | arithmetic.OPERATORS
    for dunder, name in OPERATORS.items():
        yield dunder, getattr(bare[name], "operator", bare[name])
    for dunder, name in COMPARISONS.items():
        yield dunder, _if_comparable(FUNCTIONS[name], dunder)
    for dunder, name in REFLECTED.items():
        yield dunder, _reflected(getattr(bare[name], "operator", bare[name]), dunder)
    yield from (("__rtruediv__", _divided_by), ("__rdiv__", _divided_by))
    for dunder, name in AUGMENTED.items():
        yield dunder, in_place(bare[name], dunder)


def _if_comparable(operation: Callable[..., Tensor], name: str) -> Callable[[Any, Any], Any]:
    """A comparison that leaves to the other operand, and to identity, what is no number."""

    def method(x: Tensor, other: Any) -> Any:
        try:
            return operation(x, other)
        except TypeError:
            return NotImplemented

    method.__name__ = method.__qualname__ = name
    return method


def _reflected(operation: Callable[..., Tensor], name: str) -> Callable[[Any, Any], Tensor]:
    node = _REFLECTED_NODES.get(name)

    def method(x: Tensor, other: Any) -> Tensor:
        out = operation(other, x)
        if node and out is not NotImplemented and out._node is not None:
            give_name(out, node)
        return out

    method.__name__ = method.__qualname__ = name
    return method


def _divided_by(x: Tensor, other: Any) -> Tensor:
    """``other / x``, which torch computes as a multiple of the reciprocal."""
    product: Tensor = elementwise.reciprocal(x) * other
    return product


@method("prelu")
def _prelu(x: Tensor, weight: Tensor) -> Tensor:
    """`nn.functional.prelu`, which is loaded when it is called."""
    from gradtool.engine.nn.functional import prelu

    return prelu(x, weight)
