"""Modes of the current thread: recording of the graph, transforms, and hooks in force.

One thread-local object holds it all, so that the hot path reads one attribute of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Modes(threading.local):
    """Per-thread switches. Class attributes are the values a new thread starts with."""

    grad: bool = True
    """Operations on tensors that require a gradient are recorded."""
    grad_in_inference: bool = False
    """What inference mode, in which nothing is recorded, was asked to record."""
    forward: bool = True
    """Operations on dual tensors give dual tensors."""
    inference: bool = False
    """Tensors that are made can never be recorded; see `autograd.grad_mode.inference_mode`."""
    levels: tuple[Any, ...] = ()
    """Transforms under way, outermost first; see `gradtool.engine._levels`."""
    dual_level: Any = None
    """The level of `autograd.forward_ad`, while it is entered."""
    saved_tensor_hooks: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...] = ()
    """(pack, unpack) pairs; the last one is in force."""
    saved_tensor_hooks_disabled: str | None = None
    """The message of the error that setting such hooks is."""
    allows_mutation: object = None
    """Saved tensors are copied, and may be changed in place."""
    anomaly: bool = False
    """Nodes remember where they were made, and NaN gradients are errors."""
    check_nan: bool = True
    watch: Callable[[Any], None] | None = None
    """Called with each new node, while hooks or anomaly mode are in force."""
    multithreading: bool = True
    """Set for programs that ask; a walk has one thread."""
    overrides: bool = True
    """Operations on instances of users' subclasses of Tensor go through these."""
    view_replay: bool = False
    """Views of a base that was changed show the steps by which they were taken."""
    recording: Any = None
    """The block in which Functions are differentiated by their forward's own operations."""
    walk: Any = None
    """The backward walk that this thread is in."""

    def __init__(self) -> None:
        # Once in each thread. Whoever needs several on a hot path takes them out of the
        # dictionary: each attribute takes three times as long.
        self.__dict__.update({name: getattr(Modes, name) for name in Modes.__annotations__})


modes = Modes()


overriding: list[type] = []
"""The classes that users derived from Tensor."""


@contextmanager
def overrides(enabled: bool) -> Iterator[None]:
    """Hand operations to users' subclasses of Tensor in the block, or do not."""
    before, modes.overrides = modes.overrides, enabled
    try:
        yield
    finally:
        modes.overrides = before


class Marking:
    """Inference modes and transforms that new tensors are marked by, for a quick test of it."""

    threads = 0
    """Number of those entered, in all threads."""


marking = Marking()


class Unshared:
    """References to a gradient that nothing but a walk holds, which a leaf may take."""

    count = 0
    """As `sys.getrefcount` has it where a leaf accumulates; `autograd._walk` measures it."""


unshared = Unshared()
