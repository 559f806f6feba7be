"""Elementwise operations, of one tensor and of several that broadcast."""

from __future__ import annotations

from typing import Any

from tests.engine.ops.cases.case import distinct, mask, nonzero, normal, positive
from tests.engine.ops.drawn.language import (
    FLOATS,
    NUMBERS,
    REAL,
    SMOOTH,
    WHOLE,
    WIDE,
    Op,
    among,
    each,
    integers,
    of_one,
    of_several,
    of_two,
    op,
    optional,
    within,
)

WHOLE_OR_BOOL = (*WHOLE, "bool")
NOT_WRAPPING = tuple([each for each in NUMBERS if each != "uint8"])
"""PyTorch takes the difference of bytes modulo 256, and then its magnitude."""
STRIDES = "the last dimension has to lie at a stride of 1, wherever the examples lie"
CONJUGATED = "PyTorch conjugates a factor of it, against the difference quotient"


def spelled(name: str) -> Any:
    """The function of this name."""
    return lambda t, *args, **named: getattr(t, name)(*args, **named)


def held(name: str) -> Any:
    """The function of tensors that need no gradient: PyTorch has no derivative of it."""

    def call(t: Any, *args: Any) -> Any:
        return getattr(t, name)(*[x.detach() if hasattr(x, "detach") else x for x in args])

    return call


OF_ONE: dict[str, Op] = {
    **each("abs neg _neg_view positive square sgn conj conj_physical real resolve_conj resolve_neg",
           op(of_one(distinct, dtypes=NUMBERS))),
    **each("angle imag", op(of_one(distinct, dtypes=NUMBERS))),
    **each("acos arcsin arctanh", op(of_one(within(-0.9, 0.9), dtypes=NUMBERS))),
    **each("acosh", op(of_one(within(1.1, 3), dtypes=NUMBERS))),
    **each("log log10 log2 rsqrt sqrt", op(of_one(within(0.2, 3), dtypes=NUMBERS))),
    **each("arcsinh arctan cos cosh exp exp2 expm1 sigmoid sin sinh tan tanh erf erfc",
           op(of_one(within(-1.4, 1.4), dtypes=NUMBERS))),
    "log1p": op(of_one(within(-0.8, 3), dtypes=NUMBERS)),
    "reciprocal": op(of_one(nonzero, dtypes=(*FLOATS, "complex128"))),
    **each("ceil fix floor frac relu sign trunc", op(of_one(distinct, dtypes=REAL))),
    "round": op(of_one(distinct, dtypes=REAL, decimals=optional(among(-1, 0, 2)))),
    **each("deg2rad rad2deg", op(of_one(normal, dtypes=REAL))),
    "logit": op(of_one(within(0.2, 0.8), eps=optional(among(None, 0.1)))),
    **each("sinc i0", op(of_one(normal, dtypes=WIDE), tolerance=1e-4)),
    "nan_to_num": op(of_one(normal, dtypes=REAL, nan=among(None, 0.0), posinf=among(None, 9.0))),
    "Tensor.bernoulli": op(  # chances of 0 and 1 are no chance
        of_one(mask, dtypes=("float32", "float16")), lambda t, x: x.detach().bernoulli(),
        not_batched="vmap refuses to draw unless it is told how"),
    "Tensor.zero_": op(of_one(normal, dtypes=SMOOTH), lambda t, x: (x.detach() * 2).zero_()),
    "view_as_real": op(of_one(normal, smallest=1, dtypes=("complex128", "float64")),
                       not_batched=STRIDES),
    "view_as_complex": op(of_one(lambda *shape: normal(*shape, 2), smallest=1, dtypes=WIDE),
                          not_batched=STRIDES),
    "Tensor.polygamma": op(of_one(positive, dtypes=("float64",)), tolerance=1e-4,
                           function=lambda t, x: x.polygamma(1)),
    **{f"Tensor.{name}": op(of_one(normal, dtypes=(*WIDE, "int64"))) for name in (
        "double", "float", "half", "cdouble", "cfloat", "bool")},
    "Tensor.to": op(of_one(normal, dtypes=(*WIDE, "int64")), lambda t, x: (
        x.to(t.float64), x.to(t.complex128))),
    "Tensor.type_as": op(of_two(normal, normal, dtypes=WIDE)),
    "frexp": op(of_one(distinct, dtypes=WIDE)),
    **each("isfinite isinf isnan isreal signbit isneginf isposinf logical_not",
           op(of_one(normal, dtypes=NUMBERS))),
    "bitwise_not": op(of_one(integers, dtypes=WHOLE_OR_BOOL)),
    **each("erfinv", op(of_one(within(-0.8, 0.8), dtypes=WIDE), tolerance=1e-4)),
    **each("lgamma digamma", op(of_one(positive, dtypes=WIDE), tolerance=1e-4)),
    "mvlgamma": op(of_one(within(2.5, 4), among(1, 2, 3), dtypes=WIDE), tolerance=1e-4),
    "polygamma": op(of_one(positive, dtypes=("float64",)), tolerance=1e-4,
                    function=lambda t, x: t.polygamma(1, x)),
}  # fmt: skip

OF_TWO: dict[str, Op] = {
    **each("add mul", op(of_two(normal, normal, dtypes=NUMBERS, number=2))),
    **each("sub rsub", op(of_two(normal, normal, dtypes=NUMBERS, number=2.5))),
    "div": op(of_two(normal, nonzero, dtypes=(*FLOATS, "complex128"), number=2,
                     rounding_mode=optional(among(None, "floor", "trunc")))),
    "true_divide": op(of_two(normal, nonzero, dtypes=(*FLOATS, "complex128"), number=2.5)),
    **each("fmod remainder", op(of_two(distinct, nonzero, number=2.5))),
    "floor_divide": op(of_two(distinct, nonzero, number=2.5), held("floor_divide")),
    **each("arctan2 hypot", op(of_two(nonzero, nonzero))),
    "pow": op(of_two(positive, normal, number=2)),
    "pow of complex numbers": op(of_two(positive, normal, dtypes=("complex128",)), spelled("pow"),
                                 not_pushed=CONJUGATED),
    "float_power": op(of_two(positive, normal, dtypes=(*WIDE, "int64"), number=2)),
    **each("maximum minimum fmax fmin", op(of_two(distinct, normal, dtypes=REAL))),
    "copysign": op(of_two(nonzero, nonzero, dtypes=REAL, number=-2)),
    **each("logaddexp logaddexp2", op(of_two(normal, normal, dtypes=WIDE))),
    "ldexp": op(of_two(normal, integers, dtypes=WIDE), tolerance=1e-5),
    "nextafter": op(of_several(normal, normal), held("nextafter")),
    "heaviside": op(of_several(normal, normal, dtypes=(*WIDE, "int64")), held("heaviside")),
    "xlogy": op(of_two(normal, positive, number=2.5)),
    **each("eq ne", op(of_two(integers, integers, dtypes=NUMBERS, number=1))),
    **each("ge greater le less", op(of_two(integers, integers, dtypes=REAL, number=1))),
    "isclose": op(of_several(normal, normal, dtypes=NOT_WRAPPING, rtol=among(0.5, 1e-5))),
    **each("equal allclose", op(of_several(normal, normal), not_batched="it asks for a value")),
    **each("bitwise_and bitwise_or bitwise_xor",
           op(of_two(integers, integers, dtypes=WHOLE_OR_BOOL, number=3))),
    **each("bitwise_left_shift bitwise_right_shift",
           op(of_two(integers, integers, dtypes=("int64", "int32"), number=1))),
    **each("logical_and logical_or logical_xor", op(of_two(normal, integers, dtypes=NUMBERS))),
    **each("gcd lcm", op(of_two(integers, integers, dtypes=WHOLE))),
    "complex": op(of_several(normal, normal)),
    "polar": op(of_several(positive, normal)),
    "dist": op(of_several(nonzero, distinct, p=among(1, 2, 3, float("inf")))),
}  # fmt: skip


def reflected(name: str) -> Any:
    """The operator of the right operand. PyTorch has no derivative by a divisor of a number."""
    return lambda t, x, *args: getattr(x.detach() if name == "__rmod__" else x, name)(*args)


REFLECTED: dict[str, Op] = {
    f"Tensor.{name}": op(of_one(nonzero, among(2, 2.5), dtypes=WIDE), reflected(name))
    for name in ("__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rdiv__", "__rmod__",
                 "__rpow__")
}  # fmt: skip

OF_THREE: dict[str, Op] = {
    "lerp": op(of_several(normal, normal, normal, dtypes=SMOOTH)),
    **each("addcmul", op(of_several(normal, normal, normal, dtypes=SMOOTH, value=among(1, 0.5)))),
    "addcdiv": op(of_several(normal, normal, nonzero, dtypes=SMOOTH, value=among(1, 0.5))),
    "where": op(of_several(mask, normal, normal, dtypes=SMOOTH),
                lambda t, m, x, y: t.where(m.real > 0, x, y)),
    "Tensor.where": op(of_several(normal, normal, dtypes=WIDE),
                       lambda t, x, y: x.where(x.detach() > 0, y)),
    "clamp": op(of_one(normal, dtypes=REAL, min=optional(among(-1, None)), max=optional(among(1)))),
    **each("clamp_min clamp_max", op(of_two(normal, distinct, dtypes=WIDE, number=0.4))),
}  # fmt: skip

TABLE: dict[str, Op] = {**OF_ONE, **OF_TWO, **REFLECTED, **OF_THREE}
