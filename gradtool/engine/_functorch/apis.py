"""Transforms as users call them."""

from gradtool.engine.func import grad, grad_and_value, vmap

__all__ = ["grad", "grad_and_value", "vmap"]
