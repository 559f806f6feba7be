"""What item assignment, and writing at positions, refuse, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as engine

CASES = (
    "x = t.ones(4); x[False] = t.ones(7)",
    "x = t.ones(4); x[False] = 2",
    "x = t.ones(4); x[True] = t.ones(4, dtype=t.float64)",
    "x = t.ones(4); x[True] = t.ones(4, dtype=t.complex64)",
    "x = t.ones(4); x[t.tensor(False)] = t.ones((), dtype=t.float64)",
    "x = t.ones(4); x[None, False] = t.ones((), dtype=t.float64)",
    "x = t.tensor(2.0); x[None, t.tensor([0, 0])] = t.tensor([1.0, 2.0])",
    "x = t.tensor(2.0); x[x == 0] = t.ones(0)",
    "x = t.zeros(4); x[x == 0] = t.tensor(1j)",
    "x = t.zeros(4); x[x == 0] = t.tensor([1 + 0j])",
    "x = t.zeros(4); x[x == 1] = t.ones(2, dtype=t.float64)",
    "x = t.zeros(4, dtype=t.int8); x[x == 0] = t.tensor(1e10)",
    "x = t.zeros(4, dtype=t.float16); x.masked_fill_(x == 0, t.tensor(1e10))",
    "x = t.zeros(4); x.index_fill_(0, t.tensor([0]), 1j)",
    "x = t.zeros(3, 4); x[t.tensor([0, 1]), t.tensor([0, 1, 2])] = t.ones(9).double()",
    "x = t.zeros(3, 4); x[t.tensor([0, 7])] = t.ones(9)",
    "x = t.zeros(3, 4); x[t.tensor([0, 7])] = t.ones(4).double()",
    "x = t.zeros(3, 4); x[t.tensor([0, 1])] = t.ones(9).double()",
    "x = t.zeros(3, 4); x[t.tensor([False, True, True]), 0] = t.ones(()).double()",
    "x = t.zeros(3, 4); x[t.tensor([False, True, True]), True] = t.ones(()).double()",
    "x = t.zeros(3, 4); x.index_put_((t.tensor([0]),), t.ones(1, 1, 1, 4))",
    "x = t.zeros(3, 4); x[t.tensor([0])] = t.ones(1, 1, 1, 4)",
    "x = t.zeros(0, 4); x[t.tensor([0])] = 1",
    "x = t.zeros(0, 4); x[:, t.tensor([0, 7])] = 1",
    "x = t.zeros(0, 4); x[:, t.tensor([0, 7])] = t.ones(3)",
    "x = t.zeros(0, 4)[:, [0, 7]]",
    "x = t.zeros(0, 4)[t.tensor([0])]",
    "x = t.zeros(3, 0)[t.tensor([7])]",
    "x = t.zeros(3, 4)[t.tensor([], dtype=t.int64), t.tensor([9])]",
    "x = t.zeros(3, 4)[t.tensor([0, 7]), t.tensor([0, 1, 2])]",
    "x = t.zeros(0); x.index_fill_(0, t.tensor([0]), 1)",
    "x = t.zeros(3, 0); x.index_fill_(0, t.tensor([7]), 1)",
    "x = t.zeros(3, 2); x.index_fill_(1, t.tensor([7]), 1)",
    "x = t.zeros(0); x.index_copy_(0, t.tensor([0]), t.ones(1))",
    "x = t.zeros(3, 0); x.index_copy_(0, t.tensor([7]), t.ones(1, 0))",
    "x = t.zeros(0, 2); x.index_add_(0, t.tensor([0]), t.ones(1, 2))",
    "x = t.zeros(3); x.index_add_(0, t.tensor([7]), t.ones(1))",
    "x = t.ones(3, dtype=t.bool); x.cumsum_(0)",
    "x = t.ones(0, dtype=t.bool); x.cumprod_(0)",
    "x = t.ones(3, dtype=t.bool); x.cumprod_(5)",
    "x = t.ones(3); x.cumsum_(0, dtype=t.float64)",
    "x = t.ones(3).cumprod(0, dtype=t.bool)",
    "x = ~t.ones(3)",
    "x = t.ones(3) & 1",
    "x = t.ones(3).bitwise_not()",
    "x = t.tensor(int(t.tensor(1 + 2j)))",
    "x = t.tensor(float(t.tensor(1 + 2j)))",
    "x = t.tensor(float(t.tensor(3 + 0j)))",
)


def outcome(t: Any, program: str) -> tuple[Any, ...]:
    """The values and how often they changed, or how they were refused."""
    known: dict[str, Any] = {"t": t}
    try:
        exec(program, known)
    except (RuntimeError, IndexError, TypeError, NotImplementedError) as error:
        return type(error).__name__, str(error)
    x = known["x"]
    return x.tolist(), tuple(x.shape), x._version


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", CASES)
def test_does_and_refuses_what_torch_does(program: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert outcome(engine, program) == outcome(torch, program)


def test_a_flag_that_picks_nothing_changes_nothing() -> None:
    x = engine.ones(3)
    x[False] = engine.ones(7)
    assert (x.tolist(), x._version) == ([1.0, 1.0, 1.0], 0)


def test_positions_are_not_looked_at_where_nothing_is_picked() -> None:
    assert tuple(engine.zeros(0, 4)[:, [0, 7]].shape) == (0, 2)
    with pytest.raises(IndexError, match="dimension with size 0"):
        engine.zeros(0, 4)[engine.tensor([0])]
