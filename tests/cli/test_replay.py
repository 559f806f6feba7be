"""``--replay``: a finding of an earlier run is asked for again, with the same numbers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gradtool.results.report import Finding, Report
from tests.user_modules import GOOD, WRONG

Run = Callable[..., tuple[int, str, str]]

NODE = "ops.py::Cube[inferred]::GT101"


def check(run: Run, *arguments: str) -> tuple[int, str, str]:
    return run("check", "--no-isolation", *arguments)


@pytest.fixture(autouse=True)
def _modules() -> None:
    Path("ops.py").write_text(WRONG)
    Path("fine.py").write_text(GOOD)


def first(run: Run, *arguments: str) -> Finding:
    """The finding of a run of everything."""
    assert check(run, ".", "--report", "json=out.json", *arguments)[0] == 1
    (finding,) = found("out.json")
    assert finding.node_id == NODE
    return finding


def found(name: str) -> list[Finding]:
    return list(msgspec.json.decode(Path(name).read_bytes(), type=Report).findings())


def fingerprint() -> str:
    kept = json.loads(Path(".gradtool_cache/findings.json").read_text())["findings"]
    return str(kept[0]["fingerprint"])


def test_a_finding_of_the_last_run_is_found_again(run: Run) -> None:
    finding = first(run, "--seed", "7", "--dtype", "float64")
    for wanted in (NODE, fingerprint(), fingerprint()[:8]):
        code, out, _ = check(run, "--replay", wanted, "--report", "json=again.json")
        assert code == 1
        assert found("again.json") == [finding]
        assert "1 Function, 1 case" in out


def test_a_fingerprint_is_that_of_other_reports(run: Run) -> None:
    first(run, "--report", "sarif=out.sarif")
    (result,) = json.loads(Path("out.sarif").read_text())["runs"][0]["results"]
    assert result["partialFingerprints"] == {"gradtool/v1": fingerprint()}


def test_a_finding_of_a_report_is_found_again(run: Run) -> None:
    finding = first(run, "--seed", "7", "--no-cache")
    assert not Path(".gradtool_cache").exists()
    code, _, _ = check(run, "out.json", "--replay", NODE, "--report", "json=again.json")
    assert code == 1
    assert found("again.json") == [finding]
    assert finding.seed == 7


def test_a_file_whose_name_begins_with_a_dash_is_found_again(run: Run) -> None:
    Path("ops.py").rename("-x.py")
    assert check(run, ".", "--report", "json=out.json")[0] == 1
    (finding,) = found("out.json")
    assert finding.node_id == "-x.py::Cube[inferred]::GT101"
    assert finding.replay is not None
    replay = shlex.split(finding.replay)[2:]
    for asked in (replay, ["--replay", finding.node_id]):
        code, out, err = check(run, *asked, "--report", "json=again.json")
        assert (code, err) == (1, "")
        assert "1 Function, 1 case" in out
        assert found("again.json") == [finding]


def test_a_finding_of_evaluations_alone_is_found_again_by_them(run: Run) -> None:
    finding = first(run, "--no-witness")
    assert (finding.replay or "").endswith("--no-witness")
    for wanted in (["--replay", NODE], shlex.split(finding.replay or "")[2:]):
        check(run, *wanted, "--report", "json=again.json")
        assert found("again.json") == [finding]


def test_what_is_mended_passes(run: Run) -> None:
    first(run)
    Path("ops.py").write_text(WRONG.replace("g * x * x", "3 * g * x * x"))
    code, out, _ = check(run, "--replay", NODE)
    assert code == 0
    assert "1 Function, 1 case" in out


def test_a_replay_leaves_the_cache_as_it_was(run: Run) -> None:
    first(run)
    before = {path: path.read_bytes() for path in Path(".gradtool_cache").iterdir()}
    Path("ops.py").write_text(WRONG.replace("g * x * x", "3 * g * x * x"))
    check(run, "--replay", NODE)
    assert {path: path.read_bytes() for path in Path(".gradtool_cache").iterdir()} == before


def test_a_run_of_a_part_keeps_what_is_known_of_the_rest(run: Run) -> None:
    first(run)
    check(run, "fine.py")
    assert check(run, "--replay", fingerprint())[0] == 1
    check(run, ".", "--select", "GT201")
    code, _, err = check(run, "--replay", NODE[:-1] + "x")
    assert (code, err) == (
        2,
        "error: --replay: no earlier run is recorded, so 'ops.py::Cube[inferred]::GT10x' is "
        "unknown: "
        "name a JSON report, or give a node id such as file.py::Function[case]::GT101\n",
    )


def test_a_node_id_needs_no_earlier_run(run: Run) -> None:
    code, out, _ = check(run, "--replay", NODE, "--seed", "3")
    assert code == 1
    assert shlex.quote("ops.py::Cube[inferred]") + " --select GT101 --seed 3" in out
    assert not Path(".gradtool_cache").exists()


def test_options_that_are_given_hold(run: Run) -> None:
    first(run, "--seed", "7")
    check(run, "--replay", NODE, "--seed", "0", "--report", "json=again.json")
    assert [finding.seed for finding in found("again.json")] == [0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--replay", "ops.py::Cub[inferred]::GT101"], "did you mean 'Cube'?"),
        (["--replay", "ops.py::Cube[infered]::GT101"], "(did you mean 'inferred'?)"),
        (["--replay", "ops.py::Cube[inferred]::GT199"], "--replay: unknown rule 'GT199'"),
        (["--replay", "op.py::Cube[inferred]::GT101"], "(did you mean 'ops.py'?)"),
        (["--replay", "Cube[inferred]::GT101"], f"(did you mean '{NODE}'?)"),
        (["--replay", "0123456789abcdef"], "the last run has no finding '0123456789abcdef'"),
        (["--replay", ""], "the last run has no finding ''"),
        (["out.json", "--replay", "ops.py::Cube[inferred]::GT102"], "out.json has no finding"),
        (["ops.py", "--replay", NODE], "ops.py is not a gradtool JSON report"),
        (["no.json", "--replay", NODE], "no.json cannot be read: No such file or directory"),
        (["--replay", NODE, "--lf"], "omit --lf"),
        (["--replay", NODE, "-k", "Cube"], "omit -k"),
        (["--replay", NODE, "--select", "GT2"], "omit --select"),
    ],
)
def test_a_finding_that_is_not_there_is_one_line(
    run: Run, arguments: list[str], message: str
) -> None:
    first(run)
    code, out, err = check(run, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("content", ["", "{", '{"version": 2, "findings": []}', "[]"])
def test_a_cache_that_cannot_be_read_is_one_line(run: Run, content: str) -> None:
    first(run)
    Path(".gradtool_cache/findings.json").write_text(content)
    code, _, err = check(run, "--replay", NODE)
    assert code == 2
    assert err.startswith("error: --replay: .gradtool_cache/findings.json cannot be used: ")
    assert len(err.splitlines()) == 1
    first(run)
    assert check(run, "--replay", fingerprint())[0] == 1


def test_a_command_that_is_not_gradtools_is_refused(run: Run) -> None:
    first(run)
    path = Path(".gradtool_cache/findings.json")
    path.write_text(path.read_text().replace("--select GT101", "--report json=ops.py"))
    code, _, err = check(run, "--replay", NODE)
    assert code == 2
    assert "cannot be understood" in err
    assert Path("ops.py").read_text() == WRONG
