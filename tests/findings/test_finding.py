"""Excerpts of the user's source in a finding."""

from pathlib import Path

import pytest

from gradtool.findings.finding import excerpt
from gradtool.results.report import Location, Source

TEXT = """\
import torch

@decorated
def backward(
    ctx, grad
):
    x = ctx.saved

    return grad * x  # wrong


class Other:
\tvalue = undefined  # a tab
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "ops.py").write_text(TEXT)
    return str(tmp_path / "ops.py")


def of(path: str, line: int | None) -> Source:
    made = excerpt(Location(path=path, line=line))
    assert made is not None
    return made


def test_of_a_definition_the_whole_function_is_kept_and_its_name_meant(path: str) -> None:
    source = of(path, 4)
    assert (source.first, len(source.lines)) == (3, 7)
    assert source.lines[0] == "@decorated"
    assert source.lines[-1] == "    return grad * x  # wrong"
    assert source.lines[1][source.column - 1 : source.end_column - 1] == "backward"


def test_of_another_line_its_code_is_meant_and_its_neighbours_kept(path: str) -> None:
    source = of(path, 9)
    assert (source.first, source.lines[0]) == (7, "    x = ctx.saved")
    assert source.lines[2][source.column - 1 : source.end_column - 1] == "return grad * x"
    assert source.lines[-1] == source.lines[2]


def test_tabs_are_columns(path: str) -> None:
    source = of(path, 13)
    line = source.lines[13 - source.first]
    assert line[source.column - 1 : source.end_column - 1] == "value = undefined"


def test_a_long_function_and_a_long_line_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("def f():\n" + "    x = 1\n" * 400 + "y = '" + "z" * 5000 + "'\n")
    assert len(of(str(path), 1).lines) == 14
    source = of(str(path), 402)
    assert max(map(len, source.lines)) == 160
    assert source.end_column == 161


@pytest.mark.parametrize("line", [None, 0, 14, 10**9])
def test_without_such_a_line_there_is_nothing(path: str, line: int | None) -> None:
    assert excerpt(Location(path=path, line=line)) is None


def test_a_file_that_is_not_there_or_is_no_text_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "raw.py").write_bytes(b"\xff\xfe\x00bad")
    for name in ("missing.py", "raw.py"):
        assert excerpt(Location(path=str(tmp_path / name), line=1)) is None


def test_a_file_that_changed_is_read_again(path: str) -> None:
    assert of(path, 1).lines[0] == "import torch"
    Path(path).write_text("import numpy as np  # now longer\n")
    assert of(path, 1).lines[0] == "import numpy as np  # now longer"
