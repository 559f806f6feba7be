"""Workers load while the options are read, and none is left that nobody asked for."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from gradtool.cli import main as command
from gradtool.cli.exit_codes import ExitCode
from gradtool.workers import launch


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> list[launch.Launched]:
    """What the command has started by the time that it reads its options."""
    seen: list[launch.Launched] = []

    def main(arguments: list[str]) -> int:
        seen.extend(launch._ahead)
        return len(arguments)

    monkeypatch.setattr("gradtool.cli.app.main", main)
    return seen


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["gradtool", *arguments])
    return command.main()


@pytest.mark.parametrize("arguments", [["check", "ops.py"], ["profile", "ops.py", "-q"]])
def test_a_command_that_needs_workers_has_them_load_first(
    ahead: list[launch.Launched], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    assert run(monkeypatch, *arguments) == len(arguments)
    assert len(ahead) == 1


def test_what_nobody_took_over_is_ended(
    ahead: list[launch.Launched], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, "check", "--no-such-option")
    (launched,) = ahead
    assert launched.process.poll() is not None
    assert launched.control.fileno() == -1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--version"],
        ["check", "-h"],
        ["check", "ops.py", "--no-isolation"],
        ["explain", "GT101"],
    ],
)
def test_a_command_without_workers_starts_none(
    ahead: list[launch.Launched], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    run(monkeypatch, *arguments)
    assert ahead == []


@pytest.mark.parametrize("arguments", [["check", "ops.py"], ["explain"]])
def test_an_interrupt_while_the_command_loads_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    def load(name: str) -> object:
        raise KeyboardInterrupt

    application = ModuleType("gradtool.cli.app")
    application.__getattr__ = load
    monkeypatch.setitem(sys.modules, "gradtool.cli.app", application)
    try:
        code = run(monkeypatch, *arguments)
    except KeyboardInterrupt:
        pytest.fail("the interrupt ended the tests")
    assert code == ExitCode.INTERRUPTED
    assert capfd.readouterr() == ("", "")
    assert not launch._ahead


def test_the_pool_takes_over_what_was_started() -> None:
    launch.launch_ahead()
    (started,) = launch._ahead
    taken = launch.launch()
    try:
        assert taken is started
        assert not launch._ahead
    finally:
        taken.kill()
