"""Paths from the top of the repository, in the formats that show findings on code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradtool.report.formats import renderer
from gradtool.report.formats.repository import repository_path
from gradtool.results.report import Report


@pytest.fixture
def below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder ``kernels`` below the top of a repository, as the current one."""
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "kernels"
    folder.mkdir()
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_path_is_from_the_nearest_repository(below: Path) -> None:
    assert repository_path("ops/exp.py") == "kernels/ops/exp.py"
    assert repository_path(str(below / "exp.py")) == "kernels/exp.py"
    assert repository_path("../top.py") == "top.py"


def test_a_path_outside_any_repository_stays_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, below: Path
) -> None:
    elsewhere = str(tmp_path_factory.mktemp("elsewhere") / "exp.py")
    assert repository_path(elsewhere) == elsewhere


@pytest.mark.parametrize("name", ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"])
def test_the_checkout_of_a_job_counts_before_a_repository_inside(
    name: str, below: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(below.parents[1]))
    assert repository_path("exp.py") == f"{below.parent.name}/kernels/exp.py"


@pytest.mark.usefixtures("below")
def test_annotations_and_code_scanning_name_files_from_the_top(report: Report) -> None:
    assert "file=kernels/ops/wrong_exp.py," in renderer("github")(report)
    runs = json.loads(renderer("sarif")(report))["runs"]
    places = [r["locations"][0]["physicalLocation"]["artifactLocation"] for r in runs[0]["results"]]
    assert {"uri": "kernels/ops/wrong_exp.py", "uriBaseId": "%SRCROOT%"} in places
    issues = json.loads(renderer("gitlab")(report))
    assert "kernels/ops/wrong_exp.py" in {issue["location"]["path"] for issue in issues}
