"""Recording of custom Functions: their forward's own operations in place of their backward.

In the block a Function's ``forward`` is differentiated step by step, as if it were plain code, and
its ``backward`` and ``jvp`` are never asked. Nothing in it hides a step: blocks under `no_grad`
record too, and `detach` and `data` keep their place in the graph.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gradtool.engine._modes import modes
from gradtool.engine.autograd._new_nodes import cloned, unchanged
from gradtool.engine.autograd.graph import saved_tensors_hooks

if TYPE_CHECKING:
    from gradtool.engine._tensor import Tensor


_ENGINE = str(Path(__file__).parents[1])
"""The folder of the engine, whose frames are not the user's."""


class Cut(NamedTuple):
    """A conversion of a tensor of the graph to plain numbers."""

    conversion: str
    path: str
    line: int


class Recording:
    """Record of what left the graph in a block."""

    def __init__(self) -> None:
        self.cuts: list[Cut] = []
        """The conversions of tensors of the graph to plain numbers, in order."""

    def keep(self, tensor: Tensor) -> Tensor:
        """Return a tensor over the same memory that stays in the graph."""
        return tensor.view_as(tensor)

    def leave(self, tensor: Tensor, conversion: str) -> None:
        """Note that the elements of a tensor leave the graph, if it is part of one."""
        if tensor._requires_grad:
            self.cuts.append(Cut(conversion, *_caller()))


@contextmanager
def recording() -> Iterator[Recording]:
    """Differentiate what custom Functions compute in the block, and not their backward.

    What is saved is copied: ``forward`` may change it in place later.
    """
    before, modes.recording = modes.recording, Recording()
    try:
        with saved_tensors_hooks(cloned, unchanged):
            yield modes.recording
    finally:
        modes.recording = before


def _caller() -> tuple[str, int]:
    """The file and the line that called the engine."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_ENGINE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
