"""The files that ``gradtool init`` writes: a configuration with what was found, and a workflow.

The cases that inference finds are written out, so that from then on they are the project's
own: they can be read, changed and added to. A run gives the same results with them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradtool.config.schema import CaseConfig
from gradtool.config.writing import written_section
from gradtool.findings.finding import as_argument
from gradtool.package import INSTALL
from gradtool.results.report import CheckResult, FunctionResult, ModuleResult

_HEAD = """\
# gradtool settings. The keys under `check` match options of `gradtool check`;
# an unknown key is an error.
version: 1

check:
  seed: 0                  # seed for random arguments, combined with the name of the case
  # timeout: 60            # time limit in seconds for each Function
  # strict: true           # treat warnings as failures
  # exclude: [tests]       # skipped when searching folders

"""

_CASES = """\
# Arguments to check each Function with. By default a tensor is float64, drawn from a standard
# normal distribution, and requires a gradient; these fields change that:
#   {shape: [3, 4], low: 0.5, high: 2.0, dtype: float32, requires_grad: false}
# To ignore a rule that does not apply, give a reason next to `cases`:
#   ignore: {GT505: "the table is constant"}
"""


@dataclass(frozen=True)
class Scaffold:
    """The text of a configuration, and what is in it."""

    text: str
    functions: int
    """Functions whose cases are written out."""
    cases: int
    checkable: int
    """Functions that have cases, written out or not."""
    remarked: int
    """Functions and modules that only a comment speaks of."""


def configuration(
    modules: Sequence[ModuleResult], cases: Mapping[str, Sequence[CaseConfig | None]]
) -> Scaffold:
    """A configuration with the Functions of `modules`.

    Args:
        modules: What was found, none of it checked.
        cases: For each Function, by node id, its cases as they are written.
    """
    written: list[str] = []
    remarks: list[str] = []
    count = checkable = 0
    for module in modules:
        remarks += _reasons(module.path, module.checks)
        for function in module.functions:
            node = f"{module.path}::{function.name}"
            checkable += not function.checks
            section = written_section(node, cases.get(node, ()))
            if section is None:
                remarks += _remark(node, function)
            else:
                written.append(section)
                count += len(cases[node])
    return Scaffold(_text(written, remarks), len(written), count, checkable, len(remarks))


def _text(written: Sequence[str], remarks: Sequence[str]) -> str:
    head = "functions:\n" if written else "functions: {}\n"
    comments = f"\n# Not written out:\n{''.join(remarks)}" if remarks else ""
    return f"{_HEAD}{_CASES}{head}{''.join(written)}{comments}"


def _remark(node: str, function: FunctionResult) -> list[str]:
    """A comment with the reason for which the cases of a Function are not written out."""
    if function.checks:
        return _reasons(node, function.checks)
    if any(case.source == "sample_inputs" for case in function.cases):
        return [_comment(node, "its cases come from its sample_inputs")]
    return [
        _comment(
            node, "its arguments cannot be written as YAML, and are inferred again in each run"
        )
    ]


def _reasons(node: str, checks: Sequence[CheckResult]) -> list[str]:
    found = [finding for check in checks for finding in check.findings]
    texts = ("; ".join(filter(None, (each.message, each.hint))) for each in found)
    return [_comment(node, text) for text in texts]


def _comment(node: str, text: str) -> str:
    """One line, in which YAML accepts every character."""
    line = f"#   {node}: {' '.join(text.split())}"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line) + "\n"


def workflow(paths: Sequence[str], functions: int, folder: str, baseline: str | None = None) -> str:
    """A workflow of GitHub Actions that checks `paths`.

    Args:
        paths: As they were given to ``gradtool init``.
        functions: How many Functions there are to check.
        folder: Where to run, relative to the top of the repository; empty for the top.
        baseline: The file of known findings, if there is one.
    """
    there = map(as_argument, paths)
    known = ["--baseline", baseline] if baseline else []
    options = ["--require-functions", str(functions), *known]
    # Twice quoted: for the shell here, for YAML below.
    command = shlex.join(["gradtool", "check", *there, *options])
    where = f"    defaults:\n      run: {{working-directory: {json.dumps(folder)}}}\n"
    return _WORKFLOW.format(
        install=INSTALL, command=json.dumps(command), where=where if folder else ""
    )


_WORKFLOW = """\
# Fails if a gradient is wrong, or if fewer Functions are checked than had cases when gradtool init
# ran.
name: gradtool

on:
  push:
  pull_request:

permissions:
  contents: read

jobs:
  gradients:
    runs-on: ubuntu-latest
{where}    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: {install}
      - run: {command}
"""
