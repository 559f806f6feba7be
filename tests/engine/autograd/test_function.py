"""Custom Functions: what ctx offers, what apply does, and which mistake raises what."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from gradtool import engine


def double(torch: Any, *values: float, requires_grad: bool = True) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


def square(torch: Any) -> Any:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    return Square


def returning(torch: Any, make: Any, inputs: int = 1) -> Any:
    """A Function of the sum of its inputs, whose backward returns what `make` makes of g."""

    class Returning(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *xs):
            return sum(x for x in xs if isinstance(x, torch.Tensor)) * 1

        @staticmethod
        def backward(ctx, g):
            return make(g)

    return Returning


def test_gradient_is_what_backward_returns(torch):
    x = double(torch, 1.0, -2.0)
    square(torch).apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, -4.0]


def test_name_of_the_node(torch):
    y = square(torch).apply(double(torch, 1.0))
    assert y.grad_fn.name() == "SquareBackward"
    assert type(y.grad_fn).__name__ == "SquareBackward"
    assert not y.is_leaf
    assert y.requires_grad


def test_double_backward_through_saved_input(torch):
    x = double(torch, 3.0)
    (g,) = torch.autograd.grad(square(torch).apply(x).sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    assert gg.item() == 2.0


def test_saved_output_is_differentiable_again(torch):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, i):
            result = i.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, g):
            (result,) = ctx.saved_tensors
            return g * result

    x = double(torch, 0.5)
    (g,) = torch.autograd.grad(Exp.apply(x).sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    (ggg,) = torch.autograd.grad(gg.sum(), x)
    assert ggg.item() == pytest.approx(x.exp().item(), rel=1e-15)


def test_setup_context_binds_defaults_and_keywords(torch):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x, factor=2.0):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]
            assert len(inputs) == 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    x = double(torch, 1.0)
    Scale.apply(x).sum().backward()
    assert x.grad.item() == 2.0
    assert Scale.apply(x, factor=5.0).item() == 5.0


def test_combined_forward_takes_keywords_too(torch):
    x = double(torch, 3.0)
    square(torch).apply(x=x).sum().backward()
    assert x.grad.item() == 6.0
    with pytest.raises(TypeError):
        square(torch).apply(x, nonsense=1)


def test_vjp_is_another_name_of_backward(torch):
    class Triple(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 3 * x

        @staticmethod
        def vjp(ctx, g):
            return 3 * g

    x = double(torch, 1.0)
    Triple.apply(x).sum().backward()
    assert x.grad.item() == 3.0


def test_both_names_are_refused(torch):
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 3 * x

        @staticmethod
        def backward(ctx, g):
            return 3 * g

        @staticmethod
        def vjp(ctx, g):
            return 3 * g

    with pytest.raises(RuntimeError, match="'backward' and 'vjp'"):
        Both.apply(double(torch, 1.0)).sum().backward()


def test_needs_input_grad(torch):
    seen = []

    class Mix(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, n, y):
            seen.append(ctx.needs_input_grad)
            return x * n + y

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            return g, None, g

    x, y = double(torch, 1.0), double(torch, 1.0, requires_grad=False)
    Mix.apply(x, 2, y).sum().backward()
    assert seen == [(True, False, False), (True, False, False)]


def test_forward_runs_unrecorded_on_the_tensors_given(torch):
    seen = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append((x.requires_grad, torch.is_grad_enabled(), (x * 2).requires_grad))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(torch.is_grad_enabled())
            return g * 2

    x = double(torch, 1.0)
    torch.autograd.grad(Look.apply(x).sum(), x)
    torch.autograd.grad(Look.apply(x).sum(), x, create_graph=True)
    assert seen == [(True, False, False), False, (True, False, False), True]


def test_undefined_cotangents_are_materialized(torch):
    seen = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, g1, g2):
            seen.append(g2.tolist())
            return g1 + 2 * g2

    x = double(torch, 1.0, 2.0)
    Two.apply(x)[0].sum().backward()
    assert seen == [[0.0, 0.0]]
    assert x.grad.tolist() == [1.0, 1.0]


def test_undefined_cotangents_are_none_when_asked(torch):
    seen = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, g1, g2):
            seen.append((g1 is None, g2 is None))
            return 2 * g2

    x = double(torch, 1.0)
    Two.apply(x)[1].sum().backward()
    assert seen == [(True, False)]


def test_non_differentiable_output(torch):
    class Sort(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            values, index = x.sort()
            ctx.mark_non_differentiable(index)
            ctx.save_for_backward(x, index)
            return values, index

        @staticmethod
        def backward(ctx, g1, g2):
            x, index = ctx.saved_tensors
            assert g2.shape == index.shape
            grad = torch.zeros_like(x)
            grad.index_add_(0, index, g1)
            return grad

    x = double(torch, 3.0, 1.0, 2.0)
    values, index = Sort.apply(x)
    assert index.tolist() == [1, 2, 0]
    assert not index.requires_grad
    (values * double(torch, 1.0, 10.0, 100.0, requires_grad=False)).sum().backward()
    assert x.grad.tolist() == [100.0, 1.0, 10.0]


def test_float_output_marked_non_differentiable(torch):
    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 2, x * 3
            ctx.mark_non_differentiable(b)
            return a, b

        @staticmethod
        def backward(ctx, ga, gb):
            assert gb.tolist() == [0.0]
            return 2 * ga

    x = double(torch, 1.0)
    a, b = Pair.apply(x)
    assert a.requires_grad
    assert not b.requires_grad
    a.sum().backward()
    assert x.grad.item() == 2.0


def test_non_tensor_output_is_passed_through(torch):
    class WithText(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, "text", None

        @staticmethod
        def backward(ctx, g, text, nothing):
            assert text is None
            assert nothing is None
            return 2 * g

    x = double(torch, 1.0)
    y, text, nothing = WithText.apply(x)
    assert (text, nothing) == ("text", None)
    y.sum().backward()
    assert x.grad.item() == 2.0


def test_mark_dirty(torch):
    class AddOne(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    leaf = double(torch, 1.0)
    x = leaf.clone()
    before = x._version
    y = AddOne.apply(x)
    assert y is x
    assert x._version > before
    assert x.grad_fn.name() == "AddOneBackward"
    y.sum().backward()
    assert leaf.grad.item() == 5.0


def test_mark_dirty_spoils_what_was_saved_before(torch):
    class AddOne(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            array = x.detach().numpy()
            array += 1
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    x = double(torch, 1.0).clone()
    y = x * x
    AddOne.apply(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_dirty_but_not_returned(torch):
    class Forgets(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(RuntimeError, match="marked as dirty"):
        Forgets.apply(double(torch, 1.0).clone())


def test_dirty_leaf_is_refused(torch):
    class AddOne(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        AddOne.apply(double(torch, 1.0))


def test_input_returned_as_it_is(torch):
    class Identity(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 7

    x = double(torch, 1.0)
    y = Identity.apply(x)
    assert y is not x
    assert x.is_leaf
    y.sum().backward()
    assert x.grad.item() == 7.0


def test_extra_trailing_nones_are_accepted(torch):
    x = double(torch, 1.0)
    returning(torch, lambda g: (g, None, None)).apply(x).sum().backward()
    assert x.grad.item() == 1.0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda g: (g, g), RuntimeError, r"incorrect number of gradients \(expected 1, got 2\)"),
        (lambda g: (), RuntimeError, r"incorrect number of gradients \(expected 1, got 0\)"),
        (lambda g: g.sum().reshape(1).expand(3), RuntimeError, "invalid gradient at index 0"),
        (lambda g: g.tolist(), (RuntimeError, TypeError), "(number of gradients|expected)"),
        (lambda g: 1.0, (RuntimeError, TypeError), "expected Variable"),
    ],
)
def test_wrong_gradients_are_refused(torch, make, error, message):
    y = returning(torch, make).apply(double(torch, 1.0, 2.0)).sum()
    with pytest.raises(error, match=message):
        y.backward()


def test_gradient_for_what_is_no_tensor_is_refused(torch):
    y = returning(torch, lambda g: (g, g)).apply(double(torch, 1.0), 3).sum()
    with pytest.raises(RuntimeError, match="different than None at position 2"):
        y.backward()


def test_gradient_for_a_tensor_that_needs_none_is_dropped(torch):
    x, y = double(torch, 1.0), double(torch, 1.0, requires_grad=False)
    returning(torch, lambda g: (g, g)).apply(x, y).sum().backward()
    assert y.grad is None


def test_unreduced_and_uncast_gradients_are_brought_back(torch):
    class Broadcast(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.expand(4, 2) * 1

        @staticmethod
        def backward(ctx, g):
            return g.to(torch.float32)

    x = double(torch, 1.0, 2.0)
    Broadcast.apply(x).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]
    assert x.grad.dtype == torch.float64


def test_none_is_no_gradient(torch):
    x = double(torch, 1.0)
    returning(torch, lambda g: None).apply(x).sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("materialize", [True, False])
def test_a_function_further_on_gets_an_undefined_cotangent(torch, materialize):
    seen = []

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 3

        @staticmethod
        def backward(ctx, g):
            seen.append(None if g is None else g.tolist())
            return None if g is None else g * 3

    x = double(torch, 1.0)
    returning(torch, lambda g: None).apply(Scale.apply(x) * 2).sum().backward()
    assert seen == ([[0.0]] if materialize else [None])
    assert (x.grad is None) != materialize


def test_saved_input_changed_in_place_is_noticed(torch):
    x = double(torch, 1.0, 2.0).clone()
    y = square(torch).apply(x)
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_second_walk_needs_retain_graph(torch):
    x = double(torch, 1.0)
    y = square(torch).apply(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 4.0
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_only_tensors_can_be_saved(torch):
    class SavesText(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, 3)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(TypeError, match="save_for_backward can only save"):
        SavesText.apply(double(torch, 1.0))


def test_none_can_be_saved(torch):
    class SavesNone(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, bias=None):
            ctx.save_for_backward(x, bias)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            _, bias = ctx.saved_tensors
            assert bias is None
            return g, None

    SavesNone.apply(double(torch, 1.0), None).sum().backward()


def test_missing_methods(torch):
    class Empty(torch.autograd.Function):
        pass

    class ForwardOnly(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(NotImplementedError, match="forward function"):
        Empty.apply(double(torch, 1.0))
    y = ForwardOnly.apply(double(torch, 1.0)).sum()
    with pytest.raises(NotImplementedError, match="backward or vjp"):
        y.backward()


def test_instances_are_discouraged(torch):
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = square(torch)()
    with pytest.raises(RuntimeError, match=r"[Ll]egacy autograd function"):
        instance(double(torch, 1.0))


def test_no_recording_under_no_grad(torch):
    with torch.no_grad():
        y = square(torch).apply(double(torch, 1.0))
    assert y.is_leaf
    assert not y.requires_grad


def test_once_differentiable(torch):
    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = double(torch, 3.0)
    g = torch.ones(1, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(Once.apply(x), x, g, create_graph=True)
    assert first.item() == 6.0
    assert first.requires_grad
    with pytest.raises(RuntimeError, match="differentiate twice"):
        first.sum().backward()


def test_mark_shared_storage_is_deprecated(torch):
    class Marks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_shared_storage((x, x))
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.warns(FutureWarning, match="deprecated"):
        Marks.apply(double(torch, 1.0))


def test_node_is_freed_with_its_output(torch):
    kept = []

    class SavesOutput(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            kept.append(weakref.ref(ctx))
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    gc.disable()
    try:
        y = SavesOutput.apply(double(torch, 1.0))
        assert kept[0]() is not None
        del y
        assert kept[0]() is None
    finally:
        gc.enable()


def test_class_attributes_and_inheritance(torch):
    class Base(torch.autograd.Function):
        factor = 2.0

        @classmethod
        def scaled(cls, x):
            return x * cls.factor

    class Derived(Base):
        factor = 3.0

        @staticmethod
        def forward(ctx, x):
            return Derived.scaled(x)

        @staticmethod
        def backward(ctx, g):
            return Derived.scaled(g)

    x = double(torch, 1.0)
    Derived.apply(x).sum().backward()
    assert x.grad.item() == 3.0


@pytest.mark.parametrize(
    "attribute", ["edges", "hooks", "name", "order", "outputs", "release", "run_backward"]
)
def test_a_free_attribute_of_ctx_may_have_any_name(torch: Any, attribute: str) -> None:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            setattr(ctx, attribute, [factor])
            return x * factor, x

        @staticmethod
        def backward(ctx, grad_scaled, grad_same):
            (factor,) = getattr(ctx, attribute)
            return grad_scaled * factor + grad_same, None

    x = torch.ones(2, requires_grad=True)
    scaled, same = Scaled.apply(x, 3.0)
    (scaled.sum() + same.sum()).backward()
    assert x.grad.tolist() == [4.0, 4.0]
    assert repr(scaled).endswith("grad_fn=<ScaledBackward>)")


def marking(torch: Any, forward: Any) -> Any:
    return type(
        "Marking",
        (torch.autograd.Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, grad: grad)},
    )


def test_a_result_marked_as_changed_is_warned_of(torch):
    def forward(ctx, x):
        out = x * 2
        ctx.mark_dirty(out)
        return out

    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        out = marking(torch, forward).apply(double(torch, 1.0).clone())
    assert out.tolist() == [2.0]
    assert out._version == 1


def test_one_of_several_views_may_not_be_marked_as_changed(torch):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    part = double(torch, 1.0, 2.0).clone().unbind()[0]
    with pytest.raises(RuntimeError, match="Output 0 of Unbind is a view and is being modified"):
        marking(torch, forward).apply(part)


def test_a_refused_change_of_a_leaf_is_counted(torch: Any) -> None:
    class Add(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.add_(1)

    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used"):
        Add.apply(x)
    assert x._version == 2


def test_the_signature_of_forward_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Scaled(engine.autograd.Function):
        @staticmethod
        def forward(x, factor=2.0):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    x = engine.ones(2)
    assert Scaled.apply(x).tolist() == [2.0, 2.0]
    monkeypatch.delattr("inspect.signature")
    assert Scaled.apply(x).tolist() == [2.0, 2.0]
    assert Scaled.apply(x, 3.0).tolist() == [3.0, 3.0]
    assert Scaled.apply(x, factor=4.0).tolist() == [4.0, 4.0]
