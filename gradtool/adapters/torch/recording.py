"""PyTorch Functions by their forward alone: for its values, or differentiated step by step."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gradtool.adapters.common.binding import takes_ctx
from gradtool.adapters.library import BoundCall
from gradtool.verify.protocol.observation import Cut

_CONVERSIONS = {
    "item": "item()",
    "tolist": "tolist()",
    "numpy": "numpy()",
    "__array__": "numpy()",
    "__float__": "item()",
    "__int__": "item()",
    "__complex__": "item()",
}
"""Methods of a tensor that return plain numbers, as the bundled engine calls them."""


class _SilentCtx:
    """Ctx for a ``forward`` that is run for its values alone: it keeps nothing of a call.

    Other attributes may be set freely.

    Args:
        needs_input_grad: For each argument of ``forward``.
    """

    def __init__(self, needs_input_grad: Sequence[bool]) -> None:
        self.needs_input_grad = tuple(needs_input_grad)

    def save_for_backward(self, *tensors: Any) -> None:
        """Save nothing."""

    save_for_forward = mark_dirty = mark_non_differentiable = save_for_backward

    def set_materialize_grads(self, value: bool) -> None:
        """Ignore the choice: no backward will run."""


def values_of(bound: BoundCall) -> Callable[..., Any]:
    """The user's ``forward`` as a function of its arguments, ctx apart; or the plain callable."""
    cls = bound.cls
    if cls is None:
        return bound.callable
    if not takes_ctx(cls):
        forward: Callable[..., Any] = cls.forward
        return forward
    return functools.partial(cls.forward, _SilentCtx(bound.arguments.needs_input_grad))


@contextmanager
def recording(torch: Any, cuts: list[Cut]) -> Iterator[None]:
    """Differentiate what Functions compute in the block by its steps, and not by their backward.

    A Function whose ``apply`` the user's code took earlier keeps its backward. Conversions of
    differentiated tensors to plain numbers are added to `cuts`.
    """
    function = torch.autograd.Function
    before = function.__dict__["apply"]
    function.apply = classmethod(_forward_alone)
    try:
        with _transparent(torch, cuts), torch.autograd.graph.saved_tensors_hooks(_copy, _unchanged):
            yield
    finally:
        function.apply = before


def _forward_alone(cls: type[Any], *args: Any, **kwargs: Any) -> Any:
    if not takes_ctx(cls):
        return cls.forward(*args, **kwargs)
    needs = [getattr(arg, "requires_grad", False) for arg in args]
    return cls.forward(_SilentCtx(needs), *args, **kwargs)


def _caller(torch: Any) -> tuple[str, int]:
    """The file and the line that called PyTorch."""
    own = (__file__, str(Path(torch.__file__).parent))
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(own):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _copy(tensor: Any) -> Any:
    return tensor.clone()


def _unchanged(packed: Any) -> Any:
    return packed


@contextmanager
def _undispatched(autograd: Any) -> Iterator[None]:
    """Let `autograd.grad` run backward within the modes of its caller, and not outside of one."""
    before = autograd.has_torch_function
    autograd.has_torch_function = lambda _: False
    try:
        yield
    finally:
        autograd.has_torch_function = before


def _transparent(torch: Any, cuts: list[Cut]) -> Any:
    """The mode in which neither `no_grad` nor `detach` hides a step."""
    kept = (torch.Tensor.detach, torch.detach, torch.Tensor.data.__get__)
    conversions = {getattr(torch.Tensor, name): shown for name, shown in _CONVERSIONS.items()}

    class Transparent(torch.overrides.TorchFunctionMode):  # type: ignore[misc]  # known at run time
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if function is torch._C._set_grad_enabled:
                return None
            if function is torch.autograd.grad:
                with self, _undispatched(torch.autograd):
                    return function(*args, **(kwargs or {}))
            if function in kept:
                return args[0].view_as(args[0])
            if function in conversions and args[0].requires_grad:
                cuts.append(Cut(conversions[function], *_caller(torch)))
                args = (args[0].detach(), *args[1:])
            return function(*args, **(kwargs or {}))

    return Transparent()
