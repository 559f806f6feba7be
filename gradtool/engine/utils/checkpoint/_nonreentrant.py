"""The variant without reentrance: opening what was saved calls the function again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from gradtool.engine._device import get_default_device
from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.utils.checkpoint._debug import Logs, is_debugging
from gradtool.engine.utils.checkpoint._frame import Frame, stops_early
from gradtool.engine.utils.checkpoint._states import replaying

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]
ContextFn = Callable[[], Contexts]


def noop_context_fn() -> Contexts:
    """Return two contexts without effect."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def _properties(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


_DESCRIPTIONS: dict[str, Callable[[Tensor], Any]] = {
    "default": _properties,
    "none": lambda _tensor: None,
}
"""What each `determinism_check` compares."""


def run(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    preserve_rng_state: bool,
    context_fn: ContextFn,
    *,
    debug: bool,
    early_stop: bool,
    determinism_check: str,
) -> Any:
    """Call the function for the first time, with places in the graph for what it saves.

    Raises:
        ValueError: there is no such check, or debugging does not go with the context.
        RuntimeError: the context swallowed an exception of the function.
    """
    logs = None
    if is_debugging(debug):
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        logs = Logs()
        context_fn = logs.contexts
    if determinism_check not in _DESCRIPTIONS:
        raise ValueError(
            f"determinism_check should be one of {list(_DESCRIPTIONS)}, but got {determinism_check}"
        )
    context, context_again = context_fn()
    if not modes.grad:
        return function(*args, **kwargs)
    same_numbers, device = replaying(preserve_rng_state), get_default_device()

    def recompute(*args: Any) -> None:
        with same_numbers(), device, context_again:
            function(*args, **kwargs)

    frame = Frame(
        recompute,
        args,
        early_stop=stops_early(early_stop),
        describe=_DESCRIPTIONS[determinism_check],
        explain=None if logs is None else logs.explain,
    )
    with frame.saving(), context:
        result = function(*args, **kwargs)
        frame.complete = True
    if not frame.complete:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an "
            "exception raised during the checkpointed forward. This is not supported because "
            "checkpoint cannot return a value for a failed forward."
        )
    return result
