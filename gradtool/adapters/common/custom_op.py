"""A custom operator of ``torch.library`` as the custom Function that it is.

An operator with ``register_autograd`` has a forward, a ``setup_context`` and a backward. As a
Function, all that the checker sees of Functions is seen of it: raw gradients, what is saved, what
lies on ctx. Its forward is the operator itself, below autograd.
"""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any

from gradtool.adapters.library import library


def is_custom_op(value: object) -> bool:
    """Whether `value` is an operator that ``torch.library.custom_op`` made."""
    made = sys.modules.get(f"{library().torch.__name__}.library")
    return made is not None and isinstance(value, made.CustomOpDef)


def implementation(op: Any) -> Any:
    """The function of the user's that an operator was made of."""
    return op._init_fn


def has_gradient(op: Any) -> bool:
    """Whether ``register_autograd`` was called for an operator."""
    return op._backward_fn is not None


def function_of(value: Any) -> type[Any] | None:
    """The Function that an operator is.

    None for what is no operator, one without a gradient, and one that has arguments by keyword
    only, which ``apply`` of a Function cannot take.
    """
    if not is_custom_op(value) or not has_gradient(value) or _has_keyword_only(value):
        return None
    return _made(value)


def _has_keyword_only(op: Any) -> bool:
    parameters = inspect.signature(implementation(op)).parameters.values()
    return any(each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters)


def _made(op: Any) -> type[Any]:
    user = implementation(op)

    @functools.wraps(user)
    def forward(*args: Any) -> Any:
        return op(*args)

    methods = {
        "forward": forward,
        "setup_context": op._setup_context_fn or _nothing_kept,
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


def _nothing_kept(ctx: Any, inputs: Any, output: Any) -> None:
    """The ``setup_context`` of an operator that has none."""
