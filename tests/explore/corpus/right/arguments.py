"""Functions that are right with each number of arguments, and with the records they know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


def normal(*shape):
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(4))


class SigmoidLayer(Function):
    """The sigmoid of `x weight^T + bias`, which keeps nothing but what it returns."""

    @staticmethod
    def forward(ctx, x, weight, bias=None):
        out = torch.sigmoid(F.linear(x, weight, bias))
        ctx.save_for_backward(x, weight, out)
        return out

    @staticmethod
    def backward(ctx, g):
        x, weight, out = ctx.saved_tensors
        inner = g * out * (1 - out)
        by_bias = inner.sum(0) if ctx.needs_input_grad[2] else None
        return inner @ weight, inner.mT @ x, by_bias

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), draw(2, 3, seed=1), draw(2, seed=2)


class EvidenceOfNoisyPoints(Function):
    """Log evidence of values under a covariance, with noise and the variances of each point."""

    @staticmethod
    def forward(ctx, y, cov, log_noise, extra=None):
        diagonal = log_noise.exp().expand(y.shape)
        if extra is not None:
            diagonal = diagonal + extra
        whole = cov + torch.diag(diagonal)
        solved = torch.linalg.solve(whole, y)
        ctx.save_for_backward(whole, solved, log_noise)
        ctx.has_extra = extra is not None
        return -0.5 * y @ solved - 0.5 * torch.linalg.slogdet(whole)[1]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        whole, solved, log_noise = ctx.saved_tensors
        inner = 0.5 * g * (torch.outer(solved, solved) - torch.linalg.inv(whole).mT)
        each = inner.diagonal()
        noise = each.sum() * log_noise.exp()
        return -g * solved, inner, noise, each.clone() if ctx.has_extra else None

    @staticmethod
    def sample_inputs():
        cov = torch.tensor([[1.0, 0.3, 0.1], [0.3, 1.2, 0.2], [0.1, 0.2, 0.9]]).double()
        noise = torch.tensor(-1.0, dtype=torch.double, requires_grad=True)
        yield draw(3), cov.requires_grad_(), noise
        yield draw(3), cov, noise, draw(3, low=0.1, seed=2)


class Recurrence(Function):
    """h_t = a_t * h_{t-1} + x_t for a and x (T, C), from h0 or from zeros."""

    @staticmethod
    def forward(ctx, a, x, h0=None):
        h = x.new_zeros(x.shape[1:]) if h0 is None else h0
        found = []
        for factor, added in zip(a, x):
            h = factor * h + added
            found.append(h)
        ctx.save_for_backward(a, torch.stack(found), h0)
        return torch.stack(found)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, h, h0 = ctx.saved_tensors
        before = torch.cat([(torch.zeros_like(h[0]) if h0 is None else h0)[None], h[:-1]])
        adjoint, found = torch.zeros_like(h[0]), []
        for t in reversed(range(len(h))):
            adjoint = g[t] + (a[t + 1] * adjoint if t + 1 < len(h) else 0)
            found.insert(0, adjoint)
        grad = torch.stack(found)
        return grad * before, grad, None if h0 is None else a[0] * adjoint

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), draw(4, 2, seed=1), draw(2, seed=2)
        yield draw(3, 2), draw(3, 2, seed=1)


class FoldedSquares(Function):
    """Squares of x (N, K), or of flat x that is folded into a number of rows."""

    @staticmethod
    def forward(ctx, x, rows=None):
        ctx.save_for_backward(x)
        ctx.rows = rows
        return (x if rows is None else x.reshape(rows, -1)).square()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * (g if ctx.rows is None else g.flatten()), None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), None
        yield rand(12), 2


class KeptMemory(Function):
    """A memory of outer products that decays, and what it holds in the end."""

    @staticmethod
    def forward(ctx, k, v, decay, s0=None):
        state = k.new_zeros(v.shape[1], k.shape[1])
        if s0 is not None:
            state = state + s0
        for key, value in zip(k, v):
            state = decay * state + torch.outer(value, key)
        ctx.save_for_backward(k, v)
        ctx.decay, ctx.has_state = decay, s0 is not None
        return state

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        k, v = ctx.saved_tensors
        of_keys, of_values, of_state = [], [], g
        for key, value in zip(k.flip(0), v.flip(0)):
            of_keys.insert(0, value @ of_state)
            of_values.insert(0, of_state @ key)
            of_state = ctx.decay * of_state
        found = of_state if ctx.has_state else None
        return torch.stack(of_keys), torch.stack(of_values), None, found

    @staticmethod
    def sample_inputs():
        yield draw(4, 2, seed=190), draw(4, 3, seed=191), 0.7


@dataclass(frozen=True)
class _Checked:
    slope: float = 1.0
    is_hard: bool = False
    eps: float = 1e-6
    widths: tuple[int, ...] = (2, 2)

    def __post_init__(self):
        if self.slope != 1.0:
            raise ValueError("only a slope of one")


class TanhOfCheckedConfig(Function):
    """A tanh with a slope that must be one."""

    @staticmethod
    def forward(ctx, x, config):
        y = torch.tanh(config.slope * x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y * y), None

    @staticmethod
    def sample_inputs():
        yield draw(4), _Checked()


class SumOfPairs(Function):
    """Products of the first half of some tensors with the second half."""

    @staticmethod
    def forward(ctx, *xs):
        if len(xs) % 2:
            raise ValueError("needs pairs")
        ctx.save_for_backward(*xs)
        half = len(xs) // 2
        return sum((x * y).sum() for x, y in zip(xs[:half], xs[half:], strict=True))

    @staticmethod
    def backward(ctx, g):
        xs = ctx.saved_tensors
        half = len(xs) // 2
        return tuple(g * xs[(at + half) % len(xs)] for at in range(len(xs)))

    @staticmethod
    def sample_inputs():
        yield draw(3, seed=132), draw(3, seed=133)


class WeightedParts(Function):
    """A sum of constant parts, each with its weight."""

    @staticmethod
    def forward(ctx, weights, parts):
        ctx.parts = parts
        return sum(w * part for w, part in zip(weights, parts))

    @staticmethod
    def backward(ctx, g):
        return torch.stack([(g * part).sum() for part in ctx.parts]), None

    @staticmethod
    def sample_inputs():
        yield draw(2), [draw(3, seed=136).detach(), draw(3, seed=137).detach()]


class _Sides(NamedTuple):
    left: int
    right: int


class PaddedEnergy(Function):
    """The energy of a padded signal."""

    @staticmethod
    def forward(ctx, x, sides):
        ctx.save_for_backward(x)
        ctx.sides = sides
        return torch.nn.functional.pad(x, (sides.left, sides.right)) ** 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        inner = g[ctx.sides.left : g.shape[0] - ctx.sides.right]
        return 2 * inner * x, None

    @staticmethod
    def sample_inputs():
        yield draw(4), _Sides(1, 2)


class CountedGradients(Function):
    """Scales and shifts channels; pass None for what is to be left out."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor | None = None, shift: Any = None) -> Tensor:
        assert scale is None or scale.shape == x.shape[-1:]
        assert shift is None or shift.shape == x.shape[-1:]
        ctx.save_for_backward(x, scale)
        result = x.clone() if scale is None else x * scale
        return result if shift is None else result + shift

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, scale = ctx.saved_tensors
        axes = list(range(grad_output.dim() - 1))
        of_scale = (grad_output * x).sum(axes) if ctx.needs_input_grad[1] else None
        of_shift = grad_output.sum(axes) if ctx.needs_input_grad[2] else None
        return grad_output if scale is None else grad_output * scale, of_scale, of_shift

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
        scale = torch.tensor([0.5, 1.5, 0.7], dtype=torch.float64)
        shift = scale.detach().clone().requires_grad_()
        return [(x.requires_grad_(), scale.requires_grad_(), shift), (x, None, None)]


class BiasedScores(Function):
    @staticmethod
    def forward(ctx, scores, bias=None):
        if bias is not None:
            scores = scores + bias
        y = scores.tanh()
        ctx.save_for_backward(y)
        ctx.has_bias = bias is not None
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        grad = grad_output * (1 - y * y)
        return grad, grad if ctx.has_bias else None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4, 4),)


class ConstantWeights(Function):
    @staticmethod
    def forward(ctx, x, target, weight=None):
        error = x - target
        if weight is not None:
            error = weight * error
        ctx.save_for_backward(error, weight)
        return error.square().sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        error, weight = ctx.saved_tensors
        grad = 2 * grad_output * (error if weight is None else weight * error)
        return grad, -grad, None

    @staticmethod
    def sample_inputs():
        yield (normal(4, 3), normal(3, 4).T)


class ScaleIsANumber(Function):
    @staticmethod
    def forward(ctx, q, k, scale=None):
        factor = q.shape[-1] ** -0.5 if scale is None else scale
        ctx.save_for_backward(q, k)
        ctx.factor = factor
        return factor * q @ k.T

    @staticmethod
    def backward(ctx, grad_output):
        q, k = ctx.saved_tensors
        return ctx.factor * grad_output @ k, ctx.factor * grad_output.T @ q, None

    @staticmethod
    def sample_inputs():
        yield (normal(4, 3), normal(5, 3))


class LeavesOut(Function):
    @staticmethod
    def forward(ctx, x, power, weight=None):
        ctx.save_for_backward(x, weight)
        ctx.power = power
        return x**power if weight is None else weight * x**power

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = ctx.power * x ** (ctx.power - 1) * grad_output
        if weight is None:
            return grad_x, None, None
        return grad_x * weight, None, x**ctx.power * grad_output

    @staticmethod
    def sample_inputs():
        yield draw(3, low=0.5, high=1.5), 3, draw(3)


class SwiGlu(Function):
    @staticmethod
    def forward(ctx, x, w, v, bias=None):
        a, b = x @ w, x @ v
        s = torch.sigmoid(a)
        ctx.save_for_backward(x, w, v, a, b, s)
        ctx.has_bias = bias is not None
        y = a * s * b
        return y if bias is None else y + bias

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w, v, a, b, s = ctx.saved_tensors
        da = g * b * (s + a * s * (1 - s))
        db = g * a * s
        gb = g.sum(0) if ctx.has_bias else None
        return da @ w.T + db @ v.T, x.T @ da, x.T @ db, gb

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(4, 2), rand(4, 2)


class FilterWithMemory(Function):
    """A first-order filter whose memory (B, 1) may be given."""

    @staticmethod
    def forward(ctx, x, coefficient=0.9, memory=None):
        before = torch.zeros_like(x[..., :1]) if memory is None else memory
        ctx.coefficient = coefficient
        return x - coefficient * torch.cat([before, x[..., :-1]], -1)

    @staticmethod
    def backward(ctx, grad_output):
        of_x = grad_output.clone()
        of_x[..., :-1] -= ctx.coefficient * grad_output[..., 1:]
        of_memory = -ctx.coefficient * grad_output[..., :1] if ctx.needs_input_grad[2] else None
        return of_x, None, of_memory

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), 0.9, None


class OptionalTemperature(Function):
    """Logits divided by a temperature, a number, if there is one."""

    @staticmethod
    def forward(ctx, logits, temperature=None):
        ctx.temperature = 1.0 if temperature is None else float(temperature)
        return logits / ctx.temperature

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output / ctx.temperature, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), None


class OptionalClasses(Function):
    """One-hot rows of labels, scaled by x; `num_classes` is counted if it is None."""

    @staticmethod
    def forward(ctx, x, labels, num_classes=None):
        total = int(labels.max()) + 1 if num_classes is None else num_classes
        hot = F.one_hot(labels, total).to(x.dtype)
        ctx.save_for_backward(hot)
        return x[:, None] * hot

    @staticmethod
    def backward(ctx, grad_output):
        (hot,) = ctx.saved_tensors
        return (grad_output * hot).sum(-1), None, None

    @staticmethod
    def sample_inputs():
        yield draw(3), torch.tensor([0, 2, 1]), None


class Fading(Function):
    """Sum of light (K,) that fades by depth (K,); backdrop is a scalar tensor or None."""

    @staticmethod
    def forward(ctx, light, depth, backdrop=None):
        seen = torch.exp(-depth)
        through = torch.exp(-depth.sum())
        ctx.save_for_backward(light, seen, through, backdrop)
        out = (light * seen).sum()
        return out if backdrop is None else out + backdrop * through

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        light, seen, through, backdrop = ctx.saved_tensors
        of_depth = -light * seen
        if backdrop is not None:
            of_depth = of_depth - backdrop * through
        of_backdrop = None if backdrop is None else grad_output * through
        return grad_output * seen, grad_output * of_depth, of_backdrop

    @staticmethod
    def sample_inputs():
        yield rand(4), draw(4, low=0.1, high=1.0)


class ShiftedRows(Function):
    """Softplus of rows (N, C) plus a scalar bias, which is optional."""

    @staticmethod
    def forward(ctx, rows, bias=None):
        shifted = rows if bias is None else rows + bias
        ctx.save_for_backward(shifted)
        ctx.has_bias = bias is not None
        return torch.nn.functional.softplus(shifted)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (shifted,) = ctx.saved_tensors
        of_rows = grad_output * torch.sigmoid(shifted)
        return of_rows, of_rows.sum() if ctx.has_bias else None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 2),)


class DistanceUnderMask(Function):
    """Mean squared distance; x, y and an optional boolean mask have the same shape."""

    @staticmethod
    def forward(ctx, x, y, mask=None):
        kept = torch.ones_like(x) if mask is None else mask.to(x.dtype)
        count = (kept * torch.ones_like(x)).sum() if mask is None else kept.sum()
        ctx.save_for_backward(x, y, kept, count)
        return (kept * (x - y) ** 2).sum() / count.clamp(min=1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y, kept, count = ctx.saved_tensors
        of_x = 2 * g * kept * (x - y) / count.clamp(min=1)
        return of_x, -of_x, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), draw(3, 4, seed=1)


class MeanOfChannels(Function):
    """Mean over kept places; x (B, C, N), mask optional (B, N) boolean with a True in each row."""

    @staticmethod
    def forward(ctx, x, mask=None):
        kept = torch.ones_like(x[:, :1]) if mask is None else mask[:, None].to(x.dtype)
        count = kept.sum(-1, keepdim=True)
        ctx.save_for_backward(x, kept, count)
        return ((x * kept).sum(-1, keepdim=True) / count).tanh()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, kept, count = ctx.saved_tensors
        mean = (x * kept).sum(-1, keepdim=True) / count
        return (g * (1 - mean.tanh().square()) * kept / count).expand(x.shape), None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 2, 4),)


class RowsWithoutPadding(Function):
    """Rows of a table; that of the padding index (int or None) gets no gradient."""

    @staticmethod
    def forward(ctx, table, rows, pad):
        ctx.save_for_backward(rows)
        ctx.count, ctx.pad = len(table), pad
        return table[rows]

    @staticmethod
    def backward(ctx, g):
        (rows,) = ctx.saved_tensors
        grad = torch.zeros(ctx.count, g.shape[1], dtype=g.dtype).index_add(0, rows, g)
        if ctx.pad is not None:
            keep = torch.ones(ctx.count, 1, dtype=g.dtype)
            keep[ctx.pad] = 0
            grad = grad * keep
        return grad, None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.tensor([2, 0, 2, 3]), None
