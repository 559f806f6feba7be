"""Whatever a file or a command line holds: never a traceback, the right exit code, no damage.

``GRADTOOL_FUZZ=10000 pytest tests/cli/test_fuzz.py`` tries that many inputs of each kind, new ones
each time; without it a few that are always the same.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradtool.run
from gradtool.cli import app as command_line
from gradtool.cli.app import main
from gradtool.cli.exit_codes import ExitCode
from gradtool.config.options import CheckOptions
from gradtool.errors import UsageError
from gradtool.policy.baseline import Baseline, entries_of, read_baseline
from gradtool.report.formats import FORMATS
from gradtool.results.report import ModuleResult, Report, Shard
from gradtool.run.run_plan import RunPlan

ROOT = Path(__file__).parents[2]
GOLDEN = (ROOT / "tests" / "report" / "golden" / "report.json").read_bytes()
REPORT = msgspec.json.decode(GOLDEN, type=Report)
NODES = tuple(f"{module.path}::{function.name}" for module, function in REPORT.functions())
SHARDS = [
    json.loads(
        msgspec.json.encode(
            msgspec.structs.replace(
                REPORT,
                modules=REPORT.modules[number - 1 :: 2],
                interrupted=False,
                shard=Shard(number=number, count=2, nodes=NODES),
            )
        )
    )
    for number in (1, 2)
]
CONFIGS = [path.read_bytes() for path in sorted((ROOT / "configs").glob("*.yaml"))]
KNOWN = Baseline(Path("/nowhere/known.json")).joined(
    frozenset(entries_of(Baseline(Path.cwd() / "known.json"), REPORT).values())
)

_TRIES = int(os.environ.get("GRADTOOL_FUZZ", "0"))
fuzzed = settings(
    max_examples=_TRIES or 200,
    derandomize=not _TRIES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)

BROKEN = [
    b"",
    b"\0",
    b"\xff\xfe\0\0",
    b"\xef\xbb\xbf",
    b"[" * 100_000,
    b"{" * 1_000,
    b'{"a":' * 50_000,
    b"- " * 20_000,
    b"a: &a [*a]",
    b"a: &a {b: *a}",
    b"&a [&b [*a, *a, *a, *a]]",
    b"version: 1\nversion: 1\n",
    b"%YAML 9.9\n---\nversion: 1\n",
    b"version: 1\n---\nversion: 1\n",
    b"!!python/object/apply:os.system ['true']",
    b"version: 1\nfunctions: !!set {a, b}\n",
    b"version: 1e400\n",
    b'{"schema": 1e400}',
    b'{"schema": 1, "environment": {}}',
    b'{"schema": 99}',
    b'{"gradtool_baseline": 1}',
    b'"\\ud800"',
    b"9" * 5_000,
    b"\x1b[31m\n\r\n",
    b"<<<<<<< HEAD\n=======\n>>>>>>> other\n",
    GOLDEN[: len(GOLDEN) // 2],
]
"""Files that have broken readers of YAML and JSON."""


class Stand(ModuleType):
    """Stands where the runner does: it reads the options and the configuration, no more."""

    def __init__(self) -> None:
        super().__init__("gradtool.run.runner")

    def check(self, options: CheckOptions, watcher: Any) -> Report:
        RunPlan(options)
        return REPORT

    def collect(self, options: CheckOptions) -> tuple[ModuleResult, ...]:
        RunPlan(options)
        return REPORT.modules


@pytest.fixture(autouse=True)
def _stand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    for name in ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    stand = Stand()
    monkeypatch.setitem(sys.modules, "gradtool.run.runner", stand)
    monkeypatch.setattr(gradtool.run, "runner", stand, raising=False)
    # Typer would describe all commands anew for every input.
    command = typer.main.get_command(command_line.program())
    monkeypatch.setattr(command_line, "program", lambda _: command)
    Path("ops.py").write_text("X = 1\n")
    yield
    assert not list(tmp_path.glob("gradtool-crash-*"))
    assert not list(tmp_path.glob(".*.partial"))


def run(*arguments: str) -> tuple[int, str]:
    """Exit code and standard error; nothing may escape."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    said = err.getvalue()
    assert code in set(ExitCode) - {ExitCode.INTERNAL}, (arguments, said)
    assert "Traceback" not in said  # Those of checked code are part of a report.
    if code == ExitCode.USAGE and arguments:
        assert said.startswith("error: ") or arguments == ("--",), (arguments, said)
    return code, said


QUICK = ("--no-cache", "--format=concise")

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["GT101", "fail", "error", "ops/linear.py", "a.py::F[c]::GT101", "gradtool/v1"]
    ),
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


def places(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield where
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*where, key))


@st.composite
def changed(draw: st.DrawFn, original: Any) -> Any:
    """The JSON value with a few places replaced, removed or doubled."""
    value = json.loads(json.dumps(original))
    for _ in range(draw(st.integers(1, 3))):
        where = draw(st.sampled_from(list(places(value))))
        if not where:
            continue
        inside = value
        for key in where[:-1]:
            inside = inside[key]
        last, how = where[-1], draw(st.integers(0, 3))
        if how == 0:
            del inside[last]
        elif how == 1 and isinstance(inside, list):
            inside.insert(last, inside[last])
        else:
            inside[last] = draw(anything)
    return value


@st.composite
def cut(draw: st.DrawFn, original: bytes) -> bytes:
    """The bytes with some removed, and others put in."""
    start = draw(st.integers(0, len(original)))
    length = draw(st.integers(0, 40))
    return original[:start] + draw(st.binary(max_size=8)) + original[start + length :]


def as_bytes(value: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    return value.map(lambda made: json.dumps(made).encode("utf-8", "surrogatepass"))


noise = st.binary(max_size=64) | st.sampled_from(BROKEN) | as_bytes(anything)


@fuzzed
@given(
    content=noise | cut(KNOWN.text().encode()) | as_bytes(changed(json.loads(KNOWN.text()))),
    write=st.booleans(),
)
def test_a_baseline_is_read_or_refused_and_never_damaged(content: bytes, write: bool) -> None:
    path = Path("known.json")
    path.write_bytes(content)
    flags = ["--write-baseline"] if write else []
    code, _ = run("check", "ops.py", *QUICK, "--baseline", "known.json", *flags)
    try:
        before = read_baseline_of(content)
    except UsageError:
        assert code == 2
        assert path.read_bytes() == content
        return
    assert code in {0, 1, 130}
    after = read_baseline("known.json").entries
    assert write or after <= before


def read_baseline_of(content: bytes) -> frozenset[Any]:
    Path("again.json").write_bytes(content)
    return read_baseline("again.json").entries


@fuzzed
@given(
    first=as_bytes(changed(SHARDS[0])) | noise | cut(json.dumps(SHARDS[0]).encode()),
    second=as_bytes(st.just(SHARDS[1])) | as_bytes(changed(SHARDS[1])),
    form=st.sampled_from(sorted(FORMATS)),
)
def test_merge_inputs_are_united_or_refused(first: bytes, second: bytes, form: str) -> None:
    Path("1.json").write_bytes(first)
    Path("2.json").write_bytes(second)
    Path("out").write_text("kept")
    code, _ = run("merge", "1.json", "2.json", "--report", f"{form}=out", "--format=concise")
    assert (Path("1.json").read_bytes(), Path("2.json").read_bytes()) == (first, second)
    assert (Path("out").read_text(encoding="utf-8") == "kept") == (code == 2)


@fuzzed
@given(content=noise | st.sampled_from(CONFIGS).flatmap(cut) | st.text(max_size=80).map(str.encode))
def test_a_configuration_is_read_or_refused(content: bytes) -> None:
    Path("some.yaml").write_bytes(content)
    code, said = run("check", "ops.py", *QUICK, "--config", "some.yaml")
    assert code in {1, 2, 130}
    assert Path("some.yaml").read_bytes() == content
    if code == 2:
        assert "some.yaml" in said
        assert said.count("\n") == 1


FLAGS = [
    *("-k", "-v", "-q", "-vv", "-j", "-h", "--", "--help", "--version", "--all", "--no-such-flag"),
    *("--config", "--select", "--ignore", "--exclude", "--strict", "--seed", "--device", "--dtype"),
    *("--engine", "--atol", "--rtol", "--timeout", "--memory-limit", "--jobs", "--shard", "--pdb"),
    *("--no-isolation", "--executor", "--scheduler", "--baseline", "--write-baseline", "--lf"),
    *("--no-ignores", "--changed-since", "--no-cache", "--allow-empty", "--require-functions"),
    *("--require-double-backward", "--format", "--report", "--collect-only", "--color"),
    *("--seed=1", "--report=json=out.json", "--exit-zero", "--flake", "--replay"),
    *("--baseline-commit", "--witness", "--no-witness"),
    *("--isolated", "--ff", "--report=gitlab=out.json", "--report=json-lines=-"),
]
VALUES = [
    *("ops.py", ".", "no.py", "ops.py::F", "ops.py::F[", "ops.py::", "::", "", "-", "a b", "1"),
    *("-1", "0", "1/2", "2/1", "nan", "inf", "1e400", "GT1", "GT101", "GT9", "cuda", "float32"),
    *("json=out.json", "json=", "=", "html=no/out.html", "sarif=.", "a and", "not (a or b)"),
    *("some.yaml", "known.json", "none", "4GiB", "auto", "text", "never", "HEAD", "dask", "both"),
    *("check.seed=3", "check.sed=3", "check=", "functions['a'].atol=[", "version=null", "[0]=1"),
    *("report", "transfer", "wrong-gradient", "1.json", "\udcff", "é\n", "9" * 40, "x" * 300, "\0"),
]
COMMANDS = ["check", "check", "check", "check ops.py", "explain", "config", "merge", "schema", "no"]


@fuzzed
@given(
    command=st.sampled_from([*COMMANDS, ""]).map(str.split),
    rest=st.lists(
        st.sampled_from(FLAGS) | st.sampled_from(VALUES) | st.text(max_size=6), max_size=7
    ),
)
def test_a_command_line_is_obeyed_or_refused(command: list[str], rest: list[str]) -> None:
    kept = {"ops.py": "X = 1\n", "some.yaml": "version: 1\n", "notes.txt": "mine\n"}
    for name, text in kept.items():
        Path(name).write_text(text)
    Path("known.json").write_text(KNOWN.text())
    run(*command, *rest)
    assert {name: Path(name).read_text() for name in kept} == kept
    assert read_baseline("known.json")


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_is_refused_wherever_it_is_given(content: bytes) -> None:
    path = Path("broken")
    path.write_bytes(content)
    for arguments in (
        ("check", "ops.py", "--config", "broken"),
        ("check", "ops.py", "--baseline", "broken"),
        ("check", "ops.py", "--baseline", "broken", "--write-baseline"),
        ("merge", "broken"),
    ):
        code, said = run(*arguments, "-q")
        assert code == 2
        assert "broken" in said
        assert said.count("\n") == 1
        assert path.read_bytes() == content
