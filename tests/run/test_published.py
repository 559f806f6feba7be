"""Published packages that define custom Functions, unmodified, under both engines.

They come from the package index, without their dependencies, for the time of the test. What is
found in each is explained in ``docs/published-packages.md``.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from gradtool.results.report import Severity
from gradtool.run.runner import check
from tests.options import check_options

PACKAGES = ("entmax==1.3", "pytorch-revgrad==0.2.0", "sparsemax==0.1.9", "snntorch==1.0.0")
PATHS = ("entmax", "pytorch_revgrad", "sparsemax", "snntorch/surrogate.py")

FOUND = {
    "_GenericLossFunction": set(),
    "SparsemaxFunction": set(),
    "Entmax15Function": {"GT201"},
    "SparsemaxLossFunction": {"GT202"},
    "SparsemaxBisectLossFunction": {"GT202"},
    "Entmax15LossFunction": {"GT202"},
    "EntmaxBisectLossFunction": {"GT202"},
    "NormmaxBisectLossFunction": {"GT202"},
    "EntmaxBisectFunction": {"GT201"},
    "SparsemaxBisectFunction": set(),
    "NormmaxBisectFunction": set(),
    "BudgetBisectFunction": set(),
    "RevGrad": {"GT120"},
    "StraightThroughEstimator": set(),
    "Triangular": set(),
    "FastSigmoid": set(),
    "ATan": set(),
    "Heaviside": {"GT120"},
    "Sigmoid": set(),
    "SpikeRateEscape": set(),
    "StochasticSpikeOperator": {"GT110"},
    "LeakySpikeOperator": {"GT102"},
    "SparseFastSigmoid": set(),
    "CustomSurrogate": set(),
}

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
    ),
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with the packages."""
    folder = tmp_path_factory.mktemp("packages")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder)]
    ended = subprocess.run(
        [*pip, *PACKAGES], capture_output=True, text=True, timeout=300, check=False
    )
    if ended.returncode:
        pytest.skip(f"the package index does not answer: {ended.stderr.strip()[-200:]}")
    return folder


@pytest.mark.parametrize("engine", ["bundled", "torch"])
def test_what_is_found_in_published_packages_is_what_the_page_explains(
    installed, engine, monkeypatch
):
    monkeypatch.chdir(installed)
    report = check(check_options(paths=PATHS, engine=engine, strict=True, isolation=True))
    found = {
        function.name: {
            finding.rule
            for case in function.cases
            for each in case.checks
            for finding in each.findings
            if finding.severity is not Severity.NOTE
        }
        for _, function in report.functions()
    }
    assert found == FOUND


def test_the_page_speaks_of_each():
    page = Path(__file__).parents[2] / "docs" / "published-packages.md"
    text = page.read_text(encoding="utf-8")
    assert [name for name in FOUND if f"`{name}`" not in text] == []
