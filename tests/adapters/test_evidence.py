"""What an observation tells of buffers, ctx and undefined cotangents."""

from __future__ import annotations

import functools
import random

import numpy as np
import pytest

import gradtool.engine as torch
from gradtool.engine.autograd import Function
from tests.adapters.case_functions import at, leaf

ONES = np.ones(3)
X = (2.0, 3.0, 5.0)

counts = {"seen": np.zeros(3)}
workspace = torch.zeros(3, dtype=torch.float64)


def observed(function, *args):
    it = at(function, leaf(*X), *args)
    return it.call(it.primals, [ONES])


def _count() -> None:
    counts["seen"] += 1


class ChangesGlobals(Function):
    @staticmethod
    def forward(ctx, x):
        _count()
        return x * 2

    @staticmethod
    def backward(ctx, g):
        workspace.copy_(g)
        return workspace * 2


def test_changed_variables_of_the_module_are_named() -> None:
    counts["seen"][:] = 0
    seen = observed(ChangesGlobals)
    assert seen.buffers_changed_in_forward == ("counts['seen']",)
    assert seen.buffers_changed_in_backward == ("workspace",)


def test_changed_attributes_of_classes_and_ctx_are_named() -> None:
    class Base(Function):
        table = (torch.zeros(3),)

    class Derived(Base):
        @staticmethod
        def forward(ctx, x):
            Base.table[0].add_(1)
            ctx.scale = x.detach() * 2
            return x * ctx.scale

        @staticmethod
        def backward(ctx, g):
            ctx.scale.mul_(0.5)
            return g * ctx.scale * 2

    seen = observed(Derived)
    assert seen.buffers_changed_in_forward == ("Base.table[0]",)
    assert seen.buffers_changed_in_backward == ("ctx.scale",)


def test_changed_captured_variables_are_named() -> None:
    class State:
        def __init__(self) -> None:
            self.mean = np.zeros(3)

        def shifted(self, x):
            self.mean += 1
            return x * 2

    state, plain = State(), torch.zeros(3, dtype=torch.float64)

    def scaled(x, by):
        state.mean += 1
        plain.add_(1)
        return x * by

    it = at(functools.partial(scaled, by=2.0), leaf(*X))
    seen = it.call(it.primals, [ONES])
    assert sorted(seen.buffers_changed_in_forward) == ["plain", "state.mean"]
    it = at(state.shifted, leaf(*X))
    assert it.call(it.primals).buffers_changed_in_forward == ("State.mean",)


def test_a_name_that_stands_for_another_object_is_no_changed_buffer() -> None:
    class Caching(Function):
        last = torch.zeros(3)

        @staticmethod
        def forward(ctx, x):
            Caching.last = x * 3
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    assert observed(Caching).buffers_changed_in_forward == ()


def test_a_changed_argument_that_is_no_tensor_of_its_own_is_named() -> None:
    class InADict(Function):
        @staticmethod
        def forward(ctx, x, options):
            options["hits"].add_(1)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2, None

    seen = observed(InADict, {"hits": torch.zeros(2)})
    assert seen.buffers_changed_in_forward == ("options['hits']",)
    assert seen.mutated_arguments == ()


# ---- kept on ctx --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keep", "word"),
    [
        (lambda x, y: x, "input:x"),
        (lambda x, y: y, "output:0"),
        (lambda x, y: x.detach(), "input:x"),
        (lambda x, y: x[1:], "input:x"),
        (lambda x, y: x.detach().numpy(), "input:x"),
        (lambda x, y: {"both": (y, 1)}, "output:0"),
        (lambda x, y: x * 1, None),
        (lambda x, y: x.shape, None),
    ],
)
def test_inputs_and_outputs_kept_on_ctx_are_named(keep, word) -> None:
    class Keeping(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.it = keep(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 2

    assert observed(Keeping).kept_on_ctx == ((("it", word),) if word else ())


# ---- undefined cotangents -----------------------------------------------------------------


@pytest.mark.parametrize("materializes", [True, False])
def test_what_backward_got_for_undefined_cotangents_is_seen(materializes) -> None:
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materializes)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            return (0 if a is None else a * 2) + (0 if b is None else b * 3)

    it = at(Two, leaf(*X))
    for cotangents in ([ONES, None], [None, ONES], [None, None]):
        seen = it.call(it.primals, cotangents)
        assert seen.materializes == materializes
        given = tuple(cotangent is not None for cotangent in cotangents)
        assert seen.received == ((True, True) if materializes else given)


def test_what_backward_got_is_seen_although_it_raised() -> None:
    class Raising(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 3

    it = at(Raising, leaf(*X))
    seen = it.call(it.primals, [ONES, None])
    assert seen.failure is not None
    assert seen.raw is None
    assert seen.received == (True, False)


def test_without_a_backward_nothing_was_received() -> None:
    it = at(ChangesGlobals, leaf(*X))
    assert it.call(it.primals).received is None


# ---- random numbers -----------------------------------------------------------------------


def test_calls_seeded_alike_draw_alike_and_leave_no_trace() -> None:
    def noisy(x):
        return x + torch.rand(3, dtype=x.dtype) + np.random.rand() + random.random()

    it = at(noisy, leaf(*X))
    states = random.getstate(), repr(np.random.get_state()), torch.get_rng_state().tolist()

    def drawn(seed: int) -> list[float]:
        with it.seeded(seed):
            return it.evaluate(it.primals)[0].tolist()

    assert drawn(7) == drawn(7) != drawn(8)
    after = random.getstate(), repr(np.random.get_state()), torch.get_rng_state().tolist()
    assert after == states
