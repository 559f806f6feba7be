"""A report never replaces what its run reads, nor what somebody wrote or keeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gradtool.policy.baseline import VERSION
from gradtool.report.transfer.document import render
from gradtool.results.transfer import TransferReport
from tests.cli.conftest import GOLDEN, FakeGate
from tests.transfer.runs import HEADER
from tests.user_modules import WRONG

Run = Callable[..., tuple[int, str, str]]

NONE_KNOWN = f'{{"gradtool_baseline": 1, "fingerprints": "{VERSION}", "findings": []}}'

FILES = {
    "bad.py": WRONG,
    "folder/gradtool.yaml": "version: 1\n",
    "named.yaml": "version: 1\n",
    "gradtool-baseline.json": NONE_KNOWN,
    "known.json": NONE_KNOWN,
    "old.json": (GOLDEN / "report.json").read_text(),
    "transfer.json": render(TransferReport(simulated=True, header=HEADER)),
}
NODE = "ops/wrong_exp.py::WrongExp[inferred]::GT101"


@pytest.fixture(autouse=True)
def files(empty_folder: Path) -> None:
    for name, text in FILES.items():
        path = empty_folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    Path("link.json").symlink_to("bad.py")


def everything() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("check . --report json=bad.py", "bad.py is Python code"),
        ("check folder --report json=./bad.py", "./bad.py is Python code"),
        ("check . --report json=link.json", "link.json is Python code"),
        ("check bad.py::F[a] --report json=bad.py", "bad.py is used by this run"),
        (f"check old.json --replay {NODE} --report json=old.json", "old.json is used by this run"),
        ("check folder --report text=folder/gradtool.yaml", "gradtool.yaml is a configuration"),
        ("check . --config named.yaml --report json=named.yaml", "named.yaml is used by this run"),
        ("check . --report json=gradtool-baseline.json", "gradtool-baseline.json is a baseline"),
        ("check . --baseline known.json --report json=known.json", "known.json is used by this"),
        ("check . --baseline new --write-baseline --report json=./new", "./new is used by this"),
        ("merge old.json --report json=folder/../old.json", "old.json is used by this run"),
        ("profile bad.py --report csv=bad.py", "bad.py is used by this run"),
        ("profile . --config named.yaml --report csv=named.yaml", "named.yaml is used by this run"),
        ("profile-transfer --device cpu --report csv=bad.py", "bad.py is Python code"),
        (
            "profile-transfer --device cpu --compare transfer.json --report json=transfer.json",
            "transfer.json is used by this run",
        ),
    ],
)
def test_what_is_kept_is_not_replaced(gate: FakeGate, run: Run, command: str, told: str) -> None:
    before = everything()
    code, out, err = run(*command.split())
    assert (code, out) == (2, "")
    assert err.startswith("error: --report: ")
    name, kind = told.split(" is ")
    assert f"{name} must not be overwritten: it is {kind}" in err
    assert err.endswith("; use another file\n")
    assert len(err.splitlines()) == 1
    assert everything() == before


@pytest.mark.parametrize("name", ["bad.py", "folder/gradtool.yaml", "named.yaml", "old.json"])
def test_what_is_no_baseline_is_not_made_one(gate: FakeGate, run: Run, name: str) -> None:
    before = everything()
    code, _, err = run("check", ".", "--baseline", name, "--write-baseline")
    assert code == 2
    assert f"{name} is not a gradtool baseline" in err
    assert everything() == before


@pytest.mark.parametrize("name", ["new.py", "gradtool.yaml", "old.json", "py", "/dev/null"])
def test_other_places_are_free(gate: FakeGate, run: Run, name: str) -> None:
    assert run("check", ".", "--report", f"json={name}", "--config", "/dev/null")[0] == 1
    if name != "/dev/null":
        assert Path(name).read_text() == FILES["old.json"]


def test_a_name_that_is_too_long_is_one_line(gate: FakeGate, run: Run) -> None:
    code, _, err = run("check", ".", "--report", f"json={'n' * 300}")
    assert code == 2
    assert err.endswith(": File name too long\n")
