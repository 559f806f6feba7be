"""Custom operators of ``torch.library`` as custom Functions.

An operator with ``register_autograd`` has a forward, a ``setup_context`` and a backward. As a
Function it shows the checker all that Functions do: raw gradients, saved tensors, attributes of
ctx. Its forward is the operator itself, below autograd.
"""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any

from gradtool.adapters.library import library


def is_custom_op(value: object) -> bool:
    """Return True for an operator made by ``torch.library.custom_op``."""
    # Not imported: a module that was never loaded has made no operator.
    made = sys.modules.get(f"{library().torch.__name__}.library")
    return made is not None and isinstance(value, made.CustomOpDef)


def implementation(op: Any) -> Any:
    """Return the user's function from which an operator was made."""
    return op._init_fn


def has_gradient(op: Any) -> bool:
    """Return True if ``register_autograd`` was called for an operator."""
    return op._backward_fn is not None


def function_of(value: Any) -> type[Any] | None:
    """Make a Function of an operator.

    None for anything else, for an operator without a gradient, and for one with keyword-only
    arguments, which ``apply`` of a Function cannot take.
    """
    if not is_custom_op(value) or not has_gradient(value) or _has_keyword_only(value):
        return None
    return _function_class(value)


def _has_keyword_only(op: Any) -> bool:
    parameters = inspect.signature(implementation(op)).parameters.values()
    return any(each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters)


def _function_class(op: Any) -> type[Any]:
    user = implementation(op)

    @functools.wraps(user)
    def forward(*args: Any) -> Any:
        return op(*args)

    methods = {
        "forward": forward,
        "setup_context": op._setup_context_fn or _save_nothing,
        "backward": op._backward_fn,
    }
    if op._vmap_fn is not None:
        methods["vmap"] = op._vmap_fn
    names = {"__module__": user.__module__, "__qualname__": user.__qualname__}
    namespace: dict[str, Any] = {name: staticmethod(each) for name, each in methods.items()}
    root = library().Function
    metaclass: Any = type(root)
    made: type[Any] = metaclass(user.__name__, (root,), {**names, **namespace})
    return made


def _save_nothing(ctx: Any, inputs: Any, output: Any) -> None:
    """The ``setup_context`` of an operator that has none."""
