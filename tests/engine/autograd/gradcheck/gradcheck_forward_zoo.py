"""Functions with a jvp, right and wrong, in source that runs on both engines.

Each entry takes the ``torch`` namespace and returns (func, inputs), as in `gradcheck_zoo`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.engine.autograd.gradcheck.gradcheck_zoo import Builder, Made, numbers


def product(
    jvp: Callable[..., Any],
    backward: Callable[..., Any] | None = None,
    *,
    materialize: bool = True,
    separate: bool = False,
) -> Builder:
    """``x * y``, with this jvp of (torch, x, y, dx, dy) and backward of (torch, x, y, g)."""
    pull = backward or (lambda torch, x, y, g: (g * y, g * x))

    def build(torch: Any) -> Made:
        class Product(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.set_materialize_grads(materialize)
                ctx.save_for_backward(x, y)
                ctx.save_for_forward(x, y)
                return x * y

            @staticmethod
            def backward(ctx, g):
                return (None, None) if g is None else pull(torch, *ctx.saved_tensors, g)

            @staticmethod
            def jvp(ctx, dx, dy):
                return jvp(torch, *ctx.saved_tensors, dx, dy)

        class Separate(Product):
            @staticmethod
            def forward(x, y):
                return x * y

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)
                ctx.save_for_forward(*inputs)

        chosen = Separate if separate else Product
        return chosen.apply, (numbers(torch, 3), numbers(torch, 3, start=1.1))

    return build


def _sum(dx: Any, dy: Any, x: Any, y: Any) -> Any:
    return (0 if dx is None else dx * y) + (0 if dy is None else x * dy)


right = product(lambda torch, x, y, dx, dy: dx * y + x * dy)
right_separate = product(lambda torch, x, y, dx, dy: dx * y + x * dy, separate=True)
right_undefined = product(lambda torch, x, y, dx, dy: _sum(dx, dy, x, y), materialize=False)
wrong_sign = product(lambda torch, x, y, dx, dy: dx * y - x * dy)
one_forgotten = product(lambda torch, x, y, dx, dy: dx * y)
undefined_taken_for_one = product(
    lambda torch, x, y, dx, dy: (y if dx is None else dx * y) + (x if dy is None else x * dy),
    materialize=False,
)
jvp_decides = product(
    lambda torch, x, y, dx, dy: dx * y + x * dy if dx.sum() > -1e9 else dx,
)
backward_decides = product(
    lambda torch, x, y, dx, dy: dx * y + x * dy,
    lambda torch, x, y, g: (g * y, g * x) if g.sum() > -1e9 else (g, g),
)
backward_sees_through_numpy = product(
    lambda torch, x, y, dx, dy: dx * y + x * dy,
    lambda torch, x, y, g: (torch.from_numpy(g.numpy() * y.detach().numpy()), g * x),
)
jvp_squares = product(lambda torch, x, y, dx, dy: dx * dx.abs() * y + x * dy)


def plain_operations(torch: Any) -> Made:
    return (lambda x, y: ((x * y).sin().sum(0), x.exp() @ y.t())), (
        numbers(torch, 2, 3),
        numbers(torch, 2, 3, start=0.1),
    )


def complex_operations(torch: Any) -> Made:
    x = (numbers(torch, 3, requires_grad=False) * (1 + 2j)).requires_grad_()
    return (lambda x: (x * x.conj() * x, x.abs())), (x,)


def real_to_complex(torch: Any) -> Made:
    return (lambda x: x * (1 + 2j) * x), (numbers(torch, 3),)


def identity_and_view(torch: Any) -> Made:
    return (lambda x: (x.t() * 2, x.reshape(-1)[1:])), (numbers(torch, 2, 2),)


def in_place(torch: Any) -> Made:
    def func(x):
        y = x.clone()
        y[0].mul_(3)
        y += x
        return y

    return func, (numbers(torch, 2, 2),)


def dirty(torch: Any) -> Made:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, dx):
            dx.mul_(2)
            return dx

    return (lambda x: Doubled.apply(x.clone())), (numbers(torch, 3),)


def two_outputs(torch: Any) -> Made:
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            index = torch.argsort(x)
            ctx.mark_non_differentiable(index)
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(x, y)
            return y, index, x * x

        @staticmethod
        def backward(ctx, g, _, h):
            x, y = ctx.saved_tensors
            return g * y + 2 * h * x

        @staticmethod
        def jvp(ctx, dx):
            x, y = ctx.saved_tensors
            return dx * y, None, 2 * dx * x

    return Two.apply, (numbers(torch, 3),)


def intermediate_saved(torch: Any) -> Made:
    """exp(x)², right to first order; its intermediate is cut from what it depends on."""

    class Squared(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            e = x.exp()
            ctx.save_for_backward(e)
            ctx.save_for_forward(e)
            return e * e

        @staticmethod
        def backward(ctx, g):
            (e,) = ctx.saved_tensors
            return 2 * e * e * g

        @staticmethod
        def jvp(ctx, dx):
            (e,) = ctx.saved_tensors
            return 2 * e * e * dx

    return Squared.apply, (numbers(torch, 3),)


def without_jvp(torch: Any) -> Made:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    return Square.apply, (numbers(torch, 3),)


Verdicts = tuple[bool, bool, bool, bool, bool]
"""Of forward mode, fast too, of a batch of cotangents, one of tangents, forward over reverse."""

VERDICTS: dict[Builder, Verdicts] = {
    right: (True, True, True, True, True),
    right_separate: (True, True, True, True, True),
    right_undefined: (True, True, True, True, True),
    wrong_sign: (False, False, True, False, True),
    one_forgotten: (False, False, True, False, True),
    undefined_taken_for_one: (False, False, True, False, True),
    jvp_decides: (True, True, True, False, True),
    backward_decides: (True, True, False, True, True),
    backward_sees_through_numpy: (True, True, False, True, False),
    plain_operations: (True, True, True, True, True),
    complex_operations: (True, True, True, True, True),
    real_to_complex: (True, True, True, True, True),
    identity_and_view: (True, True, True, True, True),
    in_place: (True, True, True, True, True),
    dirty: (True, True, True, True, True),
    two_outputs: (True, True, True, True, True),
    intermediate_saved: (True, True, True, True, False),
    without_jvp: (False, False, True, False, False),
}

FAULTS_OF_PYTORCH: dict[Builder, Verdicts] = {
    complex_operations: (True, True, True, False, True),
    # "INTERNAL ASSERT FAILED", with a batch of tangents of a view.
    dirty: (True, True, True, False, True),
    # "not modifying the forward mode gradients inplace", although it does, in a batch.
    two_outputs: (False, True, False, False, True),
    # "IndexError: list index out of range", after an output without a gradient.
}
