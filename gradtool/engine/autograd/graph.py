"""Looking into the graph and at what it saves, as ``torch.autograd.graph`` does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd import _new_nodes
from gradtool.engine.autograd._node import GradientEdge, Node, RemovableHandle, node_and_number

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
    return GradientEdge(node.shown(tensor), number)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Say that a tensor's memory was changed in a way that autograd did not see."""
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
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
            # `cpu()` of a CPU tensor is the tensor itself, which may be changed in place.
            kept = tensor.cpu().clone() if not tensor.is_cuda else tensor.cpu()
            return tensor.device, kept.pin_memory() if pin_memory and tensor.is_cuda else kept

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, kept = packed
            return kept.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


class disable_saved_tensors_hooks:
    """Within the block, `saved_tensors_hooks` is an error with this message."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def __enter__(self) -> None:
        self._before = modes.saved_tensor_hooks_disabled
        modes.saved_tensor_hooks_disabled = self.error_message

    def __exit__(self, *exc_info: object) -> None:
        modes.saved_tensor_hooks_disabled = self._before


class allow_mutation_on_saved_tensors(saved_tensors_hooks):
    """Within the block, saved tensors are copied, so that they may be changed in place after."""

    def __init__(self) -> None:
        super().__init__(lambda tensor: tensor.clone(), lambda tensor: tensor)


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
    # Several threads may walk graphs that share the tensors.
    lock = threading.Lock()
    seen: dict[int, list[Tensor | None]] = {}
    nodes = [node_and_number(tensor)[0] for tensor in tensors]

    def note(position: int, grad: Tensor) -> None:
        walk = modes.walk
        with lock:
            first = walk.number not in seen
            grads = seen.setdefault(walk.number, [None] * len(tensors))
            grads[position] = grad
            # Only the walk knows: a tensor that it does not reach gets no gradient.
            expected = sum(walk.will_run(node) for node in nodes)
            complete = sum(each is not None for each in grads) == expected
        if mode == "any":
            if first:
                fn(grad)
        elif complete:
            # Otherwise the gradients would live as long as the hook.
            del seen[walk.number]
            fn(grads)

    def hook_for(position: int) -> Callable[[Tensor], None]:
        return lambda grad: note(position, grad)

    return _MultiHandle(
        [tensor.register_hook(hook_for(position)) for position, tensor in enumerate(tensors)]
    )
