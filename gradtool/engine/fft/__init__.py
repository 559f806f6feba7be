"""Discrete Fourier transforms, under the names of ``torch.fft``.

Of every function, `n` or `s` cuts or fills with zeros first; `norm` says where the division by
the number of elements is: ``backward`` (in the inverse), ``forward``, or ``ortho`` (its root in
both).
"""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.core.kinds import conjugate
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.signal.fourier import half_of_real, real_of_half, shifted, transformed
from gradtool.engine._tensor import Tensor

Norm = str | None
Dims = Any


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """The transform along one dimension."""
    return transformed(input, [n], (dim,), norm, forward=True)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """The inverse of `fft`."""
    return transformed(input, [n], (dim,), norm, forward=False)


def fftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: Norm = None) -> Tensor:
    """The transform along several dimensions, all unless told."""
    return transformed(input, s, dim, norm, forward=True)


def ifftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: Norm = None) -> Tensor:
    """The inverse of `fftn`."""
    return transformed(input, s, dim, norm, forward=False)


def fft2(input: Tensor, s: Dims = None, dim: Dims = (-2, -1), norm: Norm = None) -> Tensor:
    """The transform along two dimensions."""
    return transformed(input, s, dim, norm, forward=True)


def ifft2(input: Tensor, s: Dims = None, dim: Dims = (-2, -1), norm: Norm = None) -> Tensor:
    """The inverse of `fft2`."""
    return transformed(input, s, dim, norm, forward=False)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """The first half, and one, of the transform of real numbers."""
    return half_of_real(input, [n], (dim,), norm)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """The inverse of `rfft`: `n` real numbers, by default an even number."""
    return real_of_half(input, [n], (dim,), norm)


def rfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: Norm = None) -> Tensor:
    """The transform of real numbers along several dimensions, half of the last."""
    return half_of_real(input, s, dim, norm)


def irfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: Norm = None) -> Tensor:
    """The inverse of `rfftn`."""
    return real_of_half(input, s, dim, norm)


def rfft2(input: Tensor, s: Dims = None, dim: Dims = (-2, -1), norm: Norm = None) -> Tensor:
    """`rfftn` along two dimensions."""
    return half_of_real(input, s, dim, norm)


def irfft2(input: Tensor, s: Dims = None, dim: Dims = (-2, -1), norm: Norm = None) -> Tensor:
    """The inverse of `rfft2`."""
    return real_of_half(input, s, dim, norm)


_OTHER_WAY = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """The real transform of numbers of which the other half are the conjugates."""
    return irfft(conjugate(input), n, dim, _OTHER_WAY[norm or "backward"])


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """The inverse of `hfft`."""
    conjugated: Tensor = conjugate(rfft(input, n, dim, _OTHER_WAY[norm or "backward"]))
    return conjugated


def fftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """Zero frequency to the middle of each dimension."""
    return shifted(input, dim, 1)


def ifftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The inverse of `fftshift`."""
    return shifted(input, dim, -1)


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """The frequencies of `fft` for samples `d` apart: first zero, at last -1 / (n d)."""
    places = arange(n, **options) * 1.0
    return (places - n * (places >= (n + 1) // 2)) / (n * d)


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """The frequencies of `rfft`."""
    return arange(n // 2 + 1, **options) / (n * d)


__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
