"""The renderings of a report that holds everything, compared with files kept beside the tests.

``GRADTOOL_UPDATE_GOLDEN=1 pytest tests/report`` writes the files anew; read the difference.
"""

import os
from pathlib import Path

import msgspec
import pytest

from gradtool.report.formats import FORMATS, renderer
from gradtool.report.terminal import plain
from gradtool.results.report import Report

GOLDEN = Path(__file__).parent / "golden"

RENDERERS = {
    "text-80.txt": lambda report: plain(report, width=80),
    "text-200.txt": lambda report: plain(report, width=200),
    "text-verbose.txt": lambda report: plain(report, verbosity=2),
    "text-quiet.txt": lambda report: plain(report, verbosity=-1),
    "concise.txt": renderer("concise"),
    "report.json": renderer("json"),
    "json-lines.jsonl": renderer("json-lines"),
    "junit.xml": renderer("junit"),
    "report.sarif": renderer("sarif"),
    "github.txt": renderer("github"),
    "gitlab.json": renderer("gitlab"),
    "markdown.md": renderer("markdown"),
    "html.html": renderer("html"),
}


@pytest.mark.parametrize("name", RENDERERS)
def test_a_report_is_rendered_as_its_golden_file_says(name: str, report: Report) -> None:
    rendered = RENDERERS[name](report)
    path = GOLDEN / name
    if os.environ.get("GRADTOOL_UPDATE_GOLDEN"):
        path.write_text(rendered, encoding="utf-8")
    assert rendered == path.read_text(encoding="utf-8")


def test_every_golden_file_is_compared() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(RENDERERS)


def test_every_format_has_a_golden_file() -> None:
    names = {path.name.partition(".")[0] for path in GOLDEN.iterdir()}
    assert {form for form in FORMATS if form not in {"json", "sarif", "text"}} <= names


def test_the_golden_json_decodes_to_the_report_it_was_made_from(report: Report) -> None:
    assert msgspec.json.decode((GOLDEN / "report.json").read_bytes(), type=Report) == report
