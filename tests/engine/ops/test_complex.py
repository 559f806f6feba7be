"""On complex numbers, linear operations and their gradients do what PyTorch's do.

Gradients follow the conjugate convention: that of a product has the other factor conjugated.
"""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.compare import flatten

pytestmark = pytest.mark.torch

CASES = [
    pytest.param(case, id=f"{family}: {case.id}")
    for family in ("indexing", "joining", "linalg", "shape")
    for case in FAMILIES[family]
    if any(arg.draw(case.generator()).dtype.kind == "f" for arg in case.args)
    if case.name != "numel"
]


def results(t: Any, case: OpCase, arrays: list[Any]) -> list[Any]:
    """Outputs, gradients of the complex inputs, and those of a function of these gradients."""
    inputs = [t.tensor(array, requires_grad=array.dtype.kind == "c") for array in arrays]
    sources = [each for each in inputs if each.is_complex()]
    outputs = [each for each in flatten(case.call(t, *inputs)) if isinstance(each, t.Tensor)]
    outputs = [each for each in outputs if each.requires_grad]
    rng = case.generator()
    cotangents = [complex_normal(rng, each.shape) for each in outputs]
    gradients = t.autograd.grad(
        outputs, sources, [t.tensor(each) for each in cotangents],
        create_graph=True, materialize_grads=True,
    )  # fmt: skip
    total = sum((each * each * 1j).sum() for each in gradients) + 0 * sources[0].sum()
    second = t.autograd.grad(total.real, sources, materialize_grads=True)
    return [as_array(each) for each in (*outputs, *gradients, *second)]


def complex_normal(rng: np.random.Generator, shape: Any) -> Any:
    return np.asarray(rng.standard_normal(tuple(shape)) + 1j * rng.standard_normal(tuple(shape)))


def as_array(x: Any) -> Any:
    x = x.detach()
    return (x.resolve_conj() if hasattr(x, "resolve_conj") else x).numpy()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence:UserWarning")
def test_agrees_with_torch_on_complex_numbers(case: OpCase) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    rng = case.generator()
    drawn = [arg.draw(rng) for arg in case.args]
    arrays = [complex_normal(rng, each.shape) if each.dtype.kind == "f" else each for each in drawn]
    ours, theirs = results(engine, case, arrays), results(torch, case, arrays)
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        scale = max(1, abs(other).max(initial=0))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * scale)


def test_a_negative_base_has_a_gradient_with_respect_to_a_complex_exponent(torch: Any) -> None:
    exponent = torch.tensor([0.5 + 1j, 2 - 1j], requires_grad=True)
    by_tensor = torch.pow(torch.tensor([-2.0, -1.0]), exponent)
    by_number = torch.pow(-1, exponent)
    for power, base in ((by_tensor, [-2, -1]), (by_number, [-1, -1])):
        (g,) = torch.autograd.grad(power.sum(), exponent, torch.ones((), dtype=power.dtype))
        expected = [
            (p * cmath.log(b)).conjugate() for p, b in zip(power.tolist(), base, strict=True)
        ]
        assert torch.allclose(g, torch.tensor(expected), rtol=1e-5)
