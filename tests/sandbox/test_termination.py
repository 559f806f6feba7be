"""How code that is cut short is reported."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gradtool.config.settings import Settings
from gradtool.sandbox.termination import Terminated, user_code
from gradtool.verify.rules import codes


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))])
def test_code_that_finds_no_memory(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(Terminated) as raised, user_code(Settings(), tmp_path):
        raise error
    assert raised.value.termination.code == codes.OUT_OF_MEMORY


def test_other_errors_pass(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), user_code(Settings(), tmp_path):
        (tmp_path / "missing").read_text()
