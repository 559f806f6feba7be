"""The dtype of every result is PyTorch's, and what PyTorch has no result for is refused."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import gradtool.engine as engine

pytestmark = pytest.mark.torch

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
NUMBERS = {"bool": True, "int": 2, "float": 1.5, "complex": 1 + 1j}


class Operand(NamedTuple):
    """A tensor with a dimension, one without, or a number."""

    kind: str
    dtype: str

    def on(self, t: Any) -> Any:
        """The operand as an object of one of the two modules."""
        if self.kind == "number":
            return NUMBERS[self.dtype]
        return t.tensor([1, 2] if self.kind == "tensor" else 1, dtype=getattr(t, self.dtype))


OPERANDS = [
    *[Operand(kind, dtype) for kind in ("tensor", "0-d") for dtype in DTYPES],
    *[Operand("number", dtype) for dtype in NUMBERS],
]

BINARY: dict[str, Callable[..., Any]] = {
    "+": lambda t, x, y: x + y,
    "-": lambda t, x, y: x - y,
    "*": lambda t, x, y: x * y,
    "/": lambda t, x, y: x / y,
    "//": lambda t, x, y: x // y,
    "%": lambda t, x, y: x % y,
    "**": lambda t, x, y: x**y,
    "&": lambda t, x, y: x & y,
    "<<": lambda t, x, y: x << y,
    "==": lambda t, x, y: x == y,
    "<": lambda t, x, y: x < y,
    "div floor": lambda t, x, y: t.div(x, y, rounding_mode="floor"),
    "div trunc": lambda t, x, y: t.div(x, y, rounding_mode="trunc"),
    "where": lambda t, x, y: t.where(t.tensor([True, False]), x, y),
    "result_type": lambda t, x, y: t.zeros((), dtype=t.result_type(x, y)),
}

TENSORS_ONLY: dict[str, Callable[..., Any]] = {
    "maximum": lambda t, x, y: t.maximum(x, y),
    "atan2": lambda t, x, y: t.atan2(x, y),
    "fmod": lambda t, x, y: t.fmod(x, y),
    "hypot": lambda t, x, y: t.hypot(x, y),
    "logical_and": lambda t, x, y: t.logical_and(x, y),
    "addcmul": lambda t, x, y: t.addcmul(x, x, y) if x.dtype is not t.bool else x,
    "add alpha": lambda t, x, y: t.add(x, y, alpha=2),
    "isclose": lambda t, x, y: t.isclose(x, y),
    "clamp": lambda t, x, y: t.clamp(x, y, y),
}

UNARY = (
    "abs", "acos", "acosh", "argmax", "argmin", "asin", "asinh", "atan", "atanh", "bitwise_not",
    "ceil", "cos", "cosh", "count_nonzero", "erf", "erfc", "exp", "exp2", "expm1", "floor", "frac",
    "isfinite", "isinf", "isnan", "isreal", "log", "log10", "log1p", "log2", "logical_not", "max",
    "mean", "neg", "norm", "positive", "prod", "reciprocal", "relu", "round", "rsqrt", "sgn",
    "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "std", "sum", "tan", "tanh", "trunc", "var",
)  # fmt: skip

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "all": lambda t, x: x.all(),
    "amax": lambda t, x: x.amax(0),
    "any": lambda t, x: x.any(0),
    "clamp": lambda t, x: x.clamp(0, 1),
    "clamp fractions": lambda t, x: x.clamp(0.5, 1),
    "cumsum": lambda t, x: x.cumsum(0),
    "log_softmax": lambda t, x: x.log_softmax(0),
    "logsumexp": lambda t, x: x.logsumexp(0),
    "max along": lambda t, x: x.max(0)[0],
    "mean in": lambda t, x: x.mean(dtype=t.float32),
    "norm 0": lambda t, x: x.norm(0),
    "norm 1": lambda t, x: x.norm(1),
    "norm inf": lambda t, x: x.norm(float("inf"), 0),
    "pow 2": lambda t, x: x**2,
    "pow 0.5": lambda t, x: x**0.5,
    "softmax": lambda t, x: x.softmax(0),
    "sum in": lambda t, x: x.sum(dtype=t.float32),
}


def outcome(t: Any, call: Callable[..., Any], *operands: Operand) -> str:
    """The dtype of the result, or that there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(call(t, *[each.on(t) for each in operands]).dtype)
        except (RuntimeError, TypeError):
            return "refused"


def compare(call: Callable[..., Any], combinations: Any) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    differ = {}
    for operands in combinations:
        theirs = outcome(torch, call, *operands)
        ours = outcome(engine, call, *operands)
        if ours != theirs and not _needs_half_complex(theirs, operands):
            differ[operands] = {"ours": ours, "theirs": theirs}
    assert not differ


def _needs_half_complex(theirs: str, operands: tuple[Operand, ...]) -> bool:
    """PyTorch has a complex dtype of half precision, which NumPy does not have."""
    dtypes = {each.dtype for each in operands}
    meets = "float16" in dtypes and any("complex" in each for each in dtypes)
    return theirs == "torch.complex32" or (meets and theirs == "refused")


def pairs(kinds: set[str]) -> list[tuple[Operand, Operand]]:
    chosen = [each for each in OPERANDS if each.kind in kinds]
    return [
        (one, other)
        for one, other in itertools.product(chosen, chosen)
        if not one.kind == other.kind == "number"
    ]


@pytest.mark.parametrize("name", BINARY)
def test_of_two_operands(name: str) -> None:
    compare(BINARY[name], pairs({"tensor", "0-d", "number"}))


@pytest.mark.parametrize("name", TENSORS_ONLY)
def test_of_two_tensors(name: str) -> None:
    compare(TENSORS_ONLY[name], pairs({"tensor", "0-d"}))


@pytest.mark.parametrize("name", UNARY)
def test_of_one_operand(name: str) -> None:
    compare(
        lambda t, x: getattr(t, name)(x),
        [(each,) for each in OPERANDS if each.kind != "number"],
    )


@pytest.mark.parametrize("name", REDUCTIONS)
def test_of_reductions(name: str) -> None:
    compare(REDUCTIONS[name], [(each,) for each in OPERANDS if each.kind != "number"])
