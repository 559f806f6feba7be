"""One drawn call on the engine and on torch: the same refusal, or the same in every mode."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.compare import check
from tests.engine.ops.transforms import check_batch, check_forward

REFUSALS = (RuntimeError, IndexError, TypeError, ValueError)
"""What torch raises for arguments that it does not take; NotImplementedError is a RuntimeError."""


def agree(case: OpCase, engine: Any, torch: Any) -> None:
    """Assert that value, two derivatives, forward mode and vmap are torch's, or the refusal."""
    if refuses(case, torch):
        with pytest.raises(REFUSALS):
            run(case, engine)
        return
    check(case, engine, torch)
    if not case.not_pushed:
        check_forward(case, engine, torch)
    if case.args and not case.not_batched:
        check_batch(case, engine, torch, placement(case))


def refuses(case: OpCase, t: Any) -> bool:
    """Whether this side does not take the arguments."""
    try:
        run(case, t)
    except REFUSALS:
        return True
    return False


def run(case: OpCase, t: Any) -> Any:
    """The call itself, nothing recorded."""
    rng = case.generator()
    with t.no_grad():
        return case.call(t, *[t.tensor(arg.draw(rng)) for arg in case.args])


def placement(case: OpCase) -> tuple[int | None, ...]:
    """Where each argument has its examples, if it has any; at least one has."""
    rng = np.random.default_rng(zlib.crc32(case.id.encode()) + 1)
    ranks = [arg.draw(case.generator()).ndim for arg in case.args]
    found = [None if rng.random() < 0.3 else int(rng.integers(0, rank + 1)) for rank in ranks]
    return tuple(found) if found != [None] * len(found) else (0,) * len(found)
