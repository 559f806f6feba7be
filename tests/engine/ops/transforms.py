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

from tests.engine.ops.case import OpCase
from tests.engine.ops.compare import compare, flatten

EXAMPLES = 2


def check_forward(case: OpCase, engine: Any, torch: Any) -> None:
    """Assert that tangents come out as torch's do."""
    rng = case.generator()
    arrays = [arg.draw(rng) for arg in case.args]
    tangents = [_direction(array, rng) for array in arrays if array.dtype.kind in "fc"]
    if tangents and _differentiable(case.call(torch, *_as_tensors(torch, arrays))):
        sides = [_pushed(t, case, arrays, tangents) for t in (engine, torch)]
        compare("tangent", *sides, case.tolerance)


def _direction(array: Any, rng: np.random.Generator) -> Any:
    drawn = np.asarray(rng.standard_normal(array.shape))
    return drawn + 1j * rng.standard_normal(array.shape) if array.dtype.kind == "c" else drawn


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


def check_batch(case: OpCase, engine: Any, torch: Any) -> None:
    """Assert that vmap does for all examples what torch does for each.

    What the engine refuses, because it depends on values, torch has to refuse too.
    """
    rng = case.generator()
    examples = [[arg.draw(rng) for arg in case.args] for _ in range(EXAMPLES)]
    try:
        found = _batched(engine, case, examples)
    except engine._levels.NotBatchableError:
        _check_refused(torch, case, examples)
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
    )


def _check_refused(torch: Any, case: OpCase, examples: Sequence[Sequence[Any]]) -> None:
    """Torch's words for it depend on which of its fallbacks gave up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a fallback is slow
        with pytest.raises(RuntimeError):
            _batched(torch, case, examples)


def _batched(t: Any, case: OpCase, examples: Sequence[Sequence[Any]]) -> Any:
    stacked = _as_tensors(t, [np.stack(column) for column in zip(*examples, strict=True)])
    return t.func.vmap(lambda *args: tuple(_tensors(case.call(t, *args))))(*stacked)


def _as_tensors(t: Any, arrays: Sequence[Any]) -> list[Any]:
    return [t.tensor(array) for array in arrays]
