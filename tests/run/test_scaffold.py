"""What the files of ``gradtool init`` say about Functions and paths that need care."""

from __future__ import annotations

import pytest
import yaml

from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Finding,
    FunctionResult,
    Location,
    ModuleResult,
    Severity,
    Verdict,
)
from gradtool.run.scaffold import configuration, workflow


def module(message: str, hint: str | None, path: str = "a.py") -> ModuleResult:
    finding = Finding(
        rule="GT001",
        name="x",
        severity=Severity.ERROR,
        node_id="a.py::GT001",
        message=message,
        location=Location(path="a.py", line=1),
        hint=hint,
    )
    check = CheckResult(rule="GT001", verdict=Verdict.ERROR, findings=(finding,))
    return ModuleResult(path=path, checks=(check,))


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("raise an\n exception", "it ended the process; raise an exception"),
        (None, "it ended the process"),
    ],
)
def test_a_reason_and_its_hint_are_told_apart(hint: str | None, told: str) -> None:
    text = configuration([module("it ended\nthe process", hint)], {}).text
    assert text.endswith(f"# Not written out:\n#   a.py: {told}\n")


def test_a_comment_is_one_line_that_yaml_accepts() -> None:
    text = configuration([module("it said \x1b[1m", None, "a\nb.py")], {}).text
    assert text.endswith("#   a\\nb.py: it said \\x1b[1m\n")
    assert yaml.safe_load(text)["functions"] == {}


def test_a_path_that_begins_with_a_dash_is_no_option_of_the_workflow() -> None:
    steps = yaml.safe_load(workflow(["-x.py", "ops"], 3, ""))["jobs"]["gradients"]["steps"]
    assert steps[-1]["run"] == "gradtool check ./-x.py ops --require-functions 3"


def test_the_workflow_accepts_the_findings_of_a_baseline() -> None:
    text = workflow(["."], 3, "", "gradtool-baseline.json")
    steps = yaml.safe_load(text)["jobs"]["gradients"]["steps"]
    assert steps[-1]["run"].endswith("--require-functions 3 --baseline gradtool-baseline.json")


def test_functions_with_cases_count_even_if_none_is_written_out() -> None:
    case = CaseResult(name="sample1", arguments=(), source="sample_inputs")
    function = FunctionResult(name="F", location=Location(path="a.py"), cases=(case,), checks=())
    found = configuration([ModuleResult(path="a.py", functions=(function,))], {})
    assert (found.functions, found.checkable) == (0, 1)
