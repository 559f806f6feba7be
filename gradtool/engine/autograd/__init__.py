"""Automatic differentiation, laid out as ``torch.autograd`` is."""

from gradtool.engine.autograd import function, grad_mode
from gradtool.engine.autograd._api import backward, grad
from gradtool.engine.autograd.function import Function
from gradtool.engine.autograd.grad_mode import enable_grad, no_grad, set_grad_enabled

__all__ = [
    "Function",
    "backward",
    "enable_grad",
    "function",
    "grad",
    "grad_mode",
    "no_grad",
    "set_grad_enabled",
]
