"""The bundled engine as a `Library`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool import engine
from gradtool.adapters.bundled.graphed_levels import GraphedBatch, GraphedCotangents
from gradtool.adapters.common.vjp import vjp
from gradtool.adapters.library import Arrays, BoundCall, Library, Outputs, Place, Snapshot
from gradtool.engine._errors import ContractError
from gradtool.engine._lazy import hold, memory
from gradtool.engine._tensor import to_numpy, wrap
from gradtool.engine.autograd._new_nodes import TRACEBACK
from gradtool.engine.autograd._recording import recording
from gradtool.verify.protocol.observation import Array, Cotangents, Cut, FailureKind, Primals


class _Bundled:
    """The bundled engine. See `gradtool.adapters.library.Library`."""

    name: str = "bundled"
    torch: Any = engine
    Tensor: type[Any] = engine.Tensor
    Function: type[Any] = engine.autograd.Function
    packages: tuple[str, ...] = ("gradtool.engine", "torch")

    @property
    def version(self) -> str:
        return "bundled engine"

    def tensor(self, array: Array) -> Any:
        return wrap(array)

    def array(self, tensor: Any) -> Array:
        if tensor._sparse is not None:
            tensor = tensor.detach().to_dense()
        found: Array = to_numpy(tensor._array)
        return found

    def dtype(self, tensor: Any) -> Any:
        return _stored(tensor)._array.dtype

    def shares_memory(self, tensor: Any, other: Any) -> bool:
        own = memory(_stored(tensor))
        array = memory(_stored(other)) if isinstance(other, engine.Tensor) else other
        if type(own) is not type(array):
            return False
        if not isinstance(own, np.ndarray):
            return bool(own.data.ptr == array.data.ptr)
        return np.may_share_memory(own, array)

    def shares_version(self, tensor: Any, other: Any) -> bool:
        storage = _stored(tensor)._storage
        return storage is not None and storage is _stored(other)._storage

    def snapshot(self, tensor: Any) -> Snapshot:
        return _TensorSnapshot(_stored(tensor))

    def places(self, node: Any) -> Iterator[Place]:
        stack = node.metadata.get(TRACEBACK)
        return iter(()) if stack is None else stack.places()

    def is_once_differentiable(self, method: Callable[..., Any]) -> bool:
        return bool(getattr(method, "_once_differentiable", False))

    def contract(self, error: Exception) -> FailureKind:
        return error.kind if isinstance(error, ContractError) else "raised"

    def record(self, bound: BoundCall, tensors: Sequence[Any], cuts: list[Cut]) -> Outputs:
        with self.recording(cuts):
            return bound(tensors)

    @contextmanager
    def recording(self, cuts: list[Cut]) -> Iterator[None]:
        with recording() as record:
            try:
                yield
            finally:
                cuts += [Cut(*each) for each in record.cuts]

    def evaluate_batch(self, bound: BoundCall, primals: Primals, stacked: Sequence[bool]) -> Arrays:
        size = next(len(primal) for primal, flag in zip(primals, stacked, strict=True) if flag)
        places = zip(bound.arguments.stacked(primals), stacked, strict=True)
        with engine.no_grad(), GraphedBatch(size) as level:
            tensors = [level.wrap(tensor) if flag else tensor for tensor, flag in places]
            for tensor, needed in zip(tensors, bound.arguments.differentiable, strict=True):
                tensor._requires_grad = needed
            return level.arrays(bound(tensors))

    def vjp_batch(self, bound: BoundCall, primals: Primals, rows: Cotangents) -> Arrays:
        size = next(len(row) for row in rows if row is not None)
        with engine.enable_grad():
            leaves, tensors = bound.arguments.tracked(primals)
            outputs = bound(tensors)
            with GraphedCotangents(size) as level:
                sent = [
                    None if row is None or out is None else level.wrap(wrap(row).to(out.device))
                    for row, out in zip(rows, outputs, strict=True)
                ]
                return level.arrays(vjp(outputs, sent, leaves))


def _stored(tensor: Any) -> Any:
    """The tensor that has the memory of one: the values of a sparse tensor."""
    return tensor if tensor._sparse is None else tensor._sparse.values


class _TensorSnapshot:
    """A tensor with its values and its place among transforms, as they were."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor
        self._array = memory(tensor)
        self._values = self._array.copy()
        self._class = type(tensor)
        self._fields = dict(vars(tensor))

    def is_changed(self) -> bool:
        if memory(self._tensor) is not self._array:
            return True
        return bool(self._array.tobytes() != self._values.tobytes())

    def restore(self) -> None:
        if not self.is_changed():
            return
        self._tensor.__class__ = self._class
        hold(self._tensor, self._array)
        vars(self._tensor).clear()
        vars(self._tensor).update(self._fields)
        self._array[...] = self._values


_BUNDLED = _Bundled()


def load() -> Library:
    """Return the bundled engine."""
    return _BUNDLED
