"""Tensors made from sizes, ranges and other tensors; dtypes changed."""

from __future__ import annotations

from tests.engine.ops.cases.case import OpCase, integers, mask, normal

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
)  # fmt: skip

BY_SIZE = [
    OpCase("zeros", lambda t: [t.zeros(2, 3), t.zeros((2, 0)), t.zeros(size=(2,))], ()),
    OpCase("ones", lambda t: [t.ones(2, 3, dtype=t.float16), t.ones((2, 0), dtype=int)], ()),
    OpCase("full", lambda t: [t.full((2, 3), value) for value in (True, 3, 2.5)], ()),
    OpCase("full", lambda t: t.full((2,), 3, dtype=t.float64), ()),
    OpCase("eye", lambda t: [t.eye(3), t.eye(2, 4, dtype=t.int32), t.eye(0)], ()),
    OpCase("tril_indices", lambda t: [t.tril_indices(3, 4), t.tril_indices(3, 3, -1)], ()),
    OpCase("triu_indices", lambda t: [t.triu_indices(3, 4), t.triu_indices(3, 3, 1)], ()),
]

RANGES = [
    OpCase("arange", lambda t: [t.arange(5), t.arange(1, 4), t.arange(5, 1, -2), t.arange(0)], ()),
    OpCase("arange", lambda t: [t.arange(1, 2.5, 0.5), t.arange(3.0), t.arange(end=3)], ()),
    OpCase("arange", lambda t: t.arange(0, 1, 0.1, dtype=t.float64), ()),
    OpCase("arange", lambda t, n: t.arange(n), (integers(4, 5),)),
    OpCase("linspace", lambda t: [t.linspace(0, 1, n, dtype=t.float64) for n in (0, 1, 2, 7)], ()),
    OpCase("linspace", lambda t: t.linspace(3, -2.5, 5), ()),
    OpCase("logspace", lambda t: t.logspace(-1, 2, 4, dtype=t.float64), ()),
    OpCase("logspace", lambda t: t.logspace(0, 3, 4, base=2, dtype=t.float64), ()),
]

LIKE = [
    OpCase("zeros_like", lambda t, x: [t.zeros_like(x), t.zeros_like(x, dtype=t.int32)],
           (normal(2, 3),)),
    OpCase("ones_like", lambda t, x: t.ones_like(x, requires_grad=True) * x, (normal(2, 3),)),
    OpCase("full_like", lambda t, x: [t.full_like(x, 2), t.full_like(x, 2, dtype=t.int64)],
           (normal(2, 3),)),
    OpCase("new_zeros", lambda t, x: [x.new_zeros(2, 3), x.new_zeros((0,), dtype=t.int64)],
           (normal(1),)),
    OpCase("new_ones", lambda t, x: x.new_ones((2, 2)), (integers(0, 3, 1),)),
    OpCase("new_full", lambda t, x: [x.new_full((2,), 3), x.new_full((), 1.5)], (normal(1),)),
    OpCase("new_tensor", lambda t, x: [x.new_tensor([1, 2]), x.new_tensor(2.5)], (normal(1),)),
    OpCase("new_tensor", lambda t, x: x.new_tensor([1.5, -2.5]), (integers(0, 3, 1),)),
]  # fmt: skip

CONVERSIONS = [
    *[
        OpCase(f"to {name}", lambda t, x, name=name: x.to(getattr(t, name)), (arg,))
        for name in DTYPES
        for arg in (normal(2, 3), integers(0, 5, 3), mask(4), normal(), normal(0))
        if name not in ("float16", "float32") or arg.text not in ("2x3", "0-d")
    ],
    *[
        OpCase(name, lambda t, x, name=name: getattr(x, name)(), (normal(3),), tolerance=1e-3)
        for name in (
            "float",
            "half",
            "double",
            "long",
            "int",
            "short",
            "char",
            "bool",
            "cdouble",
            "cfloat",
        )
    ],
    OpCase("byte", lambda t, x: x.byte(), (integers(0, 9, 3),)),
    OpCase("to twice", lambda t, x: x.to(t.float32).to(t.float64), (normal(3),), tolerance=1e-6),
    OpCase("to like", lambda t, x, y: x.to(y), (integers(0, 5, 3), normal(1))),
    OpCase("to", lambda t, x: x.to("cpu", t.float64, copy=True) ** 2, (normal(3),)),
    OpCase("to", lambda t, x: x.to(device="cpu", non_blocking=True), (normal(3),)),
    OpCase("type", lambda t, x: [x.type(), x.type("torch.IntTensor").type()], (normal(3),)),
    OpCase("type_as", lambda t, x, y: x.type_as(y), (integers(0, 5, 3), normal(1))),
    OpCase("as_tensor", lambda t, x: t.as_tensor(x) ** 2, (normal(3),)),
    OpCase("scalar_tensor", lambda t: [t.scalar_tensor(3), t.scalar_tensor(1, dtype=t.int64)], ()),
]

CASES = [*BY_SIZE, *RANGES, *LIKE, *CONVERSIONS]
