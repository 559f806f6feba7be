"""The listing of cases has one line for each node id, whatever its file is called."""

from __future__ import annotations

import io

from rich.console import Console

from gradtool.report.terminal.report import render_cases
from gradtool.results.report import CaseResult, FunctionResult, Location, ModuleResult


def test_control_characters_are_escaped() -> None:
    case = CaseResult(name="c", arguments=("'a\x1b[2Jb'",))
    function = FunctionResult(name="F", location=Location(path="a\nb.py", line=1), cases=(case,))
    stream = io.StringIO()
    render_cases([ModuleResult(path="a\nb.py", functions=(function,))], Console(file=stream))
    assert stream.getvalue().splitlines() == [
        r"a\nb.py::F[c]",
        r"    'a\x1b[2Jb'",
        "1 Function, 1 case collected; nothing was checked",
    ]
