"""gradcheck's questions about forward mode and batches, on this engine and on PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import gradtool.engine
from gradtool.engine.autograd import gradcheck, gradgradcheck
from gradtool.engine.autograd.gradcheck import GradcheckError
from tests.engine.autograd.gradcheck import gradcheck_forward_zoo as zoo
from tests.engine.autograd.gradcheck.gradcheck_zoo import Builder

torch: Any = gradtool.engine


OPTIONS: list[tuple[str, dict[str, bool]]] = [
    ("gradcheck", {"check_forward_ad": True}),
    ("gradcheck", {"check_forward_ad": True, "fast_mode": True}),
    ("gradcheck", {"check_batched_grad": True}),
    ("gradcheck", {"check_forward_ad": True, "check_batched_forward_grad": True}),
    (
        "gradgradcheck",
        {"check_fwd_over_rev": True, "check_rev_over_rev": False, "check_undefined_grad": False},
    ),
]


def verdicts(engine: Any, build: Builder) -> tuple[bool, ...]:
    return tuple(_passes(engine, build, check, options) for check, options in OPTIONS)


def _passes(engine: Any, build: Builder, check: str, options: dict[str, bool]) -> bool:
    func, inputs = build(engine)
    try:
        return bool(getattr(engine.autograd, check)(func, inputs, **options))
    except (RuntimeError, IndexError):  # a missing jvp is a RuntimeError too
        return False


@pytest.fixture
def pytorch() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="torch")
        yield pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")


def message_of(build: Builder, check: str = "gradcheck", **options: Any) -> str:
    func, inputs = build(torch)
    with pytest.raises(GradcheckError) as caught:
        getattr(torch.autograd, check)(func, inputs, **options)
    return str(caught.value)


@pytest.mark.parametrize("build", zoo.VERDICTS)
def test_what_is_wrong_is_found_and_nothing_else(build: Builder) -> None:
    assert verdicts(torch, build) == zoo.VERDICTS[build]


@pytest.mark.torch
@pytest.mark.parametrize("build", zoo.VERDICTS)
def test_pytorch_says_the_same_but_for_its_faults(pytorch: Any, build: Builder) -> None:
    expected = zoo.FAULTS_OF_PYTORCH.get(build, zoo.VERDICTS[build])
    assert verdicts(pytorch, build) == expected


# ---- what is said -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "options", "words"),
    [
        (
            zoo.wrong_sign,
            {"check_forward_ad": True},
            "Jacobian computed with forward mode mismatch",
        ),
        (zoo.undefined_taken_for_one, {"check_forward_ad": True}, "Mismatch in tangent values"),
        (zoo.backward_decides, {"check_batched_grad": True}, "While computing batched gradients"),
        (
            zoo.jvp_decides,
            {"check_forward_ad": True, "check_batched_forward_grad": True},
            "While computing batched gradients",
        ),
    ],
)
@pytest.mark.torch
def test_messages_begin_as_pytorchs(
    pytorch: Any, build: Builder, options: dict[str, bool], words: str
) -> None:
    for engine in (pytorch, torch):
        func, inputs = build(engine)
        with pytest.raises(RuntimeError, match=words):
            engine.autograd.gradcheck(func, inputs, **options)


def test_a_wrong_jvp_is_told_with_its_worst_entry() -> None:
    assert message_of(zoo.wrong_sign, check_forward_ad=True) == (
        "Jacobian computed with forward mode mismatch for output 0 with respect to input 1 (y): "
        "3 of 9 entries differ; worst at output index (2,) and input index (2,): analytic -1.04, "
        "numeric 1.04, difference 2.08, tolerance 0.00105"
    )


def test_a_projection_that_differs_leads_to_the_entries() -> None:
    slow = message_of(zoo.wrong_sign, check_forward_ad=True)
    assert message_of(zoo.wrong_sign, check_forward_ad=True, fast_mode=True) == slow


def test_a_jvp_that_is_not_linear_is_found() -> None:
    def build(torch: Any) -> Any:
        return zoo.product(lambda torch, x, y, dx, dy: dx * y + x * dy + 0.1 * dx[0] * dx[1])(torch)

    assert "jvp is not linear in its tangent" in message_of(build, check_forward_ad=True)
    assert "forward mode mismatch" in message_of(zoo.jvp_squares, check_forward_ad=True)


def test_a_wrong_jvp_is_no_matter_of_backward() -> None:
    func, inputs = zoo.wrong_sign(torch)
    assert gradcheck(func, inputs)
    assert gradgradcheck(func, inputs)
    wrong = zoo.product(lambda torch, x, y, dx, dy: dx * y + x * dy, lambda torch, x, y, g: (g, g))
    func, inputs = wrong(torch)
    assert gradcheck(func, inputs, check_forward_ad=True, check_backward_ad=False)


def test_tangents_may_be_asked_to_have_the_dtypes_of_the_outputs() -> None:
    single = zoo.product(lambda torch, x, y, dx, dy: (dx * y + x * dy).to(torch.float32))
    options = {"check_forward_ad": True, "atol": 1e-3, "check_grad_dtypes": True}
    assert message_of(single, **options) == (
        "Forward AD gradient has dtype mismatch: the tangent of output 0 is float32, the output "
        "float64"
    )


def test_a_batch_that_comes_out_otherwise_is_told() -> None:
    def build(torch: Any) -> Any:
        def pull(torch: Any, x: Any, y: Any, g: Any) -> Any:
            batched = type(g) is not torch.Tensor
            return g * y * (2 if batched else 1), g * x

        return zoo.product(lambda torch, x, y, dx, dy: dx * y + x * dy, pull)(torch)

    assert message_of(build, check_batched_grad=True).startswith(
        "For output 0 and input 0 (x): gradcheck or gradgradcheck failed while testing batched "
        "gradient computation: backward for a batch differs from backward for each example alone by"
    )


def test_forward_mode_finds_what_is_cut_from_the_graph() -> None:
    options = {"check_fwd_over_rev": True, "check_rev_over_rev": False}
    said = message_of(
        zoo.intermediate_saved, "gradgradcheck", check_undefined_grad=False, **options
    )
    assert said.startswith("Jacobian computed with forward mode mismatch for output 0")


def test_all_questions_can_be_asked_at_once() -> None:
    func, inputs = zoo.right(torch)
    every = {"check_forward_ad": True, "check_batched_forward_grad": True}
    assert gradcheck(func, inputs, check_batched_grad=True, **every)
    assert gradgradcheck(func, inputs, check_batched_grad=True, check_fwd_over_rev=True)


def test_a_missing_jvp_is_said_by_the_engine() -> None:
    func, inputs = zoo.without_jvp(torch)
    with pytest.raises(NotImplementedError, match="must implement the jvp"):
        gradcheck(func, inputs, check_forward_ad=True)
    with pytest.raises(NotImplementedError, match="must implement the jvp"):
        gradcheck(func, inputs, check_forward_ad=True, raise_exception=False)


def test_inputs_are_left_as_they_were() -> None:
    func, inputs = zoo.plain_operations(torch)
    before = [(each.tolist(), each._version) for each in inputs]
    gradcheck(
        func,
        inputs,
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
    )
    assert [(each.tolist(), each._version) for each in inputs] == before
    assert all(type(each) is torch.Tensor for each in inputs)
