"""The configuration files that users copy from are right, complete and say what they mean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradtool.config.files import load_config
from gradtool.config.schema import CaseConfig, Defaults, File, FunctionConfig, ModuleConfig
from gradtool.config.tensor_spec import TensorSpec
from gradtool.results.report import Verdict
from gradtool.run.runner import check
from tests.options import check_options

ROOT = Path(__file__).resolve().parents[2]
FULL = ROOT / "configs" / "full.yaml"
MINIMAL = ROOT / "configs" / "minimal.yaml"
CONFIGS = sorted(
    set((ROOT / "configs").glob("*.yaml")) - set((ROOT / "configs").glob("transfer-*"))
)
SAMPLES = ROOT / "samples"

STRUCTS = (File, Defaults, FunctionConfig, ModuleConfig, CaseConfig, TensorSpec)
KEYS = sorted({name for struct in STRUCTS for name in struct.__struct_fields__} | {"literal"})


def test_there_is_a_minimal_and_a_full_one() -> None:
    assert CONFIGS == [FULL, MINIMAL]


@pytest.mark.parametrize("path", [*CONFIGS, SAMPLES / "gradtool.yaml"], ids=lambda p: p.name)
def test_it_loads(path: Path) -> None:
    assert load_config(path).path == path


@pytest.mark.parametrize("key", KEYS)
def test_the_full_one_shows_every_key(key: str) -> None:
    assert re.search(rf"\b{key}:", without_comments(FULL))


@pytest.mark.parametrize("key", Defaults.__struct_fields__)
def test_the_full_one_explains_each_default_on_its_line(key: str) -> None:
    section = FULL.read_text(encoding="utf-8").split("\ncheck:\n")[1].split("\nfunctions:\n")[0]
    assert re.search(rf"^  {key}: .+ # \w", section, re.M)


def test_the_full_one_can_be_tried_on_the_samples() -> None:
    # Its tolerances and ignores are there to be shown, and GT511 finds that no sample needs them.
    options = check_options(paths=(str(SAMPLES),), config=str(FULL), ignore=("GT511",))
    report = check(options)
    assert [module.path for module in report.modules if module.verdict is not Verdict.PASS] == []


def test_the_full_one_decides_which_cases_are_made() -> None:
    report = check(check_options(paths=(str(SAMPLES / "linear.py"),), config=str(FULL)))
    (module,) = report.modules
    (function,) = module.functions
    names = [case.name for case in function.cases]
    assert names == ["with-bias", "frozen-weight", "single-precision"]


def test_the_minimal_one_can_be_tried_on_a_sample() -> None:
    report = check(check_options(paths=(str(SAMPLES / "linear.py"),), config=str(MINIMAL)))
    (module,) = report.modules
    assert module.verdict is Verdict.PASS
    assert [case.source for case in module.functions[0].cases] == ["config"]


def without_comments(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line.split(" #")[0] for line in lines if not line.startswith("#"))
