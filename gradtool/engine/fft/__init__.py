"""Discrete Fourier transforms, under the names of ``torch.fft``.

`n` or `s` crops the input or pads it with zeros. `norm` says which transform divides by the number
of elements: ``backward`` (the inverse), ``forward``, or ``ortho`` (both, by its root).
"""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.signal.fourier import (
    of_half_over,
    of_real,
    of_real_over,
    shifted,
    to_half_over,
    to_real,
    to_real_over,
    transformed,
    transformed_over,
)
from gradtool.engine._tensor import Tensor

Norm = str | None
Dims = Any
_LAST_TWO = (-2, -1)


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """Fourier transform along one dimension."""
    return transformed(input, n, dim, norm, forward=True)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """Inverse of `fft`."""
    return transformed(input, n, dim, norm, forward=False)


def fftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: Norm = None) -> Tensor:
    """Fourier transform along several dimensions, by default all."""
    return transformed_over(input, s, dim, norm, forward=True)


def ifftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: Norm = None) -> Tensor:
    """Inverse of `fftn`."""
    return transformed_over(input, s, dim, norm, forward=False)


def fft2(input: Tensor, s: Dims = None, dim: Dims = _LAST_TWO, norm: Norm = None) -> Tensor:
    """Fourier transform along two dimensions."""
    return transformed_over(input, s, dim, norm, forward=True)


def ifft2(input: Tensor, s: Dims = None, dim: Dims = _LAST_TWO, norm: Norm = None) -> Tensor:
    """Inverse of `fft2`."""
    return transformed_over(input, s, dim, norm, forward=False)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """Fourier transform of real numbers: the non-redundant half."""
    return of_real("rfft", input, n, dim, norm)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """Inverse of `rfft`: `n` real numbers, by default an even number."""
    return to_real(input, n, dim, norm, forward=False)


def rfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: Norm = None) -> Tensor:
    """Fourier transform of real numbers along several dimensions: half of the last one."""
    return of_real_over(input, s, dim, norm)


def irfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: Norm = None) -> Tensor:
    """Inverse of `rfftn`."""
    return to_real_over(input, s, dim, norm)


def rfft2(input: Tensor, s: Dims = None, dim: Dims = _LAST_TWO, norm: Norm = None) -> Tensor:
    """`rfftn` along two dimensions."""
    return of_real_over(input, s, dim, norm)


def irfft2(input: Tensor, s: Dims = None, dim: Dims = _LAST_TWO, norm: Norm = None) -> Tensor:
    """Inverse of `rfft2`."""
    return to_real_over(input, s, dim, norm)


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """Real transform of a Hermitian signal, given by half of it."""
    return to_real(input, n, dim, norm, forward=True)


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Tensor:
    """Inverse of `hfft`."""
    return of_real("ihfft", input, n, dim, norm, forward=False)


def hfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: Norm = None) -> Tensor:
    """`hfft` along the last of several dimensions and `fft` along the others."""
    return of_half_over(input, s, dim, norm)


def ihfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: Norm = None) -> Tensor:
    """Inverse of `hfftn`."""
    return to_half_over(input, s, dim, norm)


def hfft2(input: Tensor, s: Dims = None, dim: Dims = _LAST_TWO, norm: Norm = None) -> Tensor:
    """`hfftn` along two dimensions."""
    return of_half_over(input, s, dim, norm)


def ihfft2(input: Tensor, s: Dims = None, dim: Dims = _LAST_TWO, norm: Norm = None) -> Tensor:
    """Inverse of `hfft2`."""
    return to_half_over(input, s, dim, norm)


def fftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """Move zero frequency to the middle of each dimension."""
    return shifted(input, dim, 1)


def ifftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """Inverse of `fftshift`."""
    return shifted(input, dim, -1)


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Frequencies of `fft` for samples `d` apart: from zero, the negative ones last."""
    places = arange(n, **options) * 1.0
    return (places - n * (places >= (n + 1) // 2)) / (n * d)


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Frequencies of `rfft`."""
    return arange(n // 2 + 1, **options) / (n * d)


__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2",
    "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft",
    "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
