"""The stub that tells type checkers of Tensor's methods is what the ops declare."""

from __future__ import annotations

from tests.engine.write_tensor_stub import STUB, page


def test_the_stub_is_in_step_with_the_ops() -> None:
    assert STUB.read_text(encoding="utf-8") == page()
