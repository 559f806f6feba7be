"""Operations on each element, with broadcasting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from gradtool.derive.expression import Expression
from gradtool.derive.normal import normal_density
from gradtool.derive.rules.registry import RULES, Pulled, rule
from gradtool.derive.shapes import fit


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Expression) and value.is_tensor


def _conj(value: Any) -> Any:
    if isinstance(value, Expression):
        return value.conj()
    return value.conjugate() if isinstance(value, complex) else value


def _pulled(out: Expression, *pairs: tuple[Any, Any]) -> Iterable[Pulled]:
    """Each cotangent summed where its operand was broadcast; those of numbers left out."""
    return [(x, fit(g() if callable(g) else g, out, x)) for x, g in pairs if _is_tensor(x)]


@rule("add")
def _add(g: Any, out: Expression, x: Any, other: Any, *, alpha: Any = 1) -> Iterable[Pulled]:
    return _pulled(out, (x, g), (other, lambda: alpha * g))


@rule("sub", "subtract")
def _sub(g: Any, out: Expression, x: Any, other: Any, *, alpha: Any = 1) -> Iterable[Pulled]:
    return _pulled(out, (x, g), (other, lambda: -(alpha * g)))


@rule("rsub")
def _rsub(g: Any, out: Expression, x: Any, other: Any) -> Iterable[Pulled]:
    return _pulled(out, (x, lambda: -g), (other, g))


@rule("mul", "multiply")
def _mul(g: Any, out: Expression, x: Any, other: Any) -> Iterable[Pulled]:
    if x is other:
        return _pulled(out, (x, lambda: 2 * (g * _conj(x))))
    return _pulled(out, (x, lambda: g * _conj(other)), (other, lambda: g * _conj(x)))


@rule("div", "true_divide", "divide")
def _div(g: Any, out: Expression, x: Any, other: Any) -> Iterable[Pulled]:
    return _pulled(out, (x, lambda: g / _conj(other)), (other, lambda: -g * _conj(out / other)))


@rule("neg", "negative")
def _neg(g: Any, out: Expression, x: Any) -> Iterable[Pulled]:
    return _pulled(out, (x, lambda: -g))


@rule("pow", "float_power")
def _pow(g: Any, out: Expression, x: Any, exponent: Any) -> Iterable[Pulled]:
    graph = out.graph

    def base() -> Any:
        less = exponent - 1
        return g * _conj(exponent * graph.operator("pow", x, less))

    def power() -> Any:
        log = x.log() if _is_tensor(x) else math.log(x.value if isinstance(x, Expression) else x)
        return g * _conj(out * log)

    return _pulled(out, (x, base), (exponent, power))


Slope = Callable[[Expression, Expression], Any]
"""The derivative of a function of one variable, of the result and the argument."""

_SLOPES: dict[str, Slope] = {
    "exp": lambda y, x: y,
    "exp2": lambda y, x: y * math.log(2),
    "expm1": lambda y, x: y + 1,
    "log": lambda y, x: 1 / x,
    "log2": lambda y, x: 1 / (x * math.log(2)),
    "log10": lambda y, x: 1 / (x * math.log(10)),
    "log1p": lambda y, x: 1 / (x + 1),
    "sqrt": lambda y, x: 1 / (2 * y),
    "rsqrt": lambda y, x: -0.5 * y**3,
    "square": lambda y, x: 2 * x,
    "reciprocal": lambda y, x: -(y * y),
    "sin": lambda y, x: x.cos(),
    "cos": lambda y, x: -x.sin(),
    "tan": lambda y, x: 1 + y * y,
    "asin": lambda y, x: (1 - x * x).rsqrt(),
    "acos": lambda y, x: -(1 - x * x).rsqrt(),
    "atan": lambda y, x: 1 / (1 + x * x),
    "sinh": lambda y, x: x.cosh(),
    "cosh": lambda y, x: x.sinh(),
    "asinh": lambda y, x: (x * x + 1).rsqrt(),
    "tanh": lambda y, x: 1 - y * y,
    "sigmoid": lambda y, x: y * (1 - y),
    "erf": lambda y, x: (2 / math.sqrt(math.pi)) * (-(x * x)).exp(),
    "logit": lambda y, x: 1 / (x * (1 - x)),
    "lgamma": lambda y, x: x.digamma(),
}

_QUOTIENTS = frozenset({"log", "log2", "log10", "log1p", "sqrt", "atan", "logit"})
"""Functions whose derivative is one over something, by which the cotangent is divided."""


def _slope(name: str, slope: Slope) -> None:
    @rule(name, f"special.{name}")
    def _rule(g: Any, out: Expression, x: Any) -> Iterable[Pulled]:
        factor = slope(out, x)
        if name in _QUOTIENTS:
            return _pulled(out, (x, g / _conj(factor.args[1])))
        return _pulled(out, (x, g * _conj(factor)))


for _name, _function in _SLOPES.items():
    _slope(_name, _function)
RULES["special.expit"] = RULES["sigmoid"]
RULES["arctan"], RULES["arcsin"], RULES["arccos"] = RULES["atan"], RULES["asin"], RULES["acos"]


@rule("relu")
def _relu(g: Any, out: Expression, x: Any) -> Iterable[Pulled]:
    return _pulled(out, (x, g * (out > 0)))


@rule("leaky_relu")
def _leaky_relu(g: Any, out: Expression, x: Any, negative_slope: Any = 0.01) -> Iterable[Pulled]:
    return _pulled(out, (x, out.graph.function("where", x > 0, g, negative_slope * g)))


@rule("softplus")
def _softplus(g: Any, out: Expression, x: Any, beta: Any = 1) -> Iterable[Pulled]:
    return _pulled(out, (x, g * (beta * x).sigmoid()))


@rule("silu")
def _silu(g: Any, out: Expression, x: Any) -> Iterable[Pulled]:
    s = x.sigmoid()
    return _pulled(out, (x, g * (s + out * (1 - s))))


@rule("logsigmoid")
def _logsigmoid(g: Any, out: Expression, x: Any) -> Iterable[Pulled]:
    return _pulled(out, (x, g * (-x).sigmoid()))


@rule("gelu")
def _gelu(g: Any, out: Expression, x: Any, approximate: Any = "none") -> Iterable[Pulled]:
    if approximate != "none":
        raise NotImplementedError
    root = "math.sqrt(2)" if x.graph.has_math else "2**0.5"
    cdf = 0.5 * (1 + (x / x.graph.literal(math.sqrt(2), root)).erf())
    x.graph.names[cdf] = "cdf"
    return _pulled(out, (x, g * (cdf + x * normal_density(x))))


@rule("abs", "absolute")
def _abs(g: Any, out: Expression, x: Any) -> Iterable[Pulled]:
    return _pulled(out, (x, g * (x.sgn() if x.is_complex else x.sign())))


@rule(
    "sign",
    "floor",
    "ceil",
    "round",
    "trunc",
    "sgn",
    "zeros_like",
    "ones_like",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "bitwise_not",
    "bitwise_and",
    "bitwise_or",
    "argmax",
    "argmin",
    "argsort",
    "full_like",
    "new_zeros",
    "new_ones",
    "new_tensor",
    "new_full",
    "new_empty",
    "empty_like",
    "isnan",
    "isfinite",
    "isinf",
    "searchsorted",
    "bucketize",
    "logical_and",
    "logical_or",
    "logical_not",
    "nonzero",
    "long",
    "int",
    "bool",
    "heaviside",
    "floor_divide",
)
def _constant(g: Any, out: Expression, *args: Any, **kwargs: Any) -> Iterable[Pulled]:
    if out.name == "sgn" and out.is_complex:
        raise NotImplementedError
    return []


@rule("where")
def _where(g: Any, out: Expression, condition: Any, x: Any, other: Any) -> Iterable[Pulled]:
    where = out.graph.function
    return _pulled(
        out,
        (x, lambda: where("where", condition, g, 0)),
        (other, lambda: where("where", condition, 0, g)),
    )


@rule("maximum", "fmax")
def _maximum(g: Any, out: Expression, x: Any, other: Any) -> Iterable[Pulled]:
    return _larger(g, out, x, other, x > other)


@rule("minimum", "fmin")
def _minimum(g: Any, out: Expression, x: Any, other: Any) -> Iterable[Pulled]:
    return _larger(g, out, x, other, x < other)


def _larger(g: Any, out: Expression, x: Any, other: Any, taken: Any) -> Iterable[Pulled]:
    where = out.graph.function
    equal = out.graph.operator("eq", x, other)
    return _pulled(
        out,
        (x, lambda: where("where", equal, g / 2, g * taken)),
        (other, lambda: where("where", equal, g / 2, g * ~taken)),
    )


@rule("clamp", "clip")
def _clamp(g: Any, out: Expression, x: Any, min: Any = None, max: Any = None) -> Iterable[Pulled]:
    if _is_tensor(min) or _is_tensor(max):
        raise NotImplementedError
    above = None if min is None else x >= min
    below = None if max is None else x <= max
    inside = below if above is None else above if below is None else above & below
    return _pulled(out, (x, g * inside))


@rule("clamp_min")
def _clamp_min(g: Any, out: Expression, x: Any, min: Any) -> Iterable[Pulled]:
    return _clamp(g, out, x, min)


@rule("clamp_max")
def _clamp_max(g: Any, out: Expression, x: Any, max: Any) -> Iterable[Pulled]:
    return _clamp(g, out, x, None, max)


@rule("remainder", "fmod")
def _remainder(g: Any, out: Expression, x: Any, other: Any) -> Iterable[Pulled]:
    if _is_tensor(other):
        raise NotImplementedError
    return _pulled(out, (x, g))


@rule("atan2")
def _atan2(g: Any, out: Expression, x: Any, other: Any) -> Iterable[Pulled]:
    r = x * x + other * other
    return _pulled(out, (x, lambda: g * other / r), (other, lambda: -g * x / r))


@rule("logaddexp")
def _logaddexp(g: Any, out: Expression, x: Any, other: Any) -> Iterable[Pulled]:
    return _pulled(out, (x, lambda: g * (x - out).exp()), (other, lambda: g * (other - out).exp()))


@rule("conj")
def _conjugate(g: Any, out: Expression, x: Any) -> Iterable[Pulled]:
    return [(x, g.conj())]


@rule("real")
def _real(g: Any, out: Expression, x: Any) -> Iterable[Pulled]:
    return [
        (
            x,
            g.method("to", x.graph.literal(x.value.dtype, "__0__.dtype", (x,)))
            if x.is_complex
            else g,
        )
    ]


@rule("imag")
def _imag(g: Any, out: Expression, x: Any) -> Iterable[Pulled]:
    return [(x, 1j * g)]


@rule("to", "type", "type_as", "double", "float", "half", "bfloat16")
def _to(g: Any, out: Expression, x: Any, *args: Any, **kwargs: Any) -> Iterable[Pulled]:
    if out.value.dtype == x.value.dtype:
        return [(x, g)]
    if not out.value.dtype.is_floating_point and not out.is_complex:
        return []
    if out.is_complex and not x.is_complex:
        g = g.attribute("real")
    return [(x, g.method("to", x.graph.literal(x.value.dtype, "__0__.dtype", (x,))))]


@rule("masked_fill")
def _masked_fill(g: Any, out: Expression, x: Any, mask: Any, value: Any) -> Iterable[Pulled]:
    return _pulled(out, (x, lambda: g.masked_fill(mask, 0)), (value, lambda: (g * mask).sum()))


@rule("lerp")
def _lerp(g: Any, out: Expression, x: Any, end: Any, weight: Any) -> Iterable[Pulled]:
    return _pulled(
        out,
        (x, lambda: g * (1 - weight)),
        (end, lambda: g * weight),
        (weight, lambda: g * (end - x)),
    )


@rule("addcmul")
def _addcmul(
    g: Any, out: Expression, x: Any, one: Any, two: Any, *, value: Any = 1
) -> Iterable[Pulled]:
    return _pulled(out, (x, g), (one, lambda: value * g * two), (two, lambda: value * g * one))
