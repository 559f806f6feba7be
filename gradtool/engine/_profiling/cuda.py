"""Profile of the CUDA runtime: copies, allocations and synchronization.

A single call of CuPy cannot be split. A blocking copy is therefore made as an asynchronous copy and
a wait for its stream, which is equivalent, so that each gets its own span.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtool.device import CUDA
from gradtool.device.arrays import array_module
from gradtool.device.cuda import CudaBackend, CudaEvent, CudaStream
from gradtool.engine._ops.creation import conversion
from gradtool.engine._profiling.recorder import Span, computing, recording, timed

Undo = Callable[[], None]

_CALLS: tuple[tuple[Any, str, str], ...] = (
    (CudaBackend, "synchronize", "cudaDeviceSynchronize"),
    (CudaBackend, "empty_pinned", "cudaHostAlloc"),
    (CudaStream, "synchronize", "cudaStreamSynchronize"),
    (CudaEvent, "synchronize", "cudaEventSynchronize"),
)
"""Methods, and the runtime calls that they make."""


def calls() -> Iterator[Undo]:
    """Hook copies and synchronization."""
    for owner, name, called in _CALLS:
        before = vars(owner)[name]
        setattr(owner, name, timed(called, before))
        yield lambda owner=owner, name=name, before=before: setattr(  # type: ignore[misc]
            owner, name, before
        )
    moved = vars(conversion)["moved_to"]
    vars(conversion)["moved_to"] = _copying(moved)
    yield lambda: vars(conversion).update(moved_to=moved)


def _copying(moved_to: Callable[..., Any]) -> Callable[..., Any]:
    issue = computing("cudaMemcpyAsync", moved_to)

    def moved(kind: str, index: int | None, array: Any, *, non_blocking: bool = False) -> Any:
        on_host = isinstance(array, np.ndarray)
        if on_host and kind == "cpu":
            return array
        if on_host:
            out = issue(kind, index, array, non_blocking=True)
            if not non_blocking:
                _wait_on(out.device.id)
            return out
        if kind == "cpu" and not non_blocking and array.flags.c_contiguous:
            return _to_pageable(array)
        return issue(kind, index, array, non_blocking=non_blocking)

    return moved


def _to_pageable(array: Any) -> Any:
    """Copy to host memory and block, in two steps."""
    out = np.empty(array.shape, array.dtype)
    with CUDA.select(array.device.id):
        computing("cudaMemcpyAsync", array.get)(out=out, blocking=False)
        CUDA.current_stream().synchronize()
    return out


def _wait_on(index: int) -> None:
    with CUDA.select(index):
        CUDA.current_stream().synchronize()


def marker() -> Callable[[], Any] | None:
    """Return a function that marks the current stream; None without CUDA."""
    if not CUDA.count():
        return None

    def mark() -> Any:
        event = CUDA.event()
        event.record()
        return event

    return mark


def allocations() -> contextlib.AbstractContextManager[Any]:
    """Hook the allocations of this thread, if CuPy is loaded and has a device."""
    # In this order: counting devices would load CuPy.
    if "cupy" not in sys.modules or not CUDA.count():
        return contextlib.nullcontext()
    hook: contextlib.AbstractContextManager[Any] = _hook_class()()
    return hook


@functools.cache
def _hook_class() -> Any:
    """Make a CuPy hook; its class exists once CuPy is loaded."""

    class Listening(array_module("cuda").cuda.MemoryHook):  # type: ignore[misc]
        """Spans for allocations of arrays from the pool, and of the pool from CUDA."""

        def __init__(self) -> None:
            super().__init__()
            self.name = f"gradtool profiler {id(self)}"  # CuPy accepts each name once
            self._open: list[Span | None] = []

        def _begin(self, name: str) -> None:
            recorder = recording.recorder
            self._open.append(recorder.enter(name) if recorder else None)

        def _end(self) -> None:
            span = self._open.pop() if self._open else None
            if span is not None and recording.recorder is not None:
                recording.recorder.leave(span)

        def malloc_preprocess(self, **given: Any) -> None:
            self._begin("aten::empty_strided")

        def malloc_postprocess(self, **given: Any) -> None:
            self._end()

        def alloc_preprocess(self, **given: Any) -> None:
            self._begin("cudaMalloc")

        def alloc_postprocess(self, **given: Any) -> None:
            self._end()

    return Listening
