"""Special functions of NumPy's arrays, under SciPy's names, for where SciPy is not installed.

Each is computed in double precision, whatever the dtype of the arguments, from formulas that its
module names. Results are exact to about 1e-14, relative to the function itself, or to its height
between two zeros. Where a function falls as fast as ``exp(-x)``, the rounding of an exponent may
cost a digit more: that holds for Airy's and for the incomplete gamma functions.
"""

from __future__ import annotations

from gradtool.engine._ops.elementwise.formulas.airy import airy
from gradtool.engine._ops.elementwise.formulas.bessel import j0, j1, y0, y1
from gradtool.engine._ops.elementwise.formulas.digamma import digamma, gammaln, polygamma
from gradtool.engine._ops.elementwise.formulas.error_functions import (
    erf,
    erfc,
    erfcx,
    erfinv,
    log_ndtr,
    ndtri,
)
from gradtool.engine._ops.elementwise.formulas.incomplete_gamma import gammainc, gammaincc
from gradtool.engine._ops.elementwise.formulas.modified_bessel import (
    i0,
    i0e,
    i1,
    i1e,
    k0,
    k0e,
    k1,
    k1e,
)
from gradtool.engine._ops.elementwise.formulas.zeta import zeta

__all__ = [
    "airy", "digamma", "erf", "erfc", "erfcx", "erfinv", "gammainc", "gammaincc", "gammaln", "i0",
    "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "log_ndtr", "ndtri", "polygamma",
    "y0", "y1", "zeta",
]  # fmt: skip
