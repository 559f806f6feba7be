"""Jacobians as PyTorch's gradcheck once computed them, for modules that call it directly."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from gradtool.engine import _dtypes
from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._api import grad


class Analytical(NamedTuple):
    """A Jacobian from backward for each input, and what it is like."""

    jacobians: tuple[Tensor, ...]
    reentrant: bool
    """Backward gave the same twice."""
    correct_grad_sizes: bool
    correct_grad_types: bool


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1
) -> tuple[Tensor, ...]:
    """Return the Jacobian of the first output with respect to each input, by central differences.

    Args:
        fn: Takes the inputs as one tuple.
        inputs: Tensors, whose elements are changed and restored.
        target: The tensors to differentiate with respect to, by default `inputs`.
        eps: The step.
        grad_out: 1.

    Returns:
        A Jacobian for each target that requires a gradient: a row for each of its elements, a
        column for each element of the output.

    Raises:
        ValueError: an output is complex, or `grad_out` is not 1.
    """
    _deprecate("get_numerical_jacobian", grad_out)
    inputs = tuple(_each(inputs))

    def first() -> Tensor:
        outputs: Any = fn(inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        if any(each.is_complex() for each in outputs):
            raise _not_complex("get_numerical_jacobian")
        flat: Tensor = outputs[0].detach().reshape(-1).clone()
        return flat

    first()
    targets = inputs if target is None else _each(target)
    return tuple(_by_differences(first, each, eps) for each in targets if each.requires_grad)


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1
) -> Analytical:
    """Return the Jacobian of an output with respect to each input, from backward.

    Args:
        inputs: Tensors that the output was computed from.
        output: A real tensor.
        nondet_tol: The largest difference between two runs that counts as the same.
        grad_out: 1.

    Raises:
        ValueError: the output is complex, or `grad_out` is not 1.
    """
    _deprecate("get_analytical_jacobian", grad_out)
    if output.is_complex():
        raise _not_complex("get_analytical_jacobian")
    leaves = [each for each in _each(inputs) if each.requires_grad]
    rows, again = _rows(leaves, output), _rows(leaves, output)
    pairs = [
        (gradient, leaf) for row in rows for gradient, leaf in zip(row, leaves, strict=True)
        if gradient is not None
    ]  # fmt: skip
    jacobians = _stacked(leaves, rows)
    return Analytical(
        jacobians,
        all(
            bool(((one - other).abs() <= nondet_tol).all())
            for one, other in zip(jacobians, _stacked(leaves, again), strict=True)
        ),
        all(gradient.shape == leaf.shape for gradient, leaf in pairs),
        all(gradient.dtype == leaf.dtype for gradient, leaf in pairs),
    )


def _deprecate(name: str, grad_out: float) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are "
        "deprecating it and it will be removed in a future version of PyTorch. If you have a "
        "specific use for this or feature request for this to be a stable API, please file us an "
        "issue at https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
        stacklevel=3,
    )
    if grad_out != 1:
        raise ValueError(
            f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0."
        )


def _not_complex(name: str) -> ValueError:
    return ValueError(
        f"Expected output to be non-complex. {name} no longer supports functions that return "
        "complex outputs."
    )


def _each(tensors: Any) -> Iterator[Tensor]:
    """The tensors in nested collections, or one tensor."""
    if isinstance(tensors, Tensor):
        yield tensors
    elif isinstance(tensors, list | tuple):
        yield from itertools.chain.from_iterable(map(_each, tensors))


def _by_differences(first: Callable[[], Tensor], leaf: Tensor, eps: float) -> Tensor:
    rows = []
    steps = (eps, eps * 1j) if leaf.is_complex() else (eps,)
    for place in itertools.product(*map(range, leaf.shape)):
        slopes = [_slope(first, leaf, place, step, eps) for step in steps]
        rows.append(slopes[0] if len(slopes) == 1 else slopes[0] + slopes[1] * 1j)
    return _stack(rows, leaf)


def _slope(
    first: Callable[[], Tensor], leaf: Tensor, place: tuple[int, ...], step: Any, eps: float
) -> Tensor:
    """The derivative by one element, which is changed in place, unseen by the graph."""
    array = leaf._array
    before = array[place].copy()
    recording, modes.grad = modes.grad, True
    try:
        array[place] = before - step
        low = first()
        array[place] = before + step
        high = first()
    finally:
        array[place] = before
        modes.grad = recording
    slope: Tensor = (high - low) / (2 * eps)
    return slope


def _rows(leaves: Sequence[Tensor], output: Tensor) -> list[tuple[Tensor | None, ...]]:
    """The gradients of each element of the output."""
    rows = []
    for number in range(output.numel()):
        cotangent = output.new_zeros(output.numel())
        cotangent[number] = 1
        cotangent = cotangent.reshape(output.shape)
        rows.append(grad(output, leaves, cotangent, retain_graph=True, allow_unused=True))
    return rows


def _stacked(
    leaves: Sequence[Tensor], rows: Sequence[tuple[Tensor | None, ...]]
) -> tuple[Tensor, ...]:
    jacobians = []
    for position, leaf in enumerate(leaves):
        columns = [row[position] for row in rows]
        flat = [
            leaf.new_zeros(leaf.numel()) if each is None else each.detach().reshape(-1)
            for each in columns
        ]
        jacobians.append(_stack(flat, leaf).t())
    return tuple(jacobians)


def _stack(rows: Sequence[Tensor], leaf: Tensor) -> Tensor:
    from gradtool.engine._ops.shape.joining import stack

    if not rows:
        return leaf.new_zeros((0, 0), dtype=_dtypes.float64)
    stacked: Tensor = stack(rows)
    return stacked
