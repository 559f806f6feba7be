"""A NestedIOFunction sees its arguments, outputs, gradients and saved tensors nested."""

from __future__ import annotations

import weakref
from typing import Any, ClassVar, NamedTuple

import pytest

import gradtool.engine as torch
from gradtool.engine._errors import ContractError
from gradtool.engine.autograd.function import NestedIOFunction


class Pair(NamedTuple):
    a: Any
    b: Any


class Mix(NestedIOFunction):
    """(x, [y, {"z": z}], None) -> (x * y, Pair(z * z, [x + z]))."""

    seen: ClassVar[list[Any]] = []

    @staticmethod
    def forward_extended(ctx: Any, x: Any, rest: Any, nothing: Any) -> Any:
        assert nothing is None
        y, z = rest[0], rest[1]["z"]
        ctx.save_for_backward({"x": x}, [y, (z,)])
        return x * y, Pair(z * z, [x + z])

    @staticmethod
    def backward_extended(ctx: Any, g_product: Any, g_pair: Any) -> Any:
        Mix.seen.append((g_product, g_pair))
        held, (y, (z,)) = ctx.saved_tensors
        (g_sum,) = g_pair.b
        return (
            g_product * y + g_sum,
            [g_product * held["x"], {"z": 2 * z * g_pair.a + g_sum}],
            None,
        )


def arguments() -> tuple[Any, Any, Any]:
    return tuple(  # type: ignore[return-value]
        torch.tensor([value], dtype=torch.float64, requires_grad=True) for value in (2.0, 3.0, 5.0)
    )


def test_round_trip() -> None:
    x, y, z = arguments()
    product, pair = Mix.apply(x, [y, {"z": z}], None)
    assert isinstance(pair, Pair)
    assert (product.item(), pair.a.item(), pair.b[0].item()) == (6.0, 25.0, 7.0)
    assert product.grad_fn.name() == "MixBackward"
    (product + 10 * pair.a + 100 * pair.b[0]).backward()
    assert (x.grad.item(), y.grad.item(), z.grad.item()) == (103.0, 2.0, 200.0)
    assert isinstance(Mix.seen[-1][1], Pair)


def test_gradients_of_gradients() -> None:
    x, y, z = arguments()
    product, pair = Mix.apply(x, [y, {"z": z}], None)
    (first,) = torch.autograd.grad((product * pair.a).sum(), z, create_graph=True)
    (second,) = torch.autograd.grad(first, z)
    assert (first.item(), second.item()) == (2 * 5.0 * 6.0, 2 * 6.0)


def test_single_output_stays_single() -> None:
    class Sum(NestedIOFunction):
        @staticmethod
        def forward_extended(ctx: Any, parts: Any) -> Any:
            return parts[0] + parts[1]

        @staticmethod
        def backward_extended(ctx: Any, g: Any) -> Any:
            return [g, None]

    x, y, _ = arguments()
    out = Sum.apply([x, y])
    out.backward()
    assert out.item() == 5.0
    assert (x.grad.item(), y.grad) == (1.0, None)


def test_none_stands_for_a_whole_argument() -> None:
    class First(NestedIOFunction):
        @staticmethod
        def forward_extended(ctx: Any, x: Any, rest: Any) -> Any:
            index = rest["y"].argmax()
            ctx.mark_non_differentiable([index])
            return {"out": x * 1, "index": index}

        @staticmethod
        def backward_extended(ctx: Any, grads: Any) -> Any:
            return grads["out"], None

    x, y, z = arguments()
    out = First.apply(x, {"y": y, "z": [z]})
    assert not out["index"].requires_grad
    out["out"].backward()
    assert (x.grad.item(), y.grad, z.grad) == (1.0, None, None)


def test_inputs_changed_in_place_are_declared_nested() -> None:
    class AddTo(NestedIOFunction):
        @staticmethod
        def forward_extended(ctx: Any, target: Any, value: Any) -> Any:
            ctx.mark_dirty(target)
            target[0].add_(value)
            return target

        @staticmethod
        def backward_extended(ctx: Any, g: Any) -> Any:
            return g, g[0]

    x, y, _ = arguments()
    held = x.clone()
    (out,) = AddTo.apply([held], y)
    assert out is held
    out.backward()
    assert (held.item(), x.grad.item(), y.grad.item()) == (5.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "wrong", [(None,), (None, [None, {}, None], None), (None, None, None, None)]
)
def test_gradients_nested_otherwise_are_refused(wrong: Any) -> None:
    class Wrong(Mix):
        @staticmethod
        def backward_extended(ctx: Any, *grads: Any) -> Any:
            return wrong

    x, y, z = arguments()
    product, _ = Wrong.apply(x, [y, {"z": z}], None)
    with pytest.raises(ContractError, match="nested differently from its inputs") as raised:
        product.backward()
    assert raised.value.kind == "gradient-count"


def test_unknown_key_in_gradients_is_refused() -> None:
    class Wrong(Mix):
        @staticmethod
        def backward_extended(ctx: Any, g: Any, _: Any) -> Any:
            return g, [g, {"w": g}], None

    x, y, z = arguments()
    product, _ = Wrong.apply(x, [y, {"z": z}], None)
    with pytest.raises(ContractError, match="expected 1 in one place, got 2"):
        product.backward()


def test_other_things_than_tensors_are_refused() -> None:
    x, _, _ = arguments()
    with pytest.raises(ValueError, match="doesn't know how to process an input object of type int"):
        Mix.apply(x, [1, {}], None)


def test_both_methods_must_be_there() -> None:
    class Empty(NestedIOFunction):
        pass

    class NoBackward(NestedIOFunction):
        @staticmethod
        def forward_extended(ctx: Any, x: Any) -> Any:
            return x * 1

    x, _, _ = arguments()
    with pytest.raises(NotImplementedError, match="forward_extended"):
        Empty.apply(x)
    with pytest.raises(NotImplementedError, match="backward_extended"):
        NoBackward.apply(x).backward()


def test_nothing_is_kept_alive_by_the_shapes() -> None:
    x, y, z = arguments()
    temporary = y * 1
    alive = weakref.ref(temporary)
    out = Mix.apply(x, [temporary, {"z": z}], None)
    del temporary
    out[0].sum().backward()
    assert alive() is None
