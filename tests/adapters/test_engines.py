"""``--engine torch`` and ``--engine both``: the same gate over the PyTorch that is installed."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
from pathlib import Path

import pytest

from gradtool.adapters.engines import require_engine
from gradtool.errors import UsageError
from gradtool.report.summary import summary_line
from gradtool.results.report import Finding, Report, Severity, Verdict
from gradtool.run.runner import check
from gradtool.verify.rules import RULES
from tests.options import check_options
from tests.zoo.members import Member, members

SAMPLES = Path(__file__).resolve().parents[2] / "samples"

MORE_OR_LESS_UNDER_PYTORCH: dict[str, str] = {}
"""Function of the zoo -> why PyTorch lets other rules be broken. ``docs/engines.md`` lists them."""


def torch(test):
    """Marks a test that runs the installed PyTorch."""
    missing = importlib.util.find_spec("torch") is None
    return pytest.mark.torch(pytest.mark.skipif(missing, reason="PyTorch is not installed")(test))


WHOLE = bool(os.environ.get("GRADTOOL_WHOLE_ZOO"))
"""Set to check all of the zoo under PyTorch; else a share that is the same in every run."""


def share(kind: str, every: int) -> list[Member]:
    """The members that are checked under PyTorch too."""
    found = members(kind)
    return list(found) if WHOLE else list(found)[::every]


def nodes(chosen: list[Member]) -> list[str]:
    return [f"{member.path}::{member.name}" for member in chosen]


torch_engine = pytest.param(
    "torch",
    marks=[
        pytest.mark.torch,
        pytest.mark.skipif(
            importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
        ),
    ],
)

ON_CUDA = """
import torch
class OnCuda(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        {line}
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
"""


def checked(*paths: Path | str, engine: str, **options: object) -> Report:
    shown = tuple(str(path) for path in paths)
    return check(check_options(paths=shown, engine=engine, strict=True, isolation=WHOLE, **options))


def alarms(report: Report, rule: str = "") -> list[Finding]:
    return [
        finding
        for finding in report.findings()
        if finding.severity is not Severity.NOTE and finding.rule.startswith(rule)
    ]


def broken(report: Report) -> dict[str, set[str]]:
    """Function -> the rules it breaks."""
    found: dict[str, set[str]] = {}
    for module, function in report.functions():
        name = f"{Path(module.path).stem}::{function.name}"
        checks = [*function.checks, *(check for case in function.cases for check in case.checks)]
        found[name] = {
            finding.rule
            for check in checks
            for finding in check.findings
            if finding.severity is not Severity.NOTE
        }
    return found


@torch
def test_the_samples_pass_under_pytorch_and_both_agree():
    report = checked(SAMPLES, engine="both", exclude=("wrong",))
    assert alarms(report) == []
    asked = [each.verdict for each in report.checks() if each.rule == "GT702"]
    assert set(asked) == {Verdict.PASS}
    assert "PyTorch" in report.environment.engine


@torch
def test_each_wrong_function_of_the_zoo_breaks_the_same_rules_under_pytorch():
    chosen = share("wrong", 9)
    found = broken(checked(*nodes(chosen), engine="torch"))
    differing = {
        member.id: found.get(member.id)
        for member in chosen
        if found.get(member.id) != member.expect and member.id not in MORE_OR_LESS_UNDER_PYTORCH
    }
    assert differing == {}


@torch
def test_each_right_function_of_the_zoo_passes_under_both_engines():
    chosen = share("right", 20)
    report = checked(*nodes(chosen), engine="both")
    assert alarms(report) == []
    assert report.verdict is Verdict.PASS
    asked = [each.verdict for each in report.checks() if each.rule == "GT702"]
    assert asked.count(Verdict.PASS) >= len(chosen)


@torch
@pytest.mark.parametrize(("example", "expected"), [("wrong", {"GT702"}), ("right", set())])
def test_the_examples_of_the_page_disagree_and_agree(tmp_path, example, expected):
    module = tmp_path / "scale.py"
    module.write_text(getattr(RULES["GT702"], example))
    assert {finding.rule for finding in alarms(checked(module, engine="both"))} == expected


@torch
def test_a_rule_that_is_broken_under_one_engine_only_is_a_disagreement(tmp_path):
    module = tmp_path / "halved.py"
    module.write_text(
        "from gradtool import Function\n"
        "class Halved(Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        ctx.real = type(x).__module__ == 'torch'\n"
        "        return x * 2\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        if ctx.real:\n"
        "            g.mul_(1)\n"
        "            g.add_(1).sub_(1)\n"
        "            g.data.add_(1e-9)\n"
        "        return g * 2\n"
    )
    (finding,) = alarms(checked(module, engine="both"))
    assert finding.rule == "GT702"
    assert finding.message.startswith("GT503 is violated under PyTorch only: ")


@torch
def test_a_module_may_import_torch_or_gradtool(tmp_path):
    body = (
        "class Square(Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x)\n"
        "        return x * x\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        (x,) = ctx.saved_tensors\n"
        "        return 2 * x * g\n"
    )
    (tmp_path / "one.py").write_text(f"from torch.autograd import Function\n{body}")
    (tmp_path / "two.py").write_text(f"from gradtool import Function\n{body}")
    report = checked(tmp_path, engine="torch")
    assert [function.verdict for _, function in report.functions()] == [Verdict.PASS] * 2


def test_pytorch_that_is_missing_is_told_in_one_line(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="--engine torch also needs PyTorch: pip install"):
        require_engine("torch")


def test_pytorch_that_is_too_old_is_told_in_one_line(monkeypatch):
    monkeypatch.setattr("gradtool.adapters.engines._torch_version", lambda: "1.13.1+cpu")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    with pytest.raises(UsageError, match=r"--engine both needs PyTorch 2\.4 or later; 1\.13\.1"):
        require_engine("both")


def test_an_unknown_engine_is_told():
    with pytest.raises(UsageError, match="bundled, torch, both, got 'jax'"):
        require_engine("jax")


def test_a_folder_with_the_name_of_pytorch_is_told(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr("importlib.metadata.version", _not_found)
    with pytest.raises(UsageError, match="something else is named torch"):
        require_engine("torch")


def _not_found(name: str) -> str:
    raise importlib.metadata.PackageNotFoundError(name)


@torch
def test_pytorch_that_does_not_load_is_told_in_one_line(write, monkeypatch):
    def broken_import() -> None:
        raise ImportError("libtorch_cpu.so: cannot open shared object file\nmore")

    monkeypatch.setattr("gradtool.adapters.torch.library.load", broken_import)
    write({"empty.py": ""})
    with pytest.raises(
        UsageError,
        match=r"PyTorch \S+ cannot be loaded: libtorch_cpu.so: .* "
        r"file$",
    ):
        check(check_options(paths=("empty.py",), engine="torch"))


@torch
def test_a_device_that_pytorch_does_not_see_is_told_in_one_line(write, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    write({"empty.py": ""})
    with pytest.raises(UsageError, match="--device cuda cannot be used: PyTorch finds no CUDA"):
        check(check_options(paths=("empty.py",), engine="torch", device="cuda"))
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    with pytest.raises(
        UsageError,
        match="--device cuda:3 does not exist; CUDA devices that PyTorch finds here: 1",
    ):
        check(check_options(paths=("empty.py",), engine="torch", device="cuda:3"))


@pytest.mark.parametrize("engine", ["bundled", torch_engine])
def test_a_package_that_a_module_lacks_is_named(write, engine):
    write({"lacking.py": "import nothere.inner\n"})
    (finding,) = check(check_options(paths=("lacking.py",), engine=engine)).findings()
    assert finding.rule == "GT001"
    assert finding.message == "import raised ModuleNotFoundError: No module named 'nothere'"
    assert finding.hint == (
        "install the package that provides 'nothere' in the environment that runs gradtool"
    )


@pytest.mark.parametrize("engine", ["bundled", torch_engine])
@pytest.mark.parametrize("line", ["assert x.is_cuda, 'expected a CUDA tensor'", "x = x.cuda()"])
def test_a_function_for_cuda_only_says_so_on_the_cpu(write, engine, line):
    write({"on_cuda.py": ON_CUDA.format(line=line)})
    if engine == "torch" and importlib.import_module("torch").cuda.is_available():
        pytest.skip("CUDA is here")
    report = check(check_options(paths=("on_cuda.py",), engine=engine))
    (finding,) = report.findings()
    assert finding.rule == "GT002"
    assert "cuda" in finding.message.lower()
    assert finding.hint == "it needs CUDA: check it with --device cuda on a machine that has a GPU"


@pytest.mark.parametrize("engine", ["bundled", torch_engine])
def test_what_the_engine_says_of_a_gradient_is_told_at_the_users_backward(write, engine):
    write({"shaped.py": ON_CUDA.format(line="pass").replace("g * 2", "g.new_zeros(7)")})
    report = check(check_options(paths=("shaped.py",), engine=engine))
    (finding,) = [each for each in report.findings() if each.rule == "GT103"]
    assert finding.location.path == "shaped.py"
    assert "return g.new_zeros(7)" in "".join(finding.source.lines)


STRAIGHT = """
import torch
class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()
    @staticmethod
    def backward(ctx, g):
        return g
"""


@pytest.mark.parametrize("engine", ["bundled", torch_engine])
def test_what_is_meant_to_differ_is_recognised_and_counted_once_declared(write, engine):
    write({"rounded.py": STRAIGHT})
    report = check(check_options(paths=("rounded.py",), engine=engine))
    (finding,) = report.findings()
    assert finding.rule == "GT120"
    assert finding.message.endswith("it looks like a straight-through estimator")
    declaration = "Rounded: {surrogate: [x], reason: WHY}"
    assert (finding.hint or "").endswith(f"functions:\n{declaration}")
    declared = f"version: 1\nfunctions:\n  {declaration}\n".replace("WHY", "rounds on purpose")
    write({"gradtool.yaml": declared})
    report = check(check_options(paths=("rounded.py",), engine=engine))
    assert report.verdict is Verdict.PASS
    told = "gradient of 1 case (every gradient is declared a surrogate)"
    assert told in summary_line(report)


def check_both(folder: Path, source: str) -> Report:
    module = folder / "ops.py"
    module.write_text("import torch\nfrom torch.autograd import Function\n" + source)
    return checked(module, engine="both")


@torch
def test_both_engines_have_a_group_of_one_process(tmp_path):
    report = check_both(
        tmp_path,
        "import torch.distributed as dist\n"
        "class Everywhere(Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        out = torch.zeros_like(x)\n"
        "        dist.all_gather([out], x)\n"
        "        return out * dist.get_world_size()\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        return g.clone()\n",
    )
    assert alarms(report) == []
    assert Verdict.PASS in [each.verdict for each in report.checks() if each.rule == "GT702"]


@torch
def test_a_cotangent_can_be_resized_under_both(tmp_path):
    report = check_both(
        tmp_path,
        "class Mean(Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x)\n"
        "        return x.mean()\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        (x,) = ctx.saved_tensors\n"
        "        return g.resize_as_(x).copy_(torch.ones_like(x)) / x.numel()\n",
    )
    assert {finding.rule for finding in alarms(report)} == {"GT503"}


@torch
def test_an_object_of_the_module_is_not_given_to_the_other_engine(tmp_path):
    report = check_both(
        tmp_path,
        "from enum import Enum\n"
        "from types import SimpleNamespace\n"
        "class Mode(Enum):\n"
        "    TWICE = 1\n"
        "class Times(Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x, plan):\n"
        "        if plan.mode is not Mode.TWICE:\n"
        "            raise ValueError(plan)\n"
        "        return x * 2\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        return g * 2, None\n"
        "    @staticmethod\n"
        "    def sample_inputs():\n"
        "        x = torch.randn(3, dtype=torch.double, requires_grad=True)\n"
        "        yield x, SimpleNamespace(mode=Mode.TWICE)\n",
    )
    assert alarms(report) == []
    (asked,) = [each for each in report.checks() if each.rule == "GT702"]
    assert asked.verdict is Verdict.SKIPPED
