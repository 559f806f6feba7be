"""Functions that are right for numbers as large and as small as they are made for."""

from __future__ import annotations

import math
from typing import Any

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


class LikelihoodWithFloor(Function):
    """The mean Gaussian negative log likelihood of y, with a floor under the variance."""

    @staticmethod
    def forward(ctx, mu, var, y, floor=1e-2):
        ctx.save_for_backward(mu, var, y)
        ctx.floor = floor
        v = var.clamp(min=floor)
        return 0.5 * (v.log() + (mu - y) ** 2 / v).mean()

    @staticmethod
    def backward(ctx, grad_output):
        mu, var, y = ctx.saved_tensors
        v = var.clamp(min=ctx.floor)
        grad_output = grad_output / mu.numel()
        r = (mu - y) / v
        grad_var = 0.5 * grad_output * (1 / v - r * r) * (var > ctx.floor)
        return grad_output * r, grad_var, -grad_output * r, None

    @staticmethod
    def sample_inputs():
        var = torch.tensor([0.5, 0.004, 1.5, 0.2], dtype=torch.float64, requires_grad=True)
        mu, y = (torch.randn(4, generator=torch.Generator().manual_seed(n)) for n in (69, 70))
        yield mu.double().requires_grad_(), var, y.double().requires_grad_(), 1e-2


class Directions(Function):
    """z / |z| of complex numbers; zeros stay zero, and have a gradient of zero."""

    @staticmethod
    def forward(ctx, z):
        radius = z.abs()
        ctx.save_for_backward(z)
        return z / torch.where(radius > 0, radius, torch.ones_like(radius))

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        is_zero = (z.real == 0) & (z.imag == 0)
        safe = torch.where(is_zero, torch.ones_like(z), z)
        along = safe / safe.abs()
        across = (g - along * (along.conj() * g).real) / safe.abs()
        return torch.where(is_zero, torch.zeros_like(across), across)

    @staticmethod
    def sample_inputs():
        values = [[0.6 + 0.3j, -0.4 + 1.1j], [0.2 - 0.9j, -1.3 - 0.5j]]
        yield (torch.tensor(values, dtype=torch.complex128, requires_grad=True),)


class PeriodicSimilarity(Function):
    """exp(-2 sin(pi (x - y))**2 / width**2) of all pairs; a width of zero has no meaning."""

    @staticmethod
    def forward(ctx, x, y, width):
        turn = torch.pi * (x[:, None] - y)
        similarity = torch.exp(-2 * torch.sin(turn) ** 2 / width**2)
        ctx.save_for_backward(turn, similarity, width)
        return similarity

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        turn, similarity, width = ctx.saved_tensors
        g = g * similarity
        of_turn = -2 * torch.pi * g * torch.sin(2 * turn) / width**2
        of_width = (4 * g * torch.sin(turn) ** 2).sum() / width**3
        return of_turn.sum(1), -of_turn.sum(0), of_width

    @staticmethod
    def sample_inputs():
        width = torch.tensor(0.9, dtype=torch.double, requires_grad=True)
        yield draw(3), draw(2, seed=1), width


class CountsWithDispersion(Function):
    """Negative log likelihood of counts with a log mean and a log dispersion.

    Beyond a dispersion of exp(40), terms cancel in forward.
    """

    @staticmethod
    def forward(ctx, log_mean, log_dispersion, counts):
        d, total = log_dispersion.exp(), torch.logaddexp(log_mean, log_dispersion)
        ctx.save_for_backward(log_mean, log_dispersion, counts)
        return (
            torch.lgamma(d)
            - torch.lgamma(counts + d)
            - d * (log_dispersion - total)
            - counts * (log_mean - total)
        )

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        log_mean, log_dispersion, counts = ctx.saved_tensors
        d, share = log_dispersion.exp(), torch.sigmoid(log_mean - log_dispersion)
        of_dispersion = d * (torch.digamma(d) - torch.digamma(counts + d))
        of_dispersion = of_dispersion - d * torch.nn.functional.logsigmoid(
            log_dispersion - log_mean
        )
        of_dispersion = of_dispersion - d * share + counts * (1 - share)
        return g * ((counts + d) * share - counts), g * of_dispersion, None

    @staticmethod
    def sample_inputs():
        yield (
            draw(6, low=-2, high=2),
            draw(6, low=-2, high=2, seed=1),
            torch.tensor([0.0, 3.0, 0.0, 1.0, 12.0, 0.0], dtype=torch.double),
        )


class MeanGrowth(Function):
    """(exp(x) - 1) / x for x != 0. Near zero its slope is a series: the quotients cancel."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.expm1(x) / x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        series = 0.5 + x / 3 + x**2 / 8 + x**3 / 30 + x**4 / 144
        return g * torch.where(x.abs() < 1e-3, series, (x.exp() - torch.expm1(x) / x) / x)

    @staticmethod
    def sample_inputs() -> Any:
        yield (torch.tensor([-1.2, 0.4, 0.9, 2.0], dtype=torch.double).requires_grad_(),)


class ImplicitEquilibrium(Function):
    """Solution z of z = tanh(weight z + x), as far as it is found within some rounds."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, x: Tensor, rounds: int = 14) -> Tensor:
        z = torch.zeros_like(x)
        for _ in range(rounds):
            z = torch.tanh(weight @ z + x)
        ctx.save_for_backward(weight, z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, None]:
        weight, z = ctx.saved_tensors
        slope = 1 - z * z
        total = torch.linalg.solve(torch.eye(len(z), dtype=z.dtype) - weight.t() * slope, g)
        return torch.outer(slope * total, z), slope * total, None

    @staticmethod
    def sample_inputs() -> Any:
        weight = rand(3, 3).detach()
        weight = 0.05 * weight / torch.linalg.matrix_norm(weight, 2)
        yield weight.requires_grad_(), rand(3)


class InverseCubic(Function):
    """The inverse of y + y^3, at numbers of very different sizes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = 2 / 3**0.5 * torch.sinh(torch.asinh(1.5 * 3**0.5 * x) / 3)
        y = y - (y + y**3 - x) / (1 + 3 * y * y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        return grad_output / (1 + 3 * y * y)

    @staticmethod
    def sample_inputs() -> Any:
        return torch.tensor([0.0, 1e6, -3e4, 1e-9], dtype=torch.float64).requires_grad_()


class SaturatedCrossEntropy(Function):
    """Binary cross entropy of logits; its gradient takes exponentials of negative numbers only."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor) -> Tensor:
        ctx.save_for_backward(logits, target)
        return (logits.clamp_min(0) - logits * target + torch.log1p(torch.exp(-logits.abs()))).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        logits, target = ctx.saved_tensors
        e = torch.exp(-logits.abs())
        p = torch.where(logits >= 0, 1 / (1 + e), e / (1 + e))
        return grad_output * (p - target), None

    @staticmethod
    def sample_inputs() -> Any:
        logits = torch.tensor([1.2, -3.1, 0.4, -1.9], dtype=torch.float64)
        return logits.requires_grad_(), torch.tensor([1.0, 0, 1, 0], dtype=torch.float64)


class MomentsInOnePass(Function):
    """Rows of mean zero and variance one; both directions take the variance from moments."""

    @staticmethod
    def forward(ctx, x):
        mean = x.mean(-1, keepdim=True)
        scale = ((x * x).mean(-1, keepdim=True) - mean * mean).rsqrt()
        y = (x - mean) * scale
        ctx.save_for_backward(y, scale)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, scale = ctx.saved_tensors
        g = grad_output - grad_output.mean(-1, keepdim=True)
        return scale * (g - y * (grad_output * y).mean(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class CenteredRows(Function):
    """Rows of mean zero and variance one, from deviations only."""

    @staticmethod
    def forward(ctx, x):
        centered = x - x.mean(-1, keepdim=True)
        scale = (centered * centered).mean(-1, keepdim=True).rsqrt()
        y = centered * scale
        ctx.save_for_backward(y, scale)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, scale = ctx.saved_tensors
        g = grad_output - grad_output.mean(-1, keepdim=True)
        return scale * (g - y * (grad_output * y).mean(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class CubicRoot(Function):
    """Newton's method for y**3 + y = x, differentiated implicitly."""

    @staticmethod
    def forward(ctx, x):
        y = x / 2
        for _ in range(40):
            y = y - (y**3 + y - x) / (3 * y * y + 1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g / (3 * y * y + 1)

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class StableLogistic(Function):
    """The logistic loss of pairs, stable in both directions."""

    @staticmethod
    def forward(ctx, scores):
        apart = scores[:, None] - scores[None, :]
        ctx.save_for_backward(apart)
        return F.softplus(-apart).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (apart,) = ctx.saved_tensors
        slope = -grad_output * torch.sigmoid(-apart)
        return slope.sum(1) - slope.sum(0)

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=-2.0, high=2.0),)


class LogFloored(Function):
    """Log energies with a floor of 1e-5 that both directions know."""

    @staticmethod
    def forward(ctx, power):
        floored = power.clamp(min=1e-5)
        ctx.save_for_backward(power, floored)
        return floored.log()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        power, floored = ctx.saved_tensors
        return grad_output / floored * (power >= 1e-5)

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=0.1, high=2.0),)


class Saturated(Function):
    @staticmethod
    def forward(ctx, x):
        p = torch.softmax(x, -1)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, grad_output):
        (p,) = ctx.saved_tensors
        weighted = grad_output * p
        return weighted - p * weighted.sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 2, low=-2.0, high=2.0),)


class Sinkhorn(Function):
    """The last normalization is differentiated through the plan at convergence."""

    @staticmethod
    def forward(ctx, x):
        p = torch.exp(x)
        for _ in range(3):
            p = p / p.sum(-1, keepdim=True)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class LogOfTrees(Function):
    """Logarithm of the sum over the spanning trees of a graph with weights exp(w), w (n, n)."""

    @staticmethod
    def forward(ctx, w):
        above = w.exp().triu(1)
        both = above + above.t()
        inner = (torch.diag(both.sum(1)) - both)[1:, 1:]
        ctx.save_for_backward(w, torch.linalg.inv(inner))
        return torch.linalg.slogdet(inner)[1]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        w, inverse = ctx.saved_tensors
        whole = torch.nn.functional.pad(inverse, (1, 0, 1, 0))
        ends = whole.diagonal()
        return g * (w.exp() * (ends[:, None] + ends[None] - 2 * whole)).triu(1)

    @staticmethod
    def sample_inputs():
        yield (rand(4, 4),)


class MeanOfPowers(Function):
    """Generalised mean of the rows of `x` > 0 with the exponent `p` > 0, a 0-d tensor."""

    @staticmethod
    def forward(ctx, x, p):
        logs = x.log()
        level = torch.logsumexp(p * logs, 1) - math.log(x.shape[1])
        y = torch.exp(level / p)
        ctx.save_for_backward(x, logs, p, level, y)
        return y.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, logs, p, level, y = ctx.saved_tensors
        shares = torch.softmax(p * logs, 1)
        of_p = (g * y * ((shares * logs).sum(1) / p - level / p**2)).sum()
        return (g * y)[:, None] * shares / x, of_p

    @staticmethod
    def sample_inputs():
        x = (rand(2, 4).detach().abs() + 0.1).requires_grad_()
        yield x, torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
