"""The whole line, from the command line through the gate and back, without stand-ins."""

import shlex
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gradtool.results.report import Report
from gradtool.verify.rules import RULES

Run = Callable[..., tuple[int, str, str]]

FUNCTION = """
from gradtool import Function

class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return FACTOR * grad_output * x
"""
RIGHT = FUNCTION.replace("FACTOR", "2")
WRONG = FUNCTION.replace("FACTOR", "3")


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"right.py": RIGHT}, 0),
        ({"right.py": RIGHT, "wrong.py": WRONG}, 1),
        ({"wrong.py": WRONG, "broken.py": "def f(:"}, 1),
        ({"right.py": RIGHT, "broken.py": "def f(:"}, 4),
        ({"empty.py": "X = 1"}, 5),
        ({"right.py": RIGHT, "gradtool.yaml": "version: 1\nchek: {}"}, 2),
    ],
)
def test_the_exit_code_follows_from_the_files(
    run: Run, empty_folder: Path, files: dict[str, str], code: int
) -> None:
    for name, text in files.items():
        (empty_folder / name).write_text(text)
    found, out, err = run("check", ".")
    assert found == code, out + err
    assert "Traceback" not in out + err
    assert not list(empty_folder.glob("gradtool-crash-*"))


def test_a_wrong_gradient_is_reported_with_all_it_takes_to_act(run: Run) -> None:
    Path("wrong.py").write_text(WRONG)
    code, out, _ = run("check", "wrong.py", "--report", "json=out.json", "--seed", "3")
    assert code == 1
    assert "  FAIL  Square[" in out
    report = msgspec.json.decode(Path("out.json").read_bytes(), type=Report)
    (finding,) = report.findings()
    assert finding.rule == "GT101"
    assert finding.replay is not None
    assert finding.replay in out
    assert f"wrong.py:{finding.location.line}: error GT101 wrong-gradient" in out
    assert finding.hint is not None
    assert finding.hint in out


def test_the_replay_command_finds_the_same_thing_again(run: Run) -> None:

    Path("wrong.py").write_text(WRONG)
    run("check", "wrong.py", "--report", "json=first.json", "--seed", "3")
    first = msgspec.json.decode(Path("first.json").read_bytes(), type=Report)
    (finding,) = first.findings()
    arguments = shlex.split(finding.replay or "")[1:]
    code, _, _ = run(*arguments, "--report", "json=second.json")
    second = msgspec.json.decode(Path("second.json").read_bytes(), type=Report)
    assert code == 1
    assert list(second.findings()) == [finding]


def test_a_path_or_rule_that_is_not_there_is_one_line(run: Run) -> None:
    Path("right.py").write_text(RIGHT)
    for arguments in (["missing.py"], ["right.py", "--select", "GT999"], ["right.py::Sqare"]):
        code, out, err = run("check", *arguments)
        assert (code, out) == (2, "")
        assert len(err.splitlines()) == 1


def test_a_listing_of_real_files(run: Run) -> None:
    Path("right.py").write_text(RIGHT)
    code, out, _ = run("check", "right.py", "--collect-only")
    assert code == 0
    assert out.splitlines()[0].startswith("right.py::Square[")
    assert out.splitlines()[-1] == "1 Function, 1 case collected; nothing was checked"


def test_every_rule_has_a_page(run: Run) -> None:
    code, out, _ = run("explain", "--all")
    assert code == 0
    for rule in RULES.values():
        assert f"{rule.code} {rule.name} ({rule.severity.value})\n" in out


def test_options_override_single_values_and_the_replay_has_them(run: Run) -> None:
    Path("wrong.py").write_text(WRONG)
    Path("gradtool.yaml").write_text("version: 1\ncheck: {seed: 1, atol: 1e-9}\n")
    given = ("--config", "check.seed=2", "--config", "functions['wrong.py::Square'].rtol=1e-9")
    code, out, _ = run("check", "wrong.py", *given, "--report", "json=first.json")
    assert code == 1
    report = msgspec.json.decode(Path("first.json").read_bytes(), type=Report)
    assert report.seed == 2
    origins = f"gradtool.yaml, {given[0]} {given[1]}, {given[2]} {given[3]}"
    assert f"configuration: {origins}\n" in out
    (finding,) = report.findings()
    found, again, _ = run(*shlex.split(finding.replay or "")[1:])
    assert found == 1
    assert f"configuration: {origins}\n" in again
    assert run("check", "wrong.py", *given, "--seed", "5", "--report", "json=b.json")[0] == 1
    assert msgspec.json.decode(Path("b.json").read_bytes(), type=Report).seed == 5


def test_isolated_from_files_and_so_is_the_replay(run: Run) -> None:
    Path("wrong.py").write_text(WRONG)
    Path("gradtool.yaml").write_text("nonsense")
    assert run("check", "wrong.py")[0] == 2
    code, out, _ = run("check", "wrong.py", "--isolated")
    assert code == 1
    assert "configuration: no file (--isolated)\n" in out
    (replay,) = (line for line in out.splitlines() if line.startswith("  replay "))
    assert replay.endswith(" --isolated")
    code, out, err = run("check", "wrong.py", "--isolated", "--config", "gradtool.yaml")
    assert (code, out) == (2, "")
    assert err == "error: --isolated ignores all files: omit --config gradtool.yaml\n"


def test_values_given_by_options_take_nothing_out_of_a_baseline(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    Path("wrong.py").write_text(FUNCTION.replace("FACTOR", "2.1"))
    run("check", "wrong.py", "--write-baseline")
    before = Path("gradtool-baseline.json").read_bytes()
    loose = ("--config", "functions.Square.rtol=0.1", "--ignore", "GT511")
    code, _, _ = run("check", "wrong.py", "--baseline", "gradtool-baseline.json", *loose)
    assert code == 0
    assert Path("gradtool-baseline.json").read_bytes() == before
