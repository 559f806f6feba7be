"""A module with one main Function may have ``sample_inputs`` beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.cases.module_samples import unused_samples
from gradtool.cases.sample_inputs import read_samples
from gradtool.cases.sources import resolve_cases
from gradtool.collect.checkable import Checkable
from gradtool.collect.discovery import discover
from gradtool.collect.loader import Loader
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import NoCase
from gradtool.run.runner import check
from tests.conftest import Write
from tests.options import check_options

FUNCTION = """
class {name}(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g
"""
IMPORT = "import torch\n"
ONE = FUNCTION.format(name="Double")
OTHER = FUNCTION.format(name="Twice")
SAMPLES = """
def sample_inputs():
    return [(torch.ones(7, dtype=torch.double, requires_grad=True),)]
"""
OWN = """
    @staticmethod
    def sample_inputs():
        yield (torch.ones(5).double(),)
"""
LATER = "\n\nclass Later(Double):\n    pass\n"


def loaded(folder: Path) -> list[Checkable]:
    file = folder / "mod.py"
    return list(discover(Loader().load(file), "mod.py"))


def arguments(checkable: Checkable) -> list[str]:
    return [shown for case in resolve_cases(checkable, Settings()) for shown in case.arguments]


def test_the_only_function_gets_the_samples_of_its_module(write: Write) -> None:
    (double,) = loaded(write({"mod.py": IMPORT + ONE + SAMPLES}))
    assert arguments(double) == ["x: float64[7]"]
    assert [case.source for case in resolve_cases(double, Settings())] == ["sample_inputs"]
    assert list(unused_samples([double])) == []


def test_samples_of_the_function_come_first(write: Write) -> None:
    (double,) = loaded(write({"mod.py": IMPORT + ONE + OWN + SAMPLES}))
    assert arguments(double) == ["x: float64[5]"]
    assert list(unused_samples([double])) == []


@pytest.mark.parametrize("rest", [OTHER, LATER])
def test_several_functions_are_told_where_samples_belong(write: Write, rest: str) -> None:
    found = loaded(write({"mod.py": IMPORT + ONE + rest + SAMPLES}))
    assert "x: float64[7]" not in [shown for each in found for shown in arguments(each)]
    (notice,) = unused_samples(found)
    belongs = "make it a static method of the Function it is for"
    assert notice.endswith(f"the function `sample_inputs` is not used: {belongs}")


OF_ONE = """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        return CubeBackward.apply(g, *ctx.saved_tensors)


class CubeBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return 3 * g * x**2

    @staticmethod
    def backward(ctx, gg):
        g, x = ctx.saved_tensors
        return (lambda: (3 * gg * x**2, 6 * gg * g * x))()
"""


def test_they_are_for_the_function_that_no_other_calls(write: Write) -> None:
    cube, backward = loaded(write({"mod.py": IMPORT + OF_ONE + SAMPLES}))
    assert arguments(cube) == ["x: float64[7]"]
    assert {each.source for each in resolve_cases(backward, Settings())} == {"inferred"}
    assert list(unused_samples([cube, backward])) == []


def test_samples_with_a_parameter_are_not_used(write: Write) -> None:
    needs = SAMPLES.replace("()", "(size)", 1)
    (double,) = loaded(write({"mod.py": IMPORT + ONE + needs}))
    assert arguments(double) != ["x: float64[7]"]
    (notice,) = unused_samples([double])
    assert notice.endswith("is not used: it may have no required parameter but `device`")


@pytest.mark.parametrize("parameters", ["device", "device, /", "*, device", "device, size=7"])
def test_samples_are_called_with_the_device_that_they_ask_for(
    write: Write, parameters: str
) -> None:
    asking = SAMPLES.replace("()", f"({parameters})", 1).replace("7,", "[0, 7][device == 'cpu'],")
    (double,) = loaded(write({"mod.py": IMPORT + ONE + asking}))
    assert arguments(double) == ["x: float64[7]"]
    assert list(unused_samples([double])) == []


def test_samples_of_a_function_are_called_with_the_device(write: Write) -> None:
    own = OWN.replace("()", "(device)", 1).replace("double()", "double().to(device)")
    (double,) = loaded(write({"mod.py": IMPORT + ONE + own}))
    assert arguments(double) == ["x: float64[5]"]


def test_samples_of_a_function_that_need_more_say_what_they_may_need(write: Write) -> None:
    (double,) = loaded(write({"mod.py": IMPORT + ONE + OWN.replace("()", "(size)", 1)}))
    with pytest.raises(NoCase) as raised:
        resolve_cases(double, Settings())
    assert "without required parameters, except `device`" in str(raised.value.hint)


def test_samples_are_asked_for_the_device_of_the_check(write: Write) -> None:
    asking = SAMPLES.replace("()", "(device)", 1).replace("7,", "len(device),")
    (double,) = loaded(write({"mod.py": IMPORT + ONE + asking}))
    assert [len(case.args[0]) for case in read_samples(double, "cuda")] == [4]


def test_imported_samples_are_not_used(write: Write) -> None:
    helper = IMPORT + SAMPLES
    text = IMPORT + "from helper import sample_inputs\n" + ONE
    folder = write({"helper.py": helper, "mod.py": text})
    (double,) = loaded(folder)
    assert arguments(double) != ["x: float64[7]"]
    assert list(unused_samples([double])) == []


def test_a_mistake_in_them_is_reported_at_their_line(write: Write) -> None:
    raising = "\ndef sample_inputs():\n    raise RuntimeError('no data')\n"
    (double,) = loaded(write({"mod.py": IMPORT + ONE + raising}))
    with pytest.raises(NoCase, match="sample_inputs raised RuntimeError: no data"):
        resolve_cases(double, Settings())


def test_the_report_says_that_they_are_not_used(write: Write) -> None:
    folder = write({"mod.py": IMPORT + ONE + OTHER + SAMPLES})
    report = check(check_options(paths=(str(folder / "mod.py"),), isolation=False))
    (notice,) = [each for each in report.notices if "sample_inputs" in each]
    assert notice.startswith("mod.py:21:")


def test_a_function_that_a_missing_package_decorates_has_no_module(write: Write) -> None:
    source = ONE.replace("    @staticmethod\n    def forward", "    @mark\n    def forward")
    folder = write({"mod.py": f"{IMPORT}from no_such import mark\n{source}"})
    report = check(check_options(paths=(str(folder),), isolation=False))
    (finding,) = report.findings()
    assert finding.rule == "GT002"
    assert "no_such.mark is not installed" in finding.message
    assert "Double.forward is decorated with it" in finding.message
