"""What becomes of cotangents that are all undefined.

A backward walk starts from a cotangent that has a value. Here it starts one step later, from a
Function that takes all outputs and sends nothing back to any of them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from gradtool.adapters.library import library


def undefined_gradients(outputs: Sequence[Any], leaves: Sequence[Any]) -> tuple[Any, ...]:
    """Gradients of `leaves` when no output has a cotangent.

    Raises whatever the user's backward or the library raises.
    """
    recorded = [output for output in outputs if output is not None and output.requires_grad]
    if not recorded or not leaves:
        return (None,) * len(leaves)
    torch = library().torch
    with torch.enable_grad():
        end = _silent(torch.autograd.Function).apply(*recorded)
    gradients: tuple[Any, ...] = torch.autograd.grad(
        end, list(leaves), retain_graph=True, allow_unused=True
    )
    return gradients


@functools.cache
def _silent(function: Any) -> Any:
    """The Function that sends nothing back."""

    class Silent(function):  # type: ignore[misc]  # of whichever library
        @staticmethod
        def forward(ctx: Any, *outputs: Any) -> Any:
            ctx.count = len(outputs)
            return outputs[0].new_zeros((), dtype=library().torch.float64)

        @staticmethod
        def backward(ctx: Any, _cotangent: Any) -> tuple[None, ...]:
            return (None,) * ctx.count

    return Silent
