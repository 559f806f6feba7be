"""Attributes of tensors that hold their hooks, for code that looks into them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import AccumulateGrad, Hook, hooks_of, node_and_number

_UNUSED = "_unused_backward_hooks"


def _backward_hooks(self: Tensor) -> OrderedDict[int, Hook] | None:
    """The hooks on the gradient, by their numbers; None if there never was one."""
    if not self._requires_grad:
        unused: OrderedDict[int, Hook] | None = vars(self).get(_UNUSED)
        return unused
    if self._node is None and self._leaf_node is None:
        return None  # without asking a view that may not be followed
    node, number = node_and_number(self)
    hooks = None if node._hooks is None else node._hooks.tensor.get(number)
    return hooks if hooks is None or isinstance(hooks, OrderedDict) else OrderedDict(hooks)


def _set_backward_hooks(self: Tensor, hooks: OrderedDict[int, Hook] | None) -> None:
    """Let these be the hooks; they are kept, and not called, while there is no gradient."""
    if not self._requires_grad:
        vars(self)[_UNUSED] = hooks
        return
    node, number = node_and_number(self)
    if isinstance(node, AccumulateGrad):
        vars(self)["_hooked_accumulator"] = node  # as registering a hook does
    kept = hooks_of(node).tensor
    if hooks is None:
        kept.pop(number, None)
    else:
        kept[number] = hooks


def _post_accumulate_grad_hooks(self: Tensor) -> OrderedDict[int, Hook] | None:
    """The hooks on the leaf whose gradient was added; None if there is none."""
    node = node_and_number(self)[0] if self._requires_grad else None
    hooks = node.accumulated if isinstance(node, AccumulateGrad) else None
    had_any = "_hooked_accumulator" in vars(self)
    return OrderedDict(hooks or ()) if hooks or had_any else None


def _keep(self: Tensor, value: Any) -> None:
    """Do nothing: hooks are set by registering them."""


def _take_none(self: Tensor, value: Any) -> None:
    """Leave the graph, which is all that setting a node to None does."""
    if value is not None:
        raise RuntimeError("_grad_fn can be only set to None")
    self.detach_()


def _forbidden(message: str) -> Any:
    def delete(self: Tensor) -> None:
        raise RuntimeError(message)

    return delete


for _name, _property in {
    "_grad_fn": property(
        lambda self: self.grad_fn,
        _take_none,
        _forbidden("Deletion of _grad_fn not allowed. Detach tensor instead!"),
    ),
    "_backward_hooks": property(
        _backward_hooks,
        _set_backward_hooks,
        _forbidden("Deletion of _backwards_hooks not allowed!"),
    ),
    "_post_accumulate_grad_hooks": property(_post_accumulate_grad_hooks, _keep),
}.items():
    setattr(Tensor, _name, _property)


def _read_only(name: str) -> Any:
    def refuse(self: Tensor, value: Any = None) -> None:
        raise AttributeError(f"attribute {name!r} of 'torch._C.TensorBase' objects is not writable")

    return refuse


for _name in (
    "_base", "_version", "device", "dtype", "grad_fn", "is_leaf", "ndim", "output_nr",
    "retains_grad", "shape",
):  # fmt: skip
    _property = getattr(Tensor, _name)
    setattr(Tensor, _name, _property.setter(_read_only(_name)).deleter(_read_only(_name)))
