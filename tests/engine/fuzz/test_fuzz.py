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
