"""Functions, right and wrong, in source that runs on the bundled engine and on PyTorch alike.

Each entry takes the ``torch`` namespace and returns (func, inputs).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Made = tuple[Callable[..., Any], tuple[Any, ...]]
Builder = Callable[[Any], Made]


def numbers(torch: Any, *shape: int, start: float = 0.3, requires_grad: bool = True) -> Any:
    """Distinct positive numbers, the same on both engines."""
    count = 1
    for extent in shape:
        count *= extent
    values = torch.arange(count, dtype=torch.float64) * 0.37 + start
    return values.reshape(shape).requires_grad_(requires_grad)


def unary(backward: Callable[[Any, Any, Any], Any], size: int = 3) -> Builder:
    """``x * x``, with this backward of (torch, x, grad_output)."""

    def build(torch: Any) -> Made:
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, grad_output):
                (x,) = ctx.saved_tensors
                return backward(torch, x, grad_output)

        return Square.apply, (numbers(torch, size),)

    return build


right_square = unary(lambda torch, x, g: 2 * x * g)
wrong_sign = unary(lambda torch, x, g: -2 * x * g)
wrong_factor = unary(lambda torch, x, g: 2.01 * x * g)
slightly_wrong_factor = unary(lambda torch, x, g: 2.0009 * x * g)
evaluated_at_output = unary(lambda torch, x, g: 2 * (x * x) * g)
cotangent_forgotten = unary(lambda torch, x, g: 2 * x)
gradient_none = unary(lambda torch, x, g: None)
gradient_zero = unary(lambda torch, x, g: torch.zeros_like(x))
gradient_nan = unary(lambda torch, x, g: 2 * x * g * float("nan"))
wrong_count = unary(lambda torch, x, g: (2 * x * g, g))
wrong_shape = unary(lambda torch, x, g: (2 * x * g)[:2])
cotangent_squared = unary(lambda torch, x, g: 2 * x * g * g, size=16)
cotangent_made_positive = unary(lambda torch, x, g: 2 * x * g.abs(), size=16)
cotangent_clamped = unary(lambda torch, x, g: 2 * x * g.clamp(-1, 1), size=16)
cotangent_mixed = unary(lambda torch, x, g: 2 * x * g + g[0] * g[1])
detached_backward = unary(lambda torch, x, g: 2 * x.detach() * g.detach())
raises_value_error = unary(lambda torch, x, g: [].index(g))


def linear(torch: Any) -> Made:
    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight, bias=None):
            ctx.save_for_backward(x, weight, bias)
            output = x.mm(weight.t())
            if bias is not None:
                output = output + bias.unsqueeze(0).expand_as(output)
            return output

        @staticmethod
        def backward(ctx, grad_output):
            x, weight, bias = ctx.saved_tensors
            grad_bias = grad_output.sum(0) if bias is not None else None
            return grad_output.mm(weight), grad_output.t().mm(x), grad_bias

    return Linear.apply, (numbers(torch, 2, 3), numbers(torch, 4, 3), numbers(torch, 4))


def _product(torch: Any, backward: Callable[[Any, Any, Any], Any]) -> Made:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return backward(x, y, g)

    return Product.apply, (numbers(torch, 2, 3), numbers(torch, 3, start=1.1))


def unreduced_broadcast(torch: Any) -> Made:
    return _product(torch, lambda x, y, g: (g * y, g * x))


def swapped_inputs(torch: Any) -> Made:
    func, (x, y) = _product(torch, lambda x, y, g: (g * x, g * y))
    return func, (x, y.detach().expand(2, 3).clone().requires_grad_())


def one_input_forgotten(torch: Any) -> Made:
    return _product(torch, lambda x, y, g: (g * y, None))


def constant_input(torch: Any) -> Made:
    func, (x, y) = _product(torch, lambda x, y, g: (g * y, None))
    return func, (x, y.detach())


def same_tensor_twice(torch: Any) -> Made:
    func, (x, _) = _product(torch, lambda x, y, g: (g * y, g * x))
    return func, (x, x)


def saved_output(torch: Any) -> Made:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, g):
            (result,) = ctx.saved_tensors
            return g * result

    return Exp.apply, (numbers(torch, 3),)


def saved_intermediate(torch: Any) -> Made:
    class SquaredExp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            e = x.exp()
            ctx.save_for_backward(e)
            return e * e

        @staticmethod
        def backward(ctx, g):
            (e,) = ctx.saved_tensors
            return 2 * e * e * g

    return SquaredExp.apply, (numbers(torch, 3),)


def once_differentiable(torch: Any) -> Made:
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

    return Once.apply, (numbers(torch, 3),)


def separate_setup(torch: Any) -> Made:
    class Distance(torch.autograd.Function):
        @staticmethod
        def forward(x, y):
            return (x * x + y * y).sqrt()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs, output)

        @staticmethod
        def vjp(ctx, g):
            x, y, distance = ctx.saved_tensors
            return g * x / distance, g * y / distance

    return Distance.apply, (numbers(torch, 3), numbers(torch, 3, start=1.0))


def sorting(torch: Any) -> Made:
    class Sort(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            values, order = x.sort()
            ctx.mark_non_differentiable(order)
            ctx.save_for_backward(order)
            return values, order

        @staticmethod
        def backward(ctx, g, _):
            (order,) = ctx.saved_tensors
            return torch.zeros_like(g).index_add(0, order, g)

    values = torch.tensor([0.4, -1.0, 2.5, 0.1], dtype=torch.float64, requires_grad=True)
    return Sort.apply, (values,)


def working_in_place(torch: Any) -> Made:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return lambda x: Doubled.apply(x.clone()), (numbers(torch, 3),)


def _two_outputs(torch: Any, backward: Callable[[Any, Any, Any], Any]) -> Made:
    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(x)
            return x * x, x * 3

        @staticmethod
        def backward(ctx, g1, g2):
            (x,) = ctx.saved_tensors
            return backward(x, g1, g2)

    return Pair.apply, (numbers(torch, 3),)


def two_outputs(torch: Any) -> Made:
    def backward(x, g1, g2):
        first = None if g1 is None else 2 * x * g1
        second = None if g2 is None else 3 * g2
        return first if second is None else second if first is None else first + second

    return _two_outputs(torch, backward)


def second_output_wrong(torch: Any) -> Made:
    def backward(x, g1, g2):
        return (0 if g1 is None else 2 * x * g1) + (0 if g2 is None else -3 * g2)

    return _two_outputs(torch, backward)


def undefined_not_handled(torch: Any) -> Made:
    class Unguarded(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if g is None:
                raise RuntimeError("no gradient")
            return g * 2

    return Unguarded.apply, (numbers(torch, 3),)


def undefined_taken_for_one(torch: Any) -> Made:
    class Guessing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return torch.ones(3, dtype=torch.float64) if g is None else g * 2

    return Guessing.apply, (numbers(torch, 3),)


def unsteady_backward(torch: Any) -> Made:
    """Right to within the tolerance, but never the same twice."""
    runs = []

    def backward(_, x, g):
        runs.append(1)
        return 2 * x * g * (1 + 1e-6 * len(runs))

    return unary(backward)(torch)


def unsteady_and_wrong(torch: Any) -> Made:
    runs = []

    def backward(_, x, g):
        runs.append(1)
        return x * g * len(runs)

    return unary(backward)(torch)


def unsteady_forward(torch: Any) -> Made:
    runs = []

    def noisy(x):
        runs.append(1)
        return x * len(runs)

    return noisy, (numbers(torch, 3),)


def _complex(torch: Any, backward: Callable[[Any, Any, Any], Any]) -> Made:
    func, _ = _product(torch, backward)
    x = torch.tensor([1.0 + 2j, -0.5 + 1j], dtype=torch.complex128, requires_grad=True)
    y = torch.tensor([0.3 - 1j, 2.0 + 0.5j], dtype=torch.complex128, requires_grad=True)
    return func, (x, y)


def complex_right(torch: Any) -> Made:
    return _complex(torch, lambda x, y, g: (g * y.conj(), g * x.conj()))


def complex_not_conjugated(torch: Any) -> Made:
    return _complex(torch, lambda x, y, g: (g * y, g * x))


def complex_modulus(torch: Any) -> Made:
    x = torch.tensor([1.0 + 2j, -0.5 + 1j], dtype=torch.complex128, requires_grad=True)
    return lambda x: (x * x.conj()).real, (x,)


def plain_operations(torch: Any) -> Made:
    return lambda x, y: (x.sin() * y).sum(0), (numbers(torch, 2, 3), numbers(torch, 3))


def captured_input(torch: Any) -> Made:
    """The function holds its input, as a module holds its parameters."""
    x = numbers(torch, 3)
    return lambda _: x.sin(), (x,)


def captured_input_wrong(torch: Any) -> Made:
    func, (x,) = wrong_sign(torch)
    return lambda _: func(x), (x,)


def constant_output(torch: Any) -> Made:
    return lambda x: torch.ones(2, dtype=torch.float64), (numbers(torch, 3),)


def detached_output(torch: Any) -> Made:
    return lambda x: x.detach() * 2, (numbers(torch, 3),)


def integer_output(torch: Any) -> Made:
    return lambda x: x > 0.5, (numbers(torch, 3),)


def detached_beside_another(torch: Any) -> Made:
    return lambda x: (x * x, x.detach() * 2), (numbers(torch, 3),)


def zero_dimensional(torch: Any) -> Made:
    return lambda x: x**3, (numbers(torch),)


def empty(torch: Any) -> Made:
    return lambda x: x * x, (numbers(torch, 0, 2),)


def not_contiguous(torch: Any) -> Made:
    x = numbers(torch, 2, 3, requires_grad=False).t().requires_grad_()
    return lambda x: x * x, (x,)


def with_a_plain_argument(torch: Any) -> Made:
    return lambda x, power, options: x**power * options["by"], (numbers(torch, 3), 2, {"by": 3.0})


def list_of_outputs(torch: Any) -> Made:
    return lambda x: [x * 2, x * x], (numbers(torch, 3),)


def kink(torch: Any) -> Made:
    return lambda x: x.relu(), (torch.zeros(2, dtype=torch.float64, requires_grad=True),)


def large_identity_with_one_entry_dropped(torch: Any) -> Made:
    class Identity(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            g = g.clone()
            g[-1] = 0
            return g

    return Identity.apply, (numbers(torch, 400),)


def large_right(torch: Any) -> Made:
    return lambda x: x.sin(), (numbers(torch, 400),)


# What checking says: slow, fast, and of the second order. PyTorch says the same.
VERDICTS: dict[Builder, tuple[bool, bool, bool]] = {
    right_square: (True, True, True),
    slightly_wrong_factor: (True, True, True),  # within rtol
    linear: (True, True, True),
    unreduced_broadcast: (True, True, True),  # the engine reduces
    constant_input: (True, True, True),
    same_tensor_twice: (True, True, True),
    saved_output: (True, True, True),
    separate_setup: (True, True, True),
    sorting: (True, True, True),
    working_in_place: (True, True, True),
    two_outputs: (True, True, True),
    complex_right: (True, True, True),
    complex_modulus: (True, True, True),
    plain_operations: (True, True, True),
    captured_input: (True, True, True),
    detached_beside_another: (True, True, True),  # outputs without a graph are not compared
    zero_dimensional: (True, True, True),
    empty: (True, True, True),
    not_contiguous: (True, True, True),
    with_a_plain_argument: (True, True, True),
    list_of_outputs: (True, True, True),
    large_right: (True, True, True),
    # Wrong at first order; the wrong gradient may still be differentiated rightly.
    wrong_sign: (False, False, True),
    wrong_factor: (False, False, True),
    evaluated_at_output: (False, False, True),
    cotangent_forgotten: (False, False, True),
    gradient_none: (False, False, True),
    gradient_zero: (False, False, True),
    gradient_nan: (False, False, False),
    swapped_inputs: (False, False, True),
    one_input_forgotten: (False, False, True),
    second_output_wrong: (False, False, True),
    undefined_not_handled: (False, False, True),
    undefined_taken_for_one: (False, False, True),
    complex_not_conjugated: (False, False, True),
    captured_input_wrong: (False, False, True),
    unsteady_backward: (False, False, False),
    unsteady_and_wrong: (False, False, False),
    unsteady_forward: (False, False, False),
    kink: (False, False, False),
    # Right at first order, cut or wrong at second.
    detached_backward: (True, True, False),
    once_differentiable: (True, True, False),
    saved_intermediate: (True, True, False),
}

# What they say of Functions of which PyTorch's says something else.
OURS: dict[Builder, tuple[bool, bool, bool]] = {
    cotangent_squared: (False, False, True),
    cotangent_made_positive: (False, False, True),
    cotangent_clamped: (False, False, True),
    cotangent_mixed: (False, False, True),
    large_identity_with_one_entry_dropped: (False, False, True),
    constant_output: (True, True, False),
    detached_output: (False, False, False),
    integer_output: (True, True, False),
}
