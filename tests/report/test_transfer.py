"""Transfer reports as they are set: no line too long at a terminal, nothing lost elsewhere."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET

import pytest
from msgspec.structs import replace

from gradtool.report.terminal.console import make_console
from gradtool.report.terminal.transfer import plain
from gradtool.report.terminal.transfer_progress import TransferProgress
from gradtool.report.transfer import chart, csv, html, markdown
from gradtool.report.transfer.tables import tables
from gradtool.results.transfer import Change, Ratio, Requirement, TransferReport
from tests.transfer.fake_machine import FakeMachine
from tests.transfer.runs import run


@pytest.fixture(scope="module", params=[False, True], ids=["device", "simulated"])
def report(request: pytest.FixtureRequest) -> TransferReport:
    refused = ("write-combined",)
    machine = FakeMachine(simulated=request.param, refused=refused)
    found = run(machine, scenarios=("p*", "w*", "duplex"), sizes=(4096, 1 << 16, 1 << 18))
    return replace(
        found,
        seconds=1.25,
        requirements=(Requirement(text="pinned.h2d.gbps > 1", met=False, reason="0.5 > 1 fails"),),
        changes=(
            Change(
                id="pinned.h2d.blocking[4096]", before=1e-6, after=2e-6,
                ratio=Ratio(value=2.0, low=1.9, high=2.1), regressed=True,
            ),
        ),
        notices=("a <notice> with | signs",),
    )  # fmt: skip


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_longer_than_the_terminal(report: TransferReport, width: int) -> None:
    text = plain(report, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "pinned.h2d.gbps > 1" in text
    assert "REGRESSED" in text
    joined = " ".join(text.split())
    assert "no write-combined memory here" in joined
    assert joined.endswith("regressed: 1 of 1")


def test_narrow_tables_name_the_size_above_the_rows(report: TransferReport) -> None:
    lines = plain(report, width=80).splitlines()
    assert "64 KiB" in lines
    assert "64 KiB" not in plain(report, width=120).splitlines()


def test_quiet_leaves_the_tables_out(report: TransferReport) -> None:
    text = plain(report, verbosity=-1)
    regressed = "pinned.h2d.blocking[4096]: 2.000 us, was 1.000 us (2.00 times as long"
    assert regressed in text
    assert text.count("times as long, 95%") == sum(each.regressed for each in report.changes)
    assert "device to host\n" not in text
    assert text.startswith("regressed\n")


def test_every_title_says_whether_it_is_simulated(report: TransferReport) -> None:
    titles = [table.title for table in tables(report)]
    assert {title.startswith("SIMULATED") for title in titles} == {report.simulated}
    assert ('class="simulated"' in html.render(report)) == report.simulated
    assert ("SIMULATED" in markdown.render(report)) == report.simulated
    first = {line.split(",")[0] for line in csv.render(report).splitlines()[1:]}
    assert first == {str(report.simulated).lower()}
    assert (b"SIMULATED" in chart.render(report)) == report.simulated


def test_markup_in_a_text_is_not_read(report: TransferReport) -> None:
    assert "a &lt;notice&gt; with | signs" in html.render(report)
    assert r"a \<notice\> with \| signs" in markdown.render(report)


def test_rows_have_as_many_cells_as_the_table_has_columns(report: TransferReport) -> None:
    for table in tables(report):
        assert {len(row) for row in table.rows} == {len(table.columns)}
    lines = [line for line in markdown.render(report).splitlines() if line.startswith("| ")]
    assert len(lines) > 20
    widths = {line.replace(r"\|", "").count("|") for line in csv.render(report).splitlines()}
    assert widths == {0}


def test_the_chart_has_a_point_for_each_cell_and_a_line_for_each_way(
    report: TransferReport,
) -> None:
    drawn = ET.fromstring(chart.render(report))
    shown = [
        cell
        for cell in report.cells
        if cell.gbps and cell.tensors == 1 and not cell.row and cell.direction in {"h2d", "d2h"}
    ]
    dots = [each for each in drawn.iter() if each.attrib.get("class", "").startswith("dot")]
    assert len(dots) == len(shown)
    hollow = [dot for dot in dots if "hollow" in dot.attrib["class"]]
    assert len(hollow) == sum(bool(cell.doubt) for cell in shown)
    ways = {(cell.scenario, cell.direction, cell.mode) for cell in shown}
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}polyline"))) == len(ways)
    for dot in dots:
        assert 0 < float(dot.attrib.get("cx") or dot.attrib["x"]) < 1000
        assert 0 < float(dot.attrib.get("cy") or dot.attrib["y"]) < 430
    assert chart.render(report) == chart.render(report)
    assert "<svg" in html.render(report)


def test_a_chart_of_nothing_says_so(report: TransferReport) -> None:
    drawn = chart.render(replace(report, cells=(), fits=())).decode()
    assert "host to device: nothing measured" in drawn


def test_progress_tells_the_time_left() -> None:
    file = io.StringIO()
    console = make_console(file, "always", width=100)
    with TransferProgress(console, 60) as progress:
        progress.stage("measuring")
        progress.sampled(12, 15.0)
    assert "at most 45 s left" in file.getvalue()
    assert "measuring, 12 cells to go" in file.getvalue()
