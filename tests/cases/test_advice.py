"""Advice for a Function without a case: the mistake itself, and code that can be pasted."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

import gradtool.engine as torch
from gradtool import Case, Function
from gradtool.cases.sample_inputs import misspelt_samples
from gradtool.cases.sources import resolve_cases
from gradtool.collect.checkable import Checkable
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import NoCase
from gradtool.results.report import Finding, Location
from gradtool.run.runner import check
from tests.options import check_options


class Twice(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return 2 * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * g


def checkable(target: Any) -> Checkable:
    return Checkable("F", target, Path(__file__), Location(path="f.py", line=1))


def refusal(target: Any) -> NoCase:
    with pytest.raises(NoCase) as raised:
        resolve_cases(checkable(target), Settings())
    return raised.value


class OnlyArgument(Function):
    @staticmethod
    def forward(x: Any) -> Any:
        return 2 * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * g


class TwoArguments(Twice):
    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * y


class AnotherName(Twice):
    @staticmethod
    def forward(_ctx: Any) -> Any:
        return torch.ones(3)


def test_a_forward_that_forgot_ctx_is_told_so() -> None:
    only = refusal(OnlyArgument)
    assert only.message == "forward has no ctx: its only parameter, `x`, gets it"
    assert only.location is not None
    assert only.hint == "add ctx as its first parameter, or define setup_context"
    two = refusal(TwoArguments)
    assert two.hint == f"`x` gets the ctx of forward: {only.hint}"
    assert refusal(AnotherName).message.startswith("it takes no arguments")


def test_a_forward_that_takes_a_sparse_tensor_is_said_to_need_one() -> None:
    class Solved(Twice):
        @staticmethod
        def forward(ctx: Any, matrix: Any, b: Any) -> Any:
            return matrix.crow_indices().sum() * b

    hint = refusal(Solved).hint
    assert hint is not None
    assert hint.startswith("one of the tensors has to be sparse: make it in a static method")
    assert hint.endswith(".to_sparse_csr()")


SPARSE = """
import torch

class Solved(torch.autograd.Function):
    @staticmethod
    def sample_inputs():
        matrix = 2 * torch.eye(3, dtype=torch.float64).to_sparse_csr()
        yield matrix, torch.randn(3, dtype=torch.float64)

    @staticmethod
    def forward(ctx, matrix, b):
        ctx.save_for_backward(matrix, b)
        return (matrix.values().sum() * (matrix @ b)).clone()

    @staticmethod
    def backward(ctx, grad):
        matrix, b = ctx.saved_tensors
        return torch.outer(grad, b).to_sparse_csr(), 6 * (matrix.t() @ grad)
"""


def test_a_sparse_tensor_stays_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ops.py").write_text(SPARSE, encoding="utf-8")
    report = check(check_options(paths=("ops.py",)))
    assert not list(report.findings())
    assert report.modules[0].functions[0].cases[0].compared


def test_a_wrong_call_of_case_says_what_case_takes() -> None:
    class Misspelt(Twice):
        @staticmethod
        def sample_inputs() -> Any:
            yield Case((torch.randn(3),), nmae="a")  # type: ignore[call-arg]

    assert refusal(Misspelt).hint == (
        "Case takes args, kwargs, name, atol, rtol, reason, expires (did you mean 'name'?)"
    )


def test_only_a_call_that_fails_is_blamed_on_the_signature() -> None:
    class WithParameter(Twice):
        @staticmethod
        def sample_inputs(size: int) -> Any:
            yield torch.randn(size)

    class WithMistake(Twice):
        @staticmethod
        def sample_inputs() -> Any:
            yield 1 + torch.randn(3).numpy  # type: ignore[operator]

    assert (refusal(WithParameter).hint or "").startswith("make it a @staticmethod without")
    assert refusal(WithMistake).hint is None


def test_a_misspelt_sample_inputs_is_noticed() -> None:
    class Misspelt(Twice):
        @staticmethod
        def sample_input() -> Any:
            yield torch.randn(3)

    class Both(Misspelt):
        @staticmethod
        def sample_inputs() -> Any:
            yield torch.randn(3)

        @staticmethod
        def samples_inputs() -> Any:
            yield torch.randn(3)

    (notice,) = misspelt_samples(checkable(Misspelt))
    said = "`sample_input` of F is not used (did you mean `sample_inputs`?)"
    assert notice.endswith(f": {said}")
    assert Path(__file__).name in notice
    assert list(misspelt_samples(checkable(Both))) == []
    assert list(misspelt_samples(checkable(Twice))) == []


class Ignoring(Function):
    @staticmethod
    def forward(ctx: Any, transform: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return transform(torch.zeros(3))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None, g


def test_arguments_that_forward_took_are_shown_with_what_speaks_against_them() -> None:
    message = refusal(Ignoring).message
    assert message.startswith("forward ran, but no output depends on x (")
    assert " sets of arguments tried); the likeliest arguments: transform: " in message
    assert "x: float64[" in message


SKELETON = """
from torch.autograd import Function


class Applied(Function):
    @staticmethod
    def forward(ctx, transform, x):
        if repr(transform).startswith("a "):
            raise ValueError("this is a stand-in")
        ctx.save_for_backward(x)
        return transform(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return None, grad * (1 - x.tanh() ** 2)
"""


def test_the_skeleton_works_as_it_is_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "applied.py"
    file.write_text(SKELETON)
    (finding,) = check(check_options(paths=("applied.py",))).findings()
    _, _, code = (finding.hint or "").partition("\n")
    file.write_text(SKELETON + "\n" + textwrap.indent(code, "    ") + "\n")
    report = check(check_options(paths=("applied.py",)))
    assert report.verdict.value == "pass"
    (function,) = (function for _, function in report.functions())
    assert [case.source for case in function.cases] == ["sample_inputs"]


OF_A_CLASS = """
import abc
import torch

class Mesh(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

class Plan:
    def __init__(self, path):
        self.rows = open(path).read()

class Planned(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, plan: "Plan", mesh: Mesh):
        if not isinstance(plan, Plan) or not isinstance(mesh, Mesh):
            raise TypeError("no plan")
        return x * plan.rows[0] * mesh.area()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None, None
"""


def test_the_skeleton_starts_from_the_class_that_annotates_a_parameter(tmp_path: Path) -> None:
    (tmp_path / "planned.py").write_text(OF_A_CLASS)
    (finding,) = check(check_options(paths=(str(tmp_path / "planned.py"),))).findings()
    lines = [line.strip() for line in (finding.hint or "").splitlines()]
    assert "plan = Plan(path=...)  # an object of Plan with the attribute rows" in lines
    assert lines[4:7] == ["class OwnMesh(Mesh):", "def area(self):", "..."]
    assert "mesh = OwnMesh()  # an object of a subclass of Mesh with the attribute area" in lines


OF_NESTED = """
import abc
import enum
import torch
from collections.abc import Callable

class Mode(enum.Enum):
    FAST = 1

class Solver(abc.ABC):
    @property
    @abc.abstractmethod
    def order(self): ...

    @abc.abstractmethod
    def step(self, x, size): ...

class Grid:
    def __init__(self, cells: int, weights: torch.Tensor):
        raise OSError("no grid")

class Flow:
    def __init__(self, solver: Solver, grid: Grid, mode: Mode, source: Callable, name=""):
        self.solver = solver

class Advected(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, flow: Flow, log):
        if not isinstance(flow, Flow):
            raise TypeError("no flow")
        log.note(flow, log.depth)
        return flow.solver.step(x, flow.grid.cells)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None, None
"""

SKELETON_OF_NESTED = """\
from types import SimpleNamespace
class OwnSolver(Solver):
    @property
    def order(self):
        ...
    def step(self, x, size):
        ...
flow = Flow(solver=OwnSolver(), grid=Grid(cells=2, weights=torch.randn(3, 4, dtype=\
torch.float64)), mode=Mode.FAST, source=lambda x, *_, **__: x)  # an object of Flow with the \
attributes grid and solver
log = SimpleNamespace(depth=..., note=lambda x, *_, **__: x)  # an object with the attributes \
depth and note
"""


def test_the_skeleton_makes_what_constructors_and_abstract_classes_need(tmp_path: Path) -> None:
    (tmp_path / "advected.py").write_text(OF_NESTED)
    (finding,) = check(check_options(paths=(str(tmp_path / "advected.py"),))).findings()
    assert textwrap.indent(SKELETON_OF_NESTED, "    ") in (finding.hint or "")


OF_A_MEMBER = """
import enum
import torch

class Kind(enum.IntEnum):
    SUM = 1
    MEAN = 2

class Store:
    def __init__(self, path):
        self.path = path

class Reduced(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, store: Store, kind: Kind):
        if not isinstance(store, Store) or not store.path.exists():
            raise TypeError("no store")
        return x * kind.value

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None, None
"""


def test_the_skeleton_has_a_member_of_an_enumeration(tmp_path: Path) -> None:
    (tmp_path / "reduced.py").write_text(OF_A_MEMBER)
    (finding,) = check(check_options(paths=(str(tmp_path / "reduced.py"),))).findings()
    assert "    kind = Kind.SUM  #" in (finding.hint or "")


OF_RESULTS = """
import torch

class Integrated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y, field, solver):
        start = field(y)
        solution = solver.solve(start.rate, y)
        ctx.save_for_backward(solution.times)
        return solution.states

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None, None
"""


def test_the_skeleton_has_what_forward_takes_of_results(tmp_path: Path) -> None:
    (tmp_path / "integrated.py").write_text(OF_RESULTS)
    (finding,) = check(check_options(paths=(str(tmp_path / "integrated.py"),))).findings()
    lines = [line.strip() for line in (finding.hint or "").splitlines()]
    made = "lambda *_, **__: SimpleNamespace"
    kind = "a function that returns an object with the attribute rate"
    assert f"field = {made}(rate=...)  # {kind}" in lines
    assert any(line.startswith(f"solver = SimpleNamespace(solve={made}(") for line in lines)
    assert any("states=..., times=..." in line for line in lines)


OF_SEVERAL = """
import torch

class Frame:
    def __init__(self, path):
        self.scale = float(open(path).read())

class Framed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, frame: Frame, *corners):
        if not isinstance(frame, Frame):
            raise TypeError("no frame")
        return frame.scale * (corners[1] - corners[0])

    @staticmethod
    def backward(ctx, grad_output):
        return None, -grad_output, grad_output
"""


def test_all_that_stands_for_starred_arguments_is_written_out(tmp_path: Path) -> None:
    (tmp_path / "framed.py").write_text(OF_SEVERAL)
    (finding,) = check(check_options(paths=(str(tmp_path / "framed.py"),))).findings()
    code = (finding.hint or "").splitlines()[-1].strip()
    assert code.startswith("yield frame, torch.randn(")
    assert code.count("torch.randn(") == 2


ASSERTS = """
import os

from gradtool import Function


class Needs(Function):
    @staticmethod
    def forward(ctx, x):
        assert {condition}
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output
"""


def asserting(tmp_path: Path, condition: str) -> Finding:
    (tmp_path / "needs.py").write_text(ASSERTS.replace("{condition}", condition))
    (finding,) = check(check_options(paths=(str(tmp_path / "needs.py"),))).findings()
    return finding


def test_an_assertion_without_a_text_is_shown_as_it_stands(tmp_path: Path) -> None:
    found = asserting(tmp_path, 'hasattr(x, "no_such")')
    assert found.message.endswith('AssertionError: assert hasattr(x, "no_such")')


def test_a_variable_of_the_environment_is_named_with_its_value(tmp_path: Path) -> None:
    found = asserting(tmp_path, 'os.environ.get("CUDA_NO_SUCH_LIMIT") == "1"')
    assert found.hint == "set CUDA_NO_SUCH_LIMIT=1 in the environment of gradtool"
    assert found.message.startswith("forward cannot run here: AssertionError: assert os.environ")


OF_A_DICT = """
from gradtool import Function


def solve(x, cfg):
    return x * cfg["plan"].matrix(cfg["table"].entries)


class Planned(Function):
    @staticmethod
    def forward(ctx, x, cfg):
        ctx.order = cfg["order"]
        return solve(x, cfg)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None
"""


def test_the_keys_that_a_helper_takes_from_a_dict_are_named(tmp_path: Path) -> None:
    (tmp_path / "of_a_dict.py").write_text(OF_A_DICT)
    (finding,) = check(check_options(paths=(str(tmp_path / "of_a_dict.py"),))).findings()
    assert "# a dict with 'order', 'plan' and 'table'" in (finding.hint or "")


PREPARED = """
import torch

_WEIGHTS = {}

def prepare_weights(width, degree, *, scale=0.5):
    _WEIGHTS[width, degree] = scale * degree

class Weighted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, degree):
        if (x.shape[-1], degree) not in _WEIGHTS:
            raise RuntimeError("no weights of this degree: call prepare_weights first")
        ctx.factor = _WEIGHTS[x.shape[-1], degree]
        return x * ctx.factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None
"""


def test_what_a_message_asks_to_call_first_is_called_in_what_is_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "weighted.py"
    file.write_text(PREPARED)
    (finding,) = check(check_options(paths=("weighted.py",))).findings()
    said, _, code = (finding.hint or "").partition("\n")
    assert said == "call what the message asks for in a static method of Weighted:"
    assert "from weighted import prepare_weights" in code
    code = code.replace("width=...", "width=4")
    file.write_text(PREPARED + "\n" + textwrap.indent(code, "    ") + "\n")
    assert check(check_options(paths=("weighted.py",))).verdict.value == "pass"


OPTIONAL = """
import torch

try:
    from no_such_kernels import launch
except ImportError:
    launch = None

class Launched(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, size: int):
        return {call}(
            x.contiguous(),
            size,
        )

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None
"""


@pytest.mark.parametrize("call", ["launch", "launch.forward"])
def test_what_an_optional_import_left_as_none_is_named(tmp_path: Path, call: str) -> None:
    file = tmp_path / "launched.py"
    file.write_text(OPTIONAL.replace("{call}", call))
    (finding,) = check(check_options(paths=(str(file),))).findings()
    assert "forward cannot run here: `launch` is None" in finding.message
    assert finding.hint == "install the optional dependency that `launch` needs"


CALLED = """
import torch
from no_such_meshes import refine

class Refined(torch.autograd.Function):
    @staticmethod
    def forward(ctx, mesh, x):
        ctx.mesh = mesh
        return mesh.up(x, mesh.table[3])

    @staticmethod
    def backward(ctx, grad_output):
        return None, ctx.mesh.down(grad_output, ctx.mesh.table[3])

def refined(x, levels: int):
    return Refined.apply(refine(x, levels), x)
"""


def test_the_package_that_a_caller_needs_is_named(tmp_path: Path) -> None:
    (tmp_path / "refined.py").write_text(CALLED)
    found = check(check_options(paths=(str(tmp_path / "refined.py"),))).findings()
    (finding,) = (each for each in found if each.rule == "GT002")
    assert (finding.hint or "").startswith("install `no_such_meshes`, which a caller of it needs")


def test_the_file_that_a_caller_needs_is_named(tmp_path: Path) -> None:
    text = CALLED.replace("from no_such_meshes import refine\n", "")
    text = text.replace("refine(x, levels)", "mesh_of(levels)")
    text += "def mesh_of(levels):\n    return open('no_such_folder/mesh.npz')\n"
    (tmp_path / "refined.py").write_text(text)
    found = check(check_options(paths=(str(tmp_path / "refined.py"),))).findings()
    (finding,) = (each for each in found if each.rule == "GT002")
    assert (finding.hint or "").startswith("add the file `mesh.npz`, which a caller of it needs")


OF_MISSING_CLASS = """
import torch
from no_such_arrays import sparse

class Multiplied(torch.autograd.Function):
    @staticmethod
    def forward(rows: sparse.csr_array, x: torch.Tensor):
        return torch.from_numpy(rows @ x.detach().numpy())

    @staticmethod
    def setup_context(ctx, inputs, output):
        rows, _ = inputs
        ctx.turned = rows.T.tocsr()

    @staticmethod
    def backward(ctx, grad):
        return None, torch.from_numpy(ctx.turned @ grad.numpy())
"""


@pytest.mark.parametrize("first", ["", "from __future__ import annotations"])
def test_the_package_of_a_class_that_annotates_an_argument_is_named(
    tmp_path: Path, first: str
) -> None:
    (tmp_path / "rows.py").write_text(first + OF_MISSING_CLASS)
    found = check(check_options(paths=(str(tmp_path / "rows.py"),))).findings()
    (finding,) = (each for each in found if each.rule == "GT002")
    assert finding.message.startswith("forward cannot run here: no_such_arrays")
    assert finding.hint == "install `no_such_arrays` in the environment that runs gradtool"
