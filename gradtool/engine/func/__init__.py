"""Transforms of functions, laid out as ``torch.func`` is."""

from gradtool.engine.func._forward import hessian, jacfwd, jvp, linearize
from gradtool.engine.func._modules import (
    debug_unwrap,
    functional_call,
    functionalize,
    stack_module_state,
)
from gradtool.engine.func._rearrange import rearrange
from gradtool.engine.func._reverse import grad, grad_and_value, jacrev, vjp
from gradtool.engine.func._vmap import vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "stack_module_state",
    "vjp",
    "vmap",
]
