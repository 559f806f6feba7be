"""``--pdb`` opens the debugger at the user's line that raised, whatever called it."""

from __future__ import annotations

import pdb
from types import TracebackType

import pytest

from gradtool.run.runner import check
from tests.conftest import Write
from tests.options import check_options

RAISES = """
from gradtool import Function

class Refuses(Function):
    @staticmethod
    def forward(ctx, x):
        raise ValueError("never")

    @staticmethod
    def backward(ctx, g):
        return g
"""

RAISES_IN_BACKWARD = """
from gradtool import Function

class Raises(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise ValueError("never")
"""


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Function and line of each place at which the debugger was opened."""
    places: list[tuple[str, int]] = []

    def post_mortem(trace: TracebackType) -> None:
        while trace.tb_next is not None:
            trace = trace.tb_next
        places.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))

    monkeypatch.setattr(pdb, "post_mortem", post_mortem)
    return places


@pytest.mark.parametrize(
    ("source", "place"), [(RAISES, ("forward", 7)), (RAISES_IN_BACKWARD, ("backward", 11))]
)
def test_it_opens_where_the_code_raises(
    write: Write, opened: list[tuple[str, int]], source: str, place: tuple[str, int]
) -> None:
    write({"ops.py": source})
    check(check_options(paths=("ops.py",), pdb=True))
    assert opened == [place]


def test_it_stays_closed_unless_it_is_asked_for(
    write: Write, opened: list[tuple[str, int]]
) -> None:
    write({"ops.py": RAISES})
    report = check(check_options(paths=("ops.py",)))
    assert [finding.rule for finding in report.findings()] == ["GT002"]
    assert opened == []
