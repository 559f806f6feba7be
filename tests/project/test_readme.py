"""What README.md says is so: its commands, the output it shows, its tables, its examples."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradtool.cli.exit_codes import ExitCode
from gradtool.gate.config import load_config
from gradtool.gate.options import CheckOptions
from gradtool.gate.runner import check
from gradtool.results import Verdict
from gradtool.verify.rules import RULES

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

CHANGING = [
    (r"\b\d+(\.\d+)? ?(ns|us|µs|ms|s|min)\b", "TIME"),
    (r"\b(NumPy|Python|gradtool) \d[\w.+]*", r"\1 VERSION"),
    (r"\b\d+ fwd, +\d+ bwd\b", "EVALUATIONS"),
    (r"\b\d+ forward and \d+ backward evaluations\b", "EVALUATIONS"),
    (r"[ \t]+", " "),
]
"""What differs from run to run or machine to machine: times, versions, calls, column widths."""


def block(marker: str) -> str:
    found = re.search(rf"^<!-- {marker} -->\n```\w+\n(.*?)^```$", README, re.M | re.S)
    assert found, f"README.md marks no block as {marker}"
    return found[1]


def settled(text: str) -> str:
    for pattern, replacement in CHANGING:
        text = re.sub(pattern, replacement, text)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def rows(heading: str) -> dict[str, str]:
    """First and second column of the first table under a heading."""
    section = README.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| (\S+) \| (.+?) \|$", section, re.M))


@pytest.mark.parametrize("name", ["check", "test"])
def test_a_command_is_one_line_that_makes_its_own_environment(name: str) -> None:
    command = block(f"command: {name}")
    assert command.count("\n") == 1
    assert command.startswith("python3 -m venv ")


def test_the_two_commands_come_before_anything_else() -> None:
    shells = re.findall(r"^```sh\n(.*?)^```$", README, re.M | re.S)
    assert shells[:2] == [block("command: check"), block("command: test")]
    assert README.index(shells[1]) < README.index("\n## ")


@pytest.mark.parametrize("name", ["check", "test"])
def test_ci_takes_the_command_from_here(name: str) -> None:
    assert re.search(rf"\breadme {name}\b", CI)
    script = [sys.executable, str(ROOT / ".ci" / "readme_command.py"), name]
    printed = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    assert printed == block(f"command: {name}")


def test_the_output_shown_is_the_output_there_is() -> None:
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "gradtool", "check", "samples"]
    run = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == ExitCode.PASSED, run.stderr
    assert settled(run.stdout) == settled(block("output: check"))


def test_the_table_of_rules_lists_the_rules_there_are() -> None:
    assert list(rows("Rules")) == ["code", *sorted(RULES)]


def test_the_table_of_exit_codes_lists_the_codes_there_are() -> None:
    assert list(rows("Exit codes")) == ["code", *(str(int(code)) for code in ExitCode)]


def test_the_configuration_shown_is_right(tmp_path: Path) -> None:
    found = re.search(r"^( *)```yaml\n(.*?)^ *```$", README, re.M | re.S)
    assert found
    path = tmp_path / "gradtool.yaml"
    path.write_text(re.sub(f"^{found[1]}", "", found[2], flags=re.M), encoding="utf-8")
    assert "Cube" in load_config(path).functions


def test_the_module_shown_passes_the_gate(tmp_path: Path) -> None:
    path = tmp_path / "my_ops.py"
    path.write_text(python_blocks()[0], encoding="utf-8")
    (module,) = check(CheckOptions(paths=(str(path),))).modules
    assert [function.name for function in module.functions] == ["Cube"]
    assert [case.source for case in module.functions[0].cases] == ["sample_inputs"]
    assert module.verdict is Verdict.PASS


def test_the_use_from_python_shown_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "samples"))
    namespace: dict[str, Any] = {}
    exec(python_blocks()[1], namespace)
    assert namespace["gradcheck"](namespace["LinearFunction"].apply, namespace["inputs"]) is True


def python_blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)
