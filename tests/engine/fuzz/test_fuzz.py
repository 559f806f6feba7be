"""Random programs do on the engine what they do on PyTorch.

``python -m tests.engine.fuzz --seed 5000 --count 1000 --jobs 2`` tries others, and shrinks what
differs.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

CHUNK = 50


@pytest.mark.parametrize("first", range(0, 1000, CHUNK))
def test_programs_agree(first: int) -> None:
    from tests.engine.fuzz.explained import OPEN
    from tests.engine.fuzz.hunt import differing

    seeds = [seed for seed in range(first, first + CHUNK) if seed not in OPEN]
    found = {seed: each for seed in seeds if (each := differing(seed))}
    assert not found, "\n\n".join(
        f"seed {seed}: {difference.signature()}\n{program.script()}"
        for seed, (program, difference) in found.items()
    )


def test_a_program_is_the_same_each_time_and_shrinks_to_what_differs() -> None:
    from tests.engine.fuzz.generate import generate
    from tests.engine.fuzz.program import Program
    from tests.engine.fuzz.shrink import shrink

    assert generate(7) == generate(7)
    program = Program(0, ("t1 = torch.ones(2)", "t2 = t1 * 2", "t3 = t2 + 1", "t3.zero_()"))
    small = shrink(program, lambda tried: "t3.zero_()" in tried.statements)
    assert small.statements == ("t3.zero_()",)


@pytest.mark.parametrize("end", ["os._exit(3)", "time.sleep(60)"])
def test_a_program_that_ends_or_hangs_its_process_costs_itself_only(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os
    import time

    from tests.engine.fuzz import workers

    def hunt(seeds: list[int], *_: object) -> list[int]:
        if seeds == [3]:
            exec(end, {"os": os, "time": time})
        return []

    monkeypatch.setattr(workers, "hunt", hunt)
    monkeypatch.setattr(workers, "PATIENCE", 2.0)
    answers = list(workers.answers(0, 6, (), 1))
    assert [isinstance(each, str) for each in answers] == [False] * 3 + [True] + [False] * 2


def test_a_difference_is_found_in_each_fact() -> None:
    import torch

    from tests.engine.fuzz.compare import different_facts
    from tests.engine.fuzz.observe import facts

    x = torch.ones(2, requires_grad=True)
    y = x * 2
    seen = facts(torch, y, {})
    for fact, other in (("requires_grad", False), ("grad_fn", None), ("_version", 3)):
        assert [each[0] for each in different_facts(seen, seen | {fact: other})] == [fact]
    assert not list(different_facts(seen, dict(seen)))


def test_doubt_reaches_what_is_computed_from_a_tensor_and_nothing_else() -> None:
    from tests.engine.fuzz.compare import Difference
    from tests.engine.fuzz.doubts import Doubt, Doubts

    doubts = Doubts()
    doubts.add("t1", Doubt("a reason", frozenset(("value",))))
    for statement, changed in (
        ("t2 = t1 * 2", {}), ("t3 = t4 * 2", {}), ("t5.add_(t2)", {"t5": {"value", "_version"}}),
        ("(t2 * t3).sum().backward()", {"t6": {"grad", "grad.value"}}), ("t1 = t3 + 1", {}),
    ):  # fmt: skip
        doubts.spread(statement, changed, doubts.reaching(statement))

    def excused(name: str, what: str) -> bool:
        return doubts.reason_of(Difference(9, what, name, 0, 1), set()) is not None

    assert {name for name in ("t1", "t2", "t3", "t4", "t5", "t6") if excused(name, "value")} == {
        "t2", "t5",
    }  # fmt: skip
    assert excused("t6", "grad.value")
    assert not excused("t2", "requires_grad")


def test_a_reason_explains_only_the_statement_that_it_is_about() -> None:
    from dataclasses import replace

    import numpy as np

    from tests.engine.fuzz.compare import Difference
    from tests.engine.fuzz.explained import reason_of

    one, other = np.array([7]), np.array([8])
    bits = Difference(3, "value", "t3", one, other, "t3 = t1.view(torch.int32)")
    assert reason_of(bits) is None
    assert reason_of(replace(bits, maker="t3 = t1.view(torch.int32)")) is not None
    assert reason_of(replace(bits, maker="t3 = t1.view(torch.int32)", got=one * 10**6)) is None
    for statement in ("t3 = t2 * 2", "t3.add_(1)"):
        assert reason_of(Difference(3, "value", "t3", one, other, statement)) is None
        assert reason_of(Difference(3, "requires_grad", "t3", True, False, statement)) is None
        assert reason_of(Difference(3, "grad_fn", "t3", "A", "B", statement)) is None
