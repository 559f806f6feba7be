"""Complex numbers: gradients by torch's convention, the conjugate of the derivative."""

from __future__ import annotations

import math

from tests.engine.ops.cases.case import (
    OpCase,
    complex_normal,
    mask,
    nonzero,
    normal,
    over,
    positive,
)

inf = math.inf
HOLOMORPHIC = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "exp2", "expm1", "log",
    "log10", "log1p", "log2", "neg", "reciprocal", "rsqrt", "sigmoid", "sin", "sinh", "sqrt",
    "square", "tan", "tanh",
]  # fmt: skip
COMPLEX = complex_normal(3, 4)
THREE = (COMPLEX, complex_normal(4), complex_normal(3, 1))

CASES: list[OpCase] = [
    *[
        OpCase(name, lambda t, x, name=name: getattr(t, name)(x), (COMPLEX,))
        for name in [*HOLOMORPHIC, "abs", "sgn"]
    ],
    *over("arithmetic", lambda t, x, y: (x + y, x - y, y - x, x * y, x / y, y / x), [
        (COMPLEX, COMPLEX), (COMPLEX, complex_normal(4)), (COMPLEX, nonzero(4)),
        (complex_normal(), nonzero(3)), (complex_normal(0), nonzero(0)),
    ]),
    *over("pow", lambda t, x, y: x**y, [
        (COMPLEX, complex_normal(4)),
    ]),
    *over("pow", lambda t, x, y: x**y, [
        (COMPLEX, normal(4)), (positive(4), COMPLEX),
    ], not_pushed="PyTorch conjugates a factor of it, against the difference quotient"),
    *[
        OpCase(f"pow {n}", lambda t, x, n=n: x**n, (COMPLEX,))
        for n in (0, 1, 2, 3, -1, 0.5, 1.5, 2j)
    ],
    *[OpCase(f"{n} pow", lambda t, x, n=n: n**x, (COMPLEX,)) for n in (2, 2.5, 1j)],
    OpCase("real and imaginary numbers", lambda t, x: (
        x * 2j, x + 1j, 1j - x, x / (1 + 1j), 1j / x,
    ), (positive(3, 4),)),
    OpCase("real to an imaginary power", lambda t, x: x**1j, (positive(3, 4),),
           not_pushed="PyTorch conjugates a factor of it, against the difference quotient"),
    OpCase("where", lambda t, m, x, y: t.where(m, x, y), (mask(3, 4), COMPLEX, complex_normal(4))),
    OpCase("lerp", lambda t, x, y, z: t.lerp(x, y, z), THREE),
    OpCase("addcmul", lambda t, x, y, z: t.addcmul(x, y, z, value=0.5), THREE),
    OpCase("addcdiv", lambda t, x, y, z: t.addcdiv(x, y, z, value=0.5), THREE),
    OpCase("sums", lambda t, x: (x.sum(), x.sum(0), x.mean(), x.mean(1), x.cumsum(0)), (COMPLEX,)),
    OpCase("prod", lambda t, x: (x.prod(), x.prod(1)), (COMPLEX,)),
    OpCase("logsumexp", lambda t, x: x.logsumexp(0), (COMPLEX,)),
    OpCase("var", lambda t, x: (x.var(), x.std(0)), (COMPLEX,)),
    *[
        OpCase(f"norm {p}", lambda t, x, p=p: (x.norm(p), x.norm(p, 0)), (COMPLEX,))
        for p in (2, 1, inf, -inf, 0, 3, 1.5, 0.5)
    ],
    OpCase("comparisons", lambda t, x, y: (
        x == y, x != y, x == x, t.isclose(x, y), t.isnan(x), t.isfinite(x), t.isreal(x),
        t.logical_not(x), t.equal(x, x), x.all(), t.count_nonzero(x),
    ), (COMPLEX, COMPLEX)),
]  # fmt: skip
