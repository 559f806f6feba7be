"""Every operation does what PyTorch's does, whatever its shapes, dimensions and dtypes.

Value, first and second derivative, forward mode and vmap of calls that Hypothesis draws; where
PyTorch refuses a call, the engine does too.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings

import gradtool.engine as engine
from tests.engine.ops.drawn.agree import agree
from tests.engine.ops.drawn.coverage import REASONS, public_operations, undrawn
from tests.engine.ops.drawn.language import Call
from tests.engine.ops.drawn.table import TABLE

PHASES = (Phase.generate, Phase.shrink)
DRAWN = settings(
    max_examples=8,
    report_multiple_bugs=False,
    derandomize=True,
    database=None,
    deadline=None,
    phases=PHASES,
)


@pytest.fixture(scope="module")
def torch() -> Any:
    found = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    threads = found.get_num_threads()
    found.set_num_threads(1)  # Tensors are small, and other tests run beside this one.
    yield found
    found.set_num_threads(threads)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")  # Both sides warn of what is deprecated or undefined.
@pytest.mark.parametrize("name", sorted(TABLE))
def test_agrees_with_torch_whatever_is_drawn(name: str, torch: Any) -> None:
    entry = TABLE[name]

    @DRAWN
    @given(entry.calls)
    def agrees(call: Call) -> None:
        agree(entry.case(name, call), engine, torch)

    agrees()


def test_every_operation_is_drawn_or_has_a_reason() -> None:
    assert undrawn() == []


def test_reasons_are_for_operations_that_are_not_drawn() -> None:
    names = {name for names in public_operations().values() for name in names}
    assert REASONS.keys() <= names - TABLE.keys()
