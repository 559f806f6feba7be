"""Custom Functions under vmap, grad, jvp and forward mode by hand."""

from __future__ import annotations

import pytest


def double(torch, *values):
    return torch.tensor(values, dtype=torch.float64)


def cube(torch, **attributes):
    """x cubed, with a backward, a jvp, and whatever else is given."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            (x,) = inputs
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * t

    for name, value in attributes.items():
        setattr(Cube, name, value)
    return Cube


def test_grad_and_its_grad(torch):
    function = cube(torch)
    grad = torch.func.grad(lambda x: function.apply(x).sum())
    x = double(torch, 2.0)
    assert grad(x).item() == 12.0
    assert torch.func.grad(lambda x: grad(x).sum())(x).item() == 12.0


def test_own_backward_is_used_under_grad(torch):
    wrong = cube(torch, backward=staticmethod(lambda ctx, g: g * 100))
    assert torch.func.grad(lambda x: wrong.apply(x).sum())(double(torch, 2.0)).item() == 100.0


def test_generated_vmap_rule(torch):
    function = cube(torch, generate_vmap_rule=True)
    x = double(torch, 1.0, 2.0, 3.0)
    assert torch.func.vmap(function.apply)(x).tolist() == [1.0, 8.0, 27.0]
    grads = torch.func.vmap(torch.func.grad(function.apply))(x)
    assert grads.tolist() == [3.0, 12.0, 27.0]


def test_generated_rule_uses_own_backward(torch):
    wrong = cube(torch, generate_vmap_rule=True, backward=staticmethod(lambda ctx, g: g * 100))
    x = double(torch, 1.0, 2.0).requires_grad_()
    torch.func.vmap(wrong.apply)(x).sum().backward()
    assert x.grad.tolist() == [100.0, 100.0]


def test_generated_rule_with_a_shared_argument(torch):
    class Mul(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

    x = double(torch, 1.0, 2.0, 3.0).requires_grad_()
    y = double(torch, 5.0).sum().detach().requires_grad_()
    torch.func.vmap(Mul.apply, in_dims=(0, None))(x, y).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0, 5.0]
    assert y.grad.item() == 6.0


def test_generated_rule_reduces_what_was_broadcast(torch):
    class Mul(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

    x = double(torch, *range(12)).reshape(2, 3, 2).requires_grad_()
    y = double(torch, 5.0, 6.0, 7.0, 8.0).reshape(2, 2).requires_grad_()
    torch.func.vmap(Mul.apply)(x, y).sum().backward()
    assert y.grad.tolist() == [[6.0, 9.0], [24.0, 27.0]]
    assert x.grad[:, 0].tolist() == [[5.0, 6.0], [7.0, 8.0]]


def test_generated_rule_of_outputs_in_containers(torch):
    class Exp(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            result = x.exp()
            return result, {"result": [result.clone()]}

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output[1]["result"][0])

        @staticmethod
        def backward(ctx, g, _):
            (result,) = ctx.saved_tensors
            return g * result.sum() * 2

    x = double(torch, 0.0, 0.0, 0.0, 0.0).reshape(2, 2).requires_grad_()
    out, others = torch.func.vmap(Exp.apply)(x)
    assert others["result"][0].tolist() == out.tolist()
    out.sum().backward()
    assert x.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_own_vmap(torch):
    seen = []

    def rule(info, in_dims, x):
        seen.append((info.batch_size, in_dims))
        return x**3, 0

    function = cube(torch, vmap=staticmethod(rule))
    out = torch.func.vmap(function.apply)(double(torch, 1.0, 2.0))
    assert out.tolist() == [1.0, 8.0]
    assert seen == [(2, (0,))]


def test_jvp(torch):
    function = cube(torch)
    value, tangent = torch.func.jvp(function.apply, (double(torch, 2.0),), (double(torch, 1.0),))
    assert (value.item(), tangent.item()) == (8.0, 12.0)


def test_forward_mode_by_hand(torch):
    fwad = torch.autograd.forward_ad
    function = cube(torch)
    with fwad.dual_level():
        dual = fwad.make_dual(double(torch, 2.0), double(torch, 0.5))
        primal, tangent = fwad.unpack_dual(function.apply(dual))
        assert (primal.item(), tangent.item()) == (8.0, 6.0)
        assert fwad.unpack_dual(double(torch, 1.0)).tangent is None


def test_combined_forward_is_refused(torch):
    class Combined(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with pytest.raises(RuntimeError, match="setup_context"):
        torch.func.grad(lambda x: Combined.apply(x).sum())(double(torch, 1.0))
    with pytest.raises(RuntimeError, match="setup_context"):
        torch.func.vmap(Combined.apply)(double(torch, 1.0))


def test_no_rule_for_vmap(torch):
    with pytest.raises(RuntimeError, match="vmap"):
        torch.func.vmap(cube(torch).apply)(double(torch, 1.0))


def test_both_rules_for_vmap(torch):
    function = cube(torch, generate_vmap_rule=True, vmap=staticmethod(lambda i, d, x: (x, 0)))
    with pytest.raises(RuntimeError, match="vmap"):
        torch.func.vmap(function.apply)(double(torch, 1.0))


def test_no_jvp(torch):
    class Plain(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with pytest.raises((NotImplementedError, RuntimeError), match="jvp"):
        torch.func.jvp(Plain.apply, (double(torch, 1.0),), (double(torch, 1.0),))


def test_a_jvp_from_a_saved_output_can_be_differentiated(torch):
    class Exponential(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(output)

        @staticmethod
        def jvp(ctx, t):
            (y,) = ctx.saved_tensors
            return t * y

        @staticmethod
        def backward(ctx, g):
            return g * 100

    x = double(torch, 0.0).requires_grad_()
    tangent = torch.func.jvp(Exponential.apply, (x,), (double(torch, 1.0),))[1]
    assert torch.autograd.grad(tangent, x)[0].item() == 100.0


@pytest.mark.parametrize("save", ["save_for_backward", "save_for_forward"])
@pytest.mark.parametrize("saved", ["input", "output"])
@pytest.mark.parametrize("dirty", [False, True])
def test_an_input_returned_as_it_is_is_not_saved_apart_from_forward(torch, save, saved, dirty):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            if dirty:
                ctx.mark_dirty(inputs[0])
            getattr(ctx, save)(inputs[0] if saved == "input" else output)

        @staticmethod
        def backward(ctx, grad):
            return grad

        @staticmethod
        def jvp(ctx, tangent):
            return tangent.add_(0) if dirty else tangent.view_as(tangent)

    x = torch.tensor(2.0)
    calls = (
        lambda: Same.apply(x.clone()),
        lambda: torch.func.grad(lambda x: Same.apply(x.clone()))(x),
        lambda: torch.func.jvp(lambda x: Same.apply(x.clone()), (x,), (x,)),
    )
    for call in calls:
        if dirty:
            call()
            continue
        with pytest.raises(RuntimeError, match="An input that has been returned as-is as output"):
            call()


def test_forward_mode_by_hand_does_not_nest_with_the_transform(torch):
    fw = torch.autograd.forward_ad
    x = torch.ones(2)

    def by_hand(x):
        with fw.dual_level():
            return x

    with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
        torch.func.jvp(by_hand, (x,), (x,))
    with fw.dual_level(), pytest.raises(RuntimeError, match="Nested forward mode AD"):
        torch.func.jvp(torch.sin, (x,), (x,))
    assert torch.func.jvp(torch.sin, (x,), (x,))[1].tolist() == x.cos().tolist()


VMAP_API = {
    "keyword": (
        lambda t, f: t.vmap(f)(t.ones(3), y=t.ones(3)),
        NotImplementedError,
        "Run vmap on autograd.Function with kwarg-only Tensor args.",
    ),
    "one return": (lambda t, f: t.vmap(f)(t.ones(3)), RuntimeError, "to have two returns"),
    "four returns": (lambda t, f: t.vmap(f)(t.ones(4)), RuntimeError, "Got 4 returns instead"),
    "other out_dims": (lambda t, f: t.vmap(f)(t.ones(5)), RuntimeError, "returned an incompatible"),
}


@pytest.mark.parametrize("case", VMAP_API)
def test_what_vmap_of_a_function_returns_is_checked(torch, case):
    class Odd(torch.autograd.Function):
        @staticmethod
        def forward(x, *, y=None):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, *, y=None):
            return {3: x, 4: (x, x, 0, 0), 5: (x, (0,))}[len(x)]

    call, error, message = VMAP_API[case]
    with pytest.raises(error, match=message):
        call(torch, Odd.apply)


def test_vmap_of_a_function_sees_dimensions_as_they_were_given(torch):
    seen = []

    class Seen(torch.autograd.Function):
        @staticmethod
        def forward(x, ys):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, ys):
            seen.append((info.batch_size, info.randomness, in_dims, tuple(x.shape)))
            return x, in_dims[0]

    x = torch.arange(6.0).reshape(3, 2)
    out = torch.vmap(lambda x: Seen.apply(x, [x, torch.ones(1)]), in_dims=1, out_dims=1)(x)
    assert seen == [(2, "error", (1, [1, None]), (3, 2))]
    assert out.tolist() == x.tolist()


def test_nodes_inside_transforms_are_named_as_generated(torch):
    names = []

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.clone()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            return grad

    def function(x):
        names.append(type(Same.apply(x).grad_fn).__name__)
        return x

    torch.func.grad(function)(torch.tensor(1.0))
    assert names == ["SameGeneratedBackward"]


def doubling(torch):
    """A Function that doubles its argument in place."""

    class Doubling(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.mul_(2)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(*inputs)

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t.mul_(2)

    return Doubling


def test_a_function_without_a_rule_is_refused_where_only_its_tangent_is_a_batch(torch):
    function = cube(torch)
    for transform in (torch.func.jacfwd, torch.func.hessian):
        with pytest.raises(RuntimeError, match="does not have vmap support"):
            transform(function.apply)(double(torch, 2.0))


def test_a_change_in_place_is_followed_through_two_levels(torch):
    function = doubling(torch)
    hessian = torch.func.hessian(lambda x: (function.apply(x.clone()) ** 3).sum())
    assert hessian(double(torch, 2.0)).tolist() == [[96.0]]


def test_a_missing_jvp_is_told_where_forward_changes_its_argument(torch):
    function = doubling(torch)
    del function.jvp
    with pytest.raises(NotImplementedError, match="must implement the jvp function"):
        torch.func.jacfwd(function.apply)(double(torch, 2.0))


def test_a_cotangent_that_examples_share_is_counted_once(torch):
    """An output that does not depend on the batched argument has no examples of its own."""

    class Second(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y):
            return y.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return torch.zeros_like(x), g * y.exp()

    x = double(torch, 1.0, 2.0, 3.0).requires_grad_()
    y = double(torch, 0.5, 0.25).requires_grad_()
    output = torch.func.vmap(Second.apply, in_dims=(0, None))(x, y)
    (grad,) = torch.autograd.grad(output.sum(), y)
    assert torch.allclose(grad, 3 * y.exp())
