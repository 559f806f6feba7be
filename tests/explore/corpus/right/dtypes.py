"""Functions that are right for complex numbers, in half precision or with integers."""

from __future__ import annotations

from typing import Any

import torch
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


class ClearedWhereFalse(Function):
    """x, or zero where the boolean keep is false."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, keep: Tensor) -> Tensor:
        ctx.save_for_backward(keep)
        return x.masked_fill(keep == 0, 0.0)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (keep,) = ctx.saved_tensors
        return g - g * ~keep, None

    @staticmethod
    def sample_inputs() -> Any:
        yield rand(2, 3), torch.tensor([[True, False, True], [True, True, False]])


class ComplexPoles(Function):
    """The real part of a sum over complex poles (N,) and real u (T,), which drives them."""

    @staticmethod
    def forward(ctx: Any, poles: Tensor, u: Tensor) -> Tensor:
        state, states = torch.zeros_like(poles), []
        for t in range(u.shape[0]):
            state = poles * state + u[t]
            states.append(state)
        ctx.save_for_backward(poles, u, torch.stack(states))
        return torch.stack(states).sum(-1).real

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        poles, u, states = ctx.saved_tensors
        d, gp, gu = torch.zeros_like(poles), torch.zeros_like(poles), torch.zeros_like(u)
        for t in range(u.shape[0] - 1, -1, -1):
            d = d * poles.conj() + g[t]
            gu[t] = d.sum().real
            if t > 0:
                gp += d * states[t - 1].conj()
        return gp, gu

    @staticmethod
    def sample_inputs() -> Any:
        poles = torch.tensor([0.3 + 0.4j, -0.2 + 0.1j, 0.5 - 0.3j], dtype=torch.complex128)
        yield poles.requires_grad_(), draw(4)


class LiftedNorm(Function):
    """Root mean square over the last axis; half precision is lifted to single both ways."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: float = 1e-6) -> Tensor:
        wide = x.float() if x.dtype == torch.float16 else x
        scale = torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(wide, scale)
        return (wide * scale).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        wide, scale = ctx.saved_tensors
        grad = grad_output.to(wide.dtype)
        unit = wide * scale
        found = scale * (grad - unit * (grad * unit).mean(-1, keepdim=True))
        return found.to(grad_output.dtype), None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
        return x.requires_grad_()


class Expectation(Function):
    """psi* H psi of a Hermitian matrix."""

    @staticmethod
    def forward(ctx, psi, matrix):
        ctx.save_for_backward(psi, matrix)
        return (psi.conj() @ matrix @ psi).real

    @staticmethod
    def backward(ctx, grad_output):
        psi, matrix = ctx.saved_tensors
        return 2 * grad_output * matrix @ psi, grad_output * torch.outer(psi, psi.conj())

    @staticmethod
    def sample_inputs():
        matrix = torch.complex(normal(3, 3), normal(3, 3).T)
        yield (torch.complex(normal(3), normal(3).flip(0)), matrix + matrix.mH)


class RealSpectrum(Function):
    """The energy of the complex spectrum of a real signal."""

    @staticmethod
    def forward(ctx, signal):
        spectrum = torch.fft.fft(signal)
        ctx.save_for_backward(spectrum)
        return spectrum.abs().square()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (spectrum,) = ctx.saved_tensors
        return 2 * torch.fft.ifft(grad_output * spectrum).real * spectrum.shape[-1]

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4),)


class RealMask(Function):
    """A spectrum weighted by a real mask, whose gradient is real."""

    @staticmethod
    def forward(ctx, x, mask):
        spectrum = torch.fft.rfft(x)
        ctx.save_for_backward(spectrum, mask)
        ctx.length = x.shape[-1]
        return torch.view_as_real(spectrum * mask)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        spectrum, mask = ctx.saved_tensors
        g = torch.view_as_complex(grad_output.contiguous())
        full = torch.zeros(*g.shape[:-1], ctx.length, dtype=g.dtype)
        full[..., : g.shape[-1]] = g * mask
        of_x = torch.fft.ifft(full).real * ctx.length
        return of_x, (g * spectrum.conj()).real.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 6), draw(4, low=0.1, high=0.9)


class ComplexProduct(Function):
    """A complex signal times complex gains, right for all of them."""

    @staticmethod
    def forward(ctx, z, gain):
        ctx.save_for_backward(z, gain)
        return z * gain

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        z, gain = ctx.saved_tensors
        return grad_output * gain.conj(), (grad_output * z.conj()).sum(0)

    @staticmethod
    def sample_inputs():
        z = torch.complex(draw(3, 2).detach(), draw(3, 2, seed=9).detach())
        gain = torch.complex(draw(2).detach(), torch.zeros(2, dtype=torch.double))
        yield z.requires_grad_(), gain.requires_grad_()


class Int8Packed(Function):
    """Codes fit in eight bits; the scale alone is learnt."""

    @staticmethod
    def forward(ctx, scale, codes):
        w = codes.to(scale.dtype)
        ctx.save_for_backward(w)
        return scale[:, None] * w

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return (g * w).sum(1), None

    @staticmethod
    def sample_inputs():
        yield rand(3), torch.tensor([[1, -2], [127, -128], [0, 5]], dtype=torch.int8)


class CardinalSineBySeries(Function):
    """sin(x) / x, in single precision or float64."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sinc(x / torch.pi)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        is_small = x.abs() < 0.3
        y = torch.where(is_small, torch.ones_like(x), x)
        z = x.square()
        series = -x / 3 * (1 - z / 10 * (1 - z / 28 * (1 - z / 54 * (1 - z / 88))))
        return g * torch.where(is_small, series, (y * y.cos() - y.sin()) / y.square())

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=0.3, high=4.0),)


class RootOfBells(Function):
    """sqrt(exp(-x^2) + exp(-2 x^2)), which has few digits in float16 from 5 on."""

    @staticmethod
    def forward(ctx, x):
        bell = torch.exp(-x * x / 2)
        length = torch.hypot(bell, bell * bell)
        ctx.save_for_backward(x, bell, length)
        return length

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, bell, length = ctx.saved_tensors
        is_some = length > 0
        share = g * is_some / torch.where(is_some, length, torch.ones_like(length))
        square = bell * bell
        return -share * (square + 2 * square * square) * x

    @staticmethod
    def sample_inputs():
        yield (draw(9, low=0.9, high=1.0),)
