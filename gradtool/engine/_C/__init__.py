"""The names of PyTorch's compiled core that Python code calls to look into autograd."""

from __future__ import annotations

import weakref
from typing import Any

from gradtool.engine import _placeholder
from gradtool.engine._C import _autograd, _functions, _functorch
from gradtool.engine._modes import modes, overrides
from gradtool.engine._tensor import Tensor as TensorBase
from gradtool.engine.autograd._node import Node
from gradtool.engine.autograd.forward_ad import _is_fwd_grad_enabled
from gradtool.engine.autograd.function import BackwardCFunction as _FunctionBase
from gradtool.engine.autograd.grad_mode import is_grad_enabled, is_multithreading_enabled

has_lapack = True

__all__ = [
    "TensorBase", "_FunctionBase", "_autograd", "_functions", "_functorch", "_is_fwd_grad_enabled",
    "has_lapack",
]  # fmt: skip


def _are_functorch_transforms_active() -> bool:
    """Return True inside of a transform of ``torch.func``."""
    return _functorch.maybe_current_level() is not None


def _disabled_torch_function_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run an operation on instances of subclasses as on plain tensors; results are plain, too."""
    with overrides(False):
        return func(*args, **(kwargs or {}))


def _current_graph_task_id() -> int:
    """Return a number of the backward walk under way, -1 outside of one."""
    return -1 if modes.walk is None else int(modes.walk.number)


def _will_engine_execute_node(node: Any) -> bool:
    """Return True if the walk under way runs, or ran, a node.

    Raises:
        RuntimeError: there is no walk under way, or it is no node.
    """
    if not isinstance(node, Node):
        raise RuntimeError(
            f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}"
        )
    if modes.walk is None:
        raise RuntimeError(
            "_get_should_execute_nodes should only be called during the backward pass"
        )
    return bool(modes.walk.will_run(node))


def _current_graph_task_execution_order() -> list[Node]:
    """Return the nodes of the walk under way in the order in which they run.

    Raises:
        RuntimeError: there is no walk under way, or multithreading is enabled.
    """
    if modes.walk is None:
        raise RuntimeError(
            "_current_graph_task_execution_order should only be called during the backward pass"
        )
    if modes.multithreading:
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed "
            "with multithreading disabled, e.g. by running:\n\n>>> with "
            "torch.autograd.set_multithreading_enabled(False):\n...     torch.autograd.grad(...)\n"
        )
    nodes: list[Node] = modes.walk.in_order()
    return nodes


def _set_grad_enabled(enabled: bool) -> None:
    """Record operations or not, from here on."""
    modes.grad = enabled


def _set_fwd_grad_enabled(enabled: bool) -> None:
    """Compute tangents or not, from here on."""
    modes.forward = enabled


_is_grad_enabled = is_grad_enabled
_is_multithreading_enabled = is_multithreading_enabled


def _set_multithreading_enabled(enabled: bool) -> None:
    """Say if a walk may have several threads, which it never has."""
    modes.multithreading = enabled


def _current_autograd_node() -> Node | None:
    """Return the node that the walk under way runs, None outside of one."""
    running: Node | None = None if modes.walk is None else modes.walk.running
    return None if running is None else running.shown()


class DisableTorchFunctionSubclass:
    """Block in which instances of subclasses of Tensor are plain tensors to operations."""

    def __enter__(self) -> None:
        self._block = overrides(False)
        self._block.__enter__()

    def __exit__(self, *exc_info: Any) -> None:
        self._block.__exit__(*exc_info)


class _WeakTensorRef:
    """A reference that does not keep its tensor."""

    def __init__(self, tensor: TensorBase) -> None:
        self._tensor = weakref.ref(tensor)

    def expired(self) -> bool:
        """Return True once the tensor is gone."""
        return self._tensor() is None


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _placeholder.placeholder(f"torch._C.{name}")
