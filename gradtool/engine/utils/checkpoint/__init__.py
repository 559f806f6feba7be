"""``torch.utils.checkpoint``: functions that are computed again in backward.

Forward keeps the arguments alone. Backward calls the function again, with the random numbers of the
first call, and takes the saved tensors from there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine.utils.checkpoint._debug import set_checkpoint_debug_enabled
from gradtool.engine.utils.checkpoint._frame import (
    CheckpointError,
    GraphExecGroup,
    set_checkpoint_early_stop,
)
from gradtool.engine.utils.checkpoint._nonreentrant import ContextFn, noop_context_fn, run
from gradtool.engine.utils.checkpoint._reentrant import (
    CheckpointFunction,
    check_backward_validity,
    detach_variable,
)
from gradtool.engine.utils.checkpoint._selective import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)
from gradtool.engine.utils.checkpoint._states import (
    DefaultDeviceType,
    get_device_states,
    set_device_states,
)

__all__ = [
    "SAC_IGNORED_OPS", "CheckpointError", "CheckpointFunction", "CheckpointPolicy",
    "DefaultDeviceType", "GraphExecGroup", "SelectiveCheckpointContext",
    "check_backward_validity", "checkpoint", "checkpoint_sequential",
    "create_selective_checkpoint_contexts", "detach_variable", "get_device_states",
    "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
    "set_device_states",
]  # fmt: skip


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: ContextFn = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function`, which is called again in backward.

    Args:
        function: Computes the result.
        args: Its arguments, which are kept.
        use_reentrant: True for the old variant: a custom Function whose backward walks the graph
            of the second call. None is True, with a warning.
        context_fn: Returns the context of the first call and that of the second one.
        determinism_check: ``default`` compares shapes, dtypes and devices of what the calls save,
            ``none`` nothing.
        debug: Show the operations of both calls in the error, should they differ.
        early_stop: End the second call with the last tensor that backward needs.
        preserve_rng_state: Draw the random numbers of the first call again.
        kwargs: Keyword arguments of `function`, which the old variant does not take.

    Raises:
        ValueError: the old variant is given what it does not take, or there is no such check.
    """
    if use_reentrant is None:
        _warn("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
              "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
              "exception.")  # fmt: skip
        use_reentrant = True
    if not use_reentrant:
        return run(
            function,
            args,
            kwargs,
            preserve_rng_state,
            context_fn,
            debug=debug,
            early_stop=early_stop,
            determinism_check=determinism_check,
        )
    _refuse(kwargs)
    if context_fn is not noop_context_fn or debug:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    *,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call functions one after the other, in segments that are checkpointed but for the last.

    Raises:
        ValueError: there is another keyword argument.
    """
    if use_reentrant is None:
        _warn("torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be "
              "passed explicitly. In version 2.9 we will raise an exception if use_reentrant is "
              "not passed.")  # fmt: skip
        use_reentrant = True
    _refuse(kwargs)
    steps: list[Callable[..., Any]] = list(functions)
    length = len(steps) // segments
    for start in range(0, length * (segments - 1), length):
        part = _chain(steps[start : start + length])
        input = checkpoint(
            part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state
        )
    return _chain(steps[length * (segments - 1) :])(input)


def _warn(first: str) -> None:
    warnings.warn(
        f"{first} use_reentrant=False is recommended, but if you need to preserve the current "
        "default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
        "differences between the two variants.",
        stacklevel=3,
    )


def _refuse(kwargs: dict[str, Any]) -> None:
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))


def _chain(steps: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return run
