"""``torch.special``: special functions."""

from __future__ import annotations

from gradtool.engine._ops.elementwise.elementwise import exp2, expm1, log1p, round
from gradtool.engine._ops.elementwise.elementwise import sigmoid as expit
from gradtool.engine._ops.elementwise.powers import entr, logit, sinc, xlog1py, xlogy
from gradtool.engine._ops.elementwise.special import (
    bessel_j0,
    bessel_j1,
    bessel_y0,
    bessel_y1,
    digamma,
    erf,
    erfc,
    erfcx,
    erfinv,
    i0,
    i0e,
    i1,
    i1e,
    log_ndtr,
    modified_bessel_k0,
    modified_bessel_k1,
    ndtr,
    ndtri,
    polygamma,
    scaled_modified_bessel_k0,
    scaled_modified_bessel_k1,
    spherical_bessel_j0,
)
from gradtool.engine._ops.elementwise.special import lgamma as gammaln
from gradtool.engine._ops.elementwise.special import mvlgamma as multigammaln
from gradtool.engine._ops.reductions.softmax import log_softmax, logsumexp, softmax

psi = digamma
modified_bessel_i0, modified_bessel_i1 = i0, i1

__all__ = [
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
]
