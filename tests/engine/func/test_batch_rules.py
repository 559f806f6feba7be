"""Every batch rule does at once what a loop over the examples does, whichever arguments have them.

The shared cases of all operations run under vmap, forward and back; each primitive that comes
by is computed once more, example by example. This needs no PyTorch.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine
from gradtool.engine._levels import NotBatchableError
from gradtool.engine._levels.batch import VmapLevel
from gradtool.engine._ops.core.primitive import PRIMITIVES
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.compare import flatten

EXAMPLES = 3

CASES = [
    pytest.param(case, id=f"{family}: {case.id}")
    for family, cases in FAMILIES.items()
    for case in cases
    if case.args
]


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Compares what a batch level makes of a primitive with the loop; the names of those it did."""
    names: list[str] = []
    apply = VmapLevel.apply

    def compared_apply(
        level: VmapLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        expected = array(level._by_example(primitive, args, params))
        out = apply(level, primitive, args, params)
        found = array(level.below(out))
        assert found.dtype == expected.dtype, primitive
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=str(primitive))
        assert out.shape == expected.shape[1:], primitive
        names.append(primitive.name)
        return out

    monkeypatch.setattr(VmapLevel, "apply", compared_apply)
    return names


def array(tensor: Any) -> Any:
    return tensor.detach().resolve_conj().resolve_neg().numpy()


def placements(case: OpCase) -> Iterator[tuple[int | None, ...]]:
    """Every choice of which arguments have examples, but none; few where there are many."""
    count = len(case.args)
    choices = itertools.product((0, None), repeat=count)
    yield from itertools.islice(choices, min(2**count - 1, 7))


def arguments(case: OpCase, dims: Sequence[int | None]) -> list[Any]:
    rng = case.generator()
    examples = [[arg.draw(rng) for arg in case.args] for _ in range(EXAMPLES)]
    return [
        engine.tensor(column[0] if dim is None else np.stack(column))
        for dim, column in zip(dims, zip(*examples, strict=True), strict=True)
    ]


def forth_and_back(case: OpCase, *inputs: Any) -> Any:
    """The results, and the gradients of all that has one."""
    sources = [at for at, x in enumerate(inputs) if x.is_floating_point() or x.is_complex()]

    def smooth(*values: Any) -> Any:
        filled = dict(zip(sources, values, strict=True))
        results = tensors(case.call(engine, *[filled.get(at, x) for at, x in enumerate(inputs)]))
        kept = tuple(each for each in results if each.is_floating_point() or each.is_complex())
        # A transform accepts no function without smooth outputs.
        return kept or (engine.zeros(()),), results

    outputs, pull, results = engine.func.vjp(smooth, *[inputs[at] for at in sources], has_aux=True)
    weights = tuple(each.detach().sin() + 1 for each in outputs)
    return (*results, *(pull(weights) if sources else ()))


def tensors(result: Any) -> list[Any]:
    return [each for each in flatten(result) if isinstance(each, engine.Tensor)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what an operation warns of is tested where it is computed
@pytest.mark.parametrize("case", CASES)
def test_rules_do_what_the_loop_does(case: OpCase, compared: list[str]) -> None:
    if case.not_batched:
        pytest.skip(case.not_batched)
    for dims in placements(case):
        run(case, dims)


def test_a_wrong_rule_is_noticed(compared: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (flip,) = [each for each in PRIMITIVES if each.name == "flip"]
    monkeypatch.setattr(
        flip, "batch", lambda level, _primitive, args, _params: level.below(args[0])
    )
    with pytest.raises(AssertionError, match="flip"):
        engine.func.vmap(lambda x: x.flip(0))(engine.arange(6.0).reshape(2, 3))


LOOPED = {
    "as_strided": "it may reach beyond the example it is given",
    **dict.fromkeys(("bincount", "bincount_of_weights", "histc"), "examples are counted apart"),
    "bucketize": "bounds that differ from example to example",
    "searchsorted": "rows of bounds are searched one by one anyway",
}
"""Name of a primitive without a batch rule -> why."""


@pytest.mark.filterwarnings("ignore")
def test_the_loop_is_the_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    looped: set[str] = set()
    by_example = VmapLevel._by_example

    def noted(level: VmapLevel, primitive: Any, args: Any, params: Any) -> Any:
        looped.add(primitive.name)
        return by_example(level, primitive, args, params)

    monkeypatch.setattr(VmapLevel, "_by_example", noted)
    for parameters in CASES:
        (case,) = parameters.values
        if not case.not_batched:
            run(case, [0] * len(case.args))
    assert looped <= set(LOOPED)


def run(case: OpCase, dims: Sequence[int | None]) -> None:
    """Run a case under vmap, as far as it can be."""
    inputs = arguments(case, dims)
    with contextlib.suppress(NotBatchableError):
        engine.func.vmap(lambda *args: forth_and_back(case, *args), in_dims=tuple(dims))(*inputs)


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # PyTorch loops too
def test_counts_are_batched_where_all_have_as_many(torch: Any) -> None:
    counted = torch.tensor([0, 2, 2, 0])
    weights = torch.arange(8.0).reshape(2, 4)
    bins = torch.func.vmap(lambda each: torch.bincount(counted, each, minlength=4))(weights)
    assert bins.tolist() == [[3.0, 0.0, 3.0, 0.0], [11.0, 0.0, 11.0, 0.0]]
    assert torch.func.vmap(lambda each: torch.histc(each, 2, 0, 8))(weights).tolist() == [
        [4.0, 0.0],
        [0.0, 4.0],
    ]
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        torch.func.vmap(torch.bincount)(torch.tensor([[0, 1], [2, 0]]))
