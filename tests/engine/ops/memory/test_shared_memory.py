"""Writing to memory that elements or operands share: refused, or done, as PyTorch does."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as engine

OPERANDS = {
    "expanded": "x = t.zeros(4).expand(2, 4); y = t.ones(2, 4)",
    "in part": "b = t.arange(6.); x = b[:4]; y = b[1:5]",
    "the same memory": "b = t.arange(6.); x = b[:4]; y = b[:4]",
    "transposed": "x = t.arange(9.).reshape(3, 3); y = x.t()",
    "one of its rows": "x = t.arange(4.).reshape(1, 4); y = x[0]",
    "one of its elements": "x = t.arange(4.); y = x[1]",
    "a slice of one": "x = t.arange(4.); y = x[1:2]",
    "one element of one": "x = t.ones(1, 1); y = x[:, 0]",
    "itself": "x = t.ones(1, 1); y = x",
    "a step over one": "y = t.ones(1); x = y[::2]",
    "in steps": "b = t.arange(8.); x = b[::2]; y = b[1::2]",
    "apart": "x = t.arange(4.); y = t.ones(4)",
}
CHANGES = (
    "x.add_(y)", "x.neg_()", "x.copy_(y)", "x.fill_(2)", "x.fill_(t.tensor(2.0))", "x.zero_()",
    "x[:] = y", "x[...] = 3", "x[0] = y", "x[0, 0:] = y", "x[0] = y[0]", "x[x == 0] = y",
    "x[x == 1] = 4", "x[t.tensor([0])] = y", "x[..., t.tensor([0])] = 2.0",
    "x.masked_fill_(x.clone() == 0, 1)", "x.masked_fill_(y > 0, 1)",
    "x.index_fill_(0, t.tensor([0]), 2)", "x.index_put_((t.tensor([0]),), y)",
    "x.index_copy_(0, t.arange(len(x)), y)", "x.index_add_(0, t.arange(len(x)), y)",
    "x.scatter_(0, t.zeros(x.shape, dtype=t.int64), y)", "x.tril_()", "x.fill_diagonal_(3)",
    "x.masked_scatter_(x == x, y)", "x.addmm_(y, y)", "t.neg(x, out=y)", "t.cat([x], out=y)",
    "t.take(x, t.tensor([0]), out=y)",
)  # fmt: skip


def outcome(t: Any, operands: str, change: str) -> tuple[Any, ...]:
    """What is in both then, or how the change was refused."""
    known: dict[str, Any] = {"t": t}
    exec(operands, known)
    try:
        exec(change, known)
    except (RuntimeError, IndexError) as error:
        return type(error).__name__, "memory location" in str(error)
    return known["x"].tolist(), known["y"].tolist()


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("operands", OPERANDS)
def test_what_shares_memory_is_written_to_as_in_torch(operands: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    given = OPERANDS[operands]
    # BLAS reads x while it writes to it: the result differs from machine to machine.
    left_out = {"x.addmm_(y, y)"} if operands == "transposed" else set()
    changes = [change for change in CHANGES if change not in left_out]
    expected = {change: outcome(torch, given, change) for change in changes}
    got = {change: outcome(engine, given, change) for change in changes}
    assert got == expected


def test_a_gradient_of_a_mean_has_memory_of_its_own() -> None:
    x = engine.ones(2, 3, requires_grad=True)
    (mean,) = engine.autograd.grad(x.mean(), x)
    mean[0, 0] = 5.0
    assert mean.flatten().tolist() == pytest.approx([5.0] + [1 / 6] * 5)
    (sum_,) = engine.autograd.grad(x.sum(), x)
    with pytest.raises(RuntimeError, match="more than one element"):
        sum_.mul_(2)


def test_indices_in_the_memory_that_is_written_are_refused() -> None:
    x = engine.tensor([1, 0])
    with pytest.raises(RuntimeError, match="some elements of the input tensor"):
        x[x] = engine.tensor([1, 2])
    mask = engine.tensor([True, False])
    mask[mask] = False  # As `masked_fill_` of a number, which looks before it writes.
    assert mask.tolist() == [False, False]
