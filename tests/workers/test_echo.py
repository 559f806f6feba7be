"""The output of checked code reaches standard error whole, and never as a workflow command."""

from __future__ import annotations

import pytest

from gradtool.workers.echo import Echo


def _echoed(capsys: pytest.CaptureFixture[str], *data: bytes) -> str:
    echo = Echo()
    for part in (*data, b""):
        echo.feed(part)
    return capsys.readouterr().err


@pytest.fixture
def in_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")


def test_lines_are_written_once_they_end(capsys: pytest.CaptureFixture[str]) -> None:
    echo = Echo()
    echo.feed(b"one\ntw")
    assert capsys.readouterr().err == "one\n"
    echo.feed(b"o\n")
    assert capsys.readouterr().err == "two\n"


def test_a_last_line_without_end_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert _echoed(capsys, b"one\n", b"two") == "one\ntwo"


def test_output_beyond_the_limit_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    written = _echoed(capsys, *[b"x" * 2**16] * 20)
    assert written == "x" * 2**20 + "\n[gradtool: further output is left out]\n"


@pytest.mark.usefixtures("in_workflow")
@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (b"::error::all is well\n", "| ::error::all is well\n"),
        (b"fine\n \t::set-env name=A::b\n", "fine\n|  \t::set-env name=A::b\n"),
        (b"so ##[error] it is\n", "so | ##[error] it is\n"),
        (b"spinner\r::error::x\n", "spinner\n| ::error::x\n"),
        (b"std::vector a::b\n", "std::vector a::b\n"),
        (b"\n::x\r\n\r\n", "\n| ::x\n\n"),
    ],
)
def test_workflow_commands_are_inert(
    capsys: pytest.CaptureFixture[str], printed: bytes, expected: str
) -> None:
    assert _echoed(capsys, printed) == expected
    assert _echoed(capsys, *(bytes([byte]) for byte in printed)) == expected


def test_elsewhere_output_is_left_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert _echoed(capsys, b"::error::x\n") == "::error::x\n"
