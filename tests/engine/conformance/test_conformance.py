"""Every differentiable dense entry of PyTorch's operator database agrees, or says why not.

Three samples of each dtype are compared here, `python -m tests.engine.conformance` compares all.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
pytest.importorskip("expecttest", reason="PyTorch's operator database imports it")

pytestmark = pytest.mark.torch

CHUNKS = 24
"""Few enough that collecting them does not load the database, which takes seconds."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_engine_agrees_with_pytorch(chunk: int) -> None:
    from tests.engine.conformance import database
    from tests.engine.conformance.explained import EXPLAINED
    from tests.engine.conformance.run import check

    names = sorted(database.entries().keys() - EXPLAINED.keys())[chunk::CHUNKS]
    found = {name: check(database.entries()[name], at_most=3) for name in names}
    assert not {name: each for name, each in found.items() if any(each.values())}


def test_each_explained_entry_is_one_of_the_database() -> None:
    from tests.engine.conformance import database
    from tests.engine.conformance.explained import EXPLAINED

    assert EXPLAINED.keys() <= database.entries().keys()
