"""The baseline: which findings it knows, how its file is read, and when entries leave it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gradtool.cli.exit_codes import ExitCode, exit_code
from gradtool.config.options import CheckOptions
from gradtool.errors import UsageError
from gradtool.policy.baseline import Baseline, entries_of, mark_known, obsolete, read_baseline
from gradtool.results.report import (
    Report,
    Verdict,
)
from gradtool.run.runner import check
from tests.conftest import Write
from tests.options import check_options
from tests.policy import reports
from tests.user_modules import GOOD, NOT_LOADED, WRONG

TWO = WRONG + WRONG.replace("from gradtool import Function", "").replace("Cube", "Other")
MENDED = TWO.replace("g * x * x", "3 * g * x * x", 1)


def run(path: str = ".", **options: Any) -> tuple[Report, CheckOptions]:
    asked = check_options(paths=(path,), **{"select": ("GT101",), **options})
    return check(asked), asked


def recorded(report: Report, name: str = "known.json") -> Baseline:
    """A baseline of all that `report` found, as its file reads."""
    empty = Baseline(Path(name).absolute())
    written = empty.joined(frozenset(entries_of(empty, report).values()))
    Path(name).write_text(written.text())
    return read_baseline(name)


def test_what_is_known_does_not_fail_and_what_is_new_does(write: Write) -> None:
    write({"ops.py": WRONG})
    baseline = recorded(run()[0])
    assert exit_code(mark_known(baseline)(run()[0]), strict=True) is ExitCode.PASSED
    write({"ops.py": "\n\n\n" + TWO})
    report = mark_known(baseline)(run(seed=7)[0])
    assert [(f.node_id, f.known) for f in report.findings()] == [
        ("ops.py::Cube[inferred]::GT101", True),
        ("ops.py::Other[inferred]::GT101", False),
    ]
    assert exit_code(report, strict=False) is ExitCode.FAILED


def test_the_file_is_the_same_from_every_folder_and_in_every_order(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write({"ops/a.py": TWO, "ops/b.py": WRONG})
    here = recorded(run()[0])
    monkeypatch.chdir(root / "ops")
    there = recorded(run()[0], "../known.json")
    assert here.text() == there.text() == (root / "known.json").read_text()
    shuffled = random.Random(0).sample(sorted(here.entries), k=len(here.entries))
    assert Baseline(here.path, frozenset(shuffled)).text() == here.text()
    nodes = [entry["node"] for entry in json.loads(here.text())["findings"]]
    assert nodes == sorted(nodes)
    assert nodes[0] == "ops/a.py::Cube[inferred]"


def test_entries_leave_when_their_finding_is_gone(write: Write) -> None:
    write({"ops.py": TWO})
    baseline = recorded(run()[0])
    assert obsolete(baseline, *run()) == frozenset()
    write({"ops.py": MENDED})
    assert {entry.node for entry in obsolete(baseline, *run())} == {"ops.py::Cube[inferred]"}


@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("ops.py::Other", {}),
        (".", {"keyword": "Other"}),
        (".", {"select": ("GT3",)}),
        (".", {"ignore": ("GT101",)}),
        (".", {"dtype": "float32"}),
        (".", {"atol": 1e9}),
        (".", {"only_failed": ("ops.py::Other",)}),
        ("fine.py", {}),
    ],
)
def test_what_a_run_does_not_ask_stays(write: Write, path: str, options: dict[str, Any]) -> None:
    write({"ops.py": TWO, "fine.py": GOOD})
    baseline = recorded(run()[0])
    write({"ops.py": MENDED})
    assert obsolete(baseline, *run(path, **options)) == frozenset()


def test_every_shard_leaves_the_entries_of_the_others(write: Write) -> None:
    write({"ops.py": TWO})
    baseline = recorded(run()[0])
    write({"ops.py": MENDED})
    gone = [obsolete(baseline, *run(shard=f"{n}/2")) for n in (1, 2)]
    assert {entry.node for entry in gone[0] | gone[1]} <= {"ops.py::Cube[inferred]"}


def test_an_interrupted_run_takes_nothing_out(write: Write) -> None:
    write({"ops.py": TWO})
    baseline = recorded(run()[0])
    write({"ops.py": MENDED})
    report, options = run()
    assert not obsolete(baseline, msgspec.structs.replace(report, interrupted=True), options)


def test_a_module_that_no_longer_imports_keeps_its_entries(write: Write) -> None:
    root = write({"ops.py": TWO, "fine.py": GOOD})
    baseline = recorded(run()[0])
    write({"ops.py": "import no_such_thing\n" + TWO})
    assert obsolete(baseline, *run()) == frozenset()
    (root / "ops.py").unlink()
    assert obsolete(baseline, *run()) == baseline.entries


def test_a_function_that_is_gone_takes_its_entries_along(write: Write) -> None:
    write({"ops.py": TWO})
    baseline = recorded(run()[0])
    write({"ops.py": WRONG})
    assert {entry.node for entry in obsolete(baseline, *run())} == {"ops.py::Other[inferred]"}


def test_what_could_not_run_can_be_known_too(write: Write) -> None:
    write({"ops.py": NOT_LOADED, "fine.py": GOOD})
    baseline = recorded(run()[0])
    assert [entry.rule for entry in baseline.entries] == ["GT001"]
    assert exit_code(mark_known(baseline)(run()[0]), strict=True) is ExitCode.PASSED
    write({"ops.py": GOOD})
    assert obsolete(baseline, *run()) == baseline.entries


def test_what_a_configuration_now_ignores_leaves(write: Write) -> None:
    write({"ops.py": WRONG})
    baseline = recorded(run()[0])
    write({"gradtool.yaml": "version: 1\nfunctions: {Cube: {ignore: {GT1: by design}}}\n"})
    assert obsolete(baseline, *run()) == baseline.entries


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"gradtool_baseline": 2, "fingerprints": "gradtool/v1", "findings": []}',
        b'{"gradtool_baseline": 1, "fingerprints": "gradtool/v0", "findings": []}',
        b'{"gradtool_baseline": 1, "fingerprints": "gradtool/v1", "findings": [{}]}',
        b'{"gradtool_baseline": 1, "fingerprints": "gradtool/v1", "findings": [], "more": 1}',
        b'{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0"}',
        b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n",
        b"[" * 100_000,
    ],
)
def test_a_file_that_is_no_baseline_is_an_error(write: Write, content: bytes) -> None:
    root = write({})
    (root / "known.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"known\.json") as error:
        read_baseline("known.json", may_be_new=True)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_an_error_unless_it_is_to_be_written(write: Write) -> None:
    write({})
    with pytest.raises(UsageError, match="does not exist: --write-baseline creates it"):
        read_baseline("known.json")
    assert read_baseline("known.json", may_be_new=True).entries == frozenset()
    with pytest.raises(UsageError, match="cannot be read"):
        read_baseline(".", may_be_new=True)


def test_known_findings_are_marked() -> None:
    raw = reports.report(reports.function(reports.check("GT101", Verdict.FAIL, reports.finding())))
    empty = Baseline(Path("gradtool-baseline.json").absolute())
    full = empty.joined(frozenset(entries_of(empty, raw).values()))
    assert [f.known for f in mark_known(empty)(raw).findings()] == [False]
    assert [f.known for f in mark_known(full)(raw).findings()] == [True]
