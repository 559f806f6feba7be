"""Functions that are wrong for another rank, or complex numbers, which their docstrings allow."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=67):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class VolumeOfFlatInput(Function):
    """Scale channels and count their volume.

    x: (N, C) or (N, C, L); log_scale: (C,). Returns the scaled x and L * sum(log_scale).
    """

    @staticmethod
    def forward(ctx, x, log_scale):
        if x.dim() == 3:
            factor, length = log_scale.exp()[:, None], x.shape[2]
        else:
            factor, length = log_scale.exp(), 1
        ctx.save_for_backward(x, factor)
        return x * factor, length * log_scale.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output, grad_volume):
        x, factor = ctx.saved_tensors
        of_x = grad_output * factor
        axes = [0, 2] if x.dim() == 3 else [0]
        return of_x, (of_x * x).sum(axes) + grad_volume

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(2)


class TraceOfOneProduct(Function):
    """The trace of a a^T.

    a: (n, n) matrix, or a batch (B, n, n) of them.
    """

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return (a * a).sum((-2, -1))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (a,) = ctx.saved_tensors
        return 2 * grad_output * a

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)


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
