"""The adapter over the bundled engine: what the checker gets to see of a user's Function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtool.engine as torch
from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.engine.autograd import Function
from gradtool.engine.autograd.function import once_differentiable
from gradtool.verify.protocol.observation import Observation


def leaf(*values: float, dtype: Any = torch.float64) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype, requires_grad=True)


X, Y = (2.0, 3.0, 5.0), (0.5, -1.0, 2.0)


def differentiable(
    function: Any, *args: Any, kwargs: dict[str, Any] | None = None
) -> FunctionDifferentiable:
    return FunctionDifferentiable(function, args, kwargs or {}, name="it")


def called(function: Any, *args: Any, **options: Any) -> Observation:
    """One call with a cotangent of ones for every output."""
    it = differentiable(function, *args)
    outputs = it.evaluate(it.primals)
    return it.call(it.primals, [None if o is None else np.ones_like(o) for o in outputs], **options)


def line_of(function: Callable[..., Any], text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(at for at, line in enumerate(lines) if text in line)


class Product(Function):
    """The plain case: two tensors and a number, inputs saved."""

    scale = 3.0

    @staticmethod
    def forward(ctx, x, y, power=1):
        ctx.save_for_backward(x, y)
        ctx.power = power
        return x * y * Product.scale

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y * Product.scale, grad_output * x * Product.scale, None


class Separate(Function):
    """x * y under the other usage, with `vjp` and defaults."""

    @staticmethod
    def forward(x, y=None, shift=0.0):
        return x * y + shift

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, _ = inputs
        ctx.save_for_backward(x, y, output)

    @staticmethod
    def vjp(ctx, grad_output):
        x, y, _ = ctx.saved_tensors
        return grad_output * y, grad_output * x, None


# ---- arguments ----------------------------------------------------------------------------


def test_the_tensor_arguments_are_named_and_placed_as_forward_has_them() -> None:
    it = differentiable(Product, leaf(*X), torch.tensor([1, 2, 3]), 2)
    assert [(a.name, a.position, a.shape, a.differentiable) for a in it.arguments] == [
        ("x", 0, (3,), True),
        ("y", 1, (3,), False),
    ]
    assert [a.dtype for a in it.arguments] == [np.float64, np.int64]
    assert [p.tolist() for p in it.primals] == [[2.0, 3.0, 5.0], [1, 2, 3]]


def test_what_is_no_tensor_keeps_its_place() -> None:
    class Third(Function):
        @staticmethod
        def forward(ctx, factor, options, x):
            ctx.factor = factor * options["by"][0]
            return x * ctx.factor

        @staticmethod
        def backward(ctx, g):
            return None, None, g * ctx.factor

    seen = called(Third, 2.0, {"by": [torch.tensor(4.0)]}, leaf(*X))
    assert differentiable(Third, 2.0, {}, leaf(*X)).arguments[0].position == 2
    assert seen.gradients is not None
    assert seen.gradients[0].tolist() == [8.0, 8.0, 8.0]


def test_keyword_arguments_move_to_their_positions() -> None:
    it = differentiable(Product, leaf(*X), kwargs={"y": leaf(*Y)})
    assert [(a.name, a.position) for a in it.arguments] == [("x", 0), ("y", 1)]
    seen = it.call(it.primals, [np.ones(3)])
    assert seen.failure is None
    assert len(seen.raw or ()) == 3


def test_defaults_fill_the_gap_before_a_keyword_argument() -> None:
    class Gap(Function):
        @staticmethod
        def forward(ctx, x, scale=2.0, other=None, unused=None):
            ctx.scale = scale
            return x * scale + other

        @staticmethod
        def backward(ctx, g):
            return g * ctx.scale, None, g

    it = differentiable(Gap, leaf(*X), kwargs={"other": leaf(*Y)})
    assert [(a.name, a.position) for a in it.arguments] == [("x", 0), ("other", 2)]
    assert it.call(it.primals, [np.ones(3)]).failure is None


def test_an_argument_by_name_gets_its_position() -> None:
    it = differentiable(Separate, leaf(*X), leaf(*Y), kwargs={"shift": 1.0})
    (output,) = it.evaluate(it.primals)
    assert output is not None
    assert output.tolist() == [2.0, -2.0, 11.0]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [({"z": 1}, "unexpected keyword"), ({"x": 1}, "multiple values")],
)
def test_keyword_arguments_that_do_not_fit_are_refused(
    kwargs: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        differentiable(Product, leaf(*X), kwargs=kwargs)


def test_a_keyword_argument_does_not_hide_that_an_earlier_one_is_missing() -> None:
    with pytest.raises(TypeError, match="'y'"):
        differentiable(Product, leaf(*X), kwargs={"power": 2})


def test_apply_stands_for_its_function() -> None:
    it = differentiable(Product.apply, leaf(*X), leaf(*Y))
    assert [a.name for a in it.arguments] == ["x", "y"]
    assert it.call(it.primals, [np.ones(3)]).raw is not None


def test_a_plain_callable_keeps_its_keyword_arguments() -> None:
    def scaled(*tensors, by):
        return tensors[0] * tensors[1] * by

    it = differentiable(scaled, leaf(*X), leaf(*Y), kwargs={"by": leaf(1.0, 2.0, 3.0)})
    assert [(a.name, a.position) for a in it.arguments] == [
        ("tensors[0]", 0),
        ("tensors[1]", 1),
        ("by", 2),
    ]
    (rows,) = it.vjps(it.primals, [[np.ones(3)]])
    assert [None if g is None else g.tolist() for g in rows] == [
        [0.5, -2.0, 6.0],
        [2.0, 6.0, 15.0],
        [1.0, -3.0, 10.0],
    ]


# ---- values and gradients -----------------------------------------------------------------


def test_evaluate_returns_values_and_none_for_what_is_no_tensor() -> None:
    it = differentiable(lambda x: [x * 2, 7, None], leaf(*X))
    value, *others = it.evaluate(it.primals)
    assert value is not None
    assert value.tolist() == [4.0, 6.0, 10.0]
    assert others == [None, None]


def test_evaluate_builds_no_graph_but_shows_the_function_what_requires_a_gradient() -> None:
    modes = []

    def spy(x):
        modes.append((torch.is_grad_enabled(), x.requires_grad))
        return x * 2

    differentiable(spy, leaf(*X)).evaluate([np.ones(3)])
    assert modes == [(False, True)]


def test_evaluate_and_vjps_let_exceptions_pass() -> None:
    def refuse(x):
        raise LookupError("no")

    it = differentiable(refuse, leaf(*X))
    with pytest.raises(LookupError):
        it.evaluate(it.primals)
    with pytest.raises(LookupError):
        it.vjps(it.primals, [[np.ones(3)]])


def test_vjps_has_one_row_for_each_cotangent_and_none_for_what_is_unused() -> None:
    def uneven(x, y):
        return x * x, x * y

    it = differentiable(uneven, leaf(*X), leaf(*Y))
    rows = it.vjps(it.primals, [[np.ones(3), None], [None, np.ones(3)], [np.ones(3), np.ones(3)]])
    as_lists = [[None if g is None else g.tolist() for g in row] for row in rows]
    assert as_lists == [
        [[4.0, 6.0, 10.0], None],
        [[0.5, -1.0, 2.0], [2.0, 3.0, 5.0]],
        [[4.5, 5.0, 12.0], [2.0, 3.0, 5.0]],
    ]


def test_rows_stay_what_they_were_when_backward_reuses_its_memory() -> None:
    class Reusing(Function):
        workspace = torch.zeros(3, dtype=torch.float64)

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            Reusing.workspace.copy_(g * 2)
            return Reusing.workspace

    it = differentiable(Reusing, leaf(*X))
    first, second = it.vjps(it.primals, [[np.ones(3)], [np.zeros(3)]])
    assert first[0].tolist() == [2.0, 2.0, 2.0]
    assert second[0].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64, torch.complex128])
def test_dtypes_are_kept(dtype: Any) -> None:
    it = differentiable(lambda x: x * x, leaf(*X, dtype=dtype))
    (output,) = it.evaluate(it.primals)
    assert output is not None
    ((gradient,),) = it.vjps(it.primals, [[np.ones_like(output)]])
    assert gradient is not None
    assert output.dtype == gradient.dtype == it.primals[0].dtype
    assert gradient.tolist() == [4.0, 6.0, 10.0]


def test_a_function_that_works_in_place_can_be_differentiated() -> None:
    class Doubled(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    case = leaf(*X)
    it = differentiable(Doubled, case)
    seen = it.call(it.primals, [np.ones(3)])
    assert seen.failure is None
    assert seen.mutated_arguments == seen.declared_dirty == (0,)
    assert seen.aliases == ((0, 0),)
    assert it.vjps(it.primals, [[np.ones(3)]])[0][0].tolist() == [2.0, 2.0, 2.0]
    assert it.primals[0].tolist() == case.tolist() == list(X)


def test_the_layout_of_the_case_is_kept() -> None:
    strides = []

    def spy(x):
        strides.append(x.stride())
        return x * 2

    it = differentiable(spy, torch.ones(2, 3, dtype=torch.float64).t().requires_grad_())
    it.evaluate([np.ones((3, 2))])
    it.call([np.ones((3, 2))])
    assert strides == [(1, 3), (1, 3)]


def test_zero_size_and_zero_dimensional_arguments_work() -> None:
    empty = torch.zeros(0, 2, dtype=torch.float64, requires_grad=True)
    scalar = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    it = differentiable(lambda x, y: x * y, empty, scalar)
    seen = it.call(it.primals, [np.ones((0, 2))])
    assert seen.failure is None
    assert [None if g is None else g.shape for g in seen.gradients or ()] == [(0, 2), ()]


def test_needs_overrides_which_arguments_require_a_gradient() -> None:
    needed = []

    class Asking(Product):
        @staticmethod
        def backward(ctx, g):
            needed.append(ctx.needs_input_grad)
            return Product.backward(ctx, g)

    it = differentiable(Asking, leaf(*X), leaf(*Y))
    seen = it.call(it.primals, [np.ones(3)], needs=[False, True])
    assert needed == [(False, True)]
    assert seen.gradients is not None
    assert seen.gradients[0] is None
    assert seen.gradients[1] is not None


# ---- what a call shows --------------------------------------------------------------------


def test_a_call_without_cotangents_runs_no_backward() -> None:
    it = differentiable(Product, leaf(*X), leaf(*Y))
    seen = it.call(it.primals)
    assert seen.gradients is None
    assert seen.raw is None
    assert seen.output_requires_grad == (True,)
    assert seen.saved == ("input:x", "input:y")


def test_raw_gradients_are_seen_before_the_engine_fits_them() -> None:
    class Unreduced(Function):
        @staticmethod
        def forward(ctx, x, bias):
            return x + bias

        @staticmethod
        def backward(ctx, g):
            return g.to(torch.float32), g, None

    seen = called(Unreduced, torch.ones(2, 3, dtype=torch.float64, requires_grad=True), leaf(*X))
    assert seen.gradients is not None
    assert seen.raw is not None
    first, second, third = seen.raw
    assert first.dtype == np.float32
    assert seen.gradients[0].dtype == np.float64
    assert second.value is not None
    assert second.value.shape == (2, 3)
    assert seen.gradients[1].tolist() == [2.0, 2.0, 2.0]
    assert third.value is None
    assert third.type_name == "Tensor"


def test_a_gradient_that_is_no_tensor_is_seen_by_its_type() -> None:
    class Array(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g.numpy() * 2

    seen = called(Array, leaf(*X))
    assert seen.failure is not None
    assert seen.failure.kind == "gradient-type"
    assert seen.gradients is None


def test_mutations_are_seen_where_they_happen() -> None:
    class Careless(Function):
        @staticmethod
        def forward(ctx, x, buffer, y):
            buffer += 1
            kept = x * 1
            ctx.save_for_backward(y, kept)
            return x * 2, y * 2

        @staticmethod
        def backward(ctx, gx, gy):
            y, kept = ctx.saved_tensors
            kept.data.zero_()
            y.data.zero_()
            gy *= 2
            return gx * 2, None, gy

    seen = called(Careless, leaf(*X), torch.zeros(3), leaf(*Y))
    assert seen.failure is None
    assert seen.mutated_arguments == (1,)
    assert seen.mutated_in_backward == (2,)
    assert seen.mutated_saved == (0, 1)
    assert seen.mutated_cotangents == (1,)
    assert seen.declared_dirty == ()
    assert seen.saved == ("input:y", "intermediate")


def test_what_backward_does_to_a_tensor_does_not_reach_the_next_call() -> None:
    class Spoiling(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            gradient = 2 * x * g
            x.data.zero_()
            return gradient

    it = differentiable(Spoiling, leaf(*X))
    for _ in range(2):
        seen = it.call(it.primals, [np.ones(3)])
        assert seen.gradients is not None
        assert seen.gradients[0].tolist() == [4.0, 6.0, 10.0]


def test_declarations_and_aliases_are_seen() -> None:
    class Declared(Function):
        @staticmethod
        def forward(ctx, x, y):
            order = y.argsort()
            ctx.mark_non_differentiable(order)
            ctx.set_materialize_grads(False)
            ctx.kept = [x, order, 3]
            ctx.where = {"out": order}
            ctx.table = x * 2
            ctx.name_of = "n"
            ctx.save_for_backward(None, order)
            return x.view(3, 1), y * 2, order

        @staticmethod
        def backward(ctx, g_view, g_double, g_order):
            return g_view.view(3), g_double * 2

    it = differentiable(Declared, leaf(*X), leaf(*Y))
    seen = it.call(it.primals, [np.ones((3, 1)), np.ones(3), None])
    assert seen.failure is None
    assert seen.non_differentiable == (2,)
    assert seen.output_requires_grad == (True, True, False)
    assert seen.aliases == ((0, 0),)
    assert seen.saved == ("none", "output:2")
    assert seen.kept_on_ctx == (
        ("kept", "input:x"),
        ("kept", "output:2"),
        ("where", "output:2"),
    )


def test_the_separate_usage_is_seen_as_well() -> None:
    seen = called(Separate, leaf(*X), leaf(*Y))
    assert seen.failure is None
    assert seen.saved == ("input:x", "input:y", "output:0")
    assert [g.value.tolist() for g in seen.raw or () if g.value is not None] == [
        list(Y),
        list(X),
    ]


def test_a_plain_callable_shows_all_but_what_only_a_function_has() -> None:
    def plain(x, y):
        return x * y, x

    seen = called(plain, leaf(*X), leaf(*Y))
    assert seen.raw is None
    assert seen.saved == ()
    assert seen.aliases == ((0, 1),)
    assert [None if g is None else g.tolist() for g in seen.gradients or ()] == [
        [1.5, 0.0, 3.0],
        [2.0, 3.0, 5.0],
    ]


def test_only_the_outermost_call_of_a_function_is_recorded() -> None:
    class Twice(Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return Twice.apply(x, depth - 1) * 2 if depth else x * 1

        @staticmethod
        def backward(ctx, g):
            return g * 2**ctx.depth, None

    seen = called(Twice, leaf(*X), 2)
    assert seen.raw is not None
    assert seen.raw[0].value is not None
    assert seen.raw[0].value.tolist() == [4.0, 4.0, 4.0]


# ---- undefined cotangents -----------------------------------------------------------------


def test_undefined_cotangents_reach_backward_as_none_or_as_zeros() -> None:
    got: list[Any] = []

    class Lazy(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g1, g2):
            got.append((g1, g2))
            return None if g1 is None else g1 * 2

    class Eager(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            got.append(g.tolist())
            return g * 2

    lazy, eager = differentiable(Lazy, leaf(*X)), differentiable(Eager, leaf(*X))
    assert lazy.call(lazy.primals, [None, None]).gradients == (None,)
    seen = eager.call(eager.primals, [None])
    assert got == [(None, None), [0.0, 0.0, 0.0]]
    assert seen.gradients is not None
    assert seen.gradients[0].tolist() == [0.0, 0.0, 0.0]


def test_what_backward_makes_of_undefined_cotangents_goes_on_through_the_graph() -> None:
    class Ones(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return torch.ones(3, dtype=torch.float64)

    it = differentiable(lambda x: Ones.apply(x * x), leaf(*X))
    seen = it.call(it.primals, [None])
    assert seen.gradients is not None
    assert seen.gradients[0].tolist() == [4.0, 6.0, 10.0]


# ---- failures -----------------------------------------------------------------------------


def test_an_exception_in_forward_is_a_failure_with_its_place() -> None:
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x @ torch.ones(7, dtype=torch.float64)  # the line at fault

    it = differentiable(Bad, leaf(*X))
    failure = it.call(it.primals).failure
    assert failure is not None
    assert (failure.stage, failure.kind) == ("forward", "raised")
    assert failure.message.startswith("RuntimeError: ")
    assert "\n" not in failure.message
    assert Path(failure.path or "").name == "test_differentiable.py"
    assert failure.line == line_of(Bad.forward, "the line at fault")
    assert "the line at fault" in failure.traceback


def test_an_exception_in_backward_is_a_failure_with_its_place() -> None:
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return {}["key"]  # the line at fault

    failure = called(Bad, leaf(*X)).failure
    assert failure is not None
    assert (failure.stage, failure.kind) == ("backward", "raised")
    assert failure.message == "KeyError: 'key'"
    assert failure.line == line_of(Bad.backward, "the line at fault")


def _function(forward: Callable[..., Any], **methods: Callable[..., Any]) -> type[Function]:
    namespace = {"forward": staticmethod(forward)}
    namespace |= {name: staticmethod(method) for name, method in methods.items()}
    return type("Made", (Function,), namespace)


def _double(ctx, x):
    return x * 2


def _dirty_unreturned(ctx, x):
    ctx.mark_dirty(x)
    return x * 2


@pytest.mark.parametrize(
    ("function", "kind", "begins"),
    [
        (_function(_double, backward=lambda c, g: (g, g)), "gradient-count", "RuntimeError: funct"),
        (_function(_double, backward=lambda c, g: g.expand(7, 3)[:, 0]), "gradient-shape", "Runti"),
        (_function(_double, backward=lambda c, g: 1.0), "gradient-type", "RuntimeError: "),
        (_function(_double, backward=_double, vjp=_double), "both-backward-and-vjp", "Runtime"),
        (_function(_double), "no-backward", "NotImplementedError: You must implement either"),
    ],
)
def test_broken_contracts_are_named(function: Any, kind: str, begins: str) -> None:
    it = differentiable(function, leaf(*X))
    failure = it.call(it.primals, [np.ones(3)]).failure
    assert failure is not None
    assert (failure.stage, failure.kind) == ("backward", kind)
    assert failure.message.startswith(begins)


def test_what_was_declared_is_seen_although_the_engine_refused_it() -> None:
    it = differentiable(_function(_dirty_unreturned), leaf(*X))
    seen = it.call(it.primals)
    assert seen.failure is not None
    assert (seen.failure.stage, seen.failure.kind) == ("forward", "dirty-not-returned")
    assert seen.declared_dirty == seen.dirty_not_returned == (0,)


def test_what_is_not_an_error_passes_through() -> None:
    def interrupted(x):
        raise KeyboardInterrupt

    it = differentiable(interrupted, leaf(*X))
    with pytest.raises(KeyboardInterrupt):
        it.call(it.primals)


def test_no_graph_is_no_failure() -> None:
    seen = called(lambda x: x.detach() * 2, leaf(*X))
    assert seen.failure is None
    assert seen.output_requires_grad == (False,)
    assert seen.gradients == (None,)


# ---- the recording subclass ---------------------------------------------------------------


def test_a_recorded_function_looks_like_the_users() -> None:
    heard: list[str] = []
    names: list[Any] = []

    class Base(Function):
        def __init_subclass__(cls) -> None:
            heard.append(cls.__name__)

        @staticmethod
        def scaled(x):
            return x * 2

    class User(Base):
        """Its words."""

        calls = 0

        @classmethod
        def forward(cls, ctx, x):
            User.calls += 1
            cls.calls += 1
            names.append((ctx._forward_cls.__name__, ctx._forward_cls.__doc__, ctx.name()))
            return super().scaled(x)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    seen = called(User, leaf(*X))
    assert seen.failure is None
    assert seen.raw is not None
    assert heard == ["User"]
    assert User.calls == 4
    assert set(names) == {("User", "Its words.", "UserBackward")}


def test_marks_on_backward_are_seen() -> None:
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            return g * 2

    it = differentiable(Once, leaf(*X))
    assert it.declares_once_differentiable
    assert it.backward_map([np.ones(3)]).declares_once_differentiable
    assert not differentiable(Product, leaf(*X), leaf(*Y)).declares_once_differentiable
    assert not differentiable(lambda x: x, leaf(*X)).declares_once_differentiable


def test_both_names_of_the_same_method_are_seen() -> None:
    both = _function(_double, backward=lambda c, g: g, vjp=lambda c, g: g)
    assert differentiable(both, leaf(*X)).defines_both_backward_and_vjp
    assert not differentiable(Separate, leaf(*X), leaf(*Y)).defines_both_backward_and_vjp


# ---- higher orders ------------------------------------------------------------------------


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


def test_the_backward_map_leads_to_every_order() -> None:
    x, g, h = np.array(X), np.array(Y), np.array([1.0, -2.0, 0.5])
    second = differentiable(Cube, leaf(*X)).backward_map([g])
    assert [(a.name, a.position, a.differentiable) for a in second.arguments] == [
        ("x", 0, True),
        ("grad_output", 1, True),
    ]
    np.testing.assert_allclose(second.evaluate([x, g])[0], 3 * x**2 * g)
    ((by_x, by_g),) = second.vjps([x, g], [[h]])
    np.testing.assert_allclose(by_x, 6 * x * g * h)
    np.testing.assert_allclose(by_g, 3 * x**2 * h)

    third = second.backward_map([h])
    assert [a.name for a in third.arguments] == ["x", "grad_output", "grad_grad_output"]
    seen = third.call(third.primals, [np.ones(3), np.zeros(3)])
    assert seen.failure is None
    assert seen.output_requires_grad == (True, True)
    assert seen.gradients is not None
    np.testing.assert_allclose(seen.gradients[0], 6 * g * h)
    np.testing.assert_allclose(seen.gradients[1], 6 * x * h)
    np.testing.assert_allclose(seen.gradients[2], 6 * x * g)


def test_the_backward_map_takes_only_the_cotangents_that_are_given() -> None:
    def pair(x, index):
        return x * x, x[index], x * 3

    it = differentiable(pair, leaf(*X), torch.tensor([0, 2]))
    derived = it.backward_map([np.ones(3), None, np.ones(3)])
    assert [(a.name, a.differentiable) for a in derived.arguments] == [
        ("x", True),
        ("index", False),
        ("grad_output[0]", True),
        ("grad_output[2]", True),
    ]
    (gradient,) = derived.evaluate(derived.primals)
    assert gradient is not None
    assert gradient.tolist() == [7.0, 9.0, 13.0]


def test_a_backward_cut_from_the_graph_is_seen() -> None:
    class Cut(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return torch.tensor(2 * x.detach().numpy() * g.detach().numpy())

    derived = differentiable(Cut, leaf(*X)).backward_map([np.ones(3)])
    assert derived.call(derived.primals).output_requires_grad == (False,)


def test_an_in_place_function_has_a_backward_map() -> None:
    class Squared(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.clone())
            x.mul_(x)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    derived = differentiable(Squared, leaf(*X)).backward_map([np.ones(3)])
    (gradient,) = derived.evaluate(derived.primals)
    assert gradient is not None
    assert gradient.tolist() == [4.0, 6.0, 10.0]
    assert derived.call(derived.primals, [np.ones(3)]).failure is None


def test_needs_can_be_switched_off_for_a_backward_map() -> None:
    derived = differentiable(Product, leaf(*X), leaf(*Y)).backward_map([np.ones(3)])
    seen = derived.call(derived.primals, [np.ones(3), np.ones(3)], needs=[False, False, True])
    assert seen.failure is None
    assert seen.gradients is not None
    assert seen.gradients[0] is None
    np.testing.assert_allclose(seen.gradients[2], 3 * (np.array(X) + np.array(Y)))


def test_a_failing_backward_fails_the_evaluation_of_its_map() -> None:
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("not today")

    derived = differentiable(Bad, leaf(*X)).backward_map([np.ones(3)])
    failure = derived.call(derived.primals).failure
    assert failure is not None
    assert failure.message == "ValueError: not today"
    assert failure.line == line_of(Bad.backward, "not today")
