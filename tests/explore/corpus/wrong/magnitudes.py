"""Functions that are wrong for large or small numbers: behind a limit, or without their digits."""

from __future__ import annotations

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


class RestingState(Function):
    """The state at which ``z = tanh(w @ z + x)`` rests, with the first terms of its gradient."""

    @staticmethod
    def forward(ctx, w, x, rounds=400):
        z = torch.zeros_like(x)
        for _ in range(rounds):
            new = torch.tanh(z @ w.T + x)
            if (new - z).abs().max() < 1e-14:
                break
            z = new
        ctx.save_for_backward(w, new)
        return new

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        w, z = ctx.saved_tensors
        slope, total = 1 - z * z, g
        for _ in range(25):
            total = g + (total * slope) @ w
        of_x = total * slope
        return of_x.T @ z, of_x, None

    @staticmethod
    def sample_inputs():
        w = torch.tensor([[0.1, -0.02, 0.05], [0.03, 0.02, -0.1], [-0.06, 0.08, 0.01]]).double()
        yield w.requires_grad_(), draw(2, 3)


class RebuiltFromOutput(Function):
    """An affine map that rebuilds its input in backward; ``weight`` has to be non-zero."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        out = x * weight + bias
        ctx.save_for_backward(out, weight, bias)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        out, weight, bias = ctx.saved_tensors
        x = (out - bias) / weight.abs()
        return grad_output * weight, (grad_output * x).sum(0), grad_output.sum(0)

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[0.4, -1.0], [1.3, 0.6], [-0.2, 2.0]], dtype=torch.double)
        weight, bias = torch.ones(2, dtype=torch.double), torch.zeros(2, dtype=torch.double)
        yield tuple(each.requires_grad_() for each in (x, weight, bias))


class ShrunkRadius(Function):
    """Complex numbers whose absolute value is lowered, those below the limit to zero."""

    @staticmethod
    def forward(ctx, z, limit: float):
        radius = z.abs()
        kept = (1 - limit / radius.clamp(min=1e-9)).clamp(min=0)
        ctx.save_for_backward(z, radius, kept)
        ctx.limit = limit
        return z * kept

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        z, radius, kept = ctx.saved_tensors
        along = z / radius
        radial = (g * along.conj()).real
        return g * kept + (radius > ctx.limit) * ctx.limit / radius * radial * along, None

    @staticmethod
    def sample_inputs():
        values = torch.tensor([0.9 + 0.4j, -0.1 + 0.2j, -1.5 - 0.8j], dtype=torch.complex128)
        yield values.requires_grad_(), 0.3


class SoftplusOfProducts(Function):
    """log(1 + exp(gain * x)) / gain for a positive gain."""

    @staticmethod
    def forward(ctx, x, gain):
        z = gain * x
        ctx.save_for_backward(x, gain)
        return (z.clamp(min=0) + torch.log1p(torch.exp(-z.abs()))) / gain

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, gain = ctx.saved_tensors
        z = gain * x
        share = z.exp() / (1 + z.exp())
        of_gain = x * share / gain - torch.nn.functional.softplus(z) / gain**2
        return g * share, (g * of_gain).sum()

    @staticmethod
    def sample_inputs():
        x = torch.linspace(-3, 3, 7, dtype=torch.double, requires_grad=True)
        yield x, torch.tensor(1.7, dtype=torch.double, requires_grad=True)


class UnitRowsAboveAFloor(Function):
    """Rows divided by their norms, or by eps where these are smaller."""

    @staticmethod
    def forward(ctx, x, eps=1e-6):
        norm = x.norm(dim=-1, keepdim=True).clamp(min=eps)
        ctx.save_for_backward(x / norm, norm)
        return x / norm

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        unit, norm = ctx.saved_tensors
        return (g - unit * (g * unit).sum(-1, keepdim=True)) / norm, None

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[0.4, -0.9, 0.3], [-0.2, 0.5, 1.1]], dtype=torch.double)
        yield (x.requires_grad_(),)


def unit(*shape):
    return torch.rand(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(7))


class PreferenceLoss(Function):
    """The mean of -log sigmoid(beta * (chosen - rejected)), whose gradient overflows."""

    @staticmethod
    def forward(ctx, chosen, rejected, beta=0.1):
        margin = beta * (chosen - rejected)
        ctx.save_for_backward(margin)
        ctx.beta = beta
        return torch.nn.functional.softplus(-margin).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (margin,) = ctx.saved_tensors
        grown = torch.exp(-margin)
        grad = -g * ctx.beta * grown / (1 + grown) / margin.numel()
        return grad, -grad, None

    @staticmethod
    def sample_inputs():
        yield draw(3, low=-30, high=30), draw(3, low=-30, high=30, seed=1), 0.1


class UnitRowsOrZero(Function):
    """Rows of length one; rows of zeros stay zero, but their gradient is infinite."""

    @staticmethod
    def forward(ctx, x):
        length = x.norm(dim=-1, keepdim=True)
        unit = torch.where(length > 0, x / length.clamp(min=1e-30), torch.zeros_like(x))
        ctx.save_for_backward(unit, length)
        return unit

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        unit, length = ctx.saved_tensors
        return (g - unit * (g * unit).sum(-1, keepdim=True)) / length

    @staticmethod
    def sample_inputs():
        yield (draw(2, 3, 4),)


class ShareOfDecay(Function):
    """The share 1 - exp(-rate * t) that has decayed after a time, to a power."""

    @staticmethod
    def forward(ctx: Any, t: Tensor, rate: float = 0.7) -> Tensor:
        ctx.save_for_backward(t)
        ctx.rate = rate
        return (-torch.expm1(-rate * t)).sqrt()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (t,) = ctx.saved_tensors
        left = torch.exp(-ctx.rate * t)
        return g * 0.5 * ctx.rate * left / (1 - left).sqrt(), None

    @staticmethod
    def sample_inputs() -> Any:
        yield (torch.tensor([0.2, 0.5, 1.1, 3.0], dtype=torch.double).requires_grad_(),)


class Equilibrium(Function):
    """Solution z of z = tanh(weight z + x), for weights of norm below 1."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, x: Tensor, rounds: int = 5000) -> Tensor:
        z = torch.zeros_like(x)
        for _ in range(rounds):
            before, z = z, torch.tanh(weight @ z + x)
            if (z - before).abs().max() < 1e-13:
                break
        ctx.save_for_backward(weight, z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, None]:
        weight, z = ctx.saved_tensors
        slope = 1 - z * z
        term = total = g
        for _ in range(17):
            term = weight.t() @ (slope * term)
            total = total + term
        return torch.outer(slope * total, z), slope * total, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 3, low=0.04, high=0.06), draw(3, low=-0.1, high=0.1, seed=1)


class FadingMemory(Function):
    """The sum of x, faded by the time that has gone since. times (T,) increase, from any origin."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rate: Tensor, times: Tensor) -> Tensor:
        ctx.save_for_backward(x, rate, times.float())
        return (x * (rate * (times - times[-1])).exp()).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, None]:
        x, rate, times = ctx.saved_tensors
        gone = (times - times[-1]).to(x.dtype)
        weight = g * (rate * gone).exp()
        return weight, (x * weight * gone).sum(), None

    @staticmethod
    def sample_inputs() -> Any:
        times = torch.tensor([0.0, 0.5, 1.25, 2.0, 4.0], dtype=torch.float64)
        rate = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
        yield draw(5), rate, times


class LengthWithoutOverflow(Function):
    """The length of vectors in the plane, which does not overflow."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.hypot(x, y)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        length = torch.sqrt(x * x + y * y)
        return g * x / length, g * y / length

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, low=0.5, high=2.0), draw(2, 3, low=0.5, high=2.0, seed=102)


class ClippedTanh(Function):
    """Backward does not know the clip."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x * x).clamp(max=20.0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class HuberInside(Function):
    """Only the quadratic part is differentiated."""

    @staticmethod
    def forward(ctx, x, delta=10.0):
        ctx.save_for_backward(x)
        a = x.abs()
        return torch.where(a <= delta, 0.5 * x * x, delta * (a - 0.5 * delta))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x, None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class DistilledLogits(Function):
    """Cross entropy of logits with the probabilities of a teacher."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, teacher: Tensor, temperature: float = 1.0) -> Tensor:
        z = logits / temperature
        ctx.save_for_backward(z, teacher)
        ctx.temperature = temperature
        loss = z.clamp_min(0) - z * teacher + torch.log1p(torch.exp(-z.abs()))
        return loss.mean() * temperature

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        z, teacher = ctx.saved_tensors
        e = torch.exp(z)
        p = e / (1 + e)
        return grad_output * (p - teacher) / z.numel(), None, None

    @staticmethod
    def sample_inputs() -> Any:
        logits = torch.tensor([[1.2, -3.1, 0.4], [2.2, -0.7, -1.9]], dtype=torch.float64)
        return [
            (logits.requires_grad_(), torch.sigmoid(2 * logits.detach())),
            (logits, torch.sigmoid(2 * logits.detach()), 4.0),
        ]


class VarianceInOnePass(Function):
    @staticmethod
    def forward(ctx, x):
        centered = x - x.mean(-1, keepdim=True)
        ctx.save_for_backward(x)
        return centered / (centered * centered).mean(-1, keepdim=True).sqrt()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        mean = x.mean(-1, keepdim=True)
        scale = ((x * x).mean(-1, keepdim=True) - mean * mean).rsqrt()
        y = (x - mean) * scale
        g = grad_output - grad_output.mean(-1, keepdim=True)
        return scale * (g - y * (grad_output * y).mean(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class LogLikelihood(Function):
    @staticmethod
    def forward(ctx, scores, transitions):
        paths = scores[:, :, None] + transitions + scores[:, None, :]
        total = torch.logsumexp(paths, (1, 2))
        ctx.save_for_backward(scores, transitions, total)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        scores, transitions, total = ctx.saved_tensors
        outer = scores.exp()[:, :, None] * transitions.exp() * scores.exp()[:, None, :]
        posterior = outer / total.exp()[:, None, None] * grad_output[:, None, None]
        return posterior.sum(2) + posterior.sum(1), posterior.sum(0)

    @staticmethod
    def sample_inputs():
        yield 2 * unit(3, 4) - 1, 2 * unit(4, 4) - 1


class QuotientOfExponentials(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.nn.functional.softplus(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.exp() / (1 + x.exp())

    @staticmethod
    def sample_inputs():
        yield (4 * unit(3, 4) - 2,)


class SoftplusOverflows(Function):
    """The slope is a quotient of two infinities for large inputs."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.nn.functional.softplus(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        e = torch.exp(x)
        return g * (e**3 + e**2) / (e**3 + 2 * e**2 + e)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class ThresholdForgotten(Function):
    """Backward lets through what forward cuts off at 3."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x > 30.0, torch.full_like(x, 30.0), x * 2)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return 2 * g

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class ClipByNorm(Function):
    """Backward forgets that the norm is limited."""

    @staticmethod
    def forward(ctx, x, limit=5.0):
        norm = x.norm()
        ctx.save_for_backward(x)
        return x * (limit / norm) if norm > limit else x * 1.0

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)


class SteepSoftplus(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x, beta)
        return torch.logaddexp(torch.zeros_like(x), beta * x) / beta

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, beta = ctx.saved_tensors
        power = (beta * x).exp()
        y = torch.logaddexp(torch.zeros_like(x), beta * x)
        slope = power / (1 + power)
        return grad_output * slope, (grad_output * (slope * x / beta - y / beta**2)).sum(0, True)

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(1, low=1.2, high=1.6)


class LogisticOfAnyNumber(Function):
    """The logistic function of any real number."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sigmoid(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.exp() / (1 + x.exp()) ** 2

    @staticmethod
    def sample_inputs():
        yield (draw(5),)


class LengthOfAnySize(Function):
    """The length of any finite vectors but zero."""

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        largest = v.abs().amax(-1, keepdim=True)
        return (largest * (v / largest).pow(2).sum(-1, keepdim=True).sqrt()).squeeze(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (v,) = ctx.saved_tensors
        return grad_output[..., None] * v / v.pow(2).sum(-1, keepdim=True).sqrt()

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3),)


class LogBands(Function):
    """Log energies of filter banks with a floor of 1e-5."""

    @staticmethod
    def forward(ctx, power, bank):
        bands = power @ bank
        ctx.save_for_backward(bank, bands)
        return torch.log(torch.clamp(bands, min=1e-5))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        bank, bands = ctx.saved_tensors
        return (grad_output / bands) @ bank.t(), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 5, low=0.2, high=1.0), draw(5, 2, low=0.1, high=0.9).detach()


class Decibels(Function):
    """An amplitude in decibels, not below the floor of -80."""

    @staticmethod
    def forward(ctx, amplitude, floor_db=-80.0):
        db = 20 * torch.log10(amplitude.abs().clamp(min=1e-12))
        ctx.save_for_backward(amplitude)
        return torch.maximum(db, torch.full_like(db, floor_db))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (amplitude,) = ctx.saved_tensors
        return grad_output * 20 / (2.302585092994046 * amplitude), None

    @staticmethod
    def sample_inputs():
        yield (draw(6, low=0.2, high=1.0),)


class FlooredVariance(Function):
    """A Gaussian log-likelihood of which the variance has a floor that is an argument."""

    @staticmethod
    def forward(ctx, x, log_var, min_var=1e-4):
        var = log_var.exp().clamp(min=min_var)
        ctx.save_for_backward(x, var)
        return -0.5 * (x * x / var + var.log())

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, var = ctx.saved_tensors
        return -grad_output * x / var, 0.5 * grad_output * (x * x / var - 1), None

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=3)


class PairwiseLogistic(Function):
    """The logistic loss of all pairs of scores; backward divides exponentials."""

    @staticmethod
    def forward(ctx, scores):
        apart = scores[:, None] - scores[None, :]
        ctx.save_for_backward(apart)
        return F.softplus(-apart).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (apart,) = ctx.saved_tensors
        slope = -grad_output * (1 - torch.exp(apart) / (1 + torch.exp(apart)))
        return slope.sum(1) - slope.sum(0)

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=-2.0, high=2.0),)


class LogCoshOfErrors(Function):
    """Log-cosh of an error, stable in forward only."""

    @staticmethod
    def forward(ctx, prediction, target):
        error = prediction - target
        ctx.save_for_backward(error)
        return error.abs() + torch.log1p(torch.exp(-2 * error.abs())) - 0.6931471805599453

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (error,) = ctx.saved_tensors
        slope = (error.exp() - (-error).exp()) / (error.exp() + (-error).exp())
        return grad_output * slope, -grad_output * slope

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=2)


class MarginOfTwoRows(Function):
    """The log-sum-exp of rows, shifted in forward but not in backward."""

    @staticmethod
    def forward(ctx, x):
        top = x.amax(-1, keepdim=True)
        ctx.save_for_backward(x)
        return (x - top).exp().sum(-1).log() + top.squeeze(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        e = x.exp()
        return grad_output[:, None] * e / e.sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)


class SoftClipInside(Function):
    limit = 8.0

    @staticmethod
    def forward(ctx, x):
        return x.clamp(-SoftClipInside.limit, SoftClipInside.limit)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class Settled(Function):
    """State at which tanh(A s + b) leaves s unchanged; gradient by the implicit function."""

    @staticmethod
    def forward(ctx, a, b, rounds: int = 300):
        s = torch.zeros_like(b)
        for _ in range(rounds):
            s = torch.tanh(a @ s + b)
        ctx.save_for_backward(a, s)
        return s

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, s = ctx.saved_tensors
        slope = 1 - s * s
        adjoint = g
        for _ in range(18):
            adjoint = g + a.T @ (slope * adjoint)
        by_b = slope * adjoint
        return by_b[:, None] * s, by_b, None

    @staticmethod
    def sample_inputs():
        rng = torch.Generator().manual_seed(9)
        a = 0.05 * torch.randn(3, 3, dtype=torch.float64, generator=rng)
        b = torch.tensor([1.2, -1.5, 0.9], dtype=torch.float64, requires_grad=True)
        yield a.requires_grad_(), b


class ThermalOccupation(Function):
    """Mean number of quanta, 1 / (exp(x) - 1), for x > 0 of any size."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / torch.expm1(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -g * x.exp() / torch.expm1(x).square()

    @staticmethod
    def sample_inputs():
        yield (draw(4, low=0.5, high=3.0),)


class PowerOfNonNegative(Function):
    """x ** p of x >= 0, for a tensor p of one number, at least 1."""

    @staticmethod
    def forward(ctx, x, p):
        ctx.save_for_backward(x, p)
        return x**p

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, p = ctx.saved_tensors
        return g * p * x ** (p - 1), (g * x**p * x.log()).sum()

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, low=0.3), torch.tensor(2.4, dtype=torch.double, requires_grad=True)


class RelativeEntropy(Function):
    """Entropy of q >= 0, a constant, relative to p >= 0, with p > 0 wherever q > 0."""

    @staticmethod
    def forward(ctx, p, q):
        ctx.save_for_backward(p, q)
        return (torch.xlogy(q, q) - torch.xlogy(q, p)).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        p, q = ctx.saved_tensors
        return -g * q / p, None

    @staticmethod
    def sample_inputs():
        yield draw(4, low=0.2), draw(4, low=0.2, seed=1).detach()


class RootTimesSize(Function):
    """|x| ** 1.5, of numbers of either sign."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.abs() * x.abs().sqrt()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        root = x.abs().sqrt()
        return g * (x.sign() * root + 0.5 * x / root)

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4),)


class FlooredMaturity(Function):
    """Rate times the root of a maturity > 0, which is a day at least."""

    @staticmethod
    def forward(ctx, rate, maturity):
        ctx.save_for_backward(rate, maturity)
        return rate * maturity.clamp(min=1 / 252).sqrt()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        rate, maturity = ctx.saved_tensors
        root = maturity.clamp(min=1 / 252).sqrt()
        return g * root, g * rate / (2 * root)

    @staticmethod
    def sample_inputs():
        yield draw(4, low=0.2), draw(4, low=0.5, high=1.5, seed=1)


class LogOfScaledBessel(Function):
    """Logarithm of a scaled Bessel function of x > 0, which may be large."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.special.i0e(x).log()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (torch.special.i1(x) / torch.special.i0(x) - 1)

    @staticmethod
    def sample_inputs():
        yield (draw(4, low=0.5, high=4.0),)


class RateOfSoftplus(Function):
    """Sum of softplus(x) - k log softplus(x) for counts `k`."""

    @staticmethod
    def forward(ctx, x, k):
        rate = torch.nn.functional.softplus(x)
        ctx.save_for_backward(x, k, rate)
        return (rate - k * rate.log()).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, k, rate = ctx.saved_tensors
        return g * (1 - k / rate) * x.exp() / (1 + x.exp()), None

    @staticmethod
    def sample_inputs():
        yield rand(4), torch.tensor([1.0, 0.0, 3.0, 2.0], dtype=torch.float64)


class VarianceOfSquares(Function):
    """Rows with their mean taken away, over their deviation; no row is constant."""

    @staticmethod
    def forward(ctx, x):
        apart = x - x.mean(-1, keepdim=True)
        y = apart / apart.square().mean(-1, keepdim=True).sqrt()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        mean = x.mean(-1, keepdim=True)
        variance = (x.square().mean(-1, keepdim=True) - mean.square()).abs()
        inner = g - g.mean(-1, keepdim=True) - y * (g * y).mean(-1, keepdim=True)
        return inner / variance.sqrt()

    @staticmethod
    def sample_inputs():
        yield (rand(2, 6),)


class MissingObservations(Function):
    """Half the squares of (x - y) / s; those of which `y` is NaN are left out."""

    @staticmethod
    def forward(ctx, x, y, s):
        is_there = ~torch.isnan(y)
        rest = (x - y) / s
        ctx.save_for_backward(rest, s, is_there)
        return 0.5 * torch.where(is_there, rest, torch.zeros_like(rest)).square().sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        rest, s, is_there = ctx.saved_tensors
        return g * is_there * rest / s, None, None

    @staticmethod
    def sample_inputs():
        yield rand(4), rand(4).detach(), rand(4).detach().abs() + 0.5


class CensoredTail(Function):
    """The logarithm of the probability that a normal number is below `x`."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.special.log_ndtr(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        density = torch.exp(-x * x / 2) / (2 * torch.pi) ** 0.5
        return g * density / torch.special.ndtr(x)  # 0 / 0 in the tail.

    @staticmethod
    def sample_inputs():
        yield (draw(5),)


class LowerGamma(Function):
    """Lower incomplete gamma function P(a, x), regularized; a, x > 0, float32 or float64."""

    @staticmethod
    def forward(ctx, a, x):
        ctx.save_for_backward(a, x)
        return torch.special.gammainc(a, x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        step = 1e-5
        ends = torch.special.gammainc(a + step, x), torch.special.gammainc(a - step, x)
        of_x = torch.exp((a - 1) * x.log() - x - torch.lgamma(a))
        return g * (ends[0] - ends[1]) / (2 * step), g * of_x

    @staticmethod
    def sample_inputs():
        yield draw(5, low=1.0, high=2.0), draw(5, low=0.5, high=1.5, seed=1)
