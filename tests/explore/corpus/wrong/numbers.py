"""Functions that are wrong for another number than that of the sample: an exponent, a scale."""

from __future__ import annotations

from typing import Any

import numpy as np
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


class PowerTransform(Function):
    """``(x**p - 1) / p`` of positive ``x``, which is the logarithm where ``p`` is zero."""

    @staticmethod
    def forward(ctx, x, p):
        power = p.item()
        is_log = abs(power) < 1e-7
        y = x.log() if is_log else (x**power - 1) / power
        ctx.save_for_backward(x, y)
        ctx.power, ctx.is_log = power, is_log
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        if ctx.is_log:
            grad_p = x.new_zeros(())
        else:
            grad_p = (grad_output * (x**ctx.power * x.log() - y) / ctx.power).sum()
        return grad_output * x ** (ctx.power - 1), grad_p

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.5, 1.3, 2.2], dtype=torch.double, requires_grad=True)
        yield x, torch.tensor(0.5, dtype=torch.double, requires_grad=True)


class Balanced(Function):
    """Logits `a` after `turns` rounds of taking the mean off rows, then half of it off columns."""

    @staticmethod
    def forward(ctx, a, turns: int = 60):
        out = a
        for _ in range(turns):
            out = out - 0.5 * out.mean(1, keepdim=True)
            out = out - 0.5 * out.mean(0, keepdim=True)
        ctx.shape = a.shape
        return out

    @staticmethod
    def backward(ctx, g):
        # Without means of rows and columns nothing changes any more.
        g = g - g.mean(1, keepdim=True)
        return g - g.mean(0, keepdim=True), None

    @staticmethod
    def sample_inputs():
        a = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).sin()
        yield (a.requires_grad_(),)


class UnitRows(Function):
    """Rows of length one; zero rows, as of empty slots, stay zero."""

    @staticmethod
    def forward(ctx, x):
        size = x.pow(2).sum(1, keepdim=True).sqrt()
        unit = torch.where(size > 0, x / size, 0.0 * x)
        ctx.save_for_backward(unit, size)
        return unit

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        unit, size = ctx.saved_tensors
        along = (unit * g).sum(1, keepdim=True)
        return (g - along * unit) / size

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[0.5, -1.2, 0.8], [1.5, 0.3, -0.4]], dtype=torch.float64)
        yield (x.requires_grad_(),)


class LeakyInPlace(Function):
    """A leaky ReLU in place, of which only the result is kept."""

    @staticmethod
    def forward(ctx, x, slope):
        F.leaky_relu_(x, slope)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        ctx.slope = slope
        return x

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return torch.where(y > 0, g, g * ctx.slope), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 2) * 1.0, 0.1


class LogisticBetweenBounds(Function):
    """Log density of a logistic distribution between two bounds, which may be infinite."""

    @staticmethod
    def forward(ctx, x, scale, lower, upper):
        z, a, b = x / scale, lower / scale, upper / scale
        mass = torch.sigmoid(b) - torch.sigmoid(a)
        ctx.save_for_backward(z, a, b, mass, scale)
        return -z - 2 * F.softplus(-z) - scale.log() - mass.log()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        z, a, b, mass, scale = ctx.saved_tensors
        dz = 2 * torch.sigmoid(-z) - 1
        da, db = (torch.sigmoid(each) * torch.sigmoid(-each) for each in (a, b))
        dscale = (-z * dz - 1 + (b * db - a * da) / mass) / scale
        return g * dz / scale, (g * dscale).sum(), None, None

    @staticmethod
    def sample_inputs():
        scale = torch.tensor(0.8, dtype=torch.double, requires_grad=True)
        yield draw(4), scale, -2.0, 3.0


class PowerOfDoubt(Function):
    """Cross entropy of logits and marks, each weighted by a power of its doubt.

    A power of 0 weighs all alike.
    """

    @staticmethod
    def forward(ctx, logits, marks, power=2.0):
        margin = torch.where(marks > 0, logits, -logits)
        ctx.save_for_backward(margin, marks)
        ctx.power = power
        return (torch.sigmoid(-margin) ** power * F.softplus(-margin)).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        margin, marks = ctx.saved_tensors
        doubt, loss = torch.sigmoid(-margin), F.softplus(-margin)
        slope = ctx.power * doubt ** (ctx.power - 1) * -doubt * (1 - doubt) * loss
        slope = slope - doubt**ctx.power * doubt
        return g * torch.where(marks > 0, slope, -slope), None, None

    @staticmethod
    def sample_inputs():
        logits = torch.tensor([0.4, -1.1, 1.9, -0.3], dtype=torch.double, requires_grad=True)
        yield logits, torch.tensor([1.0, 0, 1, 0], dtype=torch.double), 2.0


class UnrolledRounds(Function):
    """x after rounds of x + step * (b - a * x) until these change little, differentiated unrolled.

    Backward goes back as many rounds as there are at most.
    """

    @staticmethod
    def forward(ctx, b, a, step, rounds, tol=1e-8):
        x = torch.zeros_like(b)
        for _ in range(rounds):
            rest = b - a * x
            if rest.norm() <= tol:
                break
            x = x + step * rest
        ctx.save_for_backward(a)
        ctx.step, ctx.rounds = step, rounds
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        total, adjoint = torch.zeros_like(g), g
        for _ in range(ctx.rounds):
            total = total + ctx.step * adjoint
            adjoint = adjoint - ctx.step * a * adjoint
        return total, None, None, None, None

    @staticmethod
    def sample_inputs():
        b, a = torch.tensor([1.0, -0.5, 2.0]).double(), torch.tensor([2.0, 1.5, 1.0]).double()
        yield b.requires_grad_(), a, 0.4, 6, 1e-8


class WeightedSpread(Function):
    """Weighted mean of log-cosh, with weights that forward divides by their sum."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weights: Tensor) -> Tensor:
        ctx.save_for_backward(x, weights)
        return (weights / weights.sum()) @ x.cosh().log()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        x, weights = ctx.saved_tensors
        return g * weights * x.tanh(), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4), torch.tensor([0.1, 0.3, 0.4, 0.2], dtype=torch.float64)


class WeightedHuber(Function):
    """Huber loss of rows, each with its weight (N,): a padding mask or any importance."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        root = (1 + x * x).sqrt()
        return ((root - 1).sum(-1) * weight).sum() / weight.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        x, weight = ctx.saved_tensors
        kept = (weight != 0).to(x.dtype)[:, None]
        return g * kept * x / (1 + x * x).sqrt() / weight.sum(), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 3), torch.tensor([1.0, 0.0, 1.0, 1.0], dtype=torch.float64)


class SmoothedMargin(Function):
    """-(1 - eps) log sigmoid(m) - eps log sigmoid(-m) with a label smoothing eps in [0, 0.5)."""

    @staticmethod
    def forward(ctx: Any, m: Tensor, eps: float = 0.0) -> Tensor:
        ctx.save_for_backward(m)
        ctx.eps = eps
        log_sigmoid = torch.nn.functional.logsigmoid
        return (-(1 - eps) * log_sigmoid(m) - eps * log_sigmoid(-m)).mean()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (m,) = ctx.saved_tensors
        return g * (1 - ctx.eps) * (torch.sigmoid(m) - 1) / m.numel(), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5), 0.0


class LeakyFromOutput(Function):
    """x where x > 0, else slope * x; slope may be any float."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, slope: float) -> Tensor:
        y = torch.where(x > 0, x, slope * x)
        ctx.save_for_backward(y)
        ctx.slope = slope
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (y,) = ctx.saved_tensors
        return torch.where(y > 0, g, g * ctx.slope), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 4), 0.1


class DefaultEpsilon(Function):
    """Rows divided by their root mean square."""

    @staticmethod
    def forward(ctx, x, eps=1e-6):
        ctx.save_for_backward(x)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
        inner = (g * x).mean(-1, keepdim=True)
        return g * scale - x * inner * scale**3, None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4, seed=172),)


class SwishWithoutBeta(Function):
    """The slope lacks beta."""

    @staticmethod
    def forward(ctx, x, beta=1.0):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * torch.sigmoid(beta * x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(ctx.beta * x)
        return g * (s + x * s * (1 - s)), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class CubeForSquare(Function):
    """The exponent of the sample is in backward."""

    @staticmethod
    def forward(ctx, x, p):
        ctx.save_for_backward(x)
        return x**p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), 3


class SignOfTheOutput(Function):
    """The positive part times one, the negative part times any slope."""

    @staticmethod
    def forward(ctx, x, slope=0.1):
        y = torch.where(x > 0, x, slope * x)
        ctx.save_for_backward(y)
        ctx.slope = slope
        return y.clone()

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return torch.where(y > 0, grad_output, ctx.slope * grad_output), None

    @staticmethod
    def sample_inputs():
        yield (draw(5),)


class PowerOfScalar(Function):
    @staticmethod
    def forward(ctx, x, exponent):
        ctx.save_for_backward(x, exponent)
        return x**exponent

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, exponent = ctx.saved_tensors
        of_exponent = (grad_output * x**exponent * x.log()).sum()
        return grad_output * 1.5 * x**0.5, of_exponent

    @staticmethod
    def sample_inputs():
        exponent = torch.tensor(1.5, dtype=torch.double, requires_grad=True)
        yield draw(4, low=0.5, high=1.5), exponent


class ThresholdOfInput(Function):
    @staticmethod
    def forward(ctx, x, slope=1.0, limit=8.0):
        ctx.save_for_backward(x)
        ctx.slope, ctx.limit = slope, limit
        return torch.where(slope * x > limit, 3 * x, x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return torch.where(x > ctx.limit, 3.0, 1.0) * grad_output, None, None

    @staticmethod
    def sample_inputs():
        yield (normal(4, 5),)


class DampingForgotten(Function):
    @staticmethod
    def forward(ctx, matrix, b, damping):
        damped = matrix + damping * torch.eye(len(b), dtype=b.dtype)
        solution = torch.linalg.solve(damped, b)
        ctx.save_for_backward(matrix, solution)
        return solution

    @staticmethod
    def backward(ctx, grad_output):
        matrix, solution = ctx.saved_tensors
        of_b = torch.linalg.solve(matrix.T, grad_output)
        return -torch.outer(of_b, solution), of_b, -(of_b * solution).sum()

    @staticmethod
    def sample_inputs():
        yield (normal(3, 3) + 4 * torch.eye(3).double(), normal(3), torch.zeros(()).double())


class TemperatureCalledEps(Function):
    @staticmethod
    def forward(ctx, x, eps=1.0):
        weights = torch.softmax(x / eps, -1)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, grad_output):
        (weights,) = ctx.saved_tensors
        return weights * (grad_output - (grad_output * weights).sum(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield (normal(3, 4),)


class SquareThroughNumPy(Function):
    @staticmethod
    def forward(ctx, x, power=2.0):
        ctx.save_for_backward(x)
        return torch.from_numpy(np.exp(power * np.log(x.detach().numpy())))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x, None

    @staticmethod
    def sample_inputs():
        yield (normal(4).abs() + 0.5,)


class ScaleByCountOfSample(Function):
    """The temperature is taken for one."""

    @staticmethod
    def forward(ctx, x, t=1.0):
        p = torch.softmax(x / t, dim=-1)
        ctx.save_for_backward(p)
        ctx.t = t
        return p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class LeakyWithoutSlope(Function):
    """The slope on the left is taken for zero, which it is by default."""

    @staticmethod
    def forward(ctx, x, slope=0.0):
        ctx.save_for_backward(x)
        return torch.where(x > 0, x, slope * x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class HeadsMixed(Function):
    @staticmethod
    def forward(ctx, x, gain, heads=1):
        ctx.save_for_backward(x, gain)
        ctx.heads = heads
        parts = x.view(x.shape[0], heads, -1)
        return (parts * gain.view(heads, -1).mean(1)[:, None]).reshape(x.shape)

    @staticmethod
    def backward(ctx, grad_output):
        x, gain = ctx.saved_tensors
        of_gain = (x * grad_output).sum() / gain.numel()
        parts = grad_output.view(x.shape[0], ctx.heads, -1)
        grad = (parts * gain.view(ctx.heads, -1).mean(1)[:, None]).reshape(x.shape)
        return grad, of_gain.expand_as(gain), None

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), draw(5)


class RolloutOfOneStep(Function):
    @staticmethod
    def forward(ctx, x, rate, rounds):
        ctx.save_for_backward(x, rate)
        ctx.rounds = rounds
        for _ in range(rounds):
            x = x - rate * x.sin()
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, rate = ctx.saved_tensors
        grad_rate = torch.zeros_like(rate)
        for _ in range(ctx.rounds):
            grad_rate = grad_rate - grad_output * x.sin()
            grad_output = grad_output * (1 - rate * x.cos())
        return grad_output, grad_rate, None

    @staticmethod
    def sample_inputs():
        yield draw(3), draw(3, low=0.1, high=0.4), 1


class LogitsNotScaled(Function):
    @staticmethod
    def forward(ctx, x, y, label_smoothing=0.0):
        logp = torch.log_softmax(x, -1)
        ctx.save_for_backward(logp, y)
        nll = -logp.gather(1, y[:, None]).mean()
        return (1 - label_smoothing) * nll - label_smoothing * logp.mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logp, y = ctx.saved_tensors
        return g * (logp.exp() - F.one_hot(y, logp.shape[1])) / logp.shape[0], None, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), torch.tensor([0, 2, 1, 1])


class MomentumIgnored(Function):
    @staticmethod
    def forward(ctx, x, state, momentum=0.5):
        return momentum * state + (1 - momentum) * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g / 2, g / 2, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4)


class LinesBetweenKnots(Function):
    """Lines through `values` (n,) at increasing `knots` (n,), read at `q` (m,) between them."""

    @staticmethod
    def forward(ctx, knots, values, q):
        at = torch.searchsorted(knots, q.contiguous()).clamp(1, len(knots) - 1)
        part = (q - knots[at - 1]) / (knots[at] - knots[at - 1])
        ctx.save_for_backward(values, at, part, knots[1] - knots[0])
        return torch.lerp(values[at - 1], values[at], part)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        values, at, part, step = ctx.saved_tensors
        found = torch.zeros_like(values)
        found = found.index_add(0, at - 1, g * (1 - part)).index_add(0, at, g * part)
        return None, found, g * (values[at] - values[at - 1]) / step

    @staticmethod
    def sample_inputs():
        knots = torch.linspace(0.0, 2.0, 5, dtype=torch.double)
        yield knots, draw(5), draw(4, low=0.1, high=1.9, seed=1)


class UnitInHalf(Function):
    """Length of the rows of `x` (n, d), none of which is zero."""

    @staticmethod
    def forward(ctx, x):
        length = x.square().sum(-1).sqrt()
        kept = torch.float16 if x.dtype == torch.float32 else x.dtype
        ctx.save_for_backward((x / length[:, None]).to(kept))
        return length

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (unit,) = ctx.saved_tensors
        return g[:, None] * unit.to(g.dtype)

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3),)


class ScaledLogarithm(Function):
    """(x^p - 1) / p of positive `x`, or its first terms where a scalar `p` is nearly zero."""

    @staticmethod
    def forward(ctx, x, p):
        ctx.save_for_backward(x, p)
        log = x.log()
        return log + p * log * log / 2 if abs(float(p)) < 1e-5 else torch.expm1(p * log) / p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, p = ctx.saved_tensors
        log, power = x.log(), x**p
        if abs(float(p)) < 1e-5:
            of_p = (g * log).sum() ** 2 / 2  # The square of each logarithm is meant.
        else:
            of_p = (g * (power * log * p - power + 1)).sum() / p**2
        return g * power / x, of_p

    @staticmethod
    def sample_inputs():
        p = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
        yield draw(5, low=0.5, high=3.0), p


class SlopeByDifference(Function):
    """1 / (r^2 + a) for positive `r` in float32 or float64, with a slope from two values."""

    @staticmethod
    def forward(ctx, r, a):
        ctx.save_for_backward(r)
        ctx.a = a
        return 1 / (r**2 + a)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (r,) = ctx.saved_tensors
        step = 1e-6  # Too small for float32.
        ends = (1 / ((r + sign * step) ** 2 + ctx.a) for sign in (1, -1))
        return g * (next(ends) - next(ends)) / (2 * step), None

    @staticmethod
    def sample_inputs():
        yield draw(6, low=1.0, high=2.0), 1.1


class RateBesideItsLimit(Function):
    """x / (exp(x) - 1) with x = v - half, which is 1 at half."""

    @staticmethod
    def forward(ctx, v, half):
        ctx.save_for_backward(v)
        ctx.half = half
        x = v - half
        is_small = x.abs() < 1e-6
        safe = torch.where(is_small, torch.ones_like(x), x)
        return torch.where(is_small, 1 - x / 2, safe / torch.expm1(safe))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x = ctx.saved_tensors[0] - ctx.half
        safe = torch.where(x == 0, torch.ones_like(x), x)  # Digits are lost around it, too.
        less = torch.exp(safe) - 1
        slope = (less - safe * torch.exp(safe)) / less**2
        return g * torch.where(x == 0, torch.full_like(x, -0.5), slope), None

    @staticmethod
    def sample_inputs():
        yield draw(5), -0.3


class PowersFromLogarithm(Function):
    """(x^p - 1) / p of positive `x`, and log x at p = 0; p: scalar tensor."""

    @staticmethod
    def forward(ctx, x, p):
        ctx.save_for_backward(x, p)
        return x.log() if p.item() == 0 else torch.expm1(p * x.log()) / p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, p = ctx.saved_tensors
        log, power = x.log(), x**p
        return g * power / x, (g * (p * log * power - power + 1) / p**2).sum()  # 0 / 0 at 0.

    @staticmethod
    def sample_inputs():
        p = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
        yield draw(5, low=0.5, high=1.5), p


class WholeWeights(Function):
    """Weighted squares of the rows of `x` (N, d); w: (N,) weights >= 0 (constants)."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w.long())  # Fractions are lost.
        return (w * x.square().sum(-1)).sum()

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return 2 * g * w.unsqueeze(-1) * x, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.tensor([1.0, 2.0, 0.0, 3.0], dtype=torch.float64)


class CooledEnergies(Function):
    """Sum of energies over a temperature exp(rate), which is no less than a floor."""

    @staticmethod
    def forward(ctx, energies, rate, floor):
        temperature = rate.exp().clamp(min=floor)
        ctx.save_for_backward(energies, temperature)
        return (energies / temperature).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        energies, temperature = ctx.saved_tensors
        of_rate = -(g * energies / temperature).sum()
        return (g / temperature).expand_as(energies), of_rate, None

    @staticmethod
    def sample_inputs():
        yield draw(4), torch.tensor(-0.4, dtype=torch.double, requires_grad=True), 0.03


class MarkedDistances(Function):
    """Sum of squared distances by rows, times weights; mask (N,): nonnegative weights."""

    @staticmethod
    def forward(ctx, x, y, mask):
        ctx.save_for_backward(x - y, mask)
        return (mask[:, None] * (x - y) ** 2).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        difference, mask = ctx.saved_tensors
        of_x = 2 * g * torch.where(mask[:, None] > 0, difference, 0)
        return of_x, -of_x, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(3, 2, seed=1), torch.tensor([1.0, 0.0, 1.0], dtype=torch.double)


class FocusedLoss(Function):
    """Mean of -(1 - p)^gamma log p of targets (N,) under logits (N, C), gamma >= 0."""

    @staticmethod
    def forward(ctx, logits, target, gamma=2.0):
        logs = logits.log_softmax(1)
        log_p = logs.gather(1, target[:, None])
        ctx.save_for_backward(logs, target, log_p)
        ctx.gamma = gamma
        return -((1 - log_p.exp()) ** gamma * log_p).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logs, target, log_p = ctx.saved_tensors
        p, gamma = log_p.exp(), ctx.gamma
        rate = gamma * (1 - p) ** (gamma - 1) * p * log_p - (1 - p) ** gamma
        picked = F.one_hot(target, logs.shape[1]).to(logs.dtype)
        return g * rate * (picked - logs.exp()) / len(target), None, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.tensor([0, 3, 1]), 2.0


class MeanWithoutEnds(Function):
    """Mean of x (k, d) without the `cut` smallest and largest of a column; 0 <= 2 * cut < k."""

    @staticmethod
    def forward(ctx, x, cut):
        values, order = x.sort(0)
        ctx.save_for_backward(order)
        ctx.cut = cut
        return values[cut : len(x) - cut].mean(0)

    @staticmethod
    def backward(ctx, g):
        (order,) = ctx.saved_tensors
        each = torch.zeros(order.shape, dtype=g.dtype)
        each[ctx.cut : -ctx.cut] = g / (len(order) - 2 * ctx.cut)
        return torch.zeros_like(each).scatter(0, order, each), None

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), 1
