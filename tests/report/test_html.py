"""The HTML page: whole, self-contained, nothing of the user's read as markup, small enough."""

from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from gradtool.package import rule_address
from gradtool.report.findings import problems, rules_by_code
from gradtool.report.html import render
from gradtool.report.html.heatmap import heatmaps, key
from gradtool.report.html.plot import error_plot
from gradtool.report.words import one_line
from gradtool.results.report import Evidence, JacobianBlock, LadderCurve, Report, Severity
from tests.report.test_github import with_findings

_LOADS = frozenset({"src", "srcset", "href", "action", "data", "poster", "background"})
_VOID = frozenset({"meta", "br", "input"})


class Page(HTMLParser):
    """Collects the text and every attribute, and checks that elements close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def tags(self) -> set[str]:
        return {tag for tag, _, _ in self.attributes}


def test_every_case_and_every_finding_is_on_the_page(report: Report) -> None:
    page = Page(render(report))
    assert page.open == []
    for finding in problems(report):
        assert one_line(finding.message).replace("`", "") in page.text
        assert (finding.replay or "") in page.text
    for module, function in report.functions():
        assert module.path in page.text
        for case in function.cases:
            assert f"{function.name}[{case.name}]" in page.text
            assert ", ".join(case.arguments) in page.text
    assert "462 forward and 25 backward evaluations" in page.text


def test_it_loads_nothing_and_runs_nothing(report: Report) -> None:
    text = render(report)
    page = Page(text)
    loading = {name for tag, name, _ in page.attributes if (tag, name) != ("a", "href")}
    assert not loading & _LOADS
    assert not {name for _, name, _ in page.attributes if name.startswith("on")}
    assert not page.tags() & {"script", "link", "iframe", "object", "embed", "base"}
    assert "url(" not in text
    assert "@import" not in text
    assert ("meta", "content", "default-src 'none'; style-src 'unsafe-inline'; img-src data:") in (
        page.attributes
    )


@pytest.mark.parametrize(
    "odd", ["</style><script>x()</script>", '"><img src=x>', "a\x00\x1b\ud800"]
)
def test_no_name_can_become_markup(report: Report, odd: str) -> None:
    page = Page(render(with_findings(report, 1, Severity.ERROR, path=odd)))
    assert not page.tags() & {"img", "script"}
    loading = {name for tag, name, _ in page.attributes if (tag, name) != ("a", "href")}
    assert not loading & _LOADS


def test_what_stopped_the_gate_is_open_and_the_rest_is_folded(report: Report) -> None:
    page = Page(render(report))
    rows = [value for tag, name, value in page.attributes if (tag, name) == ("details", "class")]
    opened = [value for tag, name, value in page.attributes if (tag, name) == ("details", "open")]
    assert len(rows) == 9
    assert len(opened) == sum(row.split()[1] in ("fail", "error", "unverified") for row in rows)


def test_the_filter_offers_the_verdicts_there_are(report: Report, passing_report: Report) -> None:
    def offered(made: Report) -> list[str]:
        attributes = Page(render(made)).attributes
        return [value for tag, name, value in attributes if (tag, name) == ("input", "id")]

    assert offered(passing_report) == ["show-all", "show-pass"]
    assert set(offered(report)) == {
        f"show-{name}" for name in ("all", "pass", "fail", "unverified", "error", "skipped")
    }


def test_each_rule_that_the_report_describes_links_to_its_page_of_the_docs(report: Report) -> None:
    page = Page(render(report))
    leads = {value for tag, name, value in page.attributes if (tag, name) == ("a", "href")}
    found = {finding.rule for finding in problems(report)} & rules_by_code(report).keys()
    assert leads == {rule_address(code) for code in found}


def test_a_wrong_gradient_is_shown_as_three_heatmaps_and_a_curve(report: Report) -> None:
    page = Page(render(report))
    classes = [value for tag, name, value in page.attributes if (tag, name) == ("figure", "class")]
    assert classes == ["heatmap", "heatmap", "heatmap", "plot"]


def full_block(size: int) -> JacobianBlock:
    values = tuple(tuple(float(i - j) for j in range(size)) for i in range(size))
    labels = tuple(f"[{i}]" for i in range(size))
    return JacobianBlock(
        first_row=0,
        first_column=0,
        rows=1000,
        columns=1000,
        row_labels=labels,
        column_labels=labels,
        worst=(0, size - 1),
        analytic=values,
        numeric=values,
        difference=values,
        error=values,
        wrong=tuple(tuple(value != 0 for value in row) for row in values),
    )


def test_heatmaps_have_one_path_a_shade_whatever_the_number_of_entries() -> None:
    for figure in heatmaps(full_block(24), "x"):
        shades = [path.get("class") for path in figure.iter("path")]
        assert len(shades) == len(set(shades)) <= 15
        assert sum(path.get("d", "").count("M") for path in figure.iter("path")) == 2 * 576 - 24


@pytest.mark.parametrize("value", [1.0, "nan"])
def test_a_legend_explains_the_colours_and_marks_that_the_heatmaps_have(value: float | str) -> None:
    block = msgspec.structs.replace(full_block(2), analytic=((value, 1.0), (1.0, 1.0)))
    explained = [item[0].tail for item in key(block).iter("li")]
    assert ("not a finite number" in explained) == (value == "nan")
    assert explained[-2:] == ["wrong entry", "worst entry"]


def test_pages_of_very_many_findings_leave_pictures_out(report: Report) -> None:
    case = report.modules[1].functions[0].cases[0]
    gradient = case.checks[2]
    many = msgspec.structs.replace(case, checks=(gradient,) * 3)
    function = msgspec.structs.replace(report.modules[1].functions[0], cases=(many,) * 200)
    module = msgspec.structs.replace(report.modules[1], functions=(function,))
    text = render(msgspec.structs.replace(report, modules=(module,)))
    assert 3 * 200 < text.count('class="heatmap"') < 3 * 210
    assert text.count('class="finding error"') == 600


def test_a_curve_is_drawn_only_where_there_is_something_to_come_near() -> None:
    curve = LadderCurve(
        steps=(0.5, 0.25, 0.125), quotients=(1.5, 1.0, "nan"), noise=(0.0, 0.0, 0.0)
    )
    drawn = error_plot(Evidence(numeric=1.0, difference=2.0, tolerance="nan", ladder=curve))
    assert drawn is not None
    assert len(list(drawn.iter("circle"))) == 2
    assert error_plot(Evidence(numeric="nan", ladder=curve)) is None
    assert error_plot(Evidence(numeric=1.0)) is None
    short = msgspec.structs.replace(curve, quotients=(1.0, "nan", "inf"))
    assert error_plot(Evidence(numeric=1.0, ladder=short)) is None


def test_an_empty_and_an_interrupted_run_have_a_page_too(report: Report) -> None:
    nothing = msgspec.structs.replace(report, modules=(), notices=())
    assert "nothing was checked" in Page(render(nothing)).text
    stopped = msgspec.structs.replace(report, interrupted=True)
    assert Page(render(stopped)).text.count("interrupted") >= 2


def test_it_is_one_file_that_any_encoding_of_names_can_be_written_to(
    report: Report, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text(
        render(with_findings(report, 1, Severity.ERROR, path="gr\u00f6\u00dfer\udcff.py")),
        encoding="utf-8",
    )
