"""What the current thread is doing: recording a graph or not, and which hooks are in force.

One thread-local object holds it all, so that the hot path reads one attribute of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Modes(threading.local):
    """Per-thread switches. Class attributes are the values a new thread starts with."""

    grad: bool = True
    """Operations on tensors that require a gradient are recorded."""
    levels: tuple[Any, ...] = ()
    """Transforms under way, outermost first; see `gradtool.engine._levels`."""
    dual_level: Any = None
    """The level of `autograd.forward_ad`, while it is entered."""
    saved_tensor_hooks: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...] = ()
    """(pack, unpack) pairs; the last one is in force."""


modes = Modes()
