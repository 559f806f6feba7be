"""Run a case under forward mode and vmap on the engine, and compare with real PyTorch.

Forward mode is compared with torch's. A batch is compared with torch's results example by
example, which is what vmap means, whether or not torch's own vmap has a rule for the operation.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.compare import compare, flatten

EXAMPLES = 2


def check_forward(case: OpCase, engine: Any, torch: Any) -> None:
    """Assert that tangents come out as torch's do."""
    rng = case.generator()
    arrays = [arg.draw(rng) for arg in case.args]
    tangents = [_direction(array, rng) for array in arrays if array.dtype.kind in "fc"]
    if tangents and _differentiable(case.call(torch, *_as_tensors(torch, arrays))):
        sides = [_pushed(t, case, arrays, tangents) for t in (engine, torch)]
        compare("tangent", *sides, case.tolerance, case.noise)


def _direction(array: Any, rng: np.random.Generator) -> Any:
    drawn = np.asarray(rng.standard_normal(array.shape))
    if array.dtype.kind == "c":
        drawn = drawn + 1j * rng.standard_normal(array.shape)
    return np.asarray(drawn).astype(array.dtype)


def _pushed(t: Any, case: OpCase, arrays: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    inputs = _as_tensors(t, arrays)
    sources = [at for at, array in enumerate(arrays) if array.dtype.kind in "fc"]

    def of_sources(*values: Any) -> tuple[Any, ...]:
        filled = dict(zip(sources, values, strict=True))
        return _differentiable(case.call(t, *[filled.get(at, x) for at, x in enumerate(inputs)]))

    _, pushed = t.func.jvp(
        of_sources,
        tuple([inputs[at] for at in sources]),
        tuple(_as_tensors(t, tangents)),
    )
    return [each.detach().numpy(force=True) for each in pushed]


def _differentiable(result: Any) -> tuple[Any, ...]:
    return tuple(
        [each for each in _tensors(result) if each.is_floating_point() or each.is_complex()]
    )


def _tensors(result: Any) -> list[Any]:
    return [each for each in flatten(result) if hasattr(each, "requires_grad")]


Dims = tuple[int | None, ...]
"""Where each argument has its examples; None for one that is the same for all."""


def check_batch(case: OpCase, engine: Any, torch: Any, dims: Dims | None = None) -> None:
    """Assert that vmap does for all examples what torch does for each.

    What the engine refuses, because it depends on values, torch has to refuse too.
    """
    dims = (0,) * len(case.args) if dims is None else dims
    examples = _examples(case, dims)
    try:
        found = _batched(engine, case, examples, dims)
    except engine._levels.NotBatchableError:
        _check_refused(torch, case, examples, dims)
        return
    expected = [
        [
            each.detach().numpy(force=True)
            for each in _tensors(case.call(torch, *_as_tensors(torch, arrays)))
        ]
        for arrays in examples
    ]
    columns = [np.stack(column) for column in zip(*expected, strict=True)]
    compare(
        "batched output",
        [each.detach().numpy(force=True) for each in found],
        columns,
        case.tolerance,
        case.noise,
    )


def _examples(case: OpCase, dims: Dims) -> list[list[Any]]:
    """The arrays of each example."""
    rng = case.generator()
    drawn = [[arg.draw(rng) for arg in case.args] for _ in range(EXAMPLES)]
    shared = [at for at, dim in enumerate(dims) if dim is None]
    return [[drawn[0][at] if at in shared else x for at, x in enumerate(row)] for row in drawn]


def _check_refused(torch: Any, case: OpCase, examples: Sequence[Sequence[Any]], dims: Dims) -> None:
    """Torch's words for it depend on which of its fallbacks gave up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a fallback is slow
        with pytest.raises(RuntimeError):
            _batched(torch, case, examples, dims)


def _batched(t: Any, case: OpCase, examples: Sequence[Sequence[Any]], dims: Dims) -> Any:
    columns = zip(dims, zip(*examples, strict=True), strict=True)
    stacked = [column[0] if dim is None else np.stack(column, dim) for dim, column in columns]
    mapped = t.func.vmap(lambda *args: tuple(_tensors(case.call(t, *args))), in_dims=dims)
    return mapped(*_as_tensors(t, stacked))


def _as_tensors(t: Any, arrays: Sequence[Any]) -> list[Any]:
    return [t.tensor(array) for array in arrays]
