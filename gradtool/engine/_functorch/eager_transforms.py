"""Derivatives, and the checks of their arguments."""

from gradtool.engine.func import functionalize, hessian, jacfwd, jacrev, jvp, linearize, vjp
from gradtool.engine.func._arguments import chosen as _slice_argnums

__all__ = [
    "_slice_argnums",
    "functionalize",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "vjp",
]
