"""Every format, written of real runs: of what is right, and of what people get wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradtool.cli.app import main
from gradtool.report.formats import FORMATS
from tests.report.test_html import Page
from tests.report.test_junit import check_valid
from tests.report.test_sarif import VALIDATOR

_SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the report of the wrong samples and a right one in every format."""
    folder = tmp_path_factory.mktemp("reports")
    reports = [f"--report={form}={folder / form}" for form in FORMATS]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(_SAMPLES.parent)
        code = main(["check", "samples/wrong", "samples/exp.py", "--exclude", "none", *reports])
    assert code == 1
    return folder


def test_junit_is_valid(written: Path) -> None:
    check_valid((written / "junit").read_text())


def test_sarif_is_valid_and_has_the_page_of_each_rule(written: Path) -> None:
    log = json.loads((written / "sarif").read_text())
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    pages = {rule["id"]: rule["help"]["markdown"] for rule in run["tool"]["driver"]["rules"]}
    assert set(pages) >= {"GT101", "GT106", "GT202"}
    assert all("### How to fix" in page for page in pages.values())
    assert run["invocations"][0]["exitCode"] == 1


def test_a_second_derivative_names_its_gradients_and_its_repair(written: Path) -> None:
    report = json.loads((written / "json").read_text())
    found = [
        finding
        for module in report["modules"]
        for function in module["functions"]
        for case in function["cases"]
        for check in case["checks"]
        for finding in check.get("findings", ())
    ]
    (cut,) = (finding for finding in found if finding["rule"] == "GT202")
    assert cut["repair"].startswith("gradtool derive ")
    name = cut["evidence"]["gradient_of"]
    assert all(row.startswith(f"grad {name}[") for row in cut["evidence"]["jacobian"]["row_labels"])


def test_findings_show_their_source_jacobian_and_curve(written: Path) -> None:
    report = json.loads((written / "json").read_text())
    (factor,) = (m for m in report["modules"] if m["path"].endswith("forgotten_factor.py"))
    checks = factor["functions"][0]["cases"][0]["checks"]
    (finding,) = (f for check in checks for f in check.get("findings", ()) if f["rule"] == "GT101")
    assert any("return grad_output" in line for line in finding["source"]["lines"])
    evidence = finding["evidence"]
    row, column = evidence["jacobian"]["worst"]
    assert evidence["jacobian"]["analytic"][row][column] == pytest.approx(evidence["analytic"])
    assert len(evidence["ladder"]["steps"]) > 8


def test_the_page_has_a_picture_of_each_wrong_jacobian(written: Path) -> None:
    page = Page((written / "html").read_text())
    kinds = [value for tag, name, value in page.attributes if (tag, name) == ("figure", "class")]
    assert kinds.count("heatmap") >= 9
    assert kinds.count("plot") >= 3


def test_the_fingerprints_do_not_depend_on_the_seed(written: Path, tmp_path: Path) -> None:
    def prints(path: Path) -> list[str]:
        results = json.loads(path.read_text())["runs"][0]["results"]
        return [result["partialFingerprints"]["gradtool/v1"] for result in results]

    out = tmp_path / "again.sarif"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(_SAMPLES.parent)
        main(
            ["check", "samples/wrong", "--exclude", "none", "--seed", "5", f"--report=sarif={out}"]
        )
    assert prints(out) == prints(written / "sarif")
