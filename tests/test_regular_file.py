"""Files that could block a reader, or have no end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradtool.regular_file import read_regular


def refusal(path: Path, largest: int = 100) -> str:
    with pytest.raises(OSError) as error:  # noqa: PT011 - all that `os.open` may raise
        read_regular(path, largest)
    return str(error.value.strerror)


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x" * 100)
    assert read_regular(tmp_path / "x", 100) == b"x" * 100
    assert refusal(tmp_path / "x", 99) == "larger than 0 MiB"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
def test_a_pipe_that_nobody_writes_to_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == "not a regular file"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="has no such device")
def test_a_device_without_an_end_is_refused() -> None:
    assert refusal(Path("/dev/zero")) == "not a regular file"


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "Is a directory"
    assert refusal(tmp_path / "none") == "No such file or directory"
