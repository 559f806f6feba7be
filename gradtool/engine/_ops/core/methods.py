"""Which functions of the op table are methods of Tensor, and which have an in-place form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtool.engine._ops.core.inplace import in_place
from gradtool.engine._ops.core.node_names import give_name, named
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
    elementwise,
    powers,
    selection,
    special,
)
from gradtool.engine._ops.indexing import (
    gathering,
    indexing,
    masking,
    overwriting,
    scattering,
    slicing,
    views,
)
from gradtool.engine._ops.indexing.overwriting import fill_, fill_diagonal_, setitem, zero_
from gradtool.engine._ops.linalg import (
    contraction,
    einsum,
    inverses,
    legacy,
    linalg,
    lu,
    matrix_functions,
    norms,
)
from gradtool.engine._ops.reductions import (
    counting,
    cumulative,
    extremum,
    ignoring_nan,
    norm,
    reduction,
    softmax,
    sorting,
    statistics,
)
from gradtool.engine._ops.shape import axes, diagonals, expansion, joining, metadata, shape
from gradtool.engine._ops.signal import spectrograms
from gradtool.engine._tensor import Tensor

FAMILIES = (
    arithmetic, axes, comparison, complex_parts, contraction, conversion, counting, creation,
    cumulative, diagonals, distributions, einsum, elementwise, expansion, extremum, gathering,
    generators, ignoring_nan, indexing, inverses, joining, linalg, literals, lu, masking,
    matrix_functions, metadata, norm, norms, legacy, overwriting, powers, random, reduction,
    scattering, selection, shape, slicing, softmax, sorting, special, spectrograms, statistics,
    views,
)  # fmt: skip

METHODS = """
    abs absolute acos acosh add addcdiv addcmul addmm addmv adjoint all allclose amax amin aminmax
    any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort argwhere
    as_strided as_strided_scatter asin asinh atan atan2 atanh baddbmm bernoulli bincount bitwise_and
    bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm broadcast_to ceil
    chunk clamp clamp_max clamp_min clip clone conj contiguous copysign corrcoef cos cosh
    count_nonzero cov cpu cuda cummax cummin cumprod cumsum deg2rad diag diag_embed diagflat
    diagonal diagonal_scatter diff digamma dist div divide dot dsplit eq equal erf erfc erfinv exp
    exp2 expand expand_as expm1 fix flatten flip fliplr flipud float_power floor floor_divide fmax
    fmin fmod frac frexp gather gcd ge ger greater greater_equal gt heaviside histc hsplit hypot i0
    index_add index_copy index_fill index_put index_reduce index_select isclose isfinite isinf isnan
    isneginf isposinf isreal kthvalue lcm ldexp le lerp less less_equal lgamma log log10 log1p log2
    log_softmax logaddexp logaddexp2 logcumsumexp logical_and logical_not logical_or logical_xor
    logit logsumexp lt masked_fill masked_scatter masked_select matmul matrix_exp max maximum mean
    median min minimum mm mode moveaxis movedim msort mul multinomial multiply mv mvlgamma
    nan_to_num nanmean nanmedian nanquantile nansum narrow narrow_copy ne neg negative new_empty
    new_full new_ones new_tensor new_zeros nextafter nonzero norm not_equal outer permute pin_memory
    positive pow prod put quantile rad2deg ravel reciprocal relu remainder renorm repeat
    repeat_interleave reshape reshape_as roll rot90 round rsqrt scatter scatter_add scatter_reduce
    select select_scatter sgn sigmoid sign signbit sin sinc sinh slice_scatter softmax sort split
    split_with_sizes sqrt square squeeze std sub subtract sum sum_to_size swapaxes swapdims t take
    take_along_dim tan tanh tensor_split tile to topk trace transpose tril triu true_divide trunc
    type_as unbind unflatten unfold unique unique_consecutive unsafe_chunk unsafe_split unsqueeze
    var vdot view view_as vsplit xlogy
""".split()
"""Methods that are the function of the same name."""

IN_PLACE = """
    abs absolute acos acosh add addcdiv addcmul addmm arccos arccosh arcsin arcsinh arctan arctan2
    arctanh asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min clip copysign cos cosh cumprod
    cumsum deg2rad digamma div divide eq erf erfc erfinv exp exp2 expm1 fix float_power floor
    floor_divide fmod frac gcd ge gt heaviside hypot i0 index_add index_copy index_fill index_put
    index_reduce lcm ldexp le lerp lgamma log log10 log1p log2 logical_and logical_not logical_or
    logical_xor logit lt masked_fill masked_scatter mul multiply mvlgamma nan_to_num ne neg negative
    nextafter pow put rad2deg reciprocal relu remainder renorm round rsqrt scatter scatter_add
    scatter_reduce sgn sigmoid sign sin sinc sinh sqrt square sub subtract tan tanh tril triu
    true_divide trunc xlogy
""".split()
"""Functions whose name with an underscore is their in-place form."""

OPERATORS = {
    "__add__": "add", "__radd__": "add", "__mul__": "mul", "__rmul__": "mul", "__sub__": "sub",
    "__truediv__": "div", "__floordiv__": "floor_divide", "__mod__": "remainder",
    "__pow__": "pow", "__matmul__": "matmul", "__neg__": "neg", "__abs__": "abs",
    "__and__": "bitwise_and", "__rand__": "bitwise_and", "__or__": "bitwise_or",
    "__ror__": "bitwise_or", "__xor__": "bitwise_xor", "__rxor__": "bitwise_xor",
    "__invert__": "bitwise_not", "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift", "__pos__": "positive",
}  # fmt: skip

COMPARISONS = {
    "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__eq__": "eq", "__ne__": "ne",
}  # fmt: skip

REFLECTED = {
    "__rsub__": "sub", "__rtruediv__": "div", "__rfloordiv__": "floor_divide",
    "__rmod__": "remainder", "__rpow__": "pow", "__rmatmul__": "matmul",
    "__rdiv__": "div", "__rlshift__": "bitwise_left_shift", "__rrshift__": "bitwise_right_shift",
}  # fmt: skip

AUGMENTED = {
    "__iadd__": "add", "__isub__": "sub", "__imul__": "mul", "__itruediv__": "div",
    "__ifloordiv__": "floor_divide", "__imod__": "remainder", "__ipow__": "pow",
    "__iand__": "bitwise_and", "__ior__": "bitwise_or", "__ixor__": "bitwise_xor",
    "__ilshift__": "bitwise_left_shift", "__irshift__": "bitwise_right_shift",
}  # fmt: skip


_REFLECTED_TITLES = {
    "__rsub__": "RsubBackward1", "__rtruediv__": "MulBackward0", "__rpow__": "PowBackward2",
}  # fmt: skip
"""What PyTorch does with a number on the left."""


def attach() -> None:
    """Give Tensor its methods."""
    functions = dict(table(FAMILIES))
    for name in METHODS:
        setattr(Tensor, name, functions[name])
    for family in FAMILIES:
        for name, function in getattr(family, "METHODS", {}).items():
            setattr(Tensor, name, function)
    for name in IN_PLACE:
        setattr(Tensor, f"{name}_", in_place(functions[name], f"{name}_"))
    bare = functions | arithmetic.OPERATORS
    for dunder, name in OPERATORS.items():
        setattr(Tensor, dunder, getattr(bare[name], "operator", bare[name]))
    for dunder, name in COMPARISONS.items():
        setattr(Tensor, dunder, _if_comparable(functions[name], dunder))
    for dunder, name in REFLECTED.items():
        operator = getattr(bare[name], "operator", bare[name])
        setattr(Tensor, dunder, _reflected(operator, dunder))
    for dunder, name in AUGMENTED.items():
        setattr(Tensor, dunder, in_place(bare[name], dunder))
    Tensor.__getitem__ = indexing.getitem  # type: ignore[method-assign]
    Tensor.__setitem__ = setitem  # type: ignore[method-assign]
    Tensor.__array_priority__ = 1000  # type: ignore[attr-defined]  # NumPy then leaves operators to us
    Tensor.prelu = _prelu  # type: ignore[attr-defined]
    changes = {
        "zero_": zero_,
        "fill_": fill_,
        "fill_diagonal_": fill_diagonal_,
        "copy_": _copy_,
    }
    for name, change in changes.items():
        setattr(Tensor, name, change)
    properties = axes.PROPERTIES | complex_parts.PROPERTIES | metadata.PROPERTIES
    for name, function in properties.items():
        setattr(Tensor, name, property(function))


def table(families: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    """(name, function) of everything public in these modules."""
    for family in families:
        for name in family.__all__:
            yield name, named(name, getattr(family, name))


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
    title = _REFLECTED_TITLES.get(name)

    def method(x: Tensor, other: Any) -> Tensor:
        out = operation(other, x)
        if title and out is not NotImplemented and out._node is not None:
            give_name(out, title)
        return out

    method.__name__ = method.__qualname__ = name
    return method


def _prelu(x: Tensor, weight: Tensor) -> Tensor:
    """`nn.functional.prelu`, which is loaded when it is called."""
    from gradtool.engine.nn.functional import prelu

    return prelu(x, weight)


def _copy_(x: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Write a tensor, broadcast and cast, over this one."""
    out = _written(x, src, non_blocking)
    give_name(out, "CopyBackwards", [src._node] if isinstance(src, Tensor) else [])
    return out


def _copied(x: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """`source` with the shape and dtype of `x`: what ``copy_`` writes over it."""
    return source.to(device=x.device, dtype=x.dtype, non_blocking=non_blocking).expand(x.shape)


_written = in_place(_copied, "copy_")
