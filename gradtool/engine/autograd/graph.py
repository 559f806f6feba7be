"""Looking into the graph and at what it saves, as ``torch.autograd.graph`` does."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd import _new_nodes
from gradtool.engine.autograd._node import (
    GradientEdge,
    Node,
    Nowhere,
    RemovableHandle,
    node_and_number,
)

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_override_stale_capture_stream",
    "set_warn_on_accumulate_grad_stream_mismatch",
]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor that requires a gradient.

    Raises:
        RuntimeError: it requires none.
    """
    if not tensor._requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    node, number = node_and_number(tensor)
    _refuse_leaf_in_inference(tensor)
    if isinstance(node, Nowhere):
        raise AssertionError("Expected gradient function to be set")
    return GradientEdge(node.shown(tensor), number)


def _refuse_leaf_in_inference(tensor: Tensor) -> None:
    """Fail as torch does, which looks for a leaf's node behind a view: there it has none."""
    if modes.inference and not tensor._had_node():
        raise AttributeError("'NoneType' object has no attribute 'next_functions'")


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Say that a tensor's memory was changed in a way that autograd did not see.

    Changes of inference tensors are not counted.

    Raises:
        RuntimeError: it is neither a tensor nor an iterable.
    """
    if not isinstance(tensor, Tensor | Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not each.is_inference():
            each._bump()


class saved_tensors_hooks:
    """Within the block, saved tensors go through `pack_hook`, and back through `unpack_hook`.

    Raises:
        RuntimeError: on entering, when hooks are disabled.
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if not (callable(self.pack_hook) and callable(self.unpack_hook)):
            raise TypeError(
                "_push_saved_tensors_default_hooks(): incompatible function arguments. The "
                "following argument types are supported:\n    1. (arg0: "
                "collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\n"
                f"Invoked with: {self.pack_hook!r}, {self.unpack_hook!r}"
            )
        if modes.saved_tensor_hooks_disabled is not None:
            raise RuntimeError(modes.saved_tensor_hooks_disabled)
        modes.saved_tensor_hooks = (*modes.saved_tensor_hooks, (self.pack_hook, self.unpack_hook))
        _new_nodes.update()

    def __exit__(self, *exc_info: object) -> None:
        modes.saved_tensor_hooks = modes.saved_tensor_hooks[:-1]
        _new_nodes.update()


class save_on_cpu(saved_tensors_hooks):
    """Within the block, saved tensors are kept in host memory."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            kept = tensor.cpu()
            return tensor.device, kept.pin_memory() if pin_memory and tensor.is_cuda else kept

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, kept = packed
            return kept.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Within the block, `saved_tensors_hooks` is an error with this message.

    Raises:
        RuntimeError: there are hooks in force.
    """
    if modes.saved_tensor_hooks:
        raise RuntimeError(error_message)
    before = modes.saved_tensor_hooks_disabled
    modes.saved_tensor_hooks_disabled = error_message
    try:
        yield
    finally:
        modes.saved_tensor_hooks_disabled = before


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[None]:
    """Within the block, saved tensors are copied, so that they may be changed in place after.

    Raises:
        RuntimeError: within such a block.
    """
    block = object()

    def unpack(copied: Tensor) -> Tensor:
        if modes.allows_mutation is not block:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded."
            )
        return copied

    try:
        if modes.allows_mutation is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        modes.allows_mutation = block
        with saved_tensors_hooks(lambda tensor: tensor.clone(), unpack):
            yield
    finally:
        modes.allows_mutation = None


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Accepted: a walk has one stream."""


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Accepted: a walk has one stream."""


def _get_grad_fn_or_grad_acc(tensor: Tensor | GradientEdge) -> Node:
    """The node that the gradient of a tensor goes to."""
    if isinstance(tensor, GradientEdge):
        return tensor.node
    if not tensor._requires_grad:
        raise AssertionError("Expected gradient function to be set")
    node = node_and_number(tensor)[0]
    _refuse_leaf_in_inference(tensor)
    if isinstance(node, Nowhere):
        raise AssertionError("Expected gradient function to be set")
    return node.shown()


class _MultiHandle:
    """Takes back all the hooks of one `register_multi_grad_hook`."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self._handles = handles

    def remove(self) -> None:
        """Take the hooks back."""
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> _MultiHandle:
    """Call `fn` in each walk with the gradients of all tensors, or with the first that is there.

    With ``all``, `fn` gets a list with None for a tensor without a gradient, once all that the
    walk will compute are there. With ``any``, it gets the first gradient computed.

    Raises:
        ValueError: another mode.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    of_one = _all_hooks if mode == "all" else _any_hook
    return _MultiHandle(
        [tensor.register_hook(hook) for tensor, hook in of_one(tensors, fn) if hook is not None]
    )


def _all_hooks(tensors: Sequence[Tensor], fn: Callable[..., None]) -> Iterator[tuple[Tensor, Any]]:
    """Hooks of which the last that a walk calls calls `fn` with all gradients."""
    # Several threads may walk graphs that share the tensors.
    lock = threading.Lock()
    # Of each walk: how many hooks it will call, has called, and the gradients.
    under_way: dict[int, tuple[int, list[None], list[Tensor | None]]] = {}
    nodes = [_get_grad_fn_or_grad_acc(tensor) for tensor in tensors]
    for tensor in tensors:
        _refuse_leaf_in_inference(tensor)

    def note(position: int, grad: Tensor | None) -> None:
        walk = modes.walk
        with lock:
            if walk.number not in under_way:
                # Only the walk knows: a tensor that it does not reach gets no gradient.
                expected = sum(walk.will_run(node) for node in nodes)
                under_way[walk.number] = (expected, [], [None] * len(tensors))
            expected, called, grads = under_way[walk.number]
            called.append(None)
            grads[position] = grad
            complete = len(called) == expected
        if complete:
            fn(grads)
            # Otherwise the gradients would live as long as the hook.
            del under_way[walk.number]

    for position, tensor in enumerate(tensors):
        yield tensor, functools.partial(note, position)


def _any_hook(tensors: Sequence[Tensor], fn: Callable[..., None]) -> Iterator[tuple[Tensor, Any]]:
    """Hooks of which the first that a walk calls calls `fn`."""
    lock = threading.Lock()
    seen: set[int] = set()

    @functools.wraps(fn)
    def first(grad: Tensor | None) -> None:
        number = modes.walk.number
        with lock:
            late = number in seen
            seen.add(number)
        if not late:
            fn(grad)

    for tensor in tensors:
        yield tensor, first if tensor._requires_grad else None
