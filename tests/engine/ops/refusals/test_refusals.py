"""What arithmetic and reductions refuse, with the type of error and the words of PyTorch."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as engine

Call = Callable[[Any], Any]

REFUSED: dict[str, tuple[Call, type[Exception], str]] = {
    "exp of a number": (lambda t: t.exp(2.0), TypeError, "must be Tensor, not float"),
    "a list as an operand": (lambda t: t.ones(2) / [1, 2], TypeError, "list"),
    "a comparison with text": (lambda t: t.ones(2) < "a", TypeError, "'<' not supported between"),
    "negated booleans": (
        lambda t: -t.tensor([True]), RuntimeError,
        "Negation, the `-` operator, on a bool tensor is not supported.",
    ),
    "subtracted booleans": (
        lambda t: t.tensor([True]) - t.tensor([True]), RuntimeError, "Subtraction, the `-`",
    ),
    "a boolean subtracted": (lambda t: t.tensor([1]) - True, RuntimeError, "Subtraction, the `-`"),
    "unary plus of booleans": (lambda t: +t.tensor([True]), RuntimeError, "The `+` operator"),
    "relu of booleans": (
        lambda t: t.relu(t.tensor([True])), RuntimeError, "Boolean inputs not supported for relu",
    ),
    "the sign of complex numbers": (
        lambda t: t.sign(t.tensor([1j])), RuntimeError, "Please use torch.sgn instead",
    ),
    "silu of complex numbers, recorded": (
        lambda t: t.nn.functional.silu(t.tensor([1j], requires_grad=True)), RuntimeError,
        "silu does not support automatic differentiation for outputs with complex dtype.",
    ),
    "the gradient of what a number leaves": (
        lambda t: (2 % t.tensor(3.0, requires_grad=True)).backward(), RuntimeError,
        "derivative for aten::remainder is not implemented",
    ),
    "the remainder by text": (
        lambda t: t.remainder(t.ones(2), "a"), TypeError, "remainder()",
    ),
    "floats times two to the power of a boolean": (
        lambda t: t.ldexp(t.tensor([1.0]), t.tensor([True])), NotImplementedError,
        "\"ldexp_cpu_exp\" not implemented for 'Bool'",
    ),
    "ordered complex numbers": (lambda t: t.tensor([1j]) < 1, RuntimeError, "not implemented for"),
    "bits of floats": (
        lambda t: t.tensor([1.0]) & t.tensor([1.0]), RuntimeError, "not implemented for 'Float'",
    ),
    "integers by zero": (lambda t: t.tensor([1]) // 0, RuntimeError, "ZeroDivisionError"),
    "the remainder by zero": (lambda t: t.tensor([1]) % 0, RuntimeError, "ZeroDivisionError"),
    "an unknown rounding": (
        lambda t: t.div(t.ones(1), 2, rounding_mode="up"), RuntimeError,
        "one of None, 'trunc', or 'floor' but found 'up'",
    ),
    "a gradient of floor_divide": (
        lambda t: (t.ones(1, requires_grad=True) // 2).sum().backward(), RuntimeError,
        "derivative for aten::floor_divide is not implemented",
    ),
    "a tangent of floor_divide": (
        lambda t: t.func.jvp(lambda x: x // 2, (t.ones(1),), (t.ones(1),)), NotImplementedError,
        "Trying to use forward AD with aten::floor_divide that does not support it.",
    ),
    "a tangent of heaviside": (
        lambda t: t.func.jvp(lambda x: t.heaviside(x, x), (t.ones(1),), (t.ones(1),)),
        NotImplementedError, "forward AD with aten::heaviside that does not support it.",
    ),
    "a tangent of asinh_": (
        lambda t: t.func.jvp(lambda x: (x * 1).asinh_(), (t.ones(1),), (t.ones(1),)),
        NotImplementedError, "asinh_ that does not support it because it has not been implemented",
    ),
    "a tangent of unique": (
        lambda t: t.func.jvp(t.unique, (t.ones(1),), (t.ones(1),)),
        NotImplementedError, "_unique2 that does not support it because it has not been",
    ),
    "a gradient of unique": (
        lambda t: t.ones(1, requires_grad=True).unique().backward(), NotImplementedError,
        "the derivative for '_unique2' is not implemented.",
    ),
    "a gradient of unique rows": (
        lambda t: t.ones(1, 1, requires_grad=True).unique(dim=0).backward(), NotImplementedError,
        "the derivative for 'unique_dim' is not implemented.",
    ),
    "a gradient of unique runs": (
        lambda t: t.ones(1, requires_grad=True).unique_consecutive().backward(),
        NotImplementedError, "the derivative for 'unique_consecutive' is not implemented.",
    ),
    "a fraction times integers": (
        lambda t: t.add(t.tensor([1]), t.tensor([2]), alpha=0.5), RuntimeError,
        "argument alpha must not be a floating point number.",
    ),
    "a boolean factor": (
        lambda t: t.add(t.tensor([1]), t.tensor([2]), alpha=True), RuntimeError,
        "Boolean alpha only supported for Boolean results.",
    ),
    "addcdiv of integers": (
        lambda t: t.addcdiv(t.tensor([1]), t.tensor([1]), t.tensor([1])), RuntimeError,
        "Integer division with addcdiv is no longer supported",
    ),
    "lerp of two dtypes": (
        lambda t: t.lerp(t.ones(1), t.ones(1, dtype=t.float64), 0.5), RuntimeError,
        "expected dtype",
    ),
    "lerp of integers": (
        lambda t: t.lerp(t.tensor([1]), t.tensor([2]), 0.5), NotImplementedError, "'Long'",
    ),
    "integers to a negative power": (
        lambda t: t.tensor([2]) ** -1, RuntimeError,
        "Integers to negative integer powers are not allowed.",
    ),
    "a number to a number": (lambda t: t.pow(2, 3), TypeError, "pow()"),
    "a condition of integers": (
        lambda t: t.where(t.tensor([1]), 1.0, 2.0), RuntimeError,
        "where expected condition to be a boolean tensor",
    ),
    "half a choice": (lambda t: t.where(t.tensor([True]), 1.0), TypeError, "where()"),
    "no bound": (
        lambda t: t.clamp(t.ones(1)), RuntimeError,
        "At least one of 'min' or 'max' must not be None",
    ),
    "bounds of two kinds": (lambda t: t.clamp(t.ones(1), t.ones(1), 2), TypeError, "clamp()"),
    "the maximum of a number": (lambda t: t.maximum(t.ones(1), 2.0), TypeError, "must be Tensor"),
    "closeness of two dtypes": (
        lambda t: t.isclose(t.ones(1), t.tensor([1])), RuntimeError, "Float did not match Long",
    ),
    "a negative tolerance": (
        lambda t: t.isclose(t.ones(1), t.ones(1), rtol=-1), RuntimeError,
        "rtol must be greater than or equal to zero, but got -1",
    ),
    "a sum over no such dimension": (
        lambda t: t.ones(2, 3).sum(2), IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    "a sum of 0-d over no such dimension": (
        lambda t: t.tensor(1.0).sum(1), IndexError, "in range of [-1, 0], but got 1)",
    ),
    "a sum over a dimension twice": (
        lambda t: t.ones(2, 3).sum((0, -2)), RuntimeError,
        "dim 0 appears multiple times in the list of dims",
    ),
    "the mean of integers": (
        lambda t: t.tensor([1]).mean(), RuntimeError,
        "Input dtype must be either a floating point or complex dtype. Got: Long",
    ),
    "the variance of integers": (
        lambda t: t.tensor([1]).var(), RuntimeError,
        "std and var only support floating point and complex dtypes",
    ),
    "two corrections": (
        lambda t: t.ones(3).var(0, unbiased=False, correction=1), TypeError, "var()",
    ),
    "the maximum of nothing": (
        lambda t: t.ones(0).max(), RuntimeError,
        "max(): Expected reduction dim to be specified for input.numel() == 0.",
    ),
    "the maximum along nothing": (
        lambda t: t.ones(0, 3).max(0), IndexError,
        "max(): Expected reduction dim 0 to have non-zero size.",
    ),
    "amax along nothing": (
        lambda t: t.ones(0).amax(0), IndexError,
        "amax(): Expected reduction dim 0 to have non-zero size.",
    ),
    "argmax of nothing": (
        lambda t: t.ones(0).argmax(), IndexError,
        "argmax(): Expected reduction dim to be specified",
    ),
    "argmax along nothing": (
        lambda t: t.ones(0, 3).argmax(0), IndexError,
        "argmax(): Expected reduction dim 0 to have non-zero size.",
    ),
    "argmax of booleans": (
        lambda t: t.tensor([True]).argmax(), RuntimeError, "argmax(): does not support bool input",
    ),
    "a running sum over no such dimension": (
        lambda t: t.ones(2).cumsum(1), IndexError, "range of [-1, 0], but got 1",
    ),
    "softmax of integers": (
        lambda t: t.tensor([1]).softmax(0), NotImplementedError, "not implemented for 'Long'",
    ),
    "the norm of integers": (
        lambda t: t.tensor([1]).norm(), RuntimeError,
        "Expected a floating point or complex tensor as input. Got Long",
    ),
    "the largest norm of nothing": (
        lambda t: t.ones(0).norm(float("inf")), RuntimeError,
        "linalg.vector_norm cannot compute the inf norm on an empty tensor",
    ),
    "a norm of no such order": (lambda t: t.ones(2, 2).norm("abc"), RuntimeError, "abc"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refuses(what: str) -> None:
    call, error, message = REFUSED[what]
    with pytest.raises(error, match=re.escape(message)):
        call(engine)


@pytest.mark.torch
@pytest.mark.parametrize("what", REFUSED)
def test_refuses_as_torch_does(what: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    call, error, message = REFUSED[what]
    with pytest.raises(error, match=re.escape(message)):
        call(torch)


def test_too_few_degrees_of_freedom_warn() -> None:
    with pytest.warns(UserWarning, match=re.escape("var(): degrees of freedom is <= 0")):
        engine.tensor([1.0]).var()


def test_a_condition_of_bytes_warns() -> None:
    with pytest.warns(UserWarning, match="where received a uint8 condition tensor"):
        found = engine.where(engine.tensor([1, 0], dtype=engine.uint8), 1.0, 2.0)
    assert found.tolist() == [1.0, 2.0]


def test_no_warning_without_reason() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine.ones(3).var()
