"""Calls that overlap, and tensors that change between forward and backward."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

import gradtool.engine as torch
from gradtool.adapters.common.buffers import reachable
from gradtool.engine.autograd import Function
from tests.adapters.case_functions import Product, at, leaf

ONES = np.ones(3)
X, Y = (2.0, 3.0, 5.0), (0.5, -1.0, 2.0)


class OnTheClass(Function):
    """x², but what backward needs is on the class: the last call's."""

    @staticmethod
    def forward(ctx, x):
        OnTheClass.kept = x
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g * 2 * OnTheClass.kept


class SharedOutput(Function):
    """2 x, in a buffer that every call writes its output to."""

    buffer = torch.zeros(3, dtype=torch.float64)

    @staticmethod
    def forward(ctx, x):
        SharedOutput.buffer.copy_(x * 2)
        return SharedOutput.buffer.detach()

    @staticmethod
    def backward(ctx, g):
        return g * 2


def interleaved(function):
    it = at(function, leaf(*X))
    return it.interleaved(([ONES], [3 * ONES]), ([ONES], [ONES]))


def test_calls_of_a_right_function_do_not_meet() -> None:
    it = at(Product, leaf(*X), leaf(*Y))
    other = [np.array(Y), np.array(X)]
    one, two = it.interleaved((it.primals, other), ([ONES], [2 * ONES]))
    alone = it.call(it.primals, [ONES]), it.call(other, [2 * ONES])
    for seen, expected in zip((one, two), alone, strict=True):
        assert [g.tolist() for g in seen.gradients] == [g.tolist() for g in expected.gradients]
        assert [r.value.tolist() for r in seen.raw] == [r.value.tolist() for r in expected.raw]
        assert seen.saved == expected.saved
        assert seen.mutated_outputs == ()


def test_state_on_the_class_shows_in_the_first_calls_gradient() -> None:
    one, two = interleaved(OnTheClass)
    assert one.gradients[0].tolist() == [6.0] * 3  # its own would be 2
    assert two.gradients[0].tolist() == [6.0] * 3


def test_a_reused_buffer_shows_as_an_output_that_changed() -> None:
    one, two = interleaved(SharedOutput)
    assert one.outputs[0].tolist() == [2.0] * 3
    assert one.mutated_outputs == (0,)
    assert two.mutated_outputs == ()
    assert one.buffers_changed_in_forward == ("SharedOutput.buffer",)


def test_a_forward_that_fails_the_second_time_leaves_the_first_alone() -> None:
    class Once(Function):
        calls = 0

        @staticmethod
        def forward(ctx, x):
            Once.calls += 1
            if Once.calls > 1:
                raise ValueError("called twice")
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    one, two = interleaved(Once)
    assert one.failure is None
    assert one.gradients[0].tolist() == [2.0] * 3
    assert two.failure is not None
    assert two.failure.message == "ValueError: called twice"


def test_a_plain_callable_can_be_interleaved() -> None:
    it = at(lambda x: x * x, leaf(*X))
    one, two = it.interleaved(([ONES], [3 * ONES]), ([ONES], [ONES]))
    assert one.gradients[0].tolist() == [2.0] * 3
    assert two.gradients[0].tolist() == [6.0] * 3


# ---- changes between forward and backward -----------------------------------------------------


class KeptOnCtx(Function):
    """x * y, the input y kept as an attribute."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.y = y
        ctx.save_for_backward(x)
        return x * y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.y, g * x


def test_a_change_of_a_saved_input_is_an_error() -> None:
    it = at(Product, leaf(*X), leaf(*Y))
    failure = it.call_with_input_changed_between(it.primals, [ONES], 1).failure
    assert failure is not None
    assert failure.stage == "backward"
    assert "modified by an inplace operation" in failure.message


def test_a_change_of_an_input_kept_on_ctx_goes_unnoticed() -> None:
    it = at(KeptOnCtx, leaf(*X), leaf(*Y))
    plain = it.call(it.primals, [ONES])
    assert plain.kept_on_ctx == (("y", "input:y"),)
    seen = it.call_with_input_changed_between(it.primals, [ONES], 1)
    assert seen.failure is None
    assert seen.gradients[0].tolist() != plain.gradients[0].tolist()
    assert seen.mutated_in_backward == ()


def test_a_change_of_an_input_that_is_not_needed_changes_nothing() -> None:
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    it = at(Double, leaf(*X))
    seen = it.call_with_input_changed_between(it.primals, [ONES], 0)
    assert seen.failure is None
    assert seen.gradients[0].tolist() == [2.0] * 3


class Exp(Function):
    """exp, its output saved, or kept as an attribute."""

    keeps = False

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        if Exp.keeps:
            ctx.y = y
        else:
            ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * (ctx.y if Exp.keeps else ctx.saved_tensors[0])


@pytest.mark.parametrize("keeps", [False, True])
def test_a_change_of_an_output_is_noticed_only_where_it_was_saved(keeps, monkeypatch) -> None:
    monkeypatch.setattr(Exp, "keeps", keeps)
    it = at(Exp, leaf(*X))
    seen = it.call_with_output_changed_between(it.primals, [ONES], 0)
    assert (seen.failure is None) == keeps
    if keeps:
        assert seen.gradients[0].tolist() != np.exp(X).tolist()


@pytest.mark.parametrize(
    "values", [torch.tensor([0.0, 0.5, 2.0]), torch.tensor([0, 1, 2]), torch.tensor([True, False])]
)
def test_what_changes_has_other_values_of_the_same_kind(values) -> None:
    got = []

    class Spy(Function):
        @staticmethod
        def forward(ctx, x, other):
            ctx.other = other
            return x * 2

        @staticmethod
        def backward(ctx, g):
            got.append(ctx.other.tolist())
            return g * 2, None

    it = at(Spy, leaf(*X), values)
    it.call_with_input_changed_between(it.primals, [ONES], 1)
    assert got[0] != values.tolist()
    assert min(got[0]) >= min(values.tolist())
    assert max(got[0]) <= max(values.tolist())


class SavesBoth(Function):
    """x twice over, with something else saved next to x."""

    other: object = None

    @staticmethod
    def forward(ctx, x, scale=32):
        ctx.save_for_backward(x, SavesBoth.other)
        return x * 2, x + scale

    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h, None


@pytest.mark.parametrize("other", [32, "sum", (1, 2), 0.5])
def test_to_save_what_is_no_tensor_is_a_failure_of_forward(
    other: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SavesBoth, "other", other)
    seen = at(SavesBoth, leaf(*X)).call([np.array(X)], [ONES, ONES])
    assert seen.failure is not None
    assert (seen.failure.stage, seen.failure.kind) == ("forward", "saved-type")
    expected = "TypeError: save_for_backward can only save variables, but argument 1 is of type "
    assert seen.failure.message == expected + type(other).__name__


@pytest.mark.parametrize(
    ("other", "word"),
    [
        (None, "none"),
        (torch.tensor([1, 2]), "constant"),
        (torch.tensor([0.5]), "intermediate"),
    ],
)
def test_tensors_and_none_may_be_saved(
    other: object, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SavesBoth, "other", other)
    seen = at(SavesBoth, leaf(*X)).call([np.array(X)], [ONES, ONES])
    assert seen.failure is None
    assert seen.saved == ("input:x", word)


def test_buffers_are_looked_for_again_only_where_there_are_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searches: list[list[tuple[str, object]]] = []

    def search(roots: Iterable[tuple[str, object]]) -> list[tuple[str, object]]:
        searches.append(reachable(roots))
        return searches[-1]

    monkeypatch.setattr("gradtool.adapters.common.buffers.reachable", search)
    for function, wanted in (at(Product, leaf(*X), leaf(*Y)), 2), (at(SharedOutput, leaf(*X)), 4):
        searches.clear()
        assert function.call(function.primals, [ONES]).failure is None
        assert len(searches) == wanted
