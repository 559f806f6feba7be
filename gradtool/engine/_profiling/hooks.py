"""Hooks of the profiler in the engine, which are removed afterwards: they cost nothing otherwise.

Three kinds of place are hooked, so that an operation is seen under any name that a module imported
it by: the `compute` of primitives; methods and functions, which may call several primitives; and
nodes of the graph, with users' Functions.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from gradtool.engine._ops.core import methods
from gradtool.engine._ops.core.op import FUNCTIONS, METHODS
from gradtool.engine._ops.core.primitive import PRIMITIVES
from gradtool.engine._ops.core.primitive_node import PrimitiveNode
from gradtool.engine._profiling import cuda
from gradtool.engine._profiling.recorder import Recorder, computing, recording, timed
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import AccumulateGrad
from gradtool.engine.autograd.function import BackwardCFunction, Function

Undo = Callable[[], None]

_TORCH_NAMES = {"to_copy": "_to_copy", "unsafe_view": "_unsafe_view"}
"""Primitives with another name in torch."""

_lock = threading.Lock()
_undo: list[Undo] = []
_listeners = 0


@contextlib.contextmanager
def listening(recorder: Recorder) -> Iterator[None]:
    """Record what this thread does; profilers may be nested."""
    before = recording.recorder
    _begin()
    recording.recorder = recorder
    try:
        with cuda.allocations():
            yield
    finally:
        recording.recorder = before
        _end()


def _begin() -> None:
    global _listeners
    with _lock:
        if not _listeners:
            for place in (_primitives, _operations, _methods, _functions, _graph, cuda.calls):
                _undo.extend(place())
        _listeners += 1


def _end() -> None:
    global _listeners
    with _lock:
        _listeners -= 1
        if not _listeners:
            while _undo:
                _undo.pop()()


def aten(name: str) -> str:
    """Return torch's name of an operation: ``aten::add``."""
    return f"aten::{_TORCH_NAMES.get(name, name)}"


def replaced(owner: Any, name: str, value: Any) -> Undo:
    """Set an attribute; return a function that restores it."""
    before = vars(owner)[name]
    setattr(owner, name, value)
    return lambda: setattr(owner, name, before)


def _primitives() -> Iterator[Undo]:
    for primitive in PRIMITIVES:
        before = primitive.compute
        primitive.compute = computing(aten(primitive.name), before)
        yield lambda primitive=primitive, before=before: setattr(  # type: ignore[misc]
            primitive, "compute", before
        )


def _operations() -> Iterator[Undo]:
    """Hook operations that call `compute` directly, not through their primitive: the hot paths."""
    for family in methods.FAMILIES:
        for value in vars(family).values():
            cells = _cells(value)
            if "compute" in cells and "primitive" in cells:
                cell, primitive = cells["compute"], cells["primitive"].cell_contents
                before = cell.cell_contents
                cell.cell_contents = computing(aten(primitive.name), before)
                yield lambda cell=cell, before=before: setattr(  # type: ignore[misc]
                    cell, "cell_contents", before
                )


def _cells(value: Any) -> dict[str, Any]:
    """Return the closure of a function by variable name."""
    if not isinstance(value, FunctionType) or value.__closure__ is None:
        return {}
    return dict(zip(value.__code__.co_freevars, value.__closure__))


def _methods() -> Iterator[Undo]:
    for attribute, name in _operation_names().items():
        function = vars(Tensor).get(attribute)
        if isinstance(function, FunctionType):
            yield replaced(Tensor, attribute, _like(function, timed(aten(name), function)))


def _operation_names() -> dict[str, str]:
    """Map attributes of Tensor to their operations."""
    names = {name: name for name in METHODS if name != "prelu"}  # timed in nn.functional
    operators = methods.OPERATORS | methods.COMPARISONS | methods.REFLECTED
    augmented = {dunder: f"{name}_" for dunder, name in methods.AUGMENTED.items()}
    return names | operators | augmented


def _functions() -> Iterator[Undo]:
    """Hook functions of the namespace, and of ``nn.functional`` if it is loaded."""
    engine = sys.modules["gradtool.engine"]
    functional = sys.modules.get("gradtool.engine.nn.functional")
    for module, public in ((engine, FUNCTIONS), (functional, getattr(functional, "__all__", ()))):
        for name in dict.fromkeys(public):
            function = vars(module).get(name)
            if isinstance(function, FunctionType):
                yield replaced(module, name, _like(function, timed(aten(name), function)))


def _like(function: FunctionType, wrapper: Any) -> Any:
    """Give the wrapper the function's name and signature."""
    wrapper.__name__, wrapper.__qualname__ = function.__name__, function.__qualname__
    wrapper.__wrapped__ = function
    return wrapper


def _graph() -> Iterator[Undo]:
    """Hook nodes in backward, and the forward of Functions, under their own names."""
    for kind in (PrimitiveNode, BackwardCFunction, AccumulateGrad):
        yield replaced(kind, "_vjp", _evaluating(vars(kind)["_vjp"]))
    # Operations that are not called cannot be timed.
    for of_arrays in ("_at_once", "_of_arrays"):
        yield replaced(PrimitiveNode, of_arrays, lambda *_: None)
    forward = vars(Function)["_run_forward"].__func__
    yield replaced(Function, "_run_forward", classmethod(_by_name(forward)))


def _evaluating(vjp: Callable[..., Any]) -> Callable[..., Any]:
    """The step of a node in a backward walk, with torch's two names for it."""

    def spanned(node: Any, *args: Any, **params: Any) -> Any:
        # Hooks are in place for all threads, profiled or not.
        if recording.recorder is None:
            return vjp(node, *args, **params)
        # A ctx may have an attribute of the user's called `name`.
        name = AccumulateGrad.name(node) if isinstance(node, AccumulateGrad) else node._name()
        number = -1 if isinstance(node, AccumulateGrad) else node._sequence_nr()
        named = timed(name, vjp, number)
        step = timed(f"autograd::engine::evaluate_function: {name}", named, number)
        return step(node, *args, **params)

    return spanned


def _by_name(function: Callable[..., Any]) -> Callable[..., Any]:
    def spanned(owner: Any, *args: Any, **params: Any) -> Any:
        if recording.recorder is None:
            return function(owner, *args, **params)
        return timed(owner.__name__, function)(owner, *args, **params)

    return spanned
