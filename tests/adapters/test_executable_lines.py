"""Which lines of a Function ran."""

from __future__ import annotations

import inspect
import sys

import numpy as np

from gradtool.engine.autograd import Function
from gradtool.engine.autograd.function import once_differentiable
from tests.adapters.case_functions import at, leaf

X = (2.0, 3.0)


class Branching(Function):
    """abs, with a branch for each sign."""

    @staticmethod
    def forward(ctx, x):
        """Not a line that can be executed."""
        ctx.sign = 1.0
        if float(x.sum()) < 0:
            ctx.sign = -1.0  # negative
        return x * ctx.sign

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        scaled = [part * ctx.sign for part in (g,)]
        return scaled[0]  # end

    @staticmethod
    def jvp(ctx, t):
        return t * ctx.sign  # pushed


class Straight(Function):
    """twice, without a branch."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def line(text: str) -> int:
    lines, first = inspect.getsourcelines(Branching)
    return first + next(at for at, each in enumerate(lines) if text in each)


def numbers(seen) -> set[int]:
    return {each.line for each in seen}


def test_the_lines_of_the_bodies_can_be_executed() -> None:
    lines = at(Branching, leaf(*X)).lines
    assert {each.path for each in lines} == {__file__}
    methods = {each.line: each.method for each in lines}
    assert methods[line("# negative")] == "forward"
    assert methods[line("# end")] == "backward"
    assert methods[line("# pushed")] == "jvp"
    assert line("def forward") not in methods
    assert line("Not a line") not in methods
    assert line("once_differentiable") not in methods


def test_lines_that_ran_in_the_block_are_collected() -> None:
    it = at(Branching, leaf(*X))
    seen = set()
    with it.traced(seen):
        it.call(it.primals, [np.ones(2)])
    left = numbers(it.lines - seen)
    assert left == {line("# negative"), line("# pushed")}
    seen = set()
    with it.traced(seen):
        it.evaluate([-np.ones(2)])
    assert line("# negative") in numbers(seen)
    assert line("# end") not in numbers(seen)


def test_nothing_is_traced_once_all_lines_were_seen() -> None:
    it = at(Straight, leaf(*X))
    seen = set()
    before = sys.gettrace()
    with it.traced(seen):
        assert sys.gettrace() is not before
        it.call(it.primals, [np.ones(2)])
        it.call(it.primals, [np.ones(2)])
        assert sys.gettrace() is None
    assert seen == it.lines
    assert sys.gettrace() is before
    with it.traced(seen):
        assert sys.gettrace() is before


def test_every_way_to_call_is_traced() -> None:
    it = at(Branching, leaf(*X))
    seen = set()
    with it.traced(seen):
        it.vjps(it.primals, [[np.ones(2)]])
        it.jvps([-np.ones(2)], [[np.ones(2)]])
    assert seen == it.lines


def test_a_plain_callable_has_no_lines() -> None:
    it = at(lambda x: x * 2, leaf(*X))
    seen = set()
    with it.traced(seen):
        it.evaluate(it.primals)
    assert it.lines == frozenset()
    assert seen == set()


def test_a_tracer_that_was_set_is_set_again() -> None:
    def tracer(frame, event, arg):
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with at(Branching, leaf(*X)).traced(set()):
            pass
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
