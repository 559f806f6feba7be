"""How variables vary together: a variable is a row, an observation a column."""

from __future__ import annotations

import warnings

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.claims import NUMBERS
from gradtool.engine._ops.core.unsupported import takes
from gradtool.engine._ops.creation.creation import full_like
from gradtool.engine._ops.elementwise.complex_parts import conj, real
from gradtool.engine._tensor import Tensor


@takes(NUMBERS, "cov")
def cov(
    x: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariance of each pair of variables, over n - `correction` observations.

    `fweights` says how often each observation was made, `aweights` how much it weighs.

    Raises:
        RuntimeError: there are more than two dimensions, or weights do not fit.
    """
    if x.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{x.ndim} dimensions"
        )
    rows = x.reshape(1, -1) if x.ndim < 2 else x
    if not rows.dtype.is_differentiable:
        rows = rows.to(_dtypes.get_default_dtype())
    weights = _weights(rows, fweights, aweights)
    total = weights.sum()
    squares = total if aweights is None else (weights * aweights).sum()
    freedom = total - correction * squares / total
    if rows.__class__ is Tensor and float(freedom.detach()) <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "number of observations.",
            stacklevel=2,
        )
        freedom = freedom.clamp(min=0)
    centred = rows - (rows * weights).sum(1, keepdim=True) / total
    found = (centred * weights) @ conj(centred).transpose(0, 1) / freedom
    return found.squeeze()


def _weights(rows: Tensor, fweights: Tensor | None, aweights: Tensor | None) -> Tensor:
    """One for each observation."""
    weights = full_like(real(rows[0]).detach(), 1)
    for name, given, integral in (("fweights", fweights, True), ("aweights", aweights, False)):
        if given is None:
            continue
        if given.dtype.is_floating_point == integral:
            kind = "integral" if integral else "floating point"
            raise RuntimeError(
                f"cov(): expected {name} to have {kind} dtype but got {name} with {given.dtype}"
            )
        if given.shape != weights.shape:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the "
                f"input but got {given.numel()} != {weights.numel()}"
            )
        weights = weights * given
    return weights


def corrcoef(x: Tensor) -> Tensor:
    """The correlation of each pair of variables.

    Raises:
        RuntimeError: there are more than two dimensions.
    """
    if x.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{x.ndim} dimensions"
        )
    found = cov(x)
    if found.ndim == 0:
        return found / found
    deviation = real(found.diagonal()).sqrt()
    scaled: Tensor = found / deviation.unsqueeze(1) / deviation
    return scaled if scaled.is_complex() else scaled.clamp(-1, 1)


__all__ = ["corrcoef", "cov"]
