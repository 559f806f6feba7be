"""Calling the hooks of a node during the backward walk, and checks of what they return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import (
    AccumulateGrad,
    Form,
    Hook,
    Node,
    NodeHooks,
    hooks_of,
    node_and_number,
)

Grad = Tensor | None


def run_pre_hooks(node: Node, hooks: NodeHooks, grad: Any) -> Any:
    """Return the gradients of a node's outputs after all hooks that precede its run."""
    slots = run_tensor_hooks(node, hooks, grad)
    hidden = slots[len(slots) - node._hidden :] if node._hidden else []
    slots = slots[: len(slots) - node._hidden] if node._hidden else slots
    # A copy of the hooks, as one may remove itself.
    for hook in list(hooks.before.values()):
        given = tuple(slots) if isinstance(slots, list) else (slots,)
        replaced = hook(given)
        if replaced is not None:
            _check_all(given, replaced, hook)
            slots = list(replaced) if isinstance(slots, list) else replaced[0]
    return [*slots, *hidden] if hidden else slots


def run_tensor_hooks(node: Node, hooks: NodeHooks, grad: Any) -> Any:
    """Return the gradients of a node's outputs after its tensors' hooks, and retain them."""
    single = not isinstance(grad, list)
    slots = [grad] if single else list(grad)
    if hooks.dtype is not None and slots[0] is not None:
        slots[0] = slots[0].to(hooks.dtype)
    for number, form in hooks.computed.items():
        if slots[number] is not None:
            slots[number] = in_computed_form(node, number, slots[number], form)
    for number, of_tensor in hooks.tensor.items():
        for hook in list(of_tensor.values()):
            replaced = hook(slots[number])
            if replaced is not None:
                _check(slots[number], replaced, hook)
                slots[number] = replaced
    # torch retains the gradient that all of the tensor's hooks have seen.
    for number, reference in hooks.retain.items():
        tensor = reference()
        if tensor is not None and slots[number] is not None:
            _retain(tensor, slots[number])
    return slots[0] if single else slots


def _retain(tensor: Tensor, grad: Tensor) -> None:
    held = tensor._grad
    if held is None:
        tensor._grad = grad.clone() if modes.grad else grad.detach().clone()
    else:
        tensor._grad = held + grad


def run_post_hooks(node: Node, hooks: NodeHooks, results: Any, grad: Any) -> Any:
    """Return the gradients of a node's inputs after the hooks that follow its run."""
    outgoing = tuple(grad[: len(grad) - node._hidden]) if isinstance(grad, list) else (grad,)
    edges = node._shown_edges()
    given = iter(results)
    # Hooks see an entry for each input, with a gradient or not.
    slots: Sequence[Grad] = tuple([None if edge is None else next(given) for edge in edges])
    for hook in list(hooks.after.values()):
        replaced = hook(slots, outgoing)
        if replaced is not None:
            _check_all(slots, replaced, hook)
            slots = replaced
    return [slot for slot, edge in zip(slots, edges, strict=True) if edge is not None]


def run_accumulated_hooks(node: AccumulateGrad) -> None:
    """Call the hooks on a leaf whose gradient was added to its ``grad``."""
    leaf = node.variable
    for hook in list(node.accumulated.values()):
        returned = hook(leaf)
        if returned is not None:
            _check(leaf, returned, hook)
            raise RuntimeError("Tensor post accumulate grad hooks should return None.")


# ---- gradients of tensors that got other data ------------------------------------------------
#
# The node of such a tensor still takes a gradient of what it computed. As in PyTorch, one of a
# shape that the former broadcasts to is summed, and one of any other refused.


def keep_computed_form(x: Tensor) -> None:
    """Remember the shape and dtype of a tensor as computed, as it is about to get others."""
    if x._node is not None:
        node, number = node_and_number(x)
        hooks_of(node).computed.setdefault(number, (tuple(x.shape), x.dtype))


def in_computed_form(node: Node, number: int, grad: Tensor, form: Form) -> Tensor:
    """Return a gradient in the shape and dtype that an output of the node was computed in.

    Raises:
        RuntimeError: that shape does not broadcast to that of the gradient.
    """
    if (tuple(grad.shape), grad.dtype) == form:
        return grad
    sender, position = _sender(node, number)
    return in_form(
        grad, form, f"Function {sender} returned an invalid gradient at index {position}"
    )


def in_form(grad: Tensor, form: Form, refusal: str) -> Tensor:
    """Return a gradient summed to a shape, in a dtype.

    Raises:
        RuntimeError: that shape does not broadcast to that of the gradient; says `refusal` first.
    """
    shape, dtype = form
    have = tuple(grad.shape)
    pairs = zip(reversed(shape), reversed(have), strict=False)
    if len(shape) > len(have) or any(one not in (1, other) for one, other in pairs):
        raise RuntimeError(
            f"{refusal} - got {list(have)} but expected shape compatible with {list(shape)}"
        )
    fitted: Tensor = grad.sum_to_size(shape).to(dtype)
    return fitted


def _sender(node: Node, number: int) -> tuple[str, int]:
    """The name of a node of this walk that passes a gradient to an output, and at which place."""
    walker = modes.walk
    for each in () if walker is None else walker.reachable().values():
        for position, edge in enumerate(each._shown_edges()):
            leads = edge is not None and edge._order == node._order
            if leads and getattr(edge, "number", 0) == number:
                return each._name(), position
    return "", 0


# ---- what hooks return -----------------------------------------------------------------------


def _check_all(given: Sequence[Grad], returned: Any, hook: Hook) -> None:
    """Refuse what a node's hook may not return in the place of several gradients."""
    if not isinstance(returned, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(returned).__name__}'")
    if len(returned) != len(given):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values "
            f"(got {len(returned)}, but expected {len(given)})"
        )
    for original, each in zip(given, returned, strict=True):
        if each is not None:
            _check(original, each, hook)


def _check(original: Grad, returned: Any, hook: Hook) -> None:
    """Refuse what a hook may not return in the place of a gradient.

    Raises:
        TypeError: it is no tensor.
        RuntimeError: it has another dtype, device or shape, or there was no gradient.
    """
    if original is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(returned, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(returned).__name__}'")
    if returned.dtype is not original.dtype or returned.is_cuda != original.is_cuda:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was {_type_of(original)} got "
            f"{_type_of(returned)})"
        )
    if returned._array.shape != original._array.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")


def _name(hook: Hook) -> str:
    return str(getattr(hook, "__name__", "<unknown>"))


def _type_of(tensor: Tensor) -> str:
    """The type's name as torch's C++ has it, which has a form of its own for complex ones."""
    name = str(tensor.type())
    if not tensor.is_complex():
        return name
    place = "CUDA" if tensor.is_cuda else "CPU"
    return place + name.rpartition(".")[2].removesuffix("Tensor") + "Type"
