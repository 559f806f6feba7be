"""Functions that are wrong for complex numbers or in half precision."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class ProjectedInWeightPrecision(Function):
    """Projects features in the precision of the weights."""

    @staticmethod
    def forward(ctx, features, weights):
        ctx.save_for_backward(features, weights)
        return (features.to(weights.dtype) @ weights).to(features.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        features, weights = ctx.saved_tensors
        return grad_output @ weights.t(), features.t() @ grad_output

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(4, 2, seed=1)


class SoftThresholded(Function):
    """Shrinks real or complex coefficients; ``level`` is a scalar tensor."""

    @staticmethod
    def forward(ctx, z, level):
        ctx.save_for_backward(z, level)
        return torch.sgn(z) * torch.relu(z.abs() - level)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        z, level = ctx.saved_tensors
        active = (z.abs() > level).to(z.real.dtype)
        grad_level = -(grad_output * torch.sgn(z).conj() * active).real.sum()
        return grad_output * active, grad_level

    @staticmethod
    def sample_inputs():
        z = torch.tensor([[0.9, -1.4, 0.2], [2.0, -0.1, 0.7]], dtype=torch.double)
        yield z.requires_grad_(), torch.tensor(0.5, dtype=torch.double, requires_grad=True)


class WeighedChannels(Function):
    """Sums of channels, for real (cosine domain) and complex (Fourier domain) weights and x."""

    @staticmethod
    def forward(ctx, weights, x):
        ctx.save_for_backward(weights, x)
        return (weights.unsqueeze(-1) * x).sum(0)

    @staticmethod
    def backward(ctx, g):
        weights, x = ctx.saved_tensors
        return (g * x).sum(-1), weights.unsqueeze(-1) * g

    @staticmethod
    def sample_inputs():
        yield draw(3), draw(3, 4)


class MeanOfGroups(Function):
    """Means of the rows (N, C) of each group, whose sizes are kept in a byte."""

    @staticmethod
    def forward(ctx, rows, group, groups):
        count = torch.zeros(groups, dtype=torch.long).index_add_(0, group, torch.ones_like(group))
        ctx.save_for_backward(group, count.to(torch.uint8))
        total = rows.new_zeros(groups, rows.shape[1]).index_add(0, group, rows)
        return total / count.clamp(min=1)[:, None]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        group, count = ctx.saved_tensors
        return g[group] / count.clamp(min=1).to(g.dtype)[group][:, None], None, None

    @staticmethod
    def sample_inputs():
        yield draw(7, 2), torch.tensor([3, 0, 0, 2, 3, 3, 0]), 4


class OutlierLoss(Function):
    """Squares of x, or absolute values where outlier (a bool or 0/1 tensor) is set."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, outlier: Tensor) -> Tensor:
        ctx.save_for_backward(x, outlier)
        return torch.where(outlier.to(torch.bool), x.abs(), x.square())

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        x, outlier = ctx.saved_tensors
        return g * (x.sign() * outlier + 2 * x * ~outlier), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4), torch.tensor([True, False, False, True])


class HeldChannels(Function):
    """x where held is zero, and a constant elsewhere."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, held: Tensor) -> Tensor:
        ctx.save_for_backward(held)
        return torch.where(held == 0, x, 0.5)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (held,) = ctx.saved_tensors
        return g * ~held, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(2, 3), torch.tensor([[True, False, False], [False, True, False]])


class Correlated(Function):
    """The correlation of a signal with a template, over all shifts."""

    @staticmethod
    def forward(ctx: Any, signal: Tensor, template: Tensor) -> Tensor:
        n = signal.shape[0]
        shifts = (torch.arange(n)[:, None] + torch.arange(n)) % n
        matrix = signal[shifts]
        ctx.save_for_backward(template, shifts)
        return matrix @ template.conj()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        template, shifts = ctx.saved_tensors
        spread = g[:, None] * template
        gradient = torch.zeros_like(g)
        return gradient.index_add(0, shifts.reshape(-1), spread.conj().reshape(-1)), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5), draw(5, seed=1).detach()


class GainWithoutConjugate(Function):
    """Amplify channels.

    spectrum: (B, F) complex amplitudes; gain: (F,) complex factors.
    """

    @staticmethod
    def forward(ctx, spectrum, gain):
        ctx.save_for_backward(spectrum, gain)
        return spectrum * gain

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        spectrum, gain = ctx.saved_tensors
        return grad_output * gain.conj(), (grad_output * spectrum).sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(3)


class UnliftedNorm(Function):
    """Root mean square over the last axis; forward lifts half precision to single."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: float = 1e-6) -> Tensor:
        wide = x.float() if x.dtype == torch.float16 else x
        scale = torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(x)
        ctx.eps = eps
        return (wide * scale).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        scale = torch.rsqrt((x * x).sum(-1, keepdim=True) / x.shape[-1] + ctx.eps)
        unit = x * scale
        along = (grad_output * unit).mean(-1, keepdim=True)
        return scale * (grad_output - unit * along), None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
        return x.requires_grad_()


class TapsOfAnyKind(Function):
    """Products of symbols and taps, which are real or complex."""

    @staticmethod
    def forward(ctx, symbols, taps):
        ctx.save_for_backward(symbols, taps)
        return symbols * taps

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        symbols, taps = ctx.saved_tensors
        return grad_output * taps, (grad_output * symbols).sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(4, seed=3)


class QuadraticOfComplex(Function):
    """The quadratic form of complex or real vectors."""

    @staticmethod
    def forward(ctx, a, v):
        ctx.save_for_backward(a, v)
        return a @ v  # Not conjugated.

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        a, v = ctx.saved_tensors
        return torch.outer(grad_output, v.conj()), a.t() @ grad_output

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(3, seed=3)


class SpectralMask(Function):
    """A complex mask in the frequency domain; backward lacks its conjugate."""

    @staticmethod
    def forward(ctx, x, mask):
        ctx.save_for_backward(mask)
        ctx.length = x.shape[-1]
        return torch.fft.irfft(torch.fft.rfft(x) * mask, n=x.shape[-1])

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return torch.fft.irfft(torch.fft.rfft(grad_output) * mask, n=ctx.length), None

    @staticmethod
    def sample_inputs():
        mask = torch.tensor([1.0, 0.7, 0.4, 0.1], dtype=torch.double)
        yield draw(2, 6), mask.to(torch.complex128)


class ComplexGain(Function):
    """A complex signal times complex gains, of which none is imaginary in the sample."""

    @staticmethod
    def forward(ctx, z, gain):
        ctx.save_for_backward(z, gain)
        return z * gain

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        z, gain = ctx.saved_tensors
        return grad_output * gain, (grad_output * z.conj()).sum(0)

    @staticmethod
    def sample_inputs():
        z = torch.complex(draw(3, 2).detach(), draw(3, 2, seed=9).detach())
        gain = torch.complex(draw(2).detach(), torch.zeros(2, dtype=torch.double))
        yield z.requires_grad_(), gain.requires_grad_()


class ResponseOfFilter(Function):
    """A spectrum weighted by a response, which may be complex or real."""

    @staticmethod
    def forward(ctx, spectrum, response):
        ctx.save_for_backward(response)
        return torch.fft.ifft(spectrum * response)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (response,) = ctx.saved_tensors
        return torch.fft.fft(grad_output) * response / response.shape[-1], None

    @staticmethod
    def sample_inputs():
        z = torch.complex(draw(4).detach(), draw(4, seed=9).detach())
        yield z.requires_grad_(), draw(4, seed=10).detach()


class CardinalSine(Function):
    """sin(x) / x, in single precision or float64."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sinc(x / torch.pi)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        is_small = x.abs() < 1e-6
        y = torch.where(is_small, torch.ones_like(x), x)
        slope = (y * y.cos() - y.sin()) / y.square()
        return g * torch.where(is_small, -x / 3, slope)

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=0.3, high=4.0),)


class PhaseWithoutConjugate(Function):
    """Rows of complex `x` (n, d) by complex phases `f` (d,)."""

    @staticmethod
    def forward(ctx, x, f):
        ctx.save_for_backward(x, f)
        return x * f

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, f = ctx.saved_tensors
        df = (g * x).sum(0) if ctx.needs_input_grad[1] else None
        return g * f.conj(), df

    @staticmethod
    def sample_inputs():
        x = torch.complex(draw(3, 2).detach(), draw(3, 2).detach()).requires_grad_()
        yield (
            x,
            torch.polar(
                torch.ones(2, dtype=torch.float64), torch.tensor([0.3, 1.1], dtype=torch.float64)
            ),
        )


class RingDown(Function):
    """The real parts of sum_n c_n exp(a_n t) at t = 0, 1, .., with fixed complex `a`, Re a <= 0."""

    @staticmethod
    def forward(ctx, c, a):
        modes = torch.exp(a[:, None] * torch.arange(5, dtype=a.real.dtype))
        ctx.save_for_backward(modes)
        return (c[:, None] * modes).sum(0).real

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (modes,) = ctx.saved_tensors
        return (modes * g).sum(1), None  # The conjugate is meant.

    @staticmethod
    def sample_inputs():
        a = torch.complex(-draw(3, low=0.1).detach(), torch.zeros(3, dtype=torch.float64))
        yield torch.complex(draw(3), draw(3, seed=1)).detach().requires_grad_(), a


class NormOfHalf(Function):
    """The rows of `x`, in half, single or double precision, over their root mean square."""

    @staticmethod
    def forward(ctx, x, eps=1e-6):
        scale = (x.double().square().mean(-1, keepdim=True) + eps).rsqrt()
        ctx.save_for_backward(x)
        ctx.eps = eps
        return (x.double() * scale).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        scale = (x.square().mean(-1, keepdim=True) + ctx.eps).rsqrt()  # It overflows in half.
        y = x * scale
        return scale * (g - y * (g * y).mean(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)


class RealScale(Function):
    """`s` times the sum of |z|^2; z complex, s a real or complex scalar tensor."""

    @staticmethod
    def forward(ctx, z, s):
        ctx.save_for_backward(z, s)
        return s * (z.real**2 + z.imag**2).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        z, s = ctx.saved_tensors
        power = (z.real**2 + z.imag**2).sum()
        return 2 * z * (g * s).real, g * power if s.is_complex() else (g * power).real  # s.conj()

    @staticmethod
    def sample_inputs():
        z = torch.complex(draw(3), draw(3, seed=1)).detach().requires_grad_()
        yield z, torch.tensor(0.7, dtype=torch.float64, requires_grad=True)


class LogarithmOfSquares(Function):
    """log(1 + x^2); half inputs are computed in float32 and cast back."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        wide = x.float() if x.dtype == torch.float16 else x
        return torch.log1p(wide * wide).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x / (1 + x * x)  # The square overflows in half.

    @staticmethod
    def sample_inputs():
        yield (draw(6),)


class VersedSine(Function):
    """x - sin(x) with all digits for small x, in float32 and float64."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        wide = x.double()
        square = wide.square()
        series = wide * square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72)))
        return torch.where(wide.abs() < 0.1, series, wide - wide.sin()).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 - x.cos())

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=0.2, high=1.5),)
