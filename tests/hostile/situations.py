"""Situations in which a gate runs: odd files, odd environments, and code that meddles with both.

In each of them a folder holds a right Function and a wrong one, beside whatever is odd.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.hostile.modules import HEAD, function

RIGHT = HEAD + function(right=True)
WRONG = HEAD + function(right=False)

Prepare = Callable[[Path], object]


@dataclass(frozen=True)
class Situation:
    """One situation. The run must end with `status`, and leave other modules' results intact."""

    name: str
    prepare: Prepare = lambda _: None
    arguments: tuple[str, ...] = (".",)
    status: int = 1
    says: str = ""
    """Part of what is printed."""
    never: str = ""
    """A pattern that no line of the output may match."""
    environment: Mapping[str, str] = field(default_factory=dict)
    shell: str = '"$@"'
    """Runs the command ``"$@"``."""
    is_reported: bool = True
    """A whole JSON report is written."""


def beside(source: str, name: str = "odd.py") -> Prepare:
    """Put one more module into the folder."""

    def prepare(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)

    return prepare


def _sparse(folder: Path) -> None:
    with (folder / "huge.py").open("wb") as file:
        file.truncate(2**30)


def _billion_laughs(folder: Path) -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 12)]
    (folder / "gradtool.yaml").write_text("\n".join(lines))


def _same_case_twice(folder: Path) -> None:
    case = "    - {name: one, args: [{tensor: {shape: [2]}}]}\n"
    text = "version: 1\nfunctions:\n  right.py::Cube:\n    cases:\n" + case + case
    (folder / "gradtool.yaml").write_text(text)


def _shadowed(name: str) -> Prepare:
    return beside(RIGHT + f"\n# A module named like {name}.\n", name)


def _message(folder: Path) -> None:
    sample = """
    @staticmethod
    def sample_inputs():
        raise ValueError("no:\\n::error::forged\\n  ::error::forged")
"""
    (folder / "odd.py").write_text(WRONG + sample)


FILES = [
    Situation("a_pipe_named_like_a_module", lambda f: os.mkfifo(f / "odd.py")),
    Situation("a_device_named_like_a_module", lambda f: (f / "odd.py").symlink_to("/dev/zero")),
    Situation("a_folder_named_like_a_module", lambda f: (f / "odd.py").mkdir()),
    Situation("a_link_to_nothing", lambda f: (f / "odd.py").symlink_to("nothing.py")),
    Situation("a_link_to_itself", lambda f: (f / "odd.py").symlink_to("odd.py")),
    Situation("a_folder_that_holds_itself", lambda f: (f / "loop").symlink_to(".")),
    Situation("a_huge_module", _sparse),
    Situation(
        "a_name_that_is_no_text",
        lambda f: (f / os.fsdecode(b"odd\xff.py")).write_text(RIGHT),
        status=2,
        says="--exclude",
        is_reported=False,
    ),
    Situation(
        "a_name_with_a_command",
        beside(WRONG, "a\n::error::forged.py"),
        never="^::error::forged",
        environment={"GITHUB_ACTIONS": "true"},
    ),
    Situation(
        "a_message_with_a_command",
        _message,
        never="^::error::forged",
        environment={"GITHUB_ACTIONS": "true"},
    ),
    *(
        Situation(f"a_module_named_{name}", _shadowed(f"{name}.py"))
        for name in (
            "json",
            "numpy",
            "torch",
            "gradtool",
            "typing",
            "conftest",
            "__init__",
            "__main__",
        )
    ),
    Situation("an_alias_bomb", _billion_laughs, status=2, says="gradtool.yaml", is_reported=False),
    Situation(
        "a_constructor_in_yaml",
        beside("a: !!python/object/apply:os.system [id]", "gradtool.yaml"),
        status=2,
        says="gradtool.yaml",
        is_reported=False,
    ),
    Situation(
        "a_binary_configuration",
        lambda f: (f / "gradtool.yaml").write_bytes(bytes(range(256))),
        status=2,
        says="gradtool.yaml",
        is_reported=False,
    ),
    Situation(
        "a_configuration_without_end",
        beside("[" * 200_000, "gradtool.yaml"),
        status=2,
        says="gradtool.yaml",
        is_reported=False,
    ),
    Situation(
        "two_cases_of_one_name", _same_case_twice, status=2, says="appears twice", is_reported=False
    ),
    Situation(
        "a_nested_baseline",
        beside("[" * 200_000, "base.json"),
        (".", "--baseline", "base.json"),
        status=2,
        says="base.json",
        is_reported=False,
    ),
    Situation(
        "a_baseline_that_is_cut_off",
        beside('{"entries": [{"ru', "base.json"),
        (".", "--baseline", "base.json"),
        status=2,
        says="base.json",
        is_reported=False,
    ),
    Situation("a_cache_that_is_a_file", beside("x", ".gradtool_cache"), (".", "--lf")),
    Situation(
        "a_cache_that_leads_nowhere", lambda f: (f / ".gradtool_cache").symlink_to("/proc/none")
    ),
    Situation(
        "a_cache_of_garbage", beside('{"failed": 5', ".gradtool_cache/last.json"), (".", "--lf")
    ),
]

ENVIRONMENTS = [
    Situation("no_home", environment={"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}),
    Situation("a_home_that_is_a_file", environment={"HOME": "/dev/null", "XDG_CACHE_HOME": ""}),
    Situation("no_temporary_folder", environment={"TMPDIR": "/nonexistent"}),
    Situation("warnings_are_errors", environment={"PYTHONWARNINGS": "error"}),
    Situation("no_assertions", environment={"PYTHONOPTIMIZE": "1"}),
    Situation(
        "no_docstrings",
        environment={"PYTHONOPTIMIZE": "2"},
        status=2,
        says="PYTHONOPTIMIZE",
        is_reported=False,
    ),
    Situation(
        "plain_ascii", environment={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ),
    Situation("one_column", environment={"COLUMNS": "1", "TERM": "dumb"}),
    Situation(
        "fifteen_threads", environment={"OPENBLAS_NUM_THREADS": "15", "OMP_NUM_THREADS": "15"}
    ),
    Situation("tracing_of_memory", environment={"PYTHONTRACEMALLOC": "5"}),
    Situation("development_mode", environment={"PYTHONDEVMODE": "1"}),
    Situation("few_files", shell='ulimit -n 72; "$@"'),
    Situation(
        "too_few_files", shell='ulimit -n 20; "$@"', status=2, says="ulimit -n", is_reported=False
    ),
    Situation(
        "no_room_for_files",
        shell='ulimit -f 0; "$@"',
        status=2,
        says="report.json",
        is_reported=False,
    ),
    Situation("a_reader_that_leaves", shell='set -o pipefail; "$@" | true', arguments=(".", "-vv")),
    Situation("closed_streams", shell='"$@" <&- >&- 2>&-'),
    Situation(
        "a_full_disk", arguments=(".", "--report", "sarif=/dev/full"), status=2, says="/dev/full"
    ),
    Situation(
        "a_report_that_is_a_folder",
        arguments=(".", "--report", "sarif=."),
        status=2,
        says="directory",
        is_reported=False,
    ),
    Situation(
        "a_report_in_a_file",
        arguments=(".", "--report", "sarif=right.py/x.sarif"),
        status=2,
        says="right.py",
        is_reported=False,
    ),
    Situation(
        "no_working_folder",
        shell='mkdir gone; cd gone; rmdir ../gone; "$@"',
        status=2,
        says="folder",
        is_reported=False,
    ),
    Situation("ignored_signals", shell="trap '' HUP INT TERM PIPE CHLD; \"$@\""),
    Situation(
        "no_child_may_be_waited_for", shell="trap '' CHLD; \"$@\"", arguments=(".", "-j", "2")
    ),
]
