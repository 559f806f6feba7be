"""``out=``: the memory and the dtypes that results are written to."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as engine

CALLS = (
    "abs(x)", "floor(x)", "neg(x)", "clamp(x, 0, 1)", "sqrt(x)", "add(x, 1)", "eq(x, 0)",
    "where(x > 0, x, x)", "sum(x, 0)", "prod(x, 0)", "cumsum(x, 0)", "matmul(x, x)", "dot(x, x)",
    "amax(x, 0)", "any(x)", "isposinf(x)", "argmax(x)", "gather(x, 0, i)", "take(x, i)",
    "index_select(x, 0, i)", "masked_select(x, x > 0)", "cat([x])", "stack([x])", "tril(x[None])",
    "full((3,), 2.0)", "zeros(2)", "nan_to_num(x)",
)  # fmt: skip
OUTS = {
    "float64": "y = t.zeros(3, dtype=t.float64); w = y",
    "int64": "y = t.zeros(3, dtype=t.int64); w = y",
    "bool": "y = t.zeros(3, dtype=t.bool); w = y",
    "a larger memory": "z = t.zeros(12); y = z[1:2]; w = z",
    "a larger tensor": "y = t.zeros(12); w = y[:2]",
    "a leaf": "y = t.zeros(3, requires_grad=True); w = y.detach()",
    "expanded": "y = t.zeros(1).expand(3); w = y",
}


def outcome(t: Any, out: str, call: str) -> tuple[Any, ...]:
    """What is in the memory then, or how it was refused."""
    known: dict[str, Any] = {"t": t}
    exec(f"x = t.tensor([1.0, 2.0, 4.0]); i = t.tensor([0, 2]); {out}", known)
    try:
        exec(f"t.{call[:-1]}, out=y)", known)
    except (RuntimeError, TypeError) as error:
        return (type(error).__name__, "expected" in str(error).lower())
    return known["y"].tolist(), known["w"].tolist(), known["y"]._version


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("out", OUTS)
def test_results_are_written_as_torch_writes_them(out: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    expected = {call: outcome(torch, OUTS[out], call) for call in CALLS}
    assert {call: outcome(engine, OUTS[out], call) for call in CALLS} == expected


def test_views_see_what_is_written_to_memory_that_is_large_enough() -> None:
    memory = engine.zeros(4)
    part = memory[1:2]
    with pytest.warns(UserWarning, match="was resized since it had shape"):
        engine.add(engine.ones(2), 1, out=part)
    assert (part.tolist(), memory.tolist()) == ([2.0, 2.0], [0.0, 2.0, 2.0, 0.0])


def test_matrix_functions_write_where_they_are_told() -> None:
    x, out, info = engine.eye(2) * 4, engine.empty(2, 2), engine.empty(0, dtype=engine.int32)
    found = engine.linalg.cholesky_ex(x, out=(out, info))
    assert (found.L is out, out.tolist(), info.item()) == (True, [[2.0, 0.0], [0.0, 2.0]], 0)
    assert engine.linalg.inv(x, out=out) is out
    assert out.tolist() == [[0.25, 0.0], [0.0, 0.25]]
