"""Whatever escapes becomes an exit code and a line, never a traceback of its own accord."""

import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gradtool.cli.errors import guarded
from gradtool.cli.exit_codes import ExitCode
from gradtool.errors import UsageError
from gradtool.results.report import Report, Verdict
from tests.user_modules import GOOD

Run = Callable[..., tuple[int, str, str]]

SABOTAGE = GOOD.replace(
    "return g * 2",
    "import shlex\n        shlex.quote = None\n        return g * 3",
)
"""gradtool itself fails as it describes the mistake; no part of the checker is replaced."""


def raising(error: BaseException) -> Callable[[], ExitCode]:
    def action() -> ExitCode:
        raise error

    return action


def test_a_usage_error_is_its_text_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    code = guarded(raising(UsageError("no such path: x.py")), command="gradtool check x.py")
    assert code is ExitCode.USAGE
    assert capsys.readouterr().err == "error: no such path: x.py\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BrokenPipeError()])
def test_being_stopped_from_outside_is_quiet(
    error: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(raising(error), command="gradtool") is ExitCode.INTERRUPTED
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "error", [KeyError("x"), SystemExit(0), MemoryError(), RecursionError("deep"), GeneratorExit()]
)
def test_anything_else_is_exit_code_3_and_a_log(
    error: BaseException, gate, run: Run, empty_folder: Path, logs: Path
) -> None:
    gate.during = raising(error)
    code, out, err = run("check", "a.py")
    (log,) = logs.glob("gradtool-crash-*.log")
    assert code == 3
    assert out == ""
    assert len(err.splitlines()) == 1
    assert f"internal error: {type(error).__name__}" in err
    assert str(log) in err
    assert list(empty_folder.iterdir()) == []
    text = log.read_text()
    assert "command: gradtool check a.py\n" in text
    assert f"python: {sys.version}" in text
    assert "numpy: " in text
    assert "Traceback (most recent call last)" in text


def test_verbose_prints_the_traceback_too(gate, run: Run) -> None:
    gate.during = raising(ZeroDivisionError("1/0"))
    code, _, err = run("check", "a.py", "-v")
    assert code == 3
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("internal error: ZeroDivisionError: 1/0")


def test_a_second_log_does_not_overwrite_the_first(gate, run: Run, logs: Path) -> None:
    gate.during = raising(KeyError("first"))
    run("check", "a.py")
    gate.during = raising(KeyError("second"))
    run("check", "a.py")
    texts = [log.read_text() for log in logs.glob("gradtool-crash-*.log")]
    assert len(texts) == 2
    assert sum("first" in text for text in texts) == 1


def test_the_log_goes_elsewhere_where_the_cache_is_read_only(
    gate, run: Run, empty_folder: Path, logs: Path, tmp_path_factory, monkeypatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    opened = Path.open

    def open_elsewhere_only(path: Path, *args: str, **kwargs: str) -> object:
        if path.parent == logs:
            raise PermissionError
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", open_elsewhere_only)
    gate.during = raising(KeyError("x"))
    _, _, err = run("check", "a.py")
    (log,) = elsewhere.glob("gradtool-crash-*.log")
    assert str(log) in err
    assert list(empty_folder.iterdir()) == []


def test_a_log_that_cannot_be_written_anywhere_is_said(gate, run: Run, monkeypatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    gate.during = raising(KeyError("x"))
    code, _, err = run("check", "a.py")
    assert code == 3
    assert "no log could be written" in err


def test_the_log_of_a_fault_in_a_worker_names_the_function(
    run: Run, empty_folder: Path, logs: Path
) -> None:
    Path("ops.py").write_text(SABOTAGE)
    Path("gradtool.yaml").write_text("version: 1\n")
    code, _, err = run("check", "ops.py", "-j", "1")
    assert code == 3
    assert "TypeError: 'NoneType' object is not callable" in err
    (log,) = logs.glob("gradtool-crash-*.log")
    assert "At ops.py::Square, in a worker:\nops.py::Square\nTraceback" in log.read_text()
    assert f"configuration: {empty_folder / 'gradtool.yaml'}\n" in log.read_text()


def test_a_fault_at_one_function_does_not_lose_the_others(run: Run, empty_folder: Path) -> None:
    for name, text in (("a.py", GOOD), ("b.py", SABOTAGE), ("c.py", GOOD)):
        Path(name).write_text(text)
    code, out, err = run("check", ".", "-j", "1", "--report", "json=report.json")
    assert code == 3
    assert "warning: gradtool itself failed at b.py::Square: TypeError" in out
    assert "internal error: TypeError" in err
    report = msgspec.json.decode(Path("report.json").read_bytes(), type=Report)
    assert report.exit_code == 3
    assert [fault.node for fault in report.faults] == ["b.py::Square"]
    verdicts = {module.path: module.verdict for module, _ in report.functions()}
    assert verdicts["a.py"] is verdicts["c.py"] is Verdict.PASS


def test_a_fault_leaves_the_baseline_and_the_cache_as_they_were(
    run: Run, empty_folder: Path
) -> None:
    Path("a.py").write_text(GOOD.replace("2 *", "3 *"))
    assert run("check", "a.py", "--baseline", "known.json", "--write-baseline")[0] == 0
    kept = {path: path.read_bytes() for path in (Path("known.json"), *Path().glob(".gradtool*/*"))}
    Path("a.py").write_text(SABOTAGE)
    assert run("check", "a.py", "--baseline", "known.json")[0] == 3
    assert {path: path.read_bytes() for path in kept} == kept


def test_the_log_is_written_though_the_configuration_cannot_be_looked_for(
    gate, run: Run, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradtool.config.files.find_config", raising(OSError("gone")))
    gate.during = raising(KeyError("x"))
    assert run("check", "a.py")[0] == 3
    (log,) = logs.glob("gradtool-crash-*.log")
    assert "configuration: unknown: TypeError" in log.read_text()
    assert "KeyError: 'x'" in log.read_text()
