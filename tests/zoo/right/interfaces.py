"""Unusual arguments, other ways to compute, and code around autograd; all right."""

import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class NumPyBothWays(Function):
    """A kernel of NumPy, wrapped as the tutorial shows."""

    @staticmethod
    def forward(ctx, x, scale):
        array = x.detach().cpu().numpy()
        result = np.sinh(array) * scale
        ctx.save_for_backward(x)
        ctx.scale = scale
        return torch.from_numpy(np.asarray(result))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = grad_output.numpy() * np.cosh(x.detach().numpy()) * ctx.scale
        return torch.from_numpy(np.asarray(grad)), None

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), 1.5


class ByAutogradInside(Function):
    """Runs forward again under enable_grad, as checkpointing does."""

    @staticmethod
    def body(x, w):
        return torch.tanh(x @ w)

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return ByAutogradInside.body(x, w)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, w = (each.detach().requires_grad_() for each in ctx.saved_tensors)
        with torch.enable_grad():
            y = ByAutogradInside.body(x, w)
        return torch.autograd.grad(y, (x, w), grad_output)

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 2)


class ImplicitRoot(Function):
    """x with x**3 + x = a, by Newton's method; the derivative by the implicit function theorem."""

    @staticmethod
    def forward(ctx, a):
        x = a / (1 + a.abs())
        for _ in range(60):
            x = x - (x**3 + x - a) / (3 * x**2 + 1)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / (3 * x**2 + 1)


class ManyOptions(Function):
    """Strings, tuples, None, booleans and a dtype between the tensors."""

    @staticmethod
    def forward(ctx, x, dims=(0, 1), mode="sum", weight=None, keep=False, dtype=None):
        ctx.dims, ctx.mode, ctx.keep, ctx.shape = dims, mode, keep, x.shape
        ctx.save_for_backward(x, weight)
        value = x if weight is None else x * weight
        return value.sum(dims, keepdim=keep) if mode == "sum" else value.mean(dims, keepdim=keep)

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        if not ctx.keep:
            for dim in sorted(ctx.dims):
                grad_output = grad_output.unsqueeze(dim)
        grad = grad_output.expand(ctx.shape)
        if ctx.mode == "mean":
            count = 1
            for dim in ctx.dims:
                count *= ctx.shape[dim]
            grad = grad / count
        if weight is None:
            return grad, None, None, None, None, None
        return grad * weight, None, None, grad * x, None, None

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), (0, 1), "sum"
        yield rand(2, 3), (1,), "mean", rand(2, 3), True
        yield rand(2, 3, 2), (0, 2), "mean", None, False, "float64"


class UnbindIntoMany(Function):
    """Returns as many outputs as there are rows."""

    @staticmethod
    def forward(ctx, x):
        return tuple(row.clone() for row in x)

    @staticmethod
    def backward(ctx, *grad_outputs):
        return torch.stack(grad_outputs)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 2),)


class StackOfArguments(Function):
    @staticmethod
    def forward(ctx, dim, *tensors):
        ctx.dim = dim
        return torch.stack(tensors, dim)

    @staticmethod
    def backward(ctx, grad_output):
        return None, *grad_output.unbind(ctx.dim)

    @staticmethod
    def sample_inputs():
        yield 1, rand(2, 3), rand(2, 3), rand(2, 3)


class SetupContextStyle(Function):
    """Forward without ctx, defaults, and everything that transforms ask for."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y, alpha=1.0):
        return x + alpha * y * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, y, ctx.alpha = inputs
        ctx.save_for_backward(y)
        ctx.save_for_forward(y)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        grad_y = grad_output * 2 * ctx.alpha * y if ctx.needs_input_grad[1] else None
        return grad_output, grad_y, None

    @staticmethod
    def jvp(ctx, x_t, y_t, _):
        (y,) = ctx.saved_tensors
        return x_t + 2 * ctx.alpha * y * y_t

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3), 0.5


class VmapByHand(Function):
    @staticmethod
    def forward(x):
        return x.flip(-1).cumsum(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.flip(-1).cumsum(-1)

    @staticmethod
    def vmap(info, in_dims, x):
        return VmapByHand.apply(x.movedim(in_dims[0], 0)), 0

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class RowsAndTheirCount(Function):
    """A tensor, an integer tensor and a number are returned together."""

    @staticmethod
    def forward(ctx, x, threshold):
        kept = x[:, 0] > threshold
        count = kept.sum()
        ctx.mark_non_differentiable(count)
        ctx.save_for_backward(kept)
        return x * kept[:, None], count

    @staticmethod
    def backward(ctx, grad_output, _):
        (kept,) = ctx.saved_tensors
        return grad_output * kept[:, None], None

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[1.0, 2.0], [-1.0, 0.3], [0.7, -2.0]], dtype=torch.float64)
        yield x.requires_grad_(), 0.5


class AccumulatesIntoFreshBuffer(Function):
    @staticmethod
    def forward(ctx, x, steps):
        ctx.steps = steps
        out = torch.zeros_like(x)
        for step in range(1, steps + 1):
            out += x / step
        return out

    @staticmethod
    def backward(ctx, grad_output):
        grad = torch.zeros_like(grad_output)
        for step in range(1, ctx.steps + 1):
            grad += grad_output / step
        return grad, None

    @staticmethod
    def sample_inputs():
        yield rand(3), 4


class AddInPlace(Function):
    """Changes its first argument, and says so."""

    @staticmethod
    def forward(ctx, x, y):
        x += y
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(2, 3)


class UndefinedAllowed(Function):
    """Two losses of which a user may take one."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.square().sum(), x.sin().sum()

    @staticmethod
    def backward(ctx, grad_square, grad_sin):
        (x,) = ctx.saved_tensors
        grad = None
        if grad_square is not None:
            grad = grad_square * 2 * x
        if grad_sin is not None:
            other = grad_sin * x.cos()
            grad = other if grad is None else grad + other
        return grad


class FloatOnly(Function):
    """Refuses every dtype but float32."""

    @staticmethod
    def forward(ctx, x):
        if x.dtype != torch.float32:
            raise TypeError(f"expected float32, got {x.dtype}")
        ctx.save_for_backward(x)
        return x * x + x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (2 * x + 1)

    @staticmethod
    def sample_inputs():
        yield (torch.randn(2, 3, requires_grad=True),)


class MagnitudeAndPhase(Function):
    """A complex input, two real outputs."""

    @staticmethod
    def forward(ctx, z):
        r, phi = z.abs(), z.angle()
        ctx.save_for_backward(z)
        return r, phi

    @staticmethod
    def backward(ctx, grad_r, grad_phi):
        (z,) = ctx.saved_tensors
        r = z.abs()
        unit = z / r
        return grad_r * unit + grad_phi * 1j * unit / r

    @staticmethod
    def sample_inputs():
        z = torch.randn(4, dtype=torch.complex128)
        yield ((z + z / z.abs()).requires_grad_(),)


class ComplexLinear(Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        return grad_output @ w.conj().T, x.conj().T @ grad_output

    @staticmethod
    def sample_inputs():
        yield (
            torch.randn(2, 3, dtype=torch.complex128, requires_grad=True),
            torch.randn(3, 2, dtype=torch.complex128, requires_grad=True),
        )


class NestedInBackward(Function):
    """Backward applies another Function, so that it can be differentiated again."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp() + x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return _Slope.apply(x, grad_output)


class _Slope(Function):
    @staticmethod
    def forward(ctx, x, g):
        ctx.save_for_backward(x, g)
        return g * (x.exp() + 3 * x**2)

    @staticmethod
    def backward(ctx, grad_output):
        x, g = ctx.saved_tensors
        return grad_output * g * (x.exp() + 6 * x), grad_output * (x.exp() + 3 * x**2)


class ExpandedGradient(Function):
    """The gradient of a mean is one number; returned expanded, without memory of its own."""

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.mean()

    @staticmethod
    def backward(ctx, grad_output):
        count = 1
        for extent in ctx.shape:
            count *= extent
        return (grad_output / max(count, 1)).expand(ctx.shape)


class OfAFrozenWeight(Function):
    """A weight that a case does not train, with its gradient right for those who do."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return torch.nn.functional.linear(x, weight)

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = grad_output @ weight if ctx.needs_input_grad[0] else None
        grad_weight = grad_output.T @ x if ctx.needs_input_grad[1] else None
        return grad_x, grad_weight

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), torch.randn(2, 3, dtype=torch.float64)
