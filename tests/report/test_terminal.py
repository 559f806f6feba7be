"""The text report: widths, colour, what each verbosity shows, and nothing cut off."""

import io

import msgspec
import pytest
from rich.text import Text

from gradtool.report.findings import problems
from gradtool.report.jacobian import window
from gradtool.report.rows import rows
from gradtool.report.summary import summarize
from gradtool.report.terminal import plain, render
from gradtool.report.terminal.console import Page, make_console
from gradtool.results.report import (
    CheckResult,
    Finding,
    Location,
    Report,
    Severity,
    Skip,
    SkipKind,
    Verdict,
)
from tests.report.reasons import skipped_check


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("width", [40, 80, 200, None])
def test_nothing_a_person_needs_is_cut_at_any_width(report: Report, width: int | None) -> None:
    text = plain(report, width=width)
    for finding in problems(report):
        assert squeezed(finding.message) in squeezed(text)
        assert squeezed(finding.hint or "") in squeezed(text)
        assert (finding.replay or "") in text
        assert f"{finding.severity.value} {finding.rule}" in text
    for row in rows(report):
        assert row.name in text
    assert not [line for line in text.splitlines() if "…" in line and " | " not in line]


@pytest.mark.parametrize(("lead", "lines"), [
    ("  name", ["  name  one two three four", "        five"]),
    ("  longer name", ["  longer name  one two three", "        four five"]),
    (
        "  a name that fills the line",
        ["  a name that fills the line", "        one two three four", "        five"],
    ),
])  # fmt: skip
def test_a_long_start_takes_room_from_the_first_line_only(lead: str, lines: list[str]) -> None:
    stream = io.StringIO()
    page = Page(make_console(stream, "never", width=30))
    page.wrapped(Text("one two three four five"), first=Text(f"{lead}  "), indent=8)
    assert stream.getvalue().splitlines() == lines


@pytest.mark.parametrize("width", [80, 200])
def test_only_what_is_copied_is_wider_than_the_terminal(report: Report, width: int) -> None:
    for line in plain(report, width=width).splitlines():
        assert len(line) <= width or line.split()[0] in ("replay", "node")


def test_without_a_width_every_message_is_one_line(report: Report) -> None:
    lines = plain(report).splitlines()
    assert any(line.strip().endswith("block that was compared") for line in lines)


def test_no_line_ends_in_spaces(report: Report) -> None:
    text = plain(report, width=80)
    assert text == "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def test_the_number_of_calls_makes_way_where_columns_are_few(report: Report) -> None:
    assert "21 fwd, 10 bwd" not in plain(report, width=80)
    assert "21 fwd, 10 bwd" in plain(report, width=110)


def test_the_outcome_of_a_long_name_starts_in_its_column(report: Report) -> None:
    name = "LinearWithALongName[inferred-with-residual]"
    text = plain(renamed(report, name), width=80).splitlines()
    at = next(place for place, line in enumerate(text) if name in line)
    assert text[at].endswith(" ms")
    assert text[at + 1].startswith(" " * 40)


def renamed(report: Report, name: str) -> Report:
    """The report with another name of its first Function's first case that passed."""
    function, _, case = name[:-1].partition("[")
    module = report.modules[0]
    first = module.functions[0]
    cases = (msgspec.structs.replace(first.cases[0], name=case), *first.cases[1:])
    changed = msgspec.structs.replace(first, name=function, cases=cases)
    module = msgspec.structs.replace(module, functions=(changed, *module.functions[1:]))
    return msgspec.structs.replace(report, modules=(module, *report.modules[1:]))


def test_quiet_leaves_out_the_header_and_the_table(passing_report: Report) -> None:
    text = plain(passing_report, verbosity=-1)
    counted, unchecked = text.splitlines()
    assert counted.startswith("2 Functions, 2 cases in 20 ms: 2 passed")
    assert unchecked.startswith("not checked: ")


def test_arguments_that_were_chosen_are_shown_and_others_on_request(report: Report) -> None:
    assert "weight: float64[5, 4], bias: None" in plain(report)
    assert "bias: float64[5]" not in plain(report)
    assert "bias: float64[5]" in plain(report, verbosity=1)


def test_a_traceback_is_shown_on_request_only(report: Report) -> None:
    assert "Traceback" not in plain(report)
    assert "    Traceback (most recent call last):\n" in plain(report, verbosity=1)


def test_a_row_says_why_a_derivative_was_not_asked_for(report: Report) -> None:
    assert "gradient, no double backward: declared once_differentiable" in plain(report)


def test_a_row_whose_gradient_is_a_surrogate_says_so_once(report: Report) -> None:
    skip = Skip(kind=SkipKind.REPORTED, blocked_by="GT120")
    gradient = CheckResult(rule="GT101", verdict=Verdict.SKIPPED, skip=skip, proves="gradient")
    second = skipped_check("GT201", "the gradient is a surrogate", "double backward")
    note = Finding(
        rule="GT120", name="surrogate-gradient", severity=Severity.NOTE, message="is one",
        node_id="a.py::F", location=Location(path="a.py"),
    )  # fmt: skip
    told = CheckResult(rule="GT120", verdict=Verdict.FAIL, findings=(note,))
    table = plain(with_checks(report, gradient, second, told))
    (row,) = (line for line in table.splitlines() if "gradient not compared" in line)
    assert row.endswith("  gradient not compared (GT120 surrogate-gradient)")


def test_what_was_not_checked_is_a_list(report: Report) -> None:
    lines = plain(report).splitlines()
    listed = lines[lines.index("not checked:") + 1 :]
    assert len(listed) == len(summarize(report).unchecked)
    assert "  1 Function without a case (ops/special.py::Opaque)" in listed


def test_verdicts_that_stop_the_gate_are_in_capitals(report: Report) -> None:
    words = {line.split()[0] for line in plain(report).splitlines() if line.startswith("  ")}
    assert {"pass", "FAIL", "ERROR", "UNVERIFIED", "skipped"} <= words


def with_only(report: Report, severity: Severity, *, strict: bool) -> Report:
    finding = Finding(
        rule="GT506",
        name="saved-intermediate",
        severity=severity,
        node_id="a.py::F[x]::GT506",
        message="saved",
        location=Location(path="a.py", line=1),
    )
    check = CheckResult(rule="GT506", verdict=Verdict.FAIL, findings=(finding,))
    return msgspec.structs.replace(with_checks(report, check), strict=strict)


def with_checks(report: Report, *checks: CheckResult) -> Report:
    module = report.modules[0]
    case = msgspec.structs.replace(module.functions[0].cases[0], checks=checks)
    function = msgspec.structs.replace(module.functions[0], cases=(case,))
    module = msgspec.structs.replace(module, functions=(function,))
    return msgspec.structs.replace(report, modules=(module,))


def test_a_warning_fails_its_row_when_strict_only(report: Report) -> None:
    lax = plain(with_only(report, Severity.WARNING, strict=False))
    strict = plain(with_only(report, Severity.WARNING, strict=True))
    assert "  pass  Linear[inferred]" in lax
    assert "1 passed, 0 failed" in lax
    assert "  FAIL  Linear[inferred]" in strict
    assert "0 passed, 1 failed" in strict


def test_a_note_never_fails_its_row(report: Report) -> None:
    assert "  pass  Linear[inferred]" in plain(with_only(report, Severity.NOTE, strict=True))


def test_brackets_and_markup_are_printed_as_they_are(report: Report) -> None:
    odd = with_only(report, Severity.NOTE, strict=False)
    case = odd.modules[0].functions[0].cases[0]
    finding = msgspec.structs.replace(case.checks[0].findings[0], message="[bold]x[/bold] :smile:")
    check = msgspec.structs.replace(case.checks[0], findings=(finding,))
    case = msgspec.structs.replace(case, checks=(check,))
    function = msgspec.structs.replace(odd.modules[0].functions[0], cases=(case,))
    module = msgspec.structs.replace(odd.modules[0], functions=(function,))
    assert "[bold]x[/bold] :smile:" in plain(msgspec.structs.replace(odd, modules=(module,)))


def rendered(report: Report, stream: io.StringIO, color: str) -> str:
    render(report, make_console(stream, color, width=100))
    return stream.getvalue()


@pytest.fixture(autouse=True)
def ordinary_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


def test_a_terminal_is_coloured_and_a_file_is_not(report: Report) -> None:
    assert "\x1b[" in rendered(report, Terminal(), "auto")
    assert "\x1b[" not in rendered(report, io.StringIO(), "auto")


def test_no_color_is_honoured_and_always_overrides_it(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in rendered(report, Terminal(), "auto")
    assert "\x1b[1;31m" in rendered(report, io.StringIO(), "always")


def test_never_and_a_dumb_terminal_have_no_colour(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b[" not in rendered(report, Terminal(), "never")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" not in rendered(report, Terminal(), "auto")


def test_force_color_colours_a_log(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in rendered(report, io.StringIO(), "auto")


def test_colour_changes_no_character(report: Report) -> None:
    import re

    colored = rendered(report, Terminal(), "always")
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain(report, width=100)


def test_wrong_entries_are_marked_without_colour_and_coloured_with_it(report: Report) -> None:
    text = plain(report, width=80)
    assert "-4.482* |       0       0   4.482" in text
    assert "columns: x; 3 x 3 of the 6 x 6 Jacobian" in " ".join(text.split())
    file = io.StringIO()
    render(report, make_console(file, "always", width=80))
    assert "\x1b[1;31m" in next(line for line in file.getvalue().splitlines() if "-4.482*" in line)


@pytest.mark.parametrize("width", [30, 60, 80, 100, 120])
def test_a_jacobian_is_as_wide_as_fits(report: Report, width: int) -> None:
    lines = plain(report, width=width).splitlines()
    table = [line for line in lines if line.startswith("    output 0[")]
    assert all("*" in line for line in table)
    assert max(map(len, table)) <= max(width, 47)


def test_as_many_digits_are_shown_as_tell_wrong_from_right(report: Report) -> None:
    block = report.modules[1].functions[0].cases[0].checks[2].findings[0].evidence.jacobian
    near = tuple(tuple(value * (1 + 1e-7) for value in row) for row in block.analytic)
    shown = window(
        msgspec.structs.replace(block, analytic=near, numeric=block.analytic), rows=3, columns=3
    )
    cells = [cell for row in shown.cells for cell in row if cell.is_wrong]
    assert cells
    assert all(cell.analytic != cell.numeric for cell in cells)


def test_the_source_is_shown_once_where_several_findings_are_at_one_place(report: Report) -> None:
    module = report.modules[1]
    case = module.functions[0].cases[0]
    twice = msgspec.structs.replace(case, checks=(case.checks[2], case.checks[2]))
    function = msgspec.structs.replace(module.functions[0], cases=(twice,))
    module = msgspec.structs.replace(module, functions=(function,))
    text = plain(msgspec.structs.replace(report, modules=(module,)))
    assert text.count("error GT101") == 2
    assert text.count("> 14 |     def backward(ctx, grad_output):") == 1
    assert text.count("       |         ^^^^^^^^") == 1


def test_equal_findings_without_numbers_are_one_block_that_names_all_modules(
    report: Report,
) -> None:
    broken = next(module for module in report.modules if module.checks)
    others = [
        msgspec.structs.replace(broken, path=path, checks=(_moved(broken.checks[0], path),))
        for path in ("b.py", "c.py")
    ]
    text = plain(msgspec.structs.replace(report, modules=(broken, *others)))
    assert text.count("error GT001") == 1
    assert "  also in  b.py, c.py\n" in text
    assert "3 errors" in text


def _moved(check: CheckResult, path: str) -> CheckResult:
    (finding,) = check.findings
    moved = msgspec.structs.replace(finding, node_id=f"{path}::{finding.rule}")
    return msgspec.structs.replace(check, findings=(moved,))


def repeated(report: Report, times: int) -> Report:
    """The report with the modules of which every case passes, and their copies."""
    fine = {row.module.path for row in rows(report)}
    fine -= {row.module.path for row in rows(report) if row.verdict is not Verdict.PASS}
    fine -= {row.module.path for row in rows(report) if any(c.findings for c in row.checks)}
    modules = [module for module in report.modules if module.path in fine]
    assert modules
    copies = [
        msgspec.structs.replace(module, functions=module.functions * times) for module in modules
    ]
    return msgspec.structs.replace(report, modules=tuple(copies))


def test_many_cases_that_just_pass_share_one_row(report: Report) -> None:
    many = repeated(report, 30)
    names = {row.function.name for row in rows(many) if row.function}
    lines = [line for line in plain(many).splitlines() if line.startswith("  pass")]
    assert len(lines) == len(many.modules)
    assert all(any(name in line for line in lines) for name in names)
    assert not any("[" in line for line in lines)


def test_few_cases_and_a_verbose_report_have_a_row_each(report: Report) -> None:
    for shown, verbosity in ((repeated(report, 1), 0), (repeated(report, 30), 1)):
        text = plain(shown, verbosity=verbosity)
        assert all(row.name in text for row in rows(shown))
