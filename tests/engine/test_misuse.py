"""Misuse raises PyTorch's exception, with its type and message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as engine

pytestmark = pytest.mark.torch


def leaf(t: Any, *shape: int) -> Any:
    return t.ones(*shape, requires_grad=True)


def overwritten(t: Any) -> None:
    y = leaf(t, 3).exp()
    y.add_(1)
    y.sum().backward()


def overwritten_product(t: Any) -> None:
    y = leaf(t, 3) * 2
    z = y * y
    y.mul_(2)
    z.sum().backward()


def overwritten_leaf(t: Any) -> None:
    x = t.rand(3, 3)
    y = leaf(t, 3, 3) @ x
    x.add_(1)
    y.sum().backward()


def overwritten_part(t: Any) -> None:
    x = leaf(t, 3) * 2
    y = x * x
    x[0].add_(1)
    y.sum().backward()


def overwritten_base(t: Any) -> None:
    x = leaf(t, 2, 3) * 2
    y = x @ x.t()
    x.zero_()
    y.sum().backward()


def of_function(t: Any, backward: Callable[..., Any], save: tuple[Any, ...] = ()) -> None:
    class Twice(t.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(*save)
            return x * 2

    Twice.backward = staticmethod(backward)
    Twice.apply(leaf(t, 2)).sum().backward()


def written_leaf(t: Any) -> None:
    class AddOne(t.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.add_(1)

    AddOne.apply(leaf(t, 2))


def without_backward(t: Any) -> None:
    class Only(t.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    Only.apply(leaf(t, 2)).sum().backward()


class Foreign:
    def __radd__(self, other: Any) -> Any:
        raise ValueError("asked")


SINGULAR = [[1.0, 2.0], [2.0, 4.0]]

MISUSES: list[Callable[[Any], Any]] = [
    lambda t: leaf(t, 3).backward(),
    lambda t: t.ones(3).sum().backward(),
    lambda t: t.autograd.grad(leaf(t, 3) * 2, t.ones(1)),
    lambda t: t.autograd.grad(leaf(t, 1).sum(), t.ones(1)),
    lambda t: t.autograd.grad(leaf(t, 1).sum(), [leaf(t, 1)]),
    overwritten,
    overwritten_product,
    overwritten_leaf,
    overwritten_part,
    overwritten_base,
    written_leaf,
    without_backward,
    lambda t: of_function(t, lambda ctx, g: (g, g)),
    lambda t: of_function(t, lambda ctx, g: g.sum().expand(5)),
    lambda t: of_function(t, lambda ctx, g: 3.0),
    lambda t: of_function(t, lambda ctx, g: g, (3,)),
    lambda t: leaf(t, 3).add_(1),
    lambda t: leaf(t, 3)[0].add_(1),
    lambda t: leaf(t, 3).numpy(),
    lambda t: leaf(t, 3).clone().__setitem__(0, None),
    lambda t: t.abs(t.ones(2), out=3),
    lambda t: leaf(t, 3).requires_grad_("yes"),
    lambda t: setattr(leaf(t, 3), "shape", (3,)),
    lambda t: setattr(leaf(t, 3), "grad", t.ones(2).double()),
    lambda t: t.func.grad(lambda x: x.sum())(t.arange(3)),
    lambda t: t.arange(3).requires_grad_(),
    lambda t: t.ones(2) + "a",
    lambda t: None - t.ones(2),
    lambda t: t.ones(2) + Foreign(),
    lambda t: t.add(t.ones(2), "a"),
    lambda t: t.device("foo"),
    lambda t: t.ones(2, 2).expand(3, 3),
    lambda t: t.ones(2).double() @ t.ones(2),
    lambda t: t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, 5])),
    lambda t: t.linalg.inv(t.tensor(SINGULAR)),
    lambda t: t.linalg.inv(t.stack([t.eye(2), t.tensor(SINGULAR)])),
    lambda t: t.linalg.solve(t.tensor(SINGULAR), t.ones(2)),
    lambda t: t.linalg.cholesky(t.diag(t.tensor([1.0, 2.0, -1.0]))),
    lambda t: t.nn.Linear(3, 2)(t.ones(4, 5)),
    lambda t: t.cat([t.ones(2, 3), t.ones(3, 2)]),
    lambda t: t.ones(2, 3).t().view(6),
    lambda t: bool(t.ones(3)),
    lambda t: len(t.tensor(1)),
]


@pytest.mark.parametrize("misuse", MISUSES)
def test_raises_what_pytorch_raises(misuse: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert raised(engine, misuse) == raised(torch, misuse)


def raised(torch: Any, misuse: Callable[[Any], Any]) -> tuple[str, str]:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the point is to see which
        misuse(torch)
    return caught.type.__name__, str(caught.value)
