"""Arguments are inferred for common signatures, deterministically."""

from __future__ import annotations

import inspect
import random
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtool.engine as torch
from gradtool.cases.advice import how_to_give_a_case
from gradtool.cases.inference.clues import Clues, read_clues
from gradtool.cases.inference.documentation import alternatives
from gradtool.cases.inference.roles import plain_values
from gradtool.cases.inference.search import BUDGET, OTHER_DTYPES_BUDGET, SearchResult, Trial, infer
from gradtool.cases.inference.trials import attempt
from gradtool.cases.sources import ResolvedCase, resolve_cases
from gradtool.collect.checkable import Checkable
from gradtool.collect.discovery import discover, named
from gradtool.collect.loader import LoadedModule, Loader
from gradtool.config.schema import CaseConfig
from gradtool.config.settings import Settings
from gradtool.engine._placeholder import EngineLacksError, placeholder
from gradtool.findings.could_not_run import NoCase
from gradtool.results.report import Verdict
from gradtool.run.runner import check
from gradtool.testing import check as check_api
from tests.conftest import Write
from tests.options import check_options

CORPUS = Path(__file__).parent / "corpus" / "signatures.py"


NEEDS_KERNELS = """
from torch.autograd import Function

try:
    from no_such_kernels import Kernels
except ImportError:
    pass


class Fused(Function):
    @staticmethod
    def forward(ctx, x, y):
        {line}
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output
"""


def corpus() -> LoadedModule:
    return Loader().load(CORPUS)


def checkables(loaded: LoadedModule) -> dict[str, Checkable]:
    return {checkable.name: checkable for checkable in discover(loaded, "signatures.py")}


LOADED = corpus()
CHECKABLES = checkables(LOADED)


@pytest.mark.parametrize("name", CHECKABLES)
def test_the_arguments_of_a_realistic_signature_are_found(name: str) -> None:
    checkable = CHECKABLES[name]
    cases = resolve_cases(checkable, Settings())
    assert [list(case.arguments) for case in cases] == checkable.obj.EXPECTED
    assert {case.source for case in cases} == {"inferred"}


def test_the_second_case_is_named_after_what_it_adds() -> None:
    cases = resolve_cases(CHECKABLES["Linear"], Settings())
    assert [case.name for case in cases] == ["inferred", "inferred-with-bias"]


def values(cases: list[ResolvedCase]) -> list[Any]:
    return [arg.tolist() if isinstance(arg, torch.Tensor) else arg for c in cases for arg in c.args]


def test_the_same_seed_gives_the_same_numbers_and_another_one_others() -> None:
    linear = CHECKABLES["Linear"]
    first = values(resolve_cases(linear, Settings(seed=3)))
    assert values(resolve_cases(linear, Settings(seed=3))) == first
    assert values(resolve_cases(linear, Settings(seed=4))) != first


def test_numbers_do_not_depend_on_where_the_run_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    loaded = corpus()
    (linear,) = named(loaded, str(CORPUS), ["Linear"])
    assert values(resolve_cases(linear, Settings())) == values(
        resolve_cases(CHECKABLES["Linear"], Settings())
    )


def test_values_keep_away_from_zero() -> None:
    for number in values(resolve_cases(CHECKABLES["Linear"], Settings())):
        assert np.abs(number).min() >= 0.1


def test_a_positive_domain_is_chosen_only_where_it_is_needed() -> None:
    (log,) = resolve_cases(CHECKABLES["Log"], Settings())
    assert 0.5 <= log.args[0].min().item() <= log.args[0].max().item() < 1.5
    (swish,) = resolve_cases(CHECKABLES["Swish"], Settings())
    assert swish.args[0].min().item() < 0 < swish.args[0].max().item()


def test_the_search_leaves_the_global_generators_alone() -> None:
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    expected = random.random(), np.random.rand(), torch.rand(1).item()
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    resolve_cases(CHECKABLES["Linear"], Settings())
    assert (random.random(), np.random.rand(), torch.rand(1).item()) == expected


def test_output_of_a_search_is_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    class Loud(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            print("forward")
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            print("backward")
            return g

    resolve_cases(checkable_class(Loud), Settings())
    assert capsys.readouterr() == ("", "")


def checkable_class(cls: type) -> Checkable:
    return Checkable(cls.__name__, cls, Path(__file__), CHECKABLES["Linear"].location)


def test_when_nothing_will_do_the_message_sums_up_the_attempts() -> None:
    class Picky(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, table: Any) -> Any:
            raise KeyError("no table")

    with pytest.raises(NoCase) as none:
        resolve_cases(checkable_class(Picky), Settings())
    assert none.value.message.startswith("found no arguments that forward accepts (")
    assert none.value.message.endswith("tried); with the likeliest ones: KeyError: 'no table'")
    assert none.value.hint == (
        "add a case in gradtool.yaml, under functions, starting from this one, which forward "
        "rejects:\nPicky: {cases: [{args: [{shape: [3, 4]}, {shape: [5, 4]}]}]}"
    )


class SavesCount(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, n: int = 3) -> Any:
        ctx.save_for_backward(x, n)
        return x * n

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.saved_tensors[1], None


def test_what_forward_saves_in_every_call_is_reported() -> None:
    (finding,) = check_api(SavesCount).findings()
    assert (finding.rule, finding.message) == (
        "GT003",
        "forward raised TypeError: save_for_backward can only save variables, but argument 1 is of "
        "type int",
    )


class SavesFactor(torch.autograd.Function):
    """Only a tensor may be saved; a factor that is a number is refused."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: Any) -> Any:
        ctx.save_for_backward(x, factor)
        return x * factor

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        x, factor = ctx.saved_tensors
        return grad * factor, (grad * x).sum_to_size(factor.shape)


def test_what_some_argument_makes_right_is_no_mistake() -> None:
    assert check_api(SavesFactor).verdict is Verdict.PASS


class ReturnsList(torch.autograd.Function):
    """A list counts as one gradient, in any call."""

    @staticmethod
    def forward(ctx: Any, x: Any, bound: Any) -> Any:
        if bound not in ("dct2", "dft"):
            raise ValueError(bound)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return [grad * 2, None]


class ReturnsTuple(ReturnsList):
    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2, None


def test_a_wrong_number_of_gradients_in_every_call_is_reported() -> None:
    (finding,) = check_api(ReturnsList).findings()
    assert finding.rule == "GT102"
    assert check_api(ReturnsTuple).verdict is Verdict.PASS


def shifted(x: Any, offset: Any) -> Any:
    return x + offset


class CallsWithTooFew(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        return shifted(x) - shifted(y)  # type: ignore[call-arg]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, -grad


class CallsWithTooFewInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return shifted(grad)  # type: ignore[call-arg]


class CallsAnotherWithTooFew(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return CallsWithTooFew.apply(x) * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


class UsesAnUnknownName(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * unknown_scale  # type: ignore[name-defined]  # noqa: F821

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


class SetsInInit(torch.autograd.Function):
    def __init__(self, factor: float) -> None:
        self.factor = factor

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * ctx.factor

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.factor


class LacksKeyword(torch.autograd.Function):
    """The engine refuses a keyword that PyTorch takes: that is no mistake of the Function."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        return torch.cdist(x, y, no_such_option=True)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, grad


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            CallsWithTooFew,
            "forward raised TypeError: shifted() missing 1 required positional argument: 'offset'",
        ),
        (
            CallsWithTooFewInBackward,
            "backward raised TypeError: shifted() missing 1 required positional argument: 'offset'",
        ),
        (
            CallsAnotherWithTooFew,
            "forward raised TypeError: CallsWithTooFew.forward() missing 1 required positional "
            "argument: 'y'",
        ),
        (
            UsesAnUnknownName,
            "forward raised NameError: name 'unknown_scale' is not defined",
        ),
        (
            SetsInInit,
            "forward raised AttributeError: 'SetsInInitBackward' object has no attribute 'factor'",
        ),
    ],
)
def test_what_no_arguments_avoid_is_reported(function: Any, message: str) -> None:
    (finding,) = check_api(function).findings()
    assert finding.message == message


def test_a_keyword_that_the_engine_refuses_is_no_mistake() -> None:
    with pytest.raises(NoCase):
        resolve_cases(checkable_class(LacksKeyword), Settings())


def test_a_backward_that_the_engine_cannot_run_refuses_no_arguments() -> None:
    class Lacking(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1.0

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            raise EngineLacksError("torch.special.zeta")

    checkable = checkable_class(Lacking)
    trial = attempt(checkable, (torch.ones(2, requires_grad=True),), {})
    assert (trial.backward, trial.received, trial.lacks) == (True, True, True)


def test_a_keyword_only_parameter_is_to_be_made_positional() -> None:
    class Gained(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, *, gain: Any) -> Any:
            return x * gain

    with pytest.raises(NoCase) as none:
        resolve_cases(checkable_class(Gained), Settings())
    assert none.value.hint == (
        "make `gain` a positional parameter: apply takes no keyword-only arguments"
    )


def test_the_case_to_start_from_gives_long_arrays_by_their_shapes() -> None:
    drawn = {"values": [[0.5, 1.5, 2.5], [1.0, 0.25, 3.0]], "requires_grad": False}
    likeliest = CaseConfig(args=(drawn, {"values": [1.5, 2.5]}, {"values": [[0, 1, 0, 1, 0]]}))
    hint = how_to_give_a_case(CHECKABLES["Linear"], SearchResult(likeliest=likeliest))
    assert hint is not None
    assert hint.endswith(
        "{args: [{shape: [2, 3], requires_grad: false}, {values: [1.5, 2.5]}, "
        "{values: [[0, 1, 0, 1, 0]]}]}]}"
    )


class Configured(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, settings: Any, transform: Any) -> Any:
        ctx.save_for_backward(x)
        return transform(x) * settings.table_of_factors["first"]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, None, None


def test_for_an_argument_that_only_code_can_make_the_hint_is_code() -> None:
    with pytest.raises(NoCase) as none:
        resolve_cases(checkable_class(Configured), Settings())
    assert none.value.hint is not None
    assert none.value.hint.startswith(
        "create `settings`, an object with the attribute table_of_factors, and "
    )
    sentence, _, code = none.value.hint.partition("\n")
    assert sentence.endswith("`transform`, a function, in a static method of Configured:")
    assert code.splitlines() == [
        "@staticmethod",
        "def sample_inputs():",
        "    from types import SimpleNamespace",
        "    settings = SimpleNamespace(table_of_factors=...)  "
        "# an object with the attribute table_of_factors",
        "    transform = torch.tanh  # a function",
        "    yield torch.randn(3, 4, dtype=torch.float64, requires_grad=True), settings, transform",
    ]


class FromState(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, state: Any, dtype: Any) -> Any:
        ctx.scale = state["scale"].factor()
        return x.to(dtype) * ctx.scale

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.scale, None, None


def test_the_hint_names_the_keys_of_a_dict_and_spells_dtypes_as_code() -> None:
    with pytest.raises(NoCase) as none:
        resolve_cases(checkable_class(FromState), Settings())
    assert none.value.hint is not None
    assert none.value.hint.startswith("create `state`, a dict with 'scale', in a static method")
    assert none.value.hint.endswith("requires_grad=True), state, torch.float64")


PACKED = """
import torch


class Packed(torch.Tensor):
    def __new__(cls, bits):
        return object.__new__(cls)

    def __init__(self, bits):
        self.bits = bits

    def unpacked(self):
        return Unpacked.apply(self)


class Unpacked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, packed: Packed):
        return packed.bits * packed

    @staticmethod
    def backward(ctx, grad):
        return grad
"""


def test_a_subclass_of_tensor_is_not_constructed(write: Write) -> None:
    """In a worker, since such a class changes the engine's functions for good."""
    write({"packed.py": PACKED})
    (finding,) = check(check_options(paths=("packed.py",), isolation=True)).findings()
    assert finding.rule == "GT002"
    assert finding.message.startswith("forward needs `packed`, an object with the attribute bits")


class SquareRoot(torch.autograd.Function):
    """The square root by Newton's method, and the gradient of what it converges to."""

    @staticmethod
    def forward(ctx: Any, x: Any, num_iters: Any) -> Any:
        root = torch.ones_like(x)
        for _ in range(num_iters):
            root = (root + (x * x + 1) / root) / 2
        ctx.save_for_backward(x, root)
        return root

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        x, root = ctx.saved_tensors
        return grad * x / root, None


ENOUGH = 50
"""Iterations after which most solvers have converged."""


@pytest.mark.parametrize(
    "name",
    ["num_iters", "n_iter", "max_iter", "maxiter", "iterations", "max_iterations", "newton_iters"],
)
def test_iterations_are_enough_to_converge(name: str) -> None:
    parameter = inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    assert plain_values(parameter)[0] == ENOUGH


@pytest.mark.parametrize("name", ["n", "num", "iterator", "num_items", "criteria", "literal"])
def test_other_numbers_are_small(name: str) -> None:
    parameter = inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    assert ENOUGH not in plain_values(parameter)


def test_a_solver_is_right_at_the_iterations_that_are_inferred() -> None:
    assert check_api(SquareRoot).verdict is Verdict.PASS
    few = [(torch.randn(3, dtype=torch.float64, requires_grad=True), 2)]
    assert check_api(SquareRoot, few).verdict is Verdict.FAIL


class CallsInBackward(torch.autograd.Function):
    """x³, whose derivative is passed; `gate` is a flag that nothing but backward looks at."""

    @staticmethod
    def forward(ctx: Any, x: Any, slope: Any, gate: Any) -> Any:
        ctx.slope = slope
        ctx.gate = gate
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        slope, gate = ctx.slope, ctx.gate
        (x,) = ctx.saved_tensors
        return grad * slope(x) if gate else grad * slope(x) / 2, None, None


def test_names_that_are_given_together_in_backward_stand_for_parameters() -> None:
    """Kept tensors in their place would be called, or asked for a truth value."""
    uses = read_clues(CallsInBackward, ("x", "slope", "gate")).uses
    assert (uses.called, uses.tested) == ({"slope"}, {"gate"})


class Chain(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, links: Any, options: Any) -> Any:
        ctx.links = links
        for link, given in zip(links, options, strict=True):
            x = link.run(x, **given)[0]
        return x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, None, None


def test_the_hint_names_lists() -> None:
    with pytest.raises(NoCase) as none:
        resolve_cases(checkable_class(Chain), Settings())
    assert none.value.hint is not None
    assert none.value.hint.startswith("create `links`, a list, and `options`, a list, in a static")


def test_the_line_that_refuses_the_likeliest_arguments_is_named() -> None:
    with pytest.raises(NoCase) as none:
        resolve_cases(checkable_class(Configured), Settings())
    assert none.value.location is not None
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert lines[none.value.location.line - 1].strip().startswith("return transform(x)")


def test_other_arguments_do_not_hide_what_the_engine_lacks() -> None:
    class Lacking(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            raise EngineLacksError("torch.some_op")

    with pytest.raises(NoCase, match=r"forward cannot run here: .*some_op") as none:
        resolve_cases(checkable_class(Lacking), Settings())
    assert "--engine torch" in str(none.value.hint)


def test_a_message_that_quotes_what_the_engine_lacks_leads_to_pytorch() -> None:
    class Lacking(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            raise NotADirectoryError(f"Not a directory: {placeholder('torch.no_such_folder')}")

    with pytest.raises(NoCase, match=r"forward cannot run here: .*no_such_folder") as none:
        resolve_cases(checkable_class(Lacking), Settings())
    assert "--engine torch" in str(none.value.hint)


@pytest.mark.parametrize(
    ("line", "missing"), [("import fast_kernels", "fast_kernels"), ("Kernels.run(x)", "Kernels")]
)
def test_the_optional_dependency_that_forward_needs_is_named(
    write: Write, line: str, missing: str
) -> None:
    write({"ops.py": NEEDS_KERNELS.format(line=line)})
    (finding,) = check(check_options(paths=("ops.py",))).findings()
    assert finding.rule == "GT002"
    assert finding.message.startswith("forward cannot run here: ")
    assert finding.hint == f"install the optional dependency that provides `{missing}`"


ASSERTS_KERNELS = """
import torch

try:
    import fast_kernels as kernels
except ImportError:
    kernels = None


class Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        assert kernels is not None
        return kernels.gather(x)

    @staticmethod
    def backward(ctx, grad):
        return grad
"""


def test_an_optional_dependency_that_forward_asserts_is_named(write: Write) -> None:
    write({"ops.py": ASSERTS_KERNELS})
    (finding,) = check(check_options(paths=("ops.py",))).findings()
    assert finding.message == (
        "forward cannot run here: `kernels` is None, because its import failed"
    )
    assert finding.hint == "install the optional dependency that `kernels` needs"


FILLED = """
import torch


def fill(names, name):
    pass


fill("kernels", __name__)


class Filled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return kernel_of_another(x)

    @staticmethod
    def backward(ctx, grad):
        return grad
"""


def test_a_name_that_other_code_may_bind_is_no_mistake(write: Write) -> None:
    write({"ops.py": FILLED})
    (finding,) = check(check_options(paths=("ops.py",))).findings()
    assert finding.rule == "GT002"
    assert finding.message == (
        "forward cannot run here: NameError: name 'kernel_of_another' is not defined"
    )


REFUSES = """
import torch
from no_such_package import Solver

class Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, solver):
        LINE
        return x * 2.0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2.0, None
"""


def test_a_float32_constant_is_met_with_float32(write: Write) -> None:
    line = "x.mm(torch.ones(4, 4, dtype=torch.float32))"
    write({"ops.py": REFUSES.replace("LINE", line).replace("from no_such_package", "#")})
    report = check(check_options(paths=("ops.py",), select=("GT0",)))
    (case,) = {c.arguments[0] for _, f in report.functions() for c in f.cases}
    assert case == "x: float32[3, 4]"


@pytest.mark.parametrize(
    ("line", "lacking", "hint"),
    [
        (
            "assert isinstance(solver, Solver)",
            "no_such_package.Solver is not installed; a stand-in was used instead",
            "install `no_such_package` in the environment that runs gradtool",
        ),
        (
            'raise RuntimeError("the extension is not built: pip install .")',
            "RuntimeError: the extension is not built",
            "install what the message names in the environment that runs gradtool",
        ),
        (
            'raise RuntimeError("no backend is available on cpu")',
            "RuntimeError: no backend is available on cpu",
            "it needs CUDA: check it with --device cuda on a machine that has a GPU",
        ),
        (
            "if x.is_cuda:\n            x += 1\n        else:\n            raise TypeError()",
            "TypeError",
            "it needs CUDA: check it with --device cuda on a machine that has a GPU",
        ),
    ],
)
def test_what_no_argument_can_make_run_is_said(
    write: Write, line: str, lacking: str, hint: str
) -> None:
    write({"ops.py": REFUSES.replace("LINE", line)})
    (finding,) = check(check_options(paths=("ops.py",))).findings()
    assert finding.rule == "GT002"
    assert finding.message.startswith(f"forward cannot run here: {lacking}")
    assert finding.hint == hint


def test_a_backward_that_runs_on_cuda_alone_is_not_blamed(write: Write) -> None:
    source = REFUSES.replace("LINE", "pass").replace("from no_such_package", "#")
    raises = 'raise ValueError("expected a contiguous CUDA tensor")'
    write({"ops.py": source.replace("return grad_output * 2.0, None", raises)})
    (finding,) = check(check_options(paths=("ops.py",))).findings()
    assert finding.rule == "GT002"
    assert finding.message == (
        "backward cannot run here: ValueError: expected a contiguous CUDA tensor"
    )
    assert "--device cuda" in str(finding.hint)


PADDED = '''
import torch

class PaddedProduct(torch.autograd.Function):
    """Product of series, whose second halves are assumed to be padded with zeros."""

    @staticmethod
    def forward(ctx, u, v):
        n = 2 * u.shape[-1]
        ctx.save_for_backward(u, v)
        return torch.fft.irfft(torch.fft.rfft(u, n=n) * torch.fft.rfft(v, n=n), n=n)[..., : n // 2]

    @staticmethod
    def backward(ctx, g):
        u, v = (torch.fft.rfft(each) for each in ctx.saved_tensors)
        g = torch.fft.rfft(g.flip(-1))
        n = g.shape[-1] * 2 - 2
        return torch.fft.irfft(g * v, n=n).flip(-1), torch.fft.irfft(g * u, n=n).flip(-1)
'''


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("", "", Verdict.UNVERIFIED),
        ("PaddedProduct", "Product", Verdict.FAIL),
        ("are assumed to be padded", "are not padded", Verdict.FAIL),
    ],
)
def test_what_is_named_for_padded_inputs_is_not_blamed_for_others(
    write: Write, old: str, new: str, verdict: Verdict
) -> None:
    write({"ops.py": PADDED.replace(old, new) if old else PADDED})
    report = check(check_options(paths=("ops.py",), select=("GT101",)))
    assert {case.verdict for _, f in report.functions() for case in f.cases} == {verdict}


def test_a_backward_that_uses_a_missing_package_is_not_blamed(write: Write) -> None:
    source = REFUSES.replace("LINE", "pass").replace("return grad_output * 2.0", "return Solver(2)")
    write({"ops.py": source})
    (finding,) = check(check_options(paths=("ops.py",))).findings()
    assert finding.rule == "GT002"
    assert finding.message == (
        "backward cannot run here: no_such_package.Solver is not installed; a stand-in was used"
        " instead"
    )
    assert finding.hint == "install `no_such_package` in the environment that runs gradtool"


def test_a_forward_without_arguments_has_no_case() -> None:
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any) -> Any:
            return torch.ones(2)

    with pytest.raises(NoCase, match="it takes no argument"):
        resolve_cases(checkable_class(Nothing), Settings())


def test_a_forward_that_ends_the_process_refuses_nothing() -> None:
    class Exits(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            raise SystemExit(0)

    with pytest.raises(SystemExit):
        resolve_cases(checkable_class(Exits), Settings())


def parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())


def search(function: Callable[..., Any], attempt: Callable[[CaseConfig], Trial]) -> SearchResult:
    return infer(parameters(function), Clues(), attempt)


def test_the_search_keeps_to_its_budget() -> None:
    found = search(lambda a, b, c, d, size, *rest: None, lambda case: Trial(refusal="no"))
    assert found.cases == []
    assert found.calls <= BUDGET + 2 * OTHER_DTYPES_BUDGET
    assert sum(found.refusals.values()) == found.calls


def test_every_parameter_is_filled_whatever_it_is_called() -> None:
    def tried(case: CaseConfig) -> Trial:
        assert len(case.args) == 4
        assert list(case.kwargs) == ["g"]
        return Trial(refusal="no")

    def function(size: Any, mask: Any, dim: Any, mode: Any, e: Any = 1, *, g: Any) -> None: ...

    search(function, tried)


def test_a_candidate_that_backward_accepts_is_preferred() -> None:
    def tried(case: CaseConfig) -> Trial:
        return Trial(output=(3,), backward=case.args[0] == {"shape": [2, 3, 4]})

    assert search(lambda x: None, tried).cases[0].args == ({"shape": [2, 3, 4]},)


def test_a_square_is_not_preferred_because_backward_accepts_it() -> None:
    def tried(case: CaseConfig) -> Trial:
        return Trial(output=(3,), backward=case.args[0] == {"shape": [3, 3]})

    assert search(lambda x: None, tried).cases[0].args == ({"shape": [3, 4]},)


def test_optional_tensors_are_tried_alone_when_they_do_not_go_together() -> None:
    def tried(case: CaseConfig) -> Trial:
        return Trial(output=(3, 4), backward=True, refusal="no" if len(case.kwargs) > 1 else None)

    def function(x: Any, weight: Any = None, other: Any = None, dim: Any = None) -> None: ...

    names = [case.name for case in search(function, tried).cases]
    assert names == ["inferred", "inferred-with-weight", "inferred-with-other"]


@pytest.mark.parametrize(
    ("body", "tensors", "plain", "none"),
    [
        ("ctx.save_for_backward(x, k)", {"x", "k"}, set(), {"k"}),
        ("ctx.k = k", set(), {"k"}, {"k"}),
        ("ctx.k = k; k.shape", {"k"}, set(), {"k"}),
        ("self = 1", set(), set(), {"k"}),
    ],
)
def test_clues(
    tmp_path: Path, body: str, tensors: set[str], plain: set[str], none: set[str]
) -> None:
    source = f"""
        from gradtool import Function

        class F(Function):
            @staticmethod
            def forward(ctx, x, k):
                {body}
                return x

            @staticmethod
            def backward(ctx, g):
                return g, None
    """
    path = tmp_path / "clues_module.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    loaded = Loader().load(path)
    with loaded.active():
        clues = read_clues(loaded.module.F, ("x", "k"))
    assert (clues.tensors, clues.plain, clues.undifferentiated) == (tensors, plain, none)


def test_without_source_there_are_no_clues() -> None:
    namespace: dict[str, Any] = {"Function": torch.autograd.Function}
    exec("class F(Function):\n forward = staticmethod(lambda ctx, x: x)", namespace)
    assert read_clues(namespace["F"], ("x",)) == Clues()


def test_what_the_engine_lacks_in_backward_is_not_gone_round(write: Write) -> None:
    source = (
        "import torch\n"
        "class Series(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x, n: int):\n"
        "        ctx.n = n\n"
        "        return x * n\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        for _ in range(1, ctx.n):\n"
        "            torch.fbgemm_linear_fp16_weight(g)\n"
        "        return g * ctx.n, None\n"
    )
    write({"series.py": source})
    (finding,) = check(check_options(paths=("series.py",))).findings()
    assert finding.rule == "GT002"
    assert finding.message.startswith("backward cannot run here: gradtool's engine has no torch.")
    assert (finding.location.line, "--engine torch" in str(finding.hint)) == (10, True)
    assert "gradtool's engine has no torch.fbgemm_linear_fp16_weight" in finding.message


PUT = """
import torch


class Put(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, indices, count):
        ctx.save_for_backward(indices)
        assert indices.ndim == 1
        y = torch.zeros(count, *x.shape[1:], dtype=x.dtype)
        y[indices] = x
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (indices,) = ctx.saved_tensors
        return grad_output[indices], None, None
"""


def test_places_that_are_written_to_do_not_repeat(write: Write) -> None:
    write({"put.py": PUT})
    report = check(check_options(paths=("put.py",)))
    assert not list(report.findings())
    assert report.modules[0].functions[0].cases


def test_a_docstring_may_give_several_names_one_shape_or_one_name_several() -> None:
    text = (
        "q, k: (B, L, d), v: (B, L, e); a: (n, n) symmetric, or a batch (B, n, n); b (n,) or c (m,)"
        "; w: (out_features, in_features); stacked layers (E, out, in) work too"
    )
    assert alternatives(text, {"q", "k", "v", "a", "b", "c", "w"}) == {
        "q": [("B", "L", "d")],
        "k": [("B", "L", "d")],
        "v": [("B", "L", "e")],
        "a": [("n", "n"), ("B", "n", "n")],
        "b": [("n",)],
        "c": [("m",)],
        "w": [("out_features", "in_features"), ("E", "out_features", "in_features")],
    }


@pytest.mark.parametrize(
    "line",
    [
        "x (Tensor): input of shape (B, T)",
        "x (torch.Tensor, optional): of shape (B, T)",
        "x : torch.Tensor, shape (B, T)",
        "x : Tensor [B, T]  - the input",
        "x: Tensor (B, T)",
        "x: [B, T] the input",
        "x  : Tensor [B, T]\n    n (int): a number\n    y (Tensor): any tensor",
    ],
)
def test_shapes_are_read_from_docstrings_of_each_style(line: str) -> None:
    text = f"Args:\n    {line}\n    shape: [m, n] of the result"
    assert alternatives(text, {"x", "y", "n", "shape"}) == {"x": [("B", "T")]}


def test_a_tensor_that_forward_unpacks_is_a_guess() -> None:
    from gradtool import Function

    class Scaled(Function):
        @staticmethod
        def forward(ctx: Any, pair: Any) -> Any:
            x, ctx.scale = pair
            return x * ctx.scale

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.scale

    cases = resolve_cases(checkable_class(Scaled), Settings())
    assert all(case.is_guess for case in cases)


READ = """
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Clipped(Function):
    @staticmethod
    def forward(ctx, x, ceiling_of_it):
        ctx.save_for_backward(x, ceiling_of_it)
        return torch.clamp(x, min=0, max=ceiling_of_it.item())

    @staticmethod
    def backward(ctx, g):
        x, top = ctx.saved_tensors
        inside = (x > 0) & (x < top)
        return g * inside, (g * (x >= top)).sum().view(-1)


class Whitened(Function):
    \"\"\"The whitening matrix of a positive definite one.\"\"\"

    @staticmethod
    def forward(ctx, k):
        low = torch.linalg.cholesky(0.5 * (k + k.mT))
        ctx.save_for_backward(low)
        return low.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (low,) = ctx.saved_tensors
        return 0.5 * g[..., None, None] * torch.cholesky_inverse(low)


class Settled(Function):
    \"\"\"The z with z = tanh(z w).

    w: (d, d) weights whose spectral norm is below one
    x: (n, d) inputs
    \"\"\"

    @staticmethod
    def forward(ctx, w, x):
        z = x
        for _ in range(200):
            z = torch.tanh(z @ w + x)
        ctx.save_for_backward(w, z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        w, z = ctx.saved_tensors
        slope = 1 - z * z
        step = torch.eye(len(w), dtype=w.dtype) - slope[:, None, :] * w
        found = torch.linalg.solve(step, g[..., None]).squeeze(-1) * slope
        return z.mT @ found, found
"""


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Clipped", ["x: float64[3, 4]", "ceiling_of_it: float64[]"]),
        ("Whitened", ["k: float64[3, 3]"]),
        ("Settled", ["w: float64[3, 3]", "x: float64[4, 3]"]),
    ],
)
def test_what_the_source_and_its_docstring_say_of_values_is_kept(
    write: Write, name: str, arguments: list[str]
) -> None:
    write({"read.py": READ})
    (function,) = check(check_options(paths=(f"read.py::{name}",))).modules[0].functions
    assert list(function.cases[0].arguments) == arguments
    assert function.verdict is Verdict.PASS, [each.message for each in function.checks]


PLANS = """
class Plan:
    def __init__(self, first, second, third, fourth):
        if type(first) is not int:
            raise TypeError("refused")
        if type(second) is not bool:
            raise TypeError("refused")
        if type(third) is not float:
            raise TypeError("refused")
        if type(fourth) is not bool:
            raise TypeError("refused")
        self.factor = first * third
"""

PLANNED = """
import torch

from deep.core import plans


class Planned(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, first, second, third, fourth):
        ctx.plan = plans.Plan(first, second, third, fourth)
        return x * ctx.plan.factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.plan.factor, None, None, None, None
"""


def test_arguments_that_come_further_in_another_folder_of_the_package_are_better(
    write: Write,
) -> None:
    empty = ("deep/__init__.py", "deep/ops/__init__.py", "deep/core/__init__.py")
    write({"deep/core/plans.py": PLANS, "deep/ops/planned.py": PLANNED, **dict.fromkeys(empty, "")})
    report = check(check_options(paths=("deep/ops/planned.py",), explore="off"))
    (function,) = report.modules[0].functions
    assert function.verdict is Verdict.PASS, [each.message for each in function.checks]
