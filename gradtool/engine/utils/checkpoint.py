"""``torch.utils.checkpoint``: the same values and gradients, with all that was saved kept.

PyTorch computes a checkpointed part again in the backward walk, to save memory. Here nothing is
computed twice: what is checked is the gradient, which is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Any = None,
    determinism_check: str = "default",
    debug: bool = False,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """`function` of the arguments. The options are accepted."""
    return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """One function after another, as ``nn.Sequential`` runs them.

    Raises:
        ValueError: there are to be no segments, or more than functions.
    """
    steps: Sequence[Callable[..., Any]] = list(functions)
    if not 0 < segments <= len(steps):
        raise ValueError(f"segments is {segments}, but there are {len(steps)} functions")
    for step in steps:
        input = step(input)
    return input


__all__ = ["checkpoint", "checkpoint_sequential"]
