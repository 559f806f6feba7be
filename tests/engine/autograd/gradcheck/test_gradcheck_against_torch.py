"""gradcheck and gradgradcheck say what PyTorch's say, but for PyTorch's known faults."""

from __future__ import annotations

import importlib
import inspect
import warnings
from typing import Any

import pytest

import gradtool.engine
from gradtool.engine.autograd import gradcheck, gradgradcheck
from tests.engine.autograd.gradcheck import gradcheck_zoo as zoo
from tests.engine.autograd.gradcheck.gradcheck_zoo import Builder

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:Backwards compatibility"),
]
pytorch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")


def verdicts(torch: Any, build: Builder) -> tuple[bool, bool, bool]:
    def check(name: str, **options: Any) -> bool:
        func, inputs = build(torch)
        checked: bool = getattr(torch.autograd, name)(
            func, inputs, raise_exception=False, **options
        )
        return checked

    return check("gradcheck"), check("gradcheck", fast_mode=True), check("gradgradcheck")


@pytest.fixture(autouse=True)
def _without_the_warning_about_undefined_gradients() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Backwards compatibility", module="torch")
        yield


@pytest.mark.parametrize("build", zoo.VERDICTS, ids=lambda build: build.__name__)
def test_pytorch_says_the_same(build: Builder) -> None:
    assert verdicts(pytorch, build) == zoo.VERDICTS[build]


@pytest.mark.parametrize("ours", [gradcheck, gradgradcheck])
def test_the_signatures_are_pytorchs(ours: Any) -> None:
    theirs = inspect.signature(getattr(pytorch.autograd, ours.__name__)).parameters
    mine = inspect.signature(ours).parameters
    assert [(p.name, p.kind, p.default) for p in mine.values()] == [
        (p.name, p.kind, p.default) for p in theirs.values()
    ]


def test_the_error_is_found_where_pytorch_has_it() -> None:
    for name in ("torch", "gradtool.engine"):
        module = importlib.import_module(f"{name}.autograd.gradcheck")
        assert issubclass(module.GradcheckError, RuntimeError)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ({"check_backward_ad": False}, AssertionError),
        ({"check_batched_forward_grad": True}, AssertionError),
        (
            {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
            AssertionError,
        ),
    ],
)
def test_contradicting_options_are_refused_alike(call: dict[str, Any], error: Any) -> None:
    for torch in (pytorch, gradtool.engine):
        func, inputs = zoo.right_square(torch)
        with pytest.raises(error):
            torch.autograd.gradcheck(func, inputs, raise_exception=False, **call)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda torch: 3.0, ValueError, "at least one input tensor to require gradient"),
        (lambda torch: torch.ones(2), ValueError, "at least one input tensor to require gradient"),
        (
            lambda torch: zoo.numbers(torch, 1).expand(2, 1),
            RuntimeError,
            "has a dimension with stride 0",
        ),
    ],
)
def test_unusable_inputs_are_refused_alike(make: Any, error: Any, words: str) -> None:
    for torch in (pytorch, gradtool.engine):
        with pytest.raises(error, match=words):
            torch.autograd.gradcheck(lambda x: x * 2, make(torch), raise_exception=False)


def test_single_precision_is_warned_of_alike() -> None:
    for torch in (pytorch, gradtool.engine):
        x = torch.ones(2, dtype=torch.float32, requires_grad=True)
        with pytest.warns(UserWarning, match=r"Input #0 requires gradient and is not a double"):
            torch.autograd.gradcheck(lambda x: x * 2, x, raise_exception=False)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (zoo.wrong_sign, "Jacobian mismatch for output 0 with respect to input 0"),
        (zoo.unsteady_backward, "Backward is not reentrant"),
        (zoo.detached_output, "Numerical gradient for function expected to be zero"),
        (zoo.undefined_not_handled, "Expected backward function to handle undefined output grads"),
        (zoo.undefined_taken_for_one, "Expected all input grads to be undefined or zero"),
    ],
)
def test_messages_begin_alike(build: Builder, words: str) -> None:
    for torch in (pytorch, gradtool.engine):
        func, inputs = build(torch)
        with pytest.raises(RuntimeError, match=words):
            torch.autograd.gradcheck(func, inputs)


# ---- known faults of PyTorch's, and what happens here -----------------------------------------


@pytest.mark.parametrize(
    "build",
    [
        zoo.cotangent_squared,
        zoo.cotangent_made_positive,
        zoo.cotangent_clamped,
        zoo.cotangent_mixed,
        zoo.large_identity_with_one_entry_dropped,
    ],
    ids=lambda build: build.__name__,
)
def test_pytorch_lets_these_wrong_gradients_pass(build: Builder) -> None:
    """Its cotangents are one-hot or non-negative, and its fast tolerance grows with the size."""
    assert True in verdicts(pytorch, build)[:2]
    assert verdicts(gradtool.engine, build)[:2] == (False, False)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (zoo.wrong_count, RuntimeError),
        (zoo.wrong_shape, RuntimeError),
        (zoo.raises_value_error, ValueError),
    ],
    ids=lambda each: each.__name__,
)
def test_exceptions_of_the_users_code_escape_alike(build: Builder, error: type[Exception]) -> None:
    for torch in (pytorch, gradtool.engine):
        with pytest.raises(error):
            verdicts(torch, build)


@pytest.mark.parametrize(("torch", "kept"), [(pytorch, False), (gradtool.engine, True)])
def test_pytorch_leaves_an_input_perturbed_when_the_function_raises(torch: Any, kept: bool) -> None:
    x = zoo.numbers(torch, 3)
    before = x.tolist()
    calls = []

    def breaking(x):
        calls.append(1)
        if len(calls) >= 3:
            raise LookupError
        return x * 2

    with pytest.raises(LookupError):
        torch.autograd.gradcheck(breaking, x)
    assert (x.tolist() == before) is kept


@pytest.mark.parametrize(
    ("torch", "words"),
    [(pytorch, "not reentrant"), (gradtool.engine, "Jacobian mismatch")],
)
def test_pytorch_calls_a_wrong_gradient_right_when_it_is_unsteady_too(
    torch: Any, words: str
) -> None:
    func, inputs = zoo.unsteady_and_wrong(torch)
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.gradcheck(func, inputs)
    assert words in str(caught.value).splitlines()[0]


@pytest.mark.parametrize(("torch", "passes"), [(pytorch, True), (gradtool.engine, False)])
def test_pytorch_casts_gradients_before_it_looks_at_their_dtype(torch: Any, passes: bool) -> None:
    func, inputs = zoo.unary(lambda torch, x, g: (2 * x * g).to(torch.float32))(torch)
    checked = torch.autograd.gradcheck(
        func, inputs, atol=1e-3, check_grad_dtypes=True, raise_exception=False
    )
    assert checked is passes


@pytest.mark.parametrize(("torch", "right"), [(pytorch, False), (gradtool.engine, True)])
def test_pytorch_is_misled_by_a_forward_that_remembers(torch: Any, right: bool) -> None:
    known: dict[Any, Any] = {}

    def remembering(x):
        key = id(x), x._version
        if key not in known:
            known[key] = (x.detach() * 2).clone()
        return known[key] + (x - x.detach()) * 2

    checked = torch.autograd.gradcheck(remembering, zoo.numbers(torch, 3), raise_exception=False)
    assert checked is right


@pytest.mark.parametrize(
    ("torch", "error"), [(pytorch, TypeError), (gradtool.engine, RuntimeError)]
)
def test_pytorch_translates_only_some_errors_about_undefined_gradients(
    torch: Any, error: type[Exception]
) -> None:
    class Unguarded(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with pytest.raises(error, match="None"):
        torch.autograd.gradcheck(Unguarded.apply, zoo.numbers(torch, 3))


@pytest.mark.parametrize(
    ("torch", "error"), [(pytorch, AttributeError), (gradtool.engine, TypeError)]
)
def test_pytorch_stumbles_over_outputs_that_are_no_tensors(
    torch: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        torch.autograd.gradcheck(lambda x: (x, [x]), zoo.numbers(torch, 3))


def test_pytorch_reads_the_gradient_of_a_mutated_input_wrongly() -> None:
    """It differentiates at values that the previous call left behind."""

    def build(torch: Any) -> Any:
        class Doubled(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                x.mul_(2)
                return x + 0

            @staticmethod
            def backward(ctx, g):
                return g * 2

        x = zoo.numbers(torch, 3)
        return torch.autograd.gradcheck(Doubled.apply, x, raise_exception=False), x

    theirs, spoiled = build(pytorch)
    ours, kept = build(gradtool.engine)
    assert (theirs, ours) == (False, True)
    assert spoiled.tolist() != kept.tolist()
    assert kept.tolist() == zoo.numbers(gradtool.engine, 3).tolist()
