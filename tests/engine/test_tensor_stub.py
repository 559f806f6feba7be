"""The stub that tells type checkers of Tensor's methods is what the ops declare."""

from __future__ import annotations

import subprocess
import sys

from tests.engine.write_tensor_stub import ROOT, STUB

PAGE = "from tests.engine.write_tensor_stub import page; print(page(), end='')"


def test_the_stub_is_in_step_with_the_ops() -> None:
    # In a process of its own: where a module was checked, the engine's classes are torch's.
    found = subprocess.run(
        [sys.executable, "-c", PAGE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert STUB.read_text(encoding="utf-8") == found.stdout
