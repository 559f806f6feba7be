"""Functions that are wrong where a flag or a word chooses something else."""

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


class WhitenedColumns(Function):
    """Columns without their mean and divided by their deviation, or by those of earlier ones."""

    @staticmethod
    def forward(ctx, x, mean=None, var=None, training=True):
        if training or mean is None:
            mean, var = x.mean(0), x.var(0, unbiased=False)
        rate = (var + 1e-3).rsqrt()
        y = (x - mean) * rate
        ctx.save_for_backward(y, rate)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        y, rate = ctx.saved_tensors
        return rate * (g - g.mean(0) - y * (g * y).mean(0)), None, None, None

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3),)


class RepeatedDifferences(Function):
    """Differences of neighbours, taken n times."""

    @staticmethod
    def forward(ctx, x, n=1):
        ctx.n = n
        return x.diff(n)

    @staticmethod
    def backward(ctx, g):
        edge = torch.zeros_like(g[..., :1])
        return torch.cat([edge, g], -1) - torch.cat([g, edge], -1), None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 5),)


class PowerOfSpectrum(Function):
    """Squared sizes of the spectrum of real signals."""

    @staticmethod
    def forward(ctx, x, norm="backward"):
        spectrum = torch.fft.rfft(x, norm=norm)
        ctx.save_for_backward(spectrum)
        ctx.n, ctx.norm = x.shape[-1], norm
        return spectrum.real.square() + spectrum.imag.square()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (spectrum,) = ctx.saved_tensors
        whole = torch.fft.ifft(2 * g * spectrum, n=ctx.n).real * ctx.n
        return whole / ctx.n**0.5 if ctx.norm == "ortho" else whole, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 5),)


class LargestNorm(Function):
    """The p-norm of each row, for p > 1 or p = inf."""

    @staticmethod
    def forward(ctx, x, p=3.0):
        size = x.abs()
        norm = size.amax(-1) if p == float("inf") else (size**p).sum(-1) ** (1 / p)
        ctx.save_for_backward(x, norm)
        ctx.p = p
        return norm

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, norm = ctx.saved_tensors
        size, norm, g = x.abs(), norm.unsqueeze(-1), g.unsqueeze(-1)
        if ctx.p == float("inf"):
            return g * x.sign() * (size == norm), None
        return g * x.sign() * (size / norm) ** (ctx.p - 1), None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 3),)


class TemperedScores(Function):
    """Scores times `beta`, whose factor is forgotten where nothing is reduced.

    Three choices beside a number: they change alone, all at once, and two at a time.
    """

    @staticmethod
    def forward(ctx, x, reduction="mean", is_causal=False, in_logs=False, beta=1.0):
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"unknown reduction {reduction!r}")
        kept = x.tril() if is_causal else x
        scores = kept.exp() * beta if in_logs else kept * beta
        ctx.save_for_backward(kept)
        ctx.choices = reduction, is_causal, in_logs, beta
        if reduction == "none":
            return scores
        return scores.mean() if reduction == "mean" else scores.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (kept,) = ctx.saved_tensors
        reduction, is_causal, in_logs, beta = ctx.choices
        if reduction == "none":
            grad = g
        else:
            grad = g * beta / (kept.numel() if reduction == "mean" else 1)
            grad = grad.expand_as(kept)
        if in_logs:
            grad = grad * kept.exp()
        return grad.tril() if is_causal else grad, None, None, None, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), "mean", False, False, 1.0


class WindowedRows(Function):
    """Rows of a window, in which a mirrored and centred one takes its mean from the wrong axis."""

    @staticmethod
    def forward(ctx, x, is_mirrored=False, is_centred=False, is_squared=False):
        y = x.flip(-1) if is_mirrored else x
        if is_centred:
            y = y - y.mean(-1, keepdim=True)
        ctx.save_for_backward(y)
        ctx.choices = is_mirrored, is_centred, is_squared
        return y.square() if is_squared else y * 3

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        is_mirrored, is_centred, is_squared = ctx.choices
        grad = 2 * y * g if is_squared else 3 * g
        if is_centred:
            axis = 0 if is_mirrored and not is_squared else -1
            grad = grad - grad.mean(axis, keepdim=True)
        return grad.flip(-1) if is_mirrored else grad, None, None, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), False, False, False


class CrossedHalves(Function):
    """x times two, or its halves in the other order; the middle of an odd extent is misplaced."""

    @staticmethod
    def forward(ctx, x, is_crossed=False):
        half = x.shape[-1] // 2
        ctx.is_crossed, ctx.extent = is_crossed, x.shape[-1]
        crossed = torch.cat([x[..., -half:], x[..., :half]], -1) if is_crossed else x
        return 2 * crossed

    @staticmethod
    def backward(ctx, g):
        if not ctx.is_crossed:
            return 2 * g, None
        half = g.shape[-1] // 2
        crossed = torch.cat([g[..., half:], g[..., :half]], -1)
        return F.pad(2 * crossed, (0, ctx.extent - crossed.shape[-1])), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), False


class ScaledOffCtx(Function):
    """Doubling is forgotten, and an input that is no constant sits on ctx, which is a warning."""

    @staticmethod
    def forward(ctx, x, scale, doubled=False):
        ctx.save_for_backward(x, scale)
        ctx.factor = scale
        return x * scale * (2 if doubled else 1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, scale = ctx.saved_tensors
        return g * scale, (g * x).sum(0), None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(4)


class MeanOrSum(Function):
    """Only the mean is differentiated right."""

    @staticmethod
    def forward(ctx, x, y, reduction="mean"):
        ctx.save_for_backward(x, y)
        ctx.reduction = reduction
        loss = (x - y) ** 2
        if reduction == "mean":
            return loss.mean()
        if reduction == "sum":
            return loss.sum()
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        d = 2 * (x - y) / x.numel() * g
        return d, -d, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4)


class LinearNotTransposed(Function):
    """The weight is square in the sample."""

    @staticmethod
    def forward(ctx, x, transpose=False):
        ctx.transpose = transpose
        w = torch.arange(9.0, dtype=torch.float64).reshape(3, 3)
        ctx.save_for_backward(w)
        return x @ (w.T if transpose else w)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return g @ w.T, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)


class PaddingCropped(Function):
    """Padded by two; the mode is 'constant' or 'replicate'."""

    @staticmethod
    def forward(ctx, x, mode="constant"):
        return F.pad(x[None], (2, 2), mode=mode)[0]

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output[..., 2:-2], None

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), "constant"


class NormOfNone(Function):
    @staticmethod
    def forward(ctx, x, norm=None):
        y = x.cumsum(-1)
        return y / x.shape[-1] if norm == "mean" else y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.flip(-1).cumsum(-1).flip(-1), None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 3),)


class RateOrLogarithm(Function):
    """The loss of a Poisson rate, given by its logarithm or not."""

    @staticmethod
    def forward(ctx, rate, count, is_log=True):
        if not is_log and (rate < 0).any():
            raise ValueError("a rate is not negative")
        ctx.save_for_backward(rate, count)
        ctx.is_log = is_log
        return rate.exp() - count * rate if is_log else rate - count * rate.log()

    @staticmethod
    def backward(ctx, g):
        rate, count = ctx.saved_tensors
        return g * (rate.exp() - count if ctx.is_log else 1 - count * rate), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, seed=162), torch.tensor([0.0, 2.0, 1.0, 3.0], dtype=torch.double)


class ReducedDivergence(Function):
    """Divergence of a normal distribution from the standard one.

    reduction: "sum", "mean" over all entries, or "batchmean", the sum over the batch size.
    """

    @staticmethod
    def forward(ctx: Any, mean: Tensor, log_variance: Tensor, reduction: str = "mean") -> Tensor:
        ctx.save_for_backward(mean, log_variance)
        ctx.reduction = reduction
        found = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance)
        if reduction == "sum":
            return found.sum()
        if reduction == "mean":
            return found.mean()
        if reduction == "batchmean":
            return found.sum() / len(mean)
        raise ValueError(reduction)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        mean, log_variance = ctx.saved_tensors
        if ctx.reduction != "sum":
            grad_output = grad_output / mean.numel()
        return grad_output * mean, grad_output * 0.5 * (log_variance.exp() - 1), None

    @staticmethod
    def sample_inputs() -> Any:
        mean = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
        return mean.requires_grad_(), (mean.detach() / 2).requires_grad_(), "mean"


class MeanAsSum(Function):
    @staticmethod
    def forward(ctx, x, target, reduction="sum"):
        error = x - target
        ctx.save_for_backward(error)
        loss = error**2
        if reduction == "none":
            return loss
        return loss.sum() if reduction == "sum" else loss.mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (error,) = ctx.saved_tensors
        return 2 * grad_output * error, None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(2, 3).detach() + 1


class CausalOrNot(Function):
    """Backward masks even where forward does not."""

    @staticmethod
    def forward(ctx, q, causal=True):
        s = q @ q.transpose(-1, -2)
        mask = torch.tril(torch.ones_like(s))
        ctx.save_for_backward(q, mask)
        return s * mask if causal else s

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, mask = ctx.saved_tensors
        g = g * mask
        return (g + g.transpose(-1, -2)) @ q, None

    @staticmethod
    def sample_inputs():
        yield (rand(4, 3),)


class ReducedByTable(Function):
    @staticmethod
    def forward(ctx, x, reduction="sum"):
        ctx.save_for_backward(x)
        reduce = {"sum": torch.sum, "mean": torch.mean}[reduction]
        return reduce(x.square())

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 3),)


class EvaluatedAsTrained(Function):
    @staticmethod
    def forward(ctx, x, mean, var, training=True):
        if training:
            mean, var = x.mean(0), x.var(0, unbiased=False)
        scale = (var + 1e-5).rsqrt()
        y = (x - mean) * scale
        ctx.save_for_backward(y, scale)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, scale = ctx.saved_tensors
        inner = grad_output - grad_output.mean(0) - y * (grad_output * y).mean(0)
        return inner * scale, None, None, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 3), torch.zeros(3).double() + 0.2, torch.ones(3).double() * 0.7, True


class MatchedKernel(Function):
    @staticmethod
    def forward(ctx, x, kind="gauss"):
        ctx.save_for_backward(x)
        match kind:
            case "gauss":
                return torch.exp(-x * x)
            case "cauchy":
                return 1 / (1 + x * x)
        raise ValueError(kind)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -2 * x * torch.exp(-x * x) * grad_output, None

    @staticmethod
    def sample_inputs():
        yield (draw(4),)


class KeepdimLost(Function):
    """Keeps the dimension or not; scaled only if kept."""

    @staticmethod
    def forward(ctx, x, keepdim=False):
        ctx.keepdim, ctx.shape = keepdim, x.shape
        return x.mean(-1, keepdim=keepdim)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        if ctx.keepdim:
            return g.expand(ctx.shape), None
        return (g / ctx.shape[-1]).unsqueeze(-1).expand(ctx.shape), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class NormalizedTwice(Function):
    """The variance is taken for the unbiased one, which it is by default."""

    @staticmethod
    def forward(ctx, x, unbiased=True):
        ctx.save_for_backward(x)
        ctx.unbiased = unbiased
        return x.var(-1, unbiased=unbiased)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        n = x.shape[-1]
        return g.unsqueeze(-1) * 2 * (x - x.mean(-1, keepdim=True)) / (n - 1), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class GeluOfOneKind(Function):
    @staticmethod
    def forward(ctx, x, approximate="none"):
        ctx.save_for_backward(x)
        if approximate == "tanh":
            inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
            return 0.5 * x * (1 + torch.tanh(inner))
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        cdf = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
        pdf = torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
        return g * (cdf + x * pdf), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class LossOfShape(Function):
    """Robust loss of `x` by its shape `alpha` <= 1, a float, which may be -inf."""

    @staticmethod
    def forward(ctx, x, alpha):
        assert alpha <= 1
        ctx.save_for_backward(x)
        ctx.alpha = alpha
        if alpha == -math.inf:
            return -torch.expm1(-x.square() / 2)
        return (x.square() + 1) ** (alpha / 2)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        a = max(ctx.alpha, -64.0)
        return g * a * x * (x.square() + 1) ** (a / 2 - 1), None

    @staticmethod
    def sample_inputs():
        yield rand(4), -1.5


class TransposedSecond(Function):
    """Product of `a` (n, k) and `b` (k, m) or, if `flip`, (m, k), whose transpose is meant."""

    @staticmethod
    def forward(ctx, a, b, flip=False):
        ctx.save_for_backward(a, b)
        ctx.flip = flip
        return a @ (b.t() if flip else b)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        da = g @ (b if ctx.flip else b.t())
        return da, (a.t() @ g).view(b.shape), None

    @staticmethod
    def sample_inputs():
        yield rand(3, 2), rand(2, 4), False


class SmoothedFrames(Function):
    """Moving mean of two frames of x (T,), whose ends are 'circular' or None."""

    @staticmethod
    def forward(ctx, x, ends="circular"):
        ctx.ends = ends
        before = x.roll(1, 0) if ends == "circular" else torch.cat([x[:1], x[:-1]])
        return (x + before) / 2

    @staticmethod
    def backward(ctx, g):
        ends = ctx.ends or "circular"
        if ends == "circular":
            return (g + g.roll(-1, 0)) / 2, None
        of_before = torch.cat([g[1:], g.new_zeros(1)])
        of_first = torch.cat([g[:1], g.new_zeros(len(g) - 1)])
        return (g + of_before + of_first) / 2, None

    @staticmethod
    def sample_inputs():
        yield draw(5), "circular"
