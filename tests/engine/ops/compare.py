"""Run a case on the engine and on torch side by side, and compare all that comes out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.cases.case import NOISE, OpCase


class Run:
    """A case on one of the two modules."""

    def __init__(self, t: Any, case: OpCase, arrays: list[Any]) -> None:
        self.t = t
        self.inputs = [t.tensor(array) for array in arrays]
        self.sources = [
            each for each in self.inputs if each.is_floating_point() or each.is_complex()
        ]
        for each in self.sources:
            each.requires_grad_()
        self.outputs = flatten(case.call(t, *self.inputs))

    @property
    def roots(self) -> list[Any]:
        """The outputs that a gradient can start from."""
        return [each for each in self.outputs if getattr(each, "requires_grad", False)]

    def first_order(self, cotangents: list[Any]) -> list[Any]:
        """Gradients of all inputs, recorded."""
        self.cotangents = [self.t.tensor(each, requires_grad=True) for each in cotangents]
        self.gradients = self.t.autograd.grad(
            self.roots, self.sources, self.cotangents, create_graph=True, allow_unused=True
        )
        return [as_array(*pair) for pair in zip(self.gradients, self.sources, strict=True)]

    def second_order(self, directions: list[Any]) -> list[Any]:
        """Gradients of the gradients' products with `directions`, by inputs and cotangents."""
        total = self.t.zeros((), dtype=self.t.float64)
        for gradient, direction in zip(self.gradients, directions, strict=True):
            if gradient is not None:
                product = (gradient * self.t.tensor(direction)).sum()
                total = total + (product.real if product.is_complex() else product)
        into = [*self.sources, *self.cotangents]
        if not total.requires_grad:
            return [as_array(None, each) for each in into]
        found = self.t.autograd.grad(total, into, allow_unused=True)
        return [as_array(*pair) for pair in zip(found, into, strict=True)]


def check(case: OpCase, engine: Any, torch: Any) -> None:
    """Assert that the engine does in this case what torch does."""
    rng = case.generator()
    arrays = [arg.draw(rng) for arg in case.args]
    ours, theirs = Run(engine, case, arrays), Run(torch, case, arrays)
    compare_outputs(ours.outputs, theirs.outputs, case.tolerance, case.noise)
    if not theirs.roots:
        return
    cotangents = [random_like(each, rng) for each in theirs.roots]
    sides = [run.first_order(cotangents) for run in (ours, theirs)]
    compare("gradient", *sides, case.tolerance, case.noise)
    if case.second_order:
        directions = [random_like(each, rng) for each in theirs.sources]
        compare(
            "second-order gradient",
            *[run.second_order(directions) for run in (ours, theirs)],
            case.tolerance,
            case.noise,
        )


def random_like(tensor: Any, rng: np.random.Generator) -> Any:
    """Standard normal numbers, complex where those of the tensor are."""
    drawn = np.asarray(rng.standard_normal(tensor.shape))
    return drawn + 1j * rng.standard_normal(tensor.shape) if tensor.is_complex() else drawn


def compare_outputs(
    ours: list[Any], theirs: list[Any], tolerance: float, noise: float = NOISE
) -> None:
    """Values, dtypes, and whether a gradient can flow."""
    assert len(ours) == len(theirs), "number of outputs"
    for position, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        if not hasattr(other, "requires_grad"):
            assert type(one) is type(other)
            assert one == other, f"output {position}"
            continue
        assert str(one.dtype) == str(other.dtype), f"dtype of output {position}"
        assert one.requires_grad == other.requires_grad, f"requires_grad of output {position}"
    tensors = [pair for pair in zip(ours, theirs, strict=True) if hasattr(pair[1], "detach")]
    if tensors:
        ours, theirs = [
            [each.detach().numpy(force=True) for each in side]
            for side in zip(*tensors, strict=True)
        ]
        compare("output", ours, theirs, tolerance, noise)


def compare(
    what: str, ours: list[Any], theirs: list[Any], tolerance: float, noise: float = NOISE
) -> None:
    """Arrays of the same shapes whose entries agree to `tolerance` of the largest.

    A result whose largest entry is below `noise` is compared as if it had one as large.
    """
    for position, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        assert one.shape == other.shape, f"shape of {what} {position}"
        finite = np.isfinite(other)
        np.testing.assert_array_equal(
            one[~finite], other[~finite], f"{what} {position}, infinities and NaNs"
        )
        scale = np.abs(other[finite]).max(initial=noise)
        rounding = 8 * np.finfo(other.dtype).eps if other.dtype.kind in "fc" else 0.0
        np.testing.assert_allclose(
            one[finite], other[finite], rtol=0,
            atol=max(tolerance, rounding) * float(scale), err_msg=f"{what} {position}",
        )  # fmt: skip


def as_array(gradient: Any, source: Any) -> Any:
    """A gradient's elements; no gradient is zeros."""
    if gradient is None:
        return np.zeros(tuple(source.shape), dtype=str(source.dtype).removeprefix("torch."))
    return gradient.detach().numpy(force=True)


def flatten(result: Any) -> list[Any]:
    """The tensors and numbers of a nested result."""
    if isinstance(result, tuple | list):
        return [leaf for each in result for leaf in flatten(each)]
    return [result]
