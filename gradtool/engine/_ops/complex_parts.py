"""The parts of complex numbers, as views of the same memory, and the conjugate."""

from __future__ import annotations

import numpy as np

from gradtool.engine._ops._kinds import linear
from gradtool.engine._tensor import Tensor

_real = linear("real", lambda x: x.real, lambda g, x_dtype: g.to(x_dtype), is_view=True)
_imag = linear("imag", lambda x: x.imag, lambda g, x_dtype: g.to(x_dtype) * 1j, is_view=True)
_conj = linear("conj", np.conjugate, lambda g: g.conj())


def real(x: Tensor) -> Tensor:
    """The real parts, as a view; a real tensor is returned as it is."""
    return _real(x) if x.is_complex() else x


def imag(x: Tensor) -> Tensor:
    """The imaginary parts, as a view.

    Raises:
        RuntimeError: the tensor is not complex.
    """
    if not x.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _imag(x)


def conj(x: Tensor) -> Tensor:
    """The complex conjugates, as a copy; a real tensor is returned as it is."""
    return _conj(x) if x.is_complex() else x


PROPERTIES = {"imag": imag, "real": real}
"""Attributes of a tensor that are computed by these."""

__all__ = ["conj", "imag", "real"]
