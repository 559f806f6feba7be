"""gradcheck and gradgradcheck: verdicts, messages, options and what they leave behind."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import BroadcastableShapes, mutually_broadcastable_shapes

import gradtool.engine as torch
from gradtool.adapters.gradcheck import reverse_mode
from gradtool.engine.autograd import GradcheckError, gradcheck, gradgradcheck
from tests.engine.autograd.gradcheck import gradcheck_zoo as zoo
from tests.engine.autograd.gradcheck.gradcheck_zoo import Builder, numbers

pytestmark = pytest.mark.filterwarnings("ignore:Backwards compatibility")

ALL = zoo.VERDICTS | zoo.OURS


@pytest.mark.parametrize("build", ALL, ids=lambda build: build.__name__)
def test_the_verdict_is_right(build: Builder) -> None:
    slow, fast, second = ALL[build]
    assert gradcheck(*build(torch), raise_exception=False) is slow
    assert gradcheck(*build(torch), raise_exception=False, fast_mode=True) is fast
    assert gradgradcheck(*build(torch), raise_exception=False) is second


def test_a_linear_layer_in_the_sizes_of_its_documentation() -> None:
    func, _ = zoo.linear(torch)
    inputs = (
        torch.randn(20, 20, dtype=torch.double, requires_grad=True),
        torch.randn(30, 20, dtype=torch.double, requires_grad=True),
    )
    assert gradcheck(func, inputs, eps=1e-6, atol=1e-4) is True


@settings(max_examples=25, deadline=None)
@given(
    shapes=mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=3),
    fast_mode=st.booleans(),
    share=st.sampled_from([1.0, 0.5]),
)
def test_any_shapes_that_broadcast_can_be_checked(
    shapes: BroadcastableShapes, fast_mode: bool, share: float
) -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, share * g * x

    inputs = [numbers(torch, *shape) for shape in shapes.input_shapes]
    right = share == 1.0 or 0 in shapes.result_shape
    checked = gradcheck(Product.apply, inputs, fast_mode=fast_mode, raise_exception=False)
    assert checked is right
    assert gradgradcheck(Product.apply, inputs)  # the wrong gradient is differentiated rightly


# ---- messages -----------------------------------------------------------------------------


def message_of(build: Builder, check: Any = gradcheck, **options: Any) -> str:
    with pytest.raises(GradcheckError) as caught:
        check(*build(torch), **options)
    return str(caught.value)


def test_a_mismatch_names_input_output_worst_entry_and_both_values() -> None:
    def one_entry_wrong(torch: Any) -> Any:
        class Scaled(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight):
                ctx.save_for_backward(weight)
                return x + 1, x * weight

            @staticmethod
            def backward(ctx, g1, g2):
                (weight,) = ctx.saved_tensors
                wrong = torch.tensor([[0.0, 0.0], [0.0, 5.0], [0.0, 2.0]], dtype=torch.float64)
                return g1 + g2 * (weight + wrong), None

        weight = torch.full((3, 2), 2.0, dtype=torch.float64)
        return Scaled.apply, (numbers(torch, 3, 2), weight)

    assert message_of(one_entry_wrong) == (
        "Jacobian mismatch for output 1 with respect to input 0 (x): 2 of 36 entries differ; worst "
        "at output index (1, 1) and input index (1, 1): analytic 7, numeric 2.000000000, "
        "difference 5, tolerance 0.00201"
    ).replace("2.000000000", _shown(2.0, one_entry_wrong))


def _shown(value: float, build: Builder) -> str:
    """The numeric value as the message has it: rounding leaves more or fewer digits."""
    text = message_of(build).partition("numeric ")[2].partition(",")[0]
    assert float(text) == pytest.approx(value, rel=1e-8)
    return text


def test_every_pair_that_disagrees_is_told() -> None:
    lines = message_of(zoo.swapped_inputs).splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "Jacobian mismatch for output 0 with respect to input 0 (x)",
        "Jacobian mismatch for output 0 with respect to input 1 (y)",
    ]


def test_a_complex_mismatch_says_which_part_of_the_output() -> None:
    message = message_of(zoo.complex_not_conjugated)
    assert " part at output index (" in message
    assert "j, numeric" in message


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_backward_that_is_right_for_single_entries_only_is_not_linear(fast_mode: bool) -> None:
    message = message_of(zoo.cotangent_mixed, fast_mode=fast_mode)
    assert "input 0 (x): every entry is right, but backward is not linear in grad_output" in message


def test_a_nan_is_the_worst_entry() -> None:
    assert "9 of 9 entries differ" in message_of(zoo.gradient_nan)
    assert "analytic nan" in message_of(zoo.gradient_nan)


def test_fast_mode_names_the_entry_too() -> None:
    message = message_of(zoo.large_identity_with_one_entry_dropped, fast_mode=True)
    assert "output index (399,) and input index (399,): analytic 0, numeric " in message


def test_a_backward_that_cannot_be_differentiated_is_named() -> None:
    message = message_of(zoo.once_differentiable, gradgradcheck)
    assert "with respect to input 0 (x)" in message
    assert message.splitlines()[-1].startswith(
        "A backward marked @once_differentiable was involved"
    )
    assert "once" not in message_of(zoo.saved_intermediate, gradgradcheck)


def test_the_cotangents_of_gradgradcheck_have_names() -> None:
    def wrong_in_the_cotangent(torch: Any) -> Any:
        return zoo.unary(lambda torch, x, g: 2 * x * (g.detach() + 0 * g))(torch)

    assert "with respect to input 1 (grad_outputs[0])" in message_of(
        wrong_in_the_cotangent, gradgradcheck
    )


def test_an_unsteady_function_is_named() -> None:
    assert "func is not deterministic" in message_of(zoo.unsteady_forward)
    assert "deterministic" not in message_of(zoo.wrong_sign)
    assert (
        message_of(zoo.unsteady_and_wrong)
        .splitlines()[-1]
        .startswith("Backward is not reentrant either: two runs of it differ by ")
    )


def test_nondet_tol_allows_two_runs_to_differ() -> None:
    assert "nondet_tol is 0" in message_of(zoo.unsteady_backward)
    func, inputs = zoo.unsteady_backward(torch)
    assert gradcheck(func, inputs, nondet_tol=1e-4)


def test_a_backward_that_adds_a_constant_is_not_multiplied_by_its_cotangent() -> None:
    def build(torch: Any) -> Any:
        return zoo.unary(lambda torch, x, g: 2 * x * g + 1e-9)(torch)

    message = message_of(build)
    assert message.startswith("backward not multiplied by grad_output: the gradient of input 0 (x)")
    assert gradcheck(*build(torch), masked=True, check_undefined_grad=False)


def test_undefined_cotangents_are_asked_about_only_if_wanted() -> None:
    assert "it raised RuntimeError: no gradient" in message_of(zoo.undefined_not_handled)
    assert gradcheck(*zoo.undefined_not_handled(torch), check_undefined_grad=False)


def test_each_output_alone_may_be_undefined() -> None:
    def build(torch: Any) -> Any:
        def backward(x, g1, g2):
            if g1 is None and g2 is None:
                return None
            if g2 is None and not g1.any():
                raise LookupError("second missing")
            return (0 if g1 is None else 2 * x * g1) + (0 if g2 is None else 3 * g2)

        return zoo._two_outputs(torch, backward)

    assert "without a grad_output for output 1 it raised LookupError" in message_of(build)


def test_outputs_may_not_change_their_shape_with_the_values() -> None:
    def counting(x):
        return x[x > 0.3]

    with pytest.raises(AssertionError, match=r"same shape when .* float64\[2\] became"):
        gradcheck(counting, numbers(torch, 3))


def test_part_of_a_complex_output_is_named() -> None:
    def bent(z):
        y = z.clone()
        y.register_hook(lambda g: g + 0.01)
        return y

    z = torch.ones(2, dtype=torch.complex128, requires_grad=True)
    with pytest.raises(GradcheckError, match=r"^While considering the imaginary part of complex"):
        gradcheck(bent, z)


# ---- tolerances and steps -----------------------------------------------------------------


def test_eps_atol_and_rtol_are_what_they_say() -> None:
    wrong_by_a_tenth = zoo.unary(lambda torch, x, g: 2.2 * x * g)
    func, (x,) = wrong_by_a_tenth(torch)
    assert not gradcheck(func, x, raise_exception=False)
    assert gradcheck(func, x, rtol=0.11)
    assert gradcheck(func, x, atol=0.25)
    assert not gradcheck(lambda x: x**3, x, eps=0.1, raise_exception=False)


def test_fast_mode_draws_other_probes_in_every_call() -> None:
    """A backward that is right for some signs of its cotangent is found sooner or later."""

    def build() -> Any:
        return zoo.unary(lambda torch, x, g: 2 * x * (g if g[0] > 0 else g * 3))(torch)

    found = {gradcheck(*build(), raise_exception=False, fast_mode=True) for _ in range(30)}
    assert found == {True, False}


def test_fast_mode_calls_a_right_function_three_times() -> None:
    """Once for the graph that all gradients come from, twice to move all inputs together."""
    calls = []

    def product(x: Any, y: Any) -> Any:
        calls.append(1)
        return x * y

    assert gradcheck(product, (numbers(torch, 3), numbers(torch, 3)), fast_mode=True)
    assert len(calls) == 3


def test_opposite_errors_of_two_inputs_do_not_cancel_in_fast_mode(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Swapped(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * x, g * y

    monkeypatch.setattr(reverse_mode, "signed", lambda _, size: np.ones(size))
    inputs = numbers(torch, 1), numbers(torch, 1).detach().add(1).requires_grad_()
    assert not gradcheck(Swapped.apply, inputs, fast_mode=True, raise_exception=False)


def test_errors_within_the_tolerance_do_not_fail_by_adding_up() -> None:
    drift = torch.full((2000,), 0.9e-5, dtype=torch.float64)

    class Nearly(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum() * 0

        @staticmethod
        def backward(ctx, g):
            return drift * g

    x = numbers(torch, 2000)
    assert gradcheck(Nearly.apply, x)
    assert all(gradcheck(Nearly.apply, x, fast_mode=True) for _ in range(3))


def test_gradients_may_be_asked_to_have_the_dtypes_of_their_inputs() -> None:
    def single(torch: Any) -> Any:
        return zoo.unary(lambda torch, x, g: (2 * x * g).to(torch.float32))(torch)

    assert message_of(single, atol=1e-3, check_grad_dtypes=True) == (
        "Gradient has dtype mismatch: backward returns float32 for x, which is float64"
    )
    assert gradcheck(*single(torch), atol=1e-3)
    assert gradcheck(*zoo.sorting(torch), check_grad_dtypes=True)
    assert gradcheck(*zoo.plain_operations(torch), check_grad_dtypes=True)


# ---- misuse -------------------------------------------------------------------------------


def test_backward_need_not_be_differentiated_by_backward() -> None:
    with pytest.raises(AssertionError, match="check_rev_over_rev"):
        gradgradcheck(lambda x: x, numbers(torch, 2), check_rev_over_rev=False)


@pytest.mark.parametrize("returned", [None, 3, {"y": 1}, np.ones(2)])
def test_outputs_that_are_no_tensors_are_refused(returned: Any) -> None:
    with pytest.raises(TypeError, match=f"output 0 is of type {type(returned).__name__}"):
        gradcheck(lambda x: returned, numbers(torch, 2), raise_exception=False)


def test_nested_outputs_are_refused() -> None:
    with pytest.raises(TypeError, match="output 1 is of type list"):
        gradcheck(lambda x: (x, [x]), numbers(torch, 2), raise_exception=False)


def test_tensors_hidden_in_a_list_are_pointed_out() -> None:
    with pytest.raises(ValueError, match="inside the list at input #1 are not checked"):
        gradcheck(lambda _, xs: xs[0], (torch.ones(2), [numbers(torch, 2)]))


def test_a_warning_points_to_the_caller() -> None:
    x = torch.ones(2, dtype=torch.float32, requires_grad=True)
    with pytest.warns(UserWarning, match="not a double precision") as caught:
        gradcheck(lambda x: x, x, raise_exception=False)
    with pytest.warns(UserWarning, match="not a double precision") as caught_second:
        gradgradcheck(lambda x: x, x, raise_exception=False)
    assert {each.filename for each in (*caught, *caught_second)} == {__file__}
    assert len(caught) == len(caught_second) == 1


# ---- what is left behind --------------------------------------------------------------------


@pytest.mark.parametrize("raise_exception", [True, False])
def test_exceptions_of_the_users_code_pass(raise_exception: bool) -> None:
    func, inputs = zoo.raises_value_error(torch)
    with pytest.raises(ValueError, match="not in list"):
        gradcheck(func, inputs, raise_exception=raise_exception)


@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
def test_inputs_have_their_values_and_versions_again(check: Any) -> None:
    buffer = torch.zeros(3, dtype=torch.float64)

    def spoiling(x, buffer):
        buffer.add_(1)
        x.data.mul_(3)
        return x * x

    x = numbers(torch, 3)
    before, loss = x.tolist(), (x * x).sum()
    check(spoiling, (x, buffer), raise_exception=False)
    assert x.tolist() == before
    assert buffer.tolist() == [0.0, 0.0, 0.0]
    assert x.grad is None
    loss.backward()
    assert x.grad.tolist() == [2 * value for value in before]


def test_an_input_that_is_changed_in_place_keeps_its_place_in_the_graph() -> None:
    x = numbers(torch, 3)
    y = x * 2
    node = y.grad_fn
    gradcheck(lambda y: y.mul_(2), y, raise_exception=False)
    assert y.grad_fn is node
    assert y.tolist() == (x * 2).tolist()


def test_the_users_random_numbers_are_left_alone() -> None:
    torch.manual_seed(5)
    expected = torch.randn(3).tolist()
    torch.manual_seed(5)
    gradcheck(*zoo.linear(torch), fast_mode=True)
    gradgradcheck(*zoo.right_square(torch))
    assert torch.randn(3).tolist() == expected


# ---- gradgradcheck's own --------------------------------------------------------------------


def test_given_cotangents_are_used() -> None:
    func, inputs = zoo.right_square(torch)
    seen = []

    def spy(x):
        y = func(x)
        y.register_hook(lambda g: seen.append(g.tolist()))
        return y

    cotangent = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    assert gradgradcheck(spy, inputs, cotangent)
    assert all(each == cotangent.tolist() for each in seen)


def test_a_cotangent_may_be_undefined() -> None:
    func, inputs = zoo.two_outputs(torch)
    assert gradgradcheck(func, inputs, [None, numbers(torch, 3)])


def test_cotangents_that_do_not_match_the_outputs_are_refused() -> None:
    func, inputs = zoo.two_outputs(torch)
    with pytest.raises(ValueError, match="got 1 for 2 outputs"):
        gradgradcheck(func, inputs, numbers(torch, 3), raise_exception=False)


@pytest.mark.parametrize("gen_non_contig_grad_outputs", [False, True])
def test_drawn_cotangents_may_be_non_contiguous(gen_non_contig_grad_outputs: bool) -> None:
    contiguous = []

    def build(torch: Any) -> Any:
        def backward(_, x, g):
            contiguous.append(g.is_contiguous())
            return 2 * x * g

        return zoo.unary(backward)(torch)

    assert gradgradcheck(*build(torch), gen_non_contig_grad_outputs=gen_non_contig_grad_outputs)
    assert all(contiguous) is not gen_non_contig_grad_outputs


def test_without_a_differentiable_output_there_is_nothing_to_check_twice() -> None:
    assert "no second derivative to check" in message_of(zoo.detached_output, gradgradcheck)


def test_importing_the_engine_imports_no_checker() -> None:
    script = (
        "import sys, gradtool.engine.autograd\n"
        "print([m for m in sys.modules if m.startswith(('gradtool.verify', 'gradtool.adapters'))])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_inputs_without_elements_overlap_nowhere() -> None:
    empty = torch.ones(3, 0, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x: x * 2, (empty,))
