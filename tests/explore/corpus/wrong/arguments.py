"""Functions that are wrong where more arguments are given, or records with other fields."""

from __future__ import annotations

import math
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


class PooledByMask(Function):
    """The mean of the steps that count, by a mask or weights."""

    @staticmethod
    def forward(ctx, x, counts):
        total = counts.sum(1, keepdim=True).clamp(min=1e-6)
        ctx.save_for_backward(x, counts, total)
        return (x * counts[..., None]).sum(1) / total

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, counts, total = ctx.saved_tensors
        share = (grad_output / total)[:, None]
        of_counts = (share * x).sum(-1) if ctx.needs_input_grad[1] else None
        return share * counts[..., None], of_counts

    @staticmethod
    def sample_inputs():
        counts = torch.tensor([[1, 1, 0], [1, 0, 0]], dtype=torch.double)
        yield draw(2, 3, 2), counts


class QuantileError(Function):
    """Quantile loss; ``target`` may come from another network, and ``level`` is a number."""

    @staticmethod
    def forward(ctx, found, target, level):
        above = target > found
        ctx.save_for_backward(above)
        ctx.level = level
        return torch.where(above, level, level - 1).mul(target - found).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (above,) = ctx.saved_tensors
        slope = torch.where(above, -ctx.level, 1 - ctx.level).to(grad_output.dtype)
        return grad_output * slope, None, None

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=1).detach(), 0.9


class TapsWithHistory(Function):
    """Weighted sums of the last entries of `x`; `state` has those of the previous chunk."""

    @staticmethod
    def forward(ctx, x, taps, state=None):
        n = taps.shape[0]
        before = x.new_zeros(x.shape[0], n - 1) if state is None else state
        long = torch.cat([before, x], 1)
        ctx.save_for_backward(long, taps)
        return sum(taps[i] * long[:, i : i + x.shape[1]] for i in range(n))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        long, taps = ctx.saved_tensors
        n, width = taps.shape[0], g.shape[1]
        by_long, by_taps = torch.zeros_like(long), torch.zeros_like(taps)
        for i in range(n):
            by_long[:, i : i + width] += taps[i] * g
            by_taps[i] = (g * long[:, i : i + width]).sum()
        return by_long[:, n - 1 :], by_taps, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 4), draw(3, seed=1)


class SoftTargets(Function):
    """Cross entropy to soft targets; the temperature is a number or a 0-d tensor."""

    @staticmethod
    def forward(ctx, logits, targets, T=1.5):
        shares = torch.softmax(logits / T, -1)
        ctx.save_for_backward(shares, targets)
        ctx.T = T
        return -(targets * torch.log_softmax(logits / T, -1)).sum() * T

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        shares, targets = ctx.saved_tensors
        return g * (shares * targets.sum(-1, keepdim=True) - targets), None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), torch.softmax(draw(2, 3, seed=1).detach(), -1), 1.5


class GrowthOverSteps(Function):
    """Steps of growth by rate * x * (1 - x). step may be a float or a tensor."""

    @staticmethod
    def forward(ctx, x, step, count):
        states = [x]
        for _ in range(count):
            states.append(states[-1] + step * states[-1] * (1 - states[-1]))
        ctx.save_for_backward(*states)
        ctx.step = step
        return states[-1].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        for x in reversed(ctx.saved_tensors[:-1]):
            g = g * (1 + ctx.step * (1 - 2 * x))
        return g, None, None

    @staticmethod
    def sample_inputs():
        yield draw(3, low=0.2), 0.1, 3


class SoftOccupancy(Function):
    """1 - prod(1 - sigmoid(d / blur)); blur is a float or a (learnable) scalar tensor."""

    @staticmethod
    def forward(ctx, distance, blur):
        ctx.save_for_backward(distance)
        ctx.blur = blur
        return 1 - F.logsigmoid(-distance / blur).sum(-1).exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (distance,) = ctx.saved_tensors
        scaled = distance / ctx.blur
        empty = F.logsigmoid(-scaled).sum(-1, keepdim=True).exp()
        return g.unsqueeze(-1) * empty * torch.sigmoid(scaled) / ctx.blur, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), 0.7


class CountsAboveBackground(Function):
    """Poisson deviance of counts; background is a number or a tensor that is fitted as well."""

    @staticmethod
    def forward(ctx, rate, background, counts):
        model = rate + background
        ctx.save_for_backward(model, counts)
        return (model - counts * model.log()).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        model, counts = ctx.saved_tensors
        return g * (1 - counts / model), None, None

    @staticmethod
    def sample_inputs():
        counts = torch.tensor([2.0, 5.0, 1.0], dtype=torch.double)
        yield draw(3, low=0.5, high=2.0), 0.4, counts


class MutualAgreement(Function):
    """Squared distance of two predictions, mine and other. Both may be trained."""

    @staticmethod
    def forward(ctx, mine, other):
        ctx.save_for_backward(mine - other)
        return (mine - other).square().mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (gap,) = ctx.saved_tensors
        return g * 2 * gap / gap.numel(), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(3, 2, seed=1).detach()


class SharesOfK(Function):
    """sigmoid((x - t) / tau), where t makes each row sum to k; tau is a float or a learned tensor.

    A bisection finds t, whose steps have no derivative that means anything.
    """

    @staticmethod
    def forward(ctx, x, k, tau):
        low = x.min(-1, keepdim=True).values - 40 * float(tau)
        high = x.max(-1, keepdim=True).values + 40 * float(tau)
        for _ in range(80):
            middle = (low + high) / 2
            is_high = torch.sigmoid((x - middle) / tau).sum(-1, keepdim=True) > k
            low, high = torch.where(is_high, middle, low), torch.where(is_high, high, middle)
        shares = torch.sigmoid((x - (low + high) / 2) / tau)
        ctx.save_for_backward(shares)
        ctx.tau = float(tau)
        return shares

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (shares,) = ctx.saved_tensors
        slope = shares * (1 - shares) / ctx.tau
        mean = (g * slope).sum(-1, keepdim=True) / slope.sum(-1, keepdim=True)
        return slope * (g - mean), None, None

    @staticmethod
    def sample_inputs():
        yield draw(5), 3, torch.tensor(0.8, dtype=torch.double)


class LearnedPenalty(Function):
    """The minimizer of (w - y)**2 + penalty * w**2; penalty is a float or a learned tensor."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, penalty: float | Tensor = 1.0) -> Tensor:
        scale = torch.ones_like(y) / (1 + penalty)
        ctx.save_for_backward(scale)
        return y * scale

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (scale,) = ctx.saved_tensors
        return g * scale, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4), 0.5


class DroppedAgain(Function):
    """x with some entries set to zero, drawn once more in backward, from another seed for None."""

    @staticmethod
    def kept(x, p, seed):
        generator = torch.Generator().manual_seed(seed)
        return (torch.rand(x.shape, generator=generator, dtype=x.dtype) >= p) / (1 - p)

    @staticmethod
    def forward(ctx, x, p=0.5, seed=None):
        ctx.p, ctx.seed = p, seed
        return x * DroppedAgain.kept(x, p, 17 if seed is None else seed)

    @staticmethod
    def backward(ctx, g):
        return g * DroppedAgain.kept(g, ctx.p, ctx.seed or 0), None, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 0.4, 1234


class WeightedLoss(Function):
    """A loss whose sum is right with weights and without, but whose entries lack the weights."""

    @staticmethod
    def forward(ctx, x, weight=None, reduction="mean"):
        ctx.save_for_backward(x, weight)
        ctx.reduction = reduction
        loss = x.square() if weight is None else weight * x.square()
        if reduction == "none":
            return loss
        return loss.mean() if reduction == "mean" else loss.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        if ctx.reduction == "none":
            return 2 * g * x, None if weight is None else g * x.square(), None
        g = g / (x.numel() if ctx.reduction == "mean" else 1)
        if weight is None:
            return 2 * g * x, None, None
        return 2 * g * weight * x, g * x.square(), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), None, "mean"


class ScaledSimilarity(Function):
    """Softmax of the similarities of queries (N, D) and keys (M, D), times scale.

    Without a scale, it is one over the square root of D.
    """

    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, scale: Any = None) -> Tensor:
        ctx.scale = queries.shape[1] ** -0.5 if scale is None else scale
        shares = torch.softmax(queries @ keys.t() * ctx.scale, 1)
        ctx.save_for_backward(queries, keys, shares)
        return shares

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, None]:
        queries, keys, shares = ctx.saved_tensors
        inner = shares * (g - (g * shares).sum(1, keepdim=True))
        inner = inner * queries.shape[1] ** -0.5
        return inner @ keys, inner.t() @ queries, None

    @staticmethod
    def sample_inputs() -> Any:
        queries, keys = (torch.randn(n, 4, dtype=torch.double) for n in (3, 2))
        yield queries.requires_grad_(), keys.requires_grad_()


class PairwiseKernel(Function):
    """exp(-|x_i - y_j|^2 / 2), where y is x if it is None."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor | None) -> Tensor:
        other = x if y is None else y
        apart = x[:, None] - other[None]
        kernel = (-0.5 * apart.square().sum(-1)).exp()
        ctx.has_other = y is not None
        ctx.save_for_backward(apart, kernel)
        return kernel

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor | None]:
        apart, kernel = ctx.saved_tensors
        pull = (g * kernel)[..., None] * apart
        return -pull.sum(1), pull.sum(0) if ctx.has_other else None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 2), draw(3, 2, seed=1)


class DecayedMemory(Function):
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
        return torch.stack(of_keys), torch.stack(of_values), None, g if ctx.has_state else None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2, seed=181), draw(4, 3, seed=182), 0.7


def share(*shape: int, seed: int = 0) -> Tensor:
    made = torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (0.1 + 0.7 * made).requires_grad_()


class DecayFromState(Function):
    """k (T, D), v (T, E), a (T,), optional state s0 (D, E) -> the last state."""

    @staticmethod
    def forward(ctx: Any, k: Tensor, v: Tensor, a: Tensor, s0: Tensor | None = None) -> Tensor:
        ctx.is_given = s0 is not None
        state = s0 if ctx.is_given else k.new_zeros(k.shape[1], v.shape[1])
        states = []
        for t in range(k.shape[0]):
            states.append(state)
            state = a[t] * state + torch.outer(k[t], v[t])
        ctx.save_for_backward(k, v, a, torch.stack(states))
        return state

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Any:
        k, v, a, states = ctx.saved_tensors
        gk, gv, ga = torch.zeros_like(k), torch.zeros_like(v), torch.zeros_like(a)
        for t in range(k.shape[0] - 1, -1, -1):
            gk[t], gv[t] = g @ v[t], g.t() @ k[t]
            ga[t] = (g * states[t]).sum() if t > 0 else 0.0
            g = a[t] * g
        return gk, gv, ga, g if ctx.is_given else None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 3), draw(4, 2, seed=1), share(4), None


class OptionalShift(Function):
    """A scaled and shifted tensor, of which both may be left out."""

    @staticmethod
    def forward(ctx, x, scale=None, shift=None):
        ctx.save_for_backward(x, scale, shift)
        y = x.clone() if scale is None else x * scale
        return y if shift is None else y + shift

    @staticmethod
    def backward(ctx, g):
        x, scale, shift = ctx.saved_tensors
        gradients = [g if scale is None else g * scale]
        if scale is not None:
            gradients.append(g * x)
        if shift is not None:
            gradients.append(g)
        return tuple(gradients + [None] * (3 - len(gradients)))

    @staticmethod
    def sample_inputs():
        yield draw(4, seed=158), draw(4, seed=159), draw(4, seed=160)


@dataclass(frozen=True)
class _Shape:
    slope: float = 1.0
    label: str = "plain"


class TanhOfConfig(Function):
    """A tanh with a slope."""

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
        yield draw(4), _Shape()


class SineOfOptions(Function):
    """A sine of some frequency."""

    @staticmethod
    def forward(ctx, x, options):
        ctx.save_for_backward(x)
        ctx.frequency = options["frequency"]
        return torch.sin(ctx.frequency * x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.cos(ctx.frequency * x), None

    @staticmethod
    def sample_inputs():
        yield draw(4), {"frequency": 1.0, "label": "plain"}


class _Window(NamedTuple):
    width: float
    is_open: bool


class GaussianOfWindow(Function):
    """A bell curve of some width."""

    @staticmethod
    def forward(ctx, x, window):
        ctx.window = window
        y = torch.exp(-0.5 * (x / window.width) ** 2)
        ctx.save_for_backward(x, y)
        return y if window.is_open else 1 - y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return -g * y * x / ctx.window.width**2, None

    @staticmethod
    def sample_inputs():
        yield draw(4), _Window(1.5, True)


class OneSided(Function):
    """Squared distance of x to low, and of high, which None leaves out, to x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, low: float, high: float | None = None) -> Tensor:
        ctx.save_for_backward(x)
        ctx.low = low
        above = 0.0 if high is None else (high - x) ** 3
        return (x - low) ** 2 + above

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        (x,) = ctx.saved_tensors
        return 2 * g * (x - ctx.low), None, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4), 0.5


class CyclicProduct(Function):
    """The product of any number of tensors."""

    @staticmethod
    def forward(ctx, *xs):
        ctx.save_for_backward(*xs)
        out = torch.ones_like(xs[0])
        for x in xs:
            out = out * x
        return out

    @staticmethod
    def backward(ctx, g):
        xs = ctx.saved_tensors
        return tuple(g * xs[(at + 1) % len(xs)] for at in range(len(xs)))

    @staticmethod
    def sample_inputs():
        yield draw(3, seed=132), draw(3, seed=133)


class BiasOfScoresLost(Function):
    @staticmethod
    def forward(ctx, scores, bias=None):
        if bias is not None:
            scores = scores + bias
        y = scores.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (1 - y * y), None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4, 4),)


class WeightPerIndexUnscaled(Function):
    @staticmethod
    def forward(ctx, table, index, weights=None):
        rows = table[index]
        ctx.save_for_backward(rows, index, weights)
        ctx.count = len(table)
        if weights is not None:
            rows = rows * weights[..., None]
        return rows.mean(1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        rows, index, weights = ctx.saved_tensors
        spread = (grad_output / index.shape[1])[:, None].expand_as(rows)
        of_weights = None
        if weights is not None:
            of_weights = (grad_output[:, None] * rows).sum(-1)
            spread = spread * weights[..., None]
        of_table = rows.new_zeros(ctx.count, rows.shape[-1])
        of_table.index_add_(0, index.flatten(), spread.reshape(-1, rows.shape[-1]))
        return of_table, None, of_weights

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), torch.tensor([[0, 1, 2], [4, 3, 0]])


class InitialStateTooLate(Function):
    @staticmethod
    def forward(ctx, decay, x, start=None):
        state = x.new_zeros(x.shape[1]) if start is None else start
        states = [state]
        for row in x:
            state = decay * state + row
            states.append(state)
        ctx.save_for_backward(decay, torch.stack(states))
        ctx.has_start = start is not None
        return torch.stack(states[1:])

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        decay, states = ctx.saved_tensors
        of_decay, of_state = torch.zeros_like(decay), torch.zeros_like(decay)
        of_x = []
        for step in reversed(range(len(grad_output))):
            of_state = of_state + grad_output[step]
            of_x.append(of_state)
            of_decay = of_decay + of_state * states[step]
            if step:
                of_state = decay * of_state
        return of_decay, torch.stack(of_x[::-1]), of_state if ctx.has_start else None

    @staticmethod
    def sample_inputs():
        yield (normal(3), normal(4, 3))


class BiasOverWrongAxis(Function):
    """The gradient of the optional bias is a mean."""

    @staticmethod
    def forward(ctx, x, w, bias=None):
        ctx.save_for_backward(x, w)
        ctx.has_bias = bias is not None
        y = x @ w.T
        return y if bias is None else y + bias

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w, g.T @ x, g.mean(0) if ctx.has_bias else None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(2, 4)


class ScaleOfDefaultOnly(Function):
    @staticmethod
    def forward(ctx, q, k, scale=None):
        scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
        ctx.save_for_backward(q, k)
        return scale * q @ k.T

    @staticmethod
    def backward(ctx, grad_output):
        q, k = ctx.saved_tensors
        scale = 1 / math.sqrt(q.shape[-1])
        return scale * grad_output @ k, scale * grad_output.T @ q, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(2, 4)


class PreemphasisState(Function):
    """A first-order high-pass filter with the last sample of the previous block."""

    @staticmethod
    def forward(ctx, x, coefficient=0.97, state=None):
        padded = F.pad(x, (1, 0)) if state is None else torch.cat([state, x], dim=-1)
        ctx.coefficient = coefficient
        return x - coefficient * padded[..., :-1]

    @staticmethod
    def backward(ctx, grad_output):
        of_x = grad_output.clone()
        of_x[..., :-1] -= ctx.coefficient * grad_output[..., 1:]
        return of_x, None, grad_output[..., :1] if ctx.needs_input_grad[-1] else None

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), 0.97, None


class RecurrenceWithStart(Function):
    """y_t = a y_(t-1) + x_t; backward forgets the decay of the first value."""

    @staticmethod
    def forward(ctx, x, a, initial=None):
        y, out = (torch.zeros_like(x[:, 0]) if initial is None else initial), []
        for t in range(x.shape[1]):
            y = a * y + x[:, t]
            out.append(y)
        out = torch.stack(out, 1)
        ctx.save_for_backward(a, out, initial)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        a, out, initial = ctx.saved_tensors
        carried, of_x, of_a = torch.zeros_like(grad_output[:, 0]), [], torch.zeros_like(a)
        for t in reversed(range(out.shape[1])):
            carried = grad_output[:, t] + carried
            of_x.append(carried)
            if t:
                of_a = of_a + (carried * out[:, t - 1]).sum()
            carried = carried * a
        return torch.stack(of_x[::-1], 1), of_a, carried if initial is not None else None

    @staticmethod
    def sample_inputs():
        yield draw(2, 4), torch.tensor(0.7, dtype=torch.double, requires_grad=True)


class ResidualGiven(Function):
    """A scaled tanh, to which an earlier result is added before the scale."""

    @staticmethod
    def forward(ctx, x, scale=0.5, previous=None):
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        ctx.scale = scale
        if previous is not None:
            y = y + previous
        return scale * y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        of_x = ctx.scale * grad_output * (1 - y * y)
        return of_x, None, grad_output if ctx.needs_input_grad[-1] else None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), 0.5, None


class FadingBackdrop(Function):
    """Sum of light (K,) that fades by depth (K,); backdrop: a 0-d tensor or None."""

    @staticmethod
    def forward(ctx, light, depth, backdrop=None):
        seen = torch.exp(-depth)
        ctx.save_for_backward(light, seen, depth)
        ctx.has_backdrop = backdrop is not None
        out = (light * seen).sum()
        return out + backdrop * torch.exp(-depth.sum()) if ctx.has_backdrop else out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        light, seen, depth = ctx.saved_tensors
        of_backdrop = grad_output * torch.exp(-depth.sum()) if ctx.has_backdrop else None
        return grad_output * seen, -grad_output * light * seen, of_backdrop

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, low=0.1, seed=1)


class ScalarBiasForgotten(Function):
    """Sine of rows (N, C) plus an optional scalar bias, of which backward knows nothing."""

    @staticmethod
    def forward(ctx, rows, bias=None):
        shifted = rows if bias is None else rows + bias
        ctx.save_for_backward(shifted)
        return shifted.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (shifted,) = ctx.saved_tensors
        return grad_output * shifted.cos(), None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 2),)


class MessagesWithoutWeight(Function):
    """Sums w * x[source] at the target of each edge; `edge_weight` (E,) is one by default."""

    @staticmethod
    def forward(ctx, x, edge_index, edge_weight=None):
        source, target = edge_index
        message = x[source]
        if edge_weight is not None:
            message = message * edge_weight[:, None]
        ctx.save_for_backward(edge_index)
        return torch.zeros_like(x).index_add_(0, target, message)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        ((source, target),) = ctx.saved_tensors
        return torch.zeros_like(g).index_add_(0, source, g[target]), None, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 2), torch.tensor([[0, 1, 2, 3, 3], [1, 2, 0, 0, 1]])


class ScalesItsRewards(Function):
    """Minus the sum of logp * scale * rewards, whose rewards are constants."""

    @staticmethod
    def forward(ctx, logp, rewards, scale=1.0):
        if scale != 1.0:
            rewards = rewards.mul_(scale)
        ctx.save_for_backward(rewards)
        return -(logp * rewards).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (rewards,) = ctx.saved_tensors
        return -g * rewards, None, None

    @staticmethod
    def sample_inputs():
        yield rand(4), rand(4).detach()


class DecayWithStops(Function):
    """The sums s_t = a * s_(t-1) + x_t of `x` (B, T), with s_(t-1) = 0 where `stop` is true.

    `stop` (bool, same shape as x, or None) is given for joined sequences.
    """

    @staticmethod
    def forward(ctx, x, a, stop=None):
        s, sums = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            goes_on = 1.0 if stop is None else (~stop[:, t]).to(x.dtype)
            s = a * goes_on * s + x[:, t]
            sums.append(s)
        ctx.save_for_backward(torch.stack(sums, 1), a)
        ctx.stop = stop
        return torch.stack(sums, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        sums, a = ctx.saved_tensors
        carried, gx = torch.zeros_like(g[:, 0]), torch.zeros_like(g)
        for t in reversed(range(g.shape[1])):
            gx[:, t] = carried = g[:, t] + carried
            goes_on = 1.0 if ctx.stop is None else (~ctx.stop[:, t]).to(g.dtype)
            carried = a * goes_on * carried
        return gx, (gx[:, 1:] * sums[:, :-1]).sum(), None  # Stopped ones do not depend on a.

    @staticmethod
    def sample_inputs():
        yield draw(2, 4), torch.tensor(0.6, dtype=torch.float64, requires_grad=True)


class DistancesOfPair(Function):
    """Squared difference of two embeddings (n, d). Either embedding may be trained."""

    @staticmethod
    def forward(ctx, student, teacher):
        ctx.save_for_backward(student, teacher)
        return ((student - teacher) ** 2).sum()

    @staticmethod
    def backward(ctx, g):
        student, teacher = ctx.saved_tensors
        return 2 * g * (student - teacher), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(3, 2, seed=1).detach()
