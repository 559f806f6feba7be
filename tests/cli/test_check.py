"""``gradtool check``: its options, what it prints where, and its reports."""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gradtool.results.report import Report
from tests.options import check_options

Run = Callable[..., tuple[int, str, str]]

GOLDEN = Path(__file__).parents[1] / "report" / "golden"


def golden(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def test_the_golden_files_are_what_the_program_prints(gate, run: Run) -> None:
    code, out, err = run("check", "ops", "-vv")
    assert (code, out, err) == (1, golden("text-verbose.txt"), "")
    code, out, err = run("check", "ops", "-q")
    assert (code, out, err) == (1, golden("text-quiet.txt"), "")
    code, out, err = run("check", "ops", "--format", "concise")
    assert (code, out, err) == (1, golden("concise.txt"), "")


def test_the_golden_json_is_what_the_program_writes(gate, run: Run) -> None:
    run("check", "ops", "--report", "json=out.json")
    assert Path("out.json").read_text(encoding="utf-8") == golden("report.json")


def test_everything_right_is_exit_code_0(gate, run: Run) -> None:
    gate.passes()
    code, out, _ = run("check", "ops")
    assert code == 0
    assert "2 passed, 0 failed" in out


def test_exit_zero_silences_1_and_nothing_else(gate, run: Run) -> None:
    everything = gate.report
    gate.report = msgspec.structs.replace(everything, interrupted=False)
    assert run("check", "ops")[0] == 1
    code, out, _ = run("check", "ops", "--exit-zero", "--report", "json=out.json")
    assert code == 0
    assert "2 failed" in out
    assert json.loads(Path("out.json").read_text())["exit_code"] == 0
    gate.report = msgspec.structs.replace(everything, interrupted=True)
    assert run("check", "ops", "--exit-zero")[0] == 130
    assert run("check", "ops", "--exit-zero", "--format", "xml")[0] == 2


def test_options_reach_the_gate_as_they_were_given(gate, run: Run) -> None:
    run(
        *("check", "a.py", "b.py::F", "--config", "c.yaml", "-k", "not slow"),
        *("--config", "check.seed=3", "--config", "functions.F.atol=1"),
        *("--select", "GT1,GT201", "--select", "GT5", "--ignore", "GT506", "--exclude", "old, new"),
        *("--strict", "--seed", "7", "--device", "cuda", "--dtype", "float32"),
        *("--atol", "1e-4", "--rtol", "0", "--timeout", "2.5", "--memory-limit", "1GiB"),
        *("-j", "3", "--shard", "2/5", "--no-witness"),
    )
    assert gate.options == check_options(
        paths=("a.py", "b.py::F"),
        config="c.yaml",
        keyword="not slow",
        overrides=("check.seed=3", "functions.F.atol=1"),
        select=("GT1", "GT201", "GT5"),
        ignore=("GT506",),
        exclude=("old", "new"),
        strict=True,
        seed=7,
        device="cuda",
        dtype="float32",
        atol=1e-4,
        rtol=0.0,
        timeout=2.5,
        memory_limit="1GiB",
        isolation=True,
        jobs=3,
        shard="2/5",
        witness=False,
        command=gate.options.command,
    )
    command = gate.options.command
    assert command.startswith("gradtool check a.py b.py::F --config c.yaml -k 'not slow'")


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (["ops", "--durations"], "slowest 10 rules\n"),
        (["--durations", "ops"], "slowest 10 rules\n"),
        (["--durations", "3", "ops"], "slowest 3 rules\n"),
        (["ops", "--durations=0", "-q"], "slowest rules\n"),
    ],
)
def test_durations_times_the_run_and_takes_a_number(gate, run: Run, arguments, title: str) -> None:
    _, out, _ = run("check", *arguments)
    assert gate.options.execution.timed
    assert gate.options.selection.paths == ("ops",)
    assert title in out


def test_options_that_were_not_given_are_left_to_the_configuration(gate, run: Run) -> None:
    run("check", "a.py")
    assert gate.options == check_options(
        paths=("a.py",), isolation=True, command="gradtool check a.py"
    )
    run("check", "a.py", "--no-strict")
    assert gate.options.strict is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check"], "error: name what to check, such as the current folder: gradtool check ."),
        (["chek", "a.py"], "check"),
        (["check", "a.py", "--sed", "3"], "--seed"),
        (["check", "a.py", "--seed", "three"], "--seed"),
        (["check", "a.py", "--seed", "-1"], "--seed"),
        (["check", "a.py", "--durations", "-1"], "--durations"),
        (["check", "a.py", "--seed", str(2**64)], "--seed"),
        (["profile", "a.py", "--seed", str(2**64)], "--seed"),
        (["check", "a.py", "--seed"], "--seed"),
        (["check", "a.py", "--format", "txt"], "--format: 'txt' (did you mean 'text'?)"),
        (["check", "a.py", "--format", "q"], "--format: 'q' (known: text, concise, github)"),
        (["check", "a.py", "--format", "json"], "--format json: use --report json=- to write it"),
        (
            ["merge", "a.json", "--format", "gitlab"],
            "use --report gitlab=- to write it to standard",
        ),
        (["check", "a.py", "--color", "alway"], "did you mean 'always'?"),
        (["check", "a.py", "--dtype", "float46"], "did you mean 'float64'?"),
        (["check", "a.py", "--report", "jsn=x"], "--report: 'jsn' (did you mean 'json'?)"),
        (["check", "a.py", "-j", "0"], "-j must be auto or a whole number greater than 0, got '0'"),
        (["check", "a.py", "-j", "many"], "got 'many'"),
        (["check", "a.py", "--executor", "das"], "did you mean 'dask'?"),
        (["check", "a.py", "--config", "x", "--config", "y"], "two files, x and y: give only one"),
        (["check", "a.py", "--report", "out.json"], "put the format first, such as html=out.json"),
        (["check", "a.py", "--report", "json"], "write --report json=PATH"),
        (["check", "a.py", "--report", "json="], "write --report json=PATH"),
        (
            ["check", "a.py", "--report", "json=no/such/folder/x"],
            "--report: cannot write no/such/folder/x: folder no/such/folder does not exist",
        ),
        (["derive"], "name a file or a folder, such as the current one: gradtool derive ."),
        (["profile"], "name a file or a folder, such as the current one: gradtool profile ."),
        (
            ["--install-completion", "zsj"],
            "--install-completion: unexpected value 'zsj'; it applies to the",
        ),
        (["check", "a.py", "--report", "json=."], "Is a directory"),
        (["check", "a.py", "--report", "json=-", "--report", "json=-"], "two reports for -"),
        (["check", "a.py", "--report", "json=x", "--collect-only"], "so --report would have"),
        (["check", "a.py", "--exit-zero", "--collect-only"], "so --exit-zero would have"),
        (["check", "a.py", "--require-functions", "1", "--collect-only"], "--require-functions"),
        (["check", "a\0b"], "error: an argument contains a null byte"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    gate, run: Run, arguments: list[str], message: str
) -> None:
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1
    assert err.startswith("error: ")
    assert gate.options is None, "the gate ran before the command line was refused"
    assert list(Path().iterdir()) == []


def test_a_report_on_standard_output_has_it_to_itself(gate, run: Run) -> None:
    gate.during = lambda: print("printed by the checked code")
    code, out, err = run("check", "ops", "--report", "json=-", "--format", "concise")
    assert code == 1
    assert msgspec.json.decode(out, type=Report) == gate.report
    assert err == f"printed by the checked code\n{golden('concise.txt')}"


def test_what_checked_code_prints_does_not_mix_with_the_report(gate, run: Run) -> None:
    gate.during = lambda: print("noise")
    _, out, err = run("check", "ops", "--format", "concise")
    assert (out, err) == (golden("concise.txt"), "noise\n")
    assert sys.stdout.writable()


def test_several_reports_in_one_run(gate, run: Run) -> None:
    run("check", "ops", "--report", "json=a.json", "--report", "json=b.json")
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


def test_an_interrupted_run_is_still_reported(gate, run: Run) -> None:
    gate.report = msgspec.structs.replace(gate.report, interrupted=True)
    code, out, _ = run("check", "ops", "--report", "json=out.json")
    assert code == 130
    assert "interrupted: 6 Functions" in out
    assert json.loads(Path("out.json").read_text())["interrupted"] is True


def test_a_crash_leaves_an_older_report_as_it_was(gate, run: Run) -> None:
    Path("out.json").write_text("old")

    def crash() -> None:
        raise RuntimeError("fault")

    gate.during = crash
    code, _, _ = run("check", "ops", "--report", "json=out.json")
    assert code == 3
    assert Path("out.json").read_text() == "old"
    assert not list(Path().glob(".*"))


def test_a_report_keeps_the_link_and_the_mode_of_the_file_it_replaces(gate, run: Run) -> None:
    Path("real.json").write_text("old")
    Path("real.json").chmod(0o640)
    Path("link.json").symlink_to("real.json")
    run("check", "ops", "--report", "json=link.json")
    assert Path("link.json").is_symlink()
    assert json.loads(Path("real.json").read_text())["schema"] == 1
    assert Path("real.json").stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_to_and_not_replaced(gate, run: Run) -> None:
    code, _, err = run("check", "ops", "--report", "json=/dev/null")
    assert (code, err) == (1, "")
    assert Path("/dev/null").is_char_device()


def test_a_pipe_gets_the_whole_report(gate, run: Run) -> None:
    gate.passes()
    read, write = os.pipe()
    code, _, err = run("check", "ops", "--report", f"json=/dev/fd/{write}")
    document = json.loads(os.read(read, 1 << 20))
    os.close(read)
    os.close(write)
    assert (code, err, document["schema"]) == (0, "", 1)


def test_a_listing_names_every_case_and_checks_none(gate, run: Run) -> None:
    code, out, _ = run("check", "ops", "--collect-only")
    lines = out.splitlines()
    assert code == 4
    assert "ops/linear.py::Linear[inferred]" in lines
    assert "    input: float64[3, 4], weight: float64[5, 4], bias: None" in lines
    assert "ops/broken.py:3: GT001 SyntaxError: invalid syntax" in lines
    assert lines[-1] == "6 Functions, 7 cases collected; nothing was checked"


def test_a_quiet_listing_is_node_ids_and_the_count(gate, run: Run) -> None:
    gate.passes()
    code, out, _ = run("check", "ops", "--collect-only", "-q")
    assert code == 0
    assert out.splitlines()[:-1] == [
        "ops/linear.py::Linear[inferred]",
        "ops/linear.py::LinearOnce[with-bias]",
    ]


def test_colour_can_be_asked_for(gate, run: Run) -> None:
    assert "\x1b[1;31mFAIL" in run("check", "ops", "--color", "always")[1]
    assert not re.search("\x1b", run("check", "ops")[1])
