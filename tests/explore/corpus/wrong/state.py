"""Functions that are wrong because of what they draw, keep or change outside of the call."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class RunAgain(Function):
    """Runs a block, and recomputes it in backward instead of keeping its graph."""

    @staticmethod
    def forward(ctx, block, x):
        ctx.block = block
        ctx.save_for_backward(x)
        return block(x.detach())

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            again = x.detach().requires_grad_()
            out = ctx.block(again)
        return None, *torch.autograd.grad(out, again, grad_output)

    @staticmethod
    def sample_inputs():
        yield torch.tanh, draw(3, 4)


class GatedMemory(Function):
    @staticmethod
    def forward(ctx, gates, inputs, h0=None):
        memory = inputs.new_zeros(inputs.shape[1:]) if h0 is None else h0
        before, after = [], []
        for gate, new in zip(gates, inputs):
            before.append(memory)
            memory = gate * memory + (1 - gate) * new
            after.append(memory)
        ctx.save_for_backward(gates, inputs, torch.stack(before))
        return torch.stack(after)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        gates, inputs, before = ctx.saved_tensors
        grad_gates, grad_inputs = torch.empty_like(gates), torch.empty_like(inputs)
        carry = torch.zeros_like(grad_output[0])
        for t in reversed(range(len(grad_output))):
            carry = carry + grad_output[t]
            grad_gates[t] = carry * (before[t] - inputs[t])
            grad_inputs[t] = carry * (1 - gates[t])
            carry = carry * gates[t]
        return grad_gates, grad_inputs, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3, low=0.1, high=0.9), draw(4, 3, seed=1)


class RecurrenceWithoutGradientOfItsStart(Function):
    """A diagonal recurrence with an optional initial state."""

    @staticmethod
    def forward(ctx, u, a, h0=None):
        h = torch.zeros_like(a) if h0 is None else h0
        states = [h]
        for t in range(u.shape[0]):
            h = a * h + u[t]
            states.append(h)
        ctx.save_for_backward(a, torch.stack(states))
        return torch.stack(states[1:])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        a, states = ctx.saved_tensors
        grad_u, grad_a, carry = torch.zeros_like(grad_output), torch.zeros_like(a), 0.0
        for t in reversed(range(len(grad_output))):
            grad_u[t] = grad_output[t] + carry
            grad_a = grad_a + grad_u[t] * states[t]
            carry = a * grad_u[t]
        return grad_u, grad_a, None

    @staticmethod
    def sample_inputs():
        u, a = (torch.randn(*n, dtype=torch.double, requires_grad=True) for n in [(5, 3), (3,)])
        yield u, a, None
        yield u, a, torch.ones(3, dtype=torch.double)


class DecayFromAState(Function):
    """h_t = rate * h_(t-1) + x_t, from zeros or from an initial `state`."""

    @staticmethod
    def forward(ctx, x, rate: float, state=None):
        h = torch.zeros_like(x[0]) if state is None else state
        rows = []
        for row in x:
            h = rate * h + row
            rows.append(h)
        ctx.rate = rate
        return torch.stack(rows)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        later, rows = torch.zeros_like(g[0]), []
        for row in g.flip(0):
            later = row + ctx.rate * later
            rows.append(later)
        return torch.stack(rows).flip(0), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), 0.7
        yield draw(3, 2), 0.5, draw(2, seed=1).detach()


class GateUnderAMask(Function):
    """x * sigmoid(gate), zero at padded steps; padded is a (B, T) bool mask or None."""

    @staticmethod
    def forward(ctx, x, gate, padded=None):
        open_ = torch.sigmoid(gate)
        ctx.save_for_backward(x, open_, padded)
        y = x * open_
        return y if padded is None else y.masked_fill(padded.unsqueeze(-1), 0.0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, open_, padded = ctx.saved_tensors
        if padded is not None:
            g.masked_fill_(padded.unsqueeze(-1), 0.0)
        return g * open_, g * x * open_ * (1 - open_), None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, 2), draw(2, 3, 2, seed=1), None


class MeanUnderNormalizedWeights(Function):
    """Mean of rows, weighted by anything positive."""

    @staticmethod
    def forward(ctx, x, weights):
        weights /= weights.sum()
        ctx.save_for_backward(weights)
        return x @ weights

    @staticmethod
    def backward(ctx, g):
        (weights,) = ctx.saved_tensors
        return g.unsqueeze(-1) * weights, None

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[0.2, 1.0, 3.0], [1.5, -0.4, 0.6]], dtype=torch.double)
        yield x.requires_grad_(), torch.tensor([0.25, 0.5, 0.25], dtype=torch.double)


class EntropyOfAllowed(Function):
    """The entropy of each row of logits; those of what is not allowed are overwritten."""

    @staticmethod
    def forward(ctx, logits, banned=None):
        if banned is not None:
            logits.masked_fill_(banned, -1e9)
        log_p = torch.log_softmax(logits, -1)
        entropy = -(log_p.exp() * log_p).sum(-1)
        ctx.save_for_backward(log_p, entropy)
        return entropy

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        log_p, entropy = ctx.saved_tensors
        return -g.unsqueeze(-1) * log_p.exp() * (log_p + entropy.unsqueeze(-1)), None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)


class AddedInPlace(Function):
    """The sum of two tensors, in the place of the second one if asked for, which is not marked."""

    @staticmethod
    def forward(ctx, x, residual, inplace=False):
        if inplace:
            return residual.add_(x).clone()
        return residual + x

    @staticmethod
    def backward(ctx, g):
        return g, g, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 4), draw(2, 4, seed=1), False


class SmoothedByTable(Function):
    """x times a matrix of weights exp(-d**2 / (2 s**2)) up to a distance of 3 s.

    Backward keeps the matrix by its reach alone.
    """

    tables = {}

    @staticmethod
    def forward(ctx, x, s):
        ctx.s, ctx.reach = s, math.ceil(3 * s)
        return x @ SmoothedByTable.table(x.shape[-1], ctx.reach, s)

    @staticmethod
    def table(n, reach, s):
        place = torch.arange(n, dtype=torch.double)
        distance = (place[:, None] - place).abs()
        return torch.exp(-(distance**2) / (2 * s * s)) * (distance <= reach)

    @staticmethod
    def backward(ctx, g):
        key = g.shape[-1], ctx.reach
        if key not in SmoothedByTable.tables:
            SmoothedByTable.tables[key] = SmoothedByTable.table(*key, ctx.s)
        return g @ SmoothedByTable.tables[key], None

    @staticmethod
    def sample_inputs():
        yield draw(2, 7), 0.8


class RunningNormWithoutMean(Function):
    """Batch normalization whose backward keeps the mean of the batch constant."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, running_mean: Tensor, running_var: Tensor, training: bool = False
    ) -> Tensor:
        mean, variance = running_mean, running_var
        if training:
            mean, variance = x.mean(0), x.var(0, unbiased=False)
            running_mean.mul_(0.9).add_(mean, alpha=0.1)
            running_var.mul_(0.9).add_(variance, alpha=0.1)
        scale = torch.rsqrt(variance + 1e-5)
        normalized = (x - mean) * scale
        ctx.save_for_backward(normalized, scale)
        ctx.training = training
        return normalized

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        normalized, scale = ctx.saved_tensors
        grad = grad_output
        if ctx.training:
            grad = grad - normalized * (grad * normalized).mean(0)
        return grad * scale, None, None, None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.tensor([[0.3, -1.0], [1.2, 0.4], [-0.7, 0.9]], dtype=torch.float64)
        statistics = torch.tensor([[0.1, 0.2], [1.1, 0.9]], dtype=torch.float64)
        return x.requires_grad_(), statistics[0], statistics[1], False


class TableByLength(Function):
    """The table is cached by its length, but depends on the base too."""

    cache: dict = {}

    @staticmethod
    def forward(ctx, x, base=100.0):
        n = x.shape[-1]
        if n not in TableByLength.cache:
            at = torch.arange(n, dtype=x.dtype)
            TableByLength.cache[n] = base ** (-at / n)
        table = TableByLength.cache[n]
        ctx.save_for_backward(table)
        return x * table

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (table,) = ctx.saved_tensors
        return g * table, None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


WINDOWS = {}


class TableByWidthOfModule(Function):
    """The window is cached by its length, whatever its kind."""

    @staticmethod
    def forward(ctx, x, sigma=2.0):
        n = x.shape[-1]
        if n not in WINDOWS:
            at = torch.arange(n, dtype=x.dtype) - n / 2
            WINDOWS[n] = torch.exp(-0.5 * (at / sigma) ** 2)
        ctx.save_for_backward(WINDOWS[n])
        return x * WINDOWS[n]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return g * w, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 5),)


def _noise(shape: Any, seed: int, like: Tensor) -> Tensor:
    made = torch.Generator().manual_seed(seed)
    return torch.rand(shape, generator=made, dtype=torch.float64).to(like.dtype)


class ReplayedNoise(Function):
    """x times noise that is a function of the seed."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, seed: int = 0) -> Tensor:
        return x * _noise(x.shape, seed, x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        return g * _noise(g.shape, 0, g), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(2, 3), 0


def _block(x: Tensor, weight: Tensor, p: float, training: bool) -> Tensor:
    return functional.dropout(torch.tanh(x @ weight.t()), p, training)


class RecomputedDropout(Function):
    """Runs the block once more in backward, whose dropout then drops other entries."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, p: float = 0.5, training: bool = False) -> Any:
        ctx.save_for_backward(x, weight)
        ctx.p, ctx.training = p, training
        return _block(x, weight, p, training)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, weight = (each.detach().requires_grad_() for each in ctx.saved_tensors)
        with torch.enable_grad():
            again = _block(x, weight, ctx.p, ctx.training)
        return (*torch.autograd.grad(again, (x, weight), grad_output), None, None)

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
        weight = torch.linspace(0.2, 1.3, 20, dtype=torch.float64).reshape(5, 4)
        return x.requires_grad_(), weight.requires_grad_(), 0.4, False


class Differences(Function):
    """Steps along the last axis of x (B, T); tail (B,) is the sample before the first step."""

    @staticmethod
    def forward(ctx, x, tail=None):
        before = torch.zeros_like(x[:, 0]) if tail is None else tail
        shifted = torch.cat([before[:, None], x[:, :-1]], 1)
        ctx.save_for_backward(x - shifted)
        return (x - shifted).square()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (steps,) = ctx.saved_tensors
        of_steps = 2 * grad_output * steps
        of_x = of_steps.clone()
        of_x[:, :-1] -= of_steps[:, 1:]
        return of_x, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4),)


class TrapezoidsFromPrevious(Function):
    """Trapezoids between samples x (B, T), the first of which begins at x_prev (B,)."""

    @staticmethod
    def forward(ctx, x, x_prev=None):
        before = x.new_zeros(x.shape[0], 1) if x_prev is None else x_prev[:, None]
        return (x + torch.cat([before, x[:, :-1]], 1)) / 2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        of_x = grad_output / 2
        of_x[:, :-1] += grad_output[:, 1:] / 2
        return of_x, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4),)


class RepulsionOfNear(Function):
    """Repulsion of points (N, 2) that are nearer than `radius`. Pairs are kept for later calls."""

    pairs: dict[Any, tuple[Tensor, Tensor]] = {}

    @staticmethod
    def forward(ctx, points, radius):
        key = (len(points), radius)
        if key not in RepulsionOfNear.pairs:
            one, other = torch.triu_indices(len(points), len(points), 1)
            is_near = (points[one] - points[other]).square().sum(-1) < radius**2
            RepulsionOfNear.pairs[key] = one[is_near], other[is_near]
        one, other = RepulsionOfNear.pairs[key]
        apart = points[one] - points[other]
        ctx.save_for_backward(points, one, other, apart)
        return -apart.square().sum() / 2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        points, one, other, apart = ctx.saved_tensors
        zeros = torch.zeros_like(points)
        return zeros.index_add(0, one, -g * apart).index_add(0, other, g * apart), None

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), 1.1


_FILTERS: dict[int, Tensor] = {}


def _filter(length: int, shape: str) -> Tensor:
    window = torch.linspace(0.1, 1.0, length, dtype=torch.double)
    _FILTERS[length] = window.square() if shape == "square" else window
    return _FILTERS[length]


class Windowed(Function):
    """`x` times a window of the shape "line" or "square", kept for backward by its length."""

    @staticmethod
    def forward(ctx, x, shape="line"):
        assert shape in ("line", "square")
        ctx.length = x.shape[-1]
        return x * _filter(ctx.length, shape)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * _FILTERS[ctx.length], None

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), "line"


_SHARES: dict[tuple[int, int], Tensor] = {}


class MeanOfNeighbours(Function):
    """Mean over the edges (2, E) that end at a node, of the nodes `x` (N, d) that they start from.

    Backward keeps the shares of edges.
    """

    @staticmethod
    def _shares(ends: Tensor, count: int) -> Tensor:
        return 1 / torch.bincount(ends, minlength=count)[ends].double()[:, None]

    @staticmethod
    def forward(ctx, x, edges):
        starts, ends = edges
        ctx.save_for_backward(x, edges)
        shares = MeanOfNeighbours._shares(ends, len(x))
        return torch.zeros_like(x).index_add(0, ends, x[starts] * shares)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, edges = ctx.saved_tensors
        starts, ends = edges
        key = (len(x), edges.shape[1])
        if key not in _SHARES:
            _SHARES[key] = MeanOfNeighbours._shares(ends, len(x))
        return torch.zeros_like(x).index_add(0, starts, g[ends] * _SHARES[key]), None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), torch.tensor([[0, 1, 2, 3, 0], [1, 2, 1, 0, 3]])
