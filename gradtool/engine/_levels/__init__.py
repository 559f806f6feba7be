"""Levels: vmap, forward mode and nested reverse mode as interpreters of operations.

A transform enters a level and wraps the tensors it transforms. A wrapped tensor holds a
tensor of the levels below. An operation on tensors of several levels is handed to the
highest: it transforms the operation into operations on the tensors below, which the next level
then handles in the same way. No level looks into another, so transforms nest in any order; an
operation without wrapped tensors involves no level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np

from gradtool.engine._lazy import bits, mark, memory, share
from gradtool.engine._modes import marking, modes
from gradtool.engine._tensor import Tensor, _fill, _new


class Level:
    """One transform under way. Entered and left as a context manager."""

    number: int
    by_func = True
    """True for the levels of `func`'s transforms, False for forward mode by hand."""
    takes_keywords = False
    """True for the levels of `vmap`, at which a Function may have keyword-only arguments."""
    refuses_data = False
    """True for the levels of `vmap`, inside of which a tensor has no ``data``."""
    marks = False
    """True if tensors made inside are marked, as those from outside may not be changed."""
    in_inference = False
    """True if it was entered in inference mode, of which it leads out."""
    alive = False
    """True from entering to leaving. After that a wrapped tensor stands for the tensor it holds."""

    def __enter__(self) -> Self:
        self.number = len(modes.levels) + 1
        self.alive = True
        modes.levels = (*modes.levels, self)
        marking.threads += self.marks
        return self

    def __exit__(self, *exc_info: object) -> None:
        modes.levels = modes.levels[:-1]
        self.alive = False
        marking.threads -= self.marks

    @contextmanager
    def lowered(self) -> Iterator[None]:
        """Run code as the levels around this one have it."""
        levels = modes.levels
        modes.levels = levels[: self.number - 1]
        try:
            yield
        finally:
            modes.levels = levels

    def apply(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Transform a primitive, some of whose `args` are of this level."""
        raise NotImplementedError

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Transform a custom Function."""
        raise NotImplementedError

    def check_function(self, function: Any, kwargs: dict[str, Any]) -> None:
        """Refuse a custom Function that cannot be called at this level, whatever its arguments."""

    def check_change(self, x: Any, name: str, others: Sequence[Any]) -> None:
        """Refuse an operation that changes `x` in place, if this level cannot follow it."""

    def write(self, x: Any, result: Tensor, partial: bool) -> None:
        """Write the values of `result` over those of `x`, which is of this level."""
        raise NotImplementedError

    def lift(self, x: Tensor) -> None:
        """Turn `x`, of a lower level, into a tensor of this one with the same values."""
        raise NotImplementedError

    def lift_base(self, x: Tensor) -> None:
        """Do so with a tensor that has views, which are lifted next."""
        self.lift(x)

    def detached(self, x: Any) -> Any:
        """Return `x` outside the graphs of this level and those below."""
        return wrap_at(self, x.__class__, x._value.detach(), x._array)

    def before_change(self, x: Any, below: Callable[[Tensor], Tensor]) -> Any:
        """Return `x` as it is now, for graphs to keep while `x` changes in place.

        `below` does the same for the tensor that `x` holds.
        """
        return wrap_at(self, x.__class__, below(x._value), x._array)

    def owns(self, value: Any) -> bool:
        """Return True for a tensor of this level."""
        # The first test is the quick one, and enough for most values.
        return value.__class__ is not Tensor and isinstance(value, Wrapped) and value._level is self

    def below(self, value: Any) -> Any:
        """Return the tensor that a tensor of this level holds; anything else unchanged."""
        return value._value if self.owns(value) else value


class BatchLevel(Level):
    """A level of batching, as the batch rules of primitives see it."""

    size: int
    """Number of examples."""

    def wrap(self, value: Tensor) -> Any:
        """Return a tensor of this level; the examples lie along the first dimension of `value`."""
        raise NotImplementedError

    def physical(self, value: Any) -> tuple[Any, int | None]:
        """Return the tensor below with the examples where the user has them, and that dimension."""
        raise NotImplementedError


class Wrapped(Tensor):
    """A tensor of some level. Its fields beyond Tensor's are in ``__dict__``.

    No slots are added, so that an unwrapped tensor can become a wrapped one in place.
    """

    __slots__ = ()

    _level: Level
    _value: Tensor

    def _bare(self) -> Tensor:
        """The same tensor without its place in the graph."""
        bare: Tensor = wrap_at(self._level, type(self), self._value, self._array)
        bare.__dict__.update(self.__dict__)
        bare._storage = self._shared_storage()
        return bare

    def detach(self) -> Tensor:
        """The same values outside the graphs of all levels."""
        if modes.recording is not None:
            return modes.recording.keep(self)  # type: ignore[no-any-return]  # of this class
        detached: Tensor = self._level.detached(self)
        return detached


def wrap_at(level: Level, kind: type[Wrapped], value: Tensor, array: Any) -> Any:
    """A tensor of `level` that holds `value`; `array` has the shape and dtype it shows."""
    wrapped = _fill(_new(kind), array)
    if value._lazy is not None:
        if array.__class__ is not Outline:
            wrapped._array = memory(value)
        mark(wrapped, *bits(value))
    wrapped.__dict__["_level"] = level
    wrapped.__dict__["_value"] = value
    return wrapped


def for_each_example(x: Tensor, made: Tensor) -> Tensor:
    """`made` for each example that `x` has, in memory of its own."""
    levels: list[BatchLevel] = []
    while isinstance(x, Wrapped):
        if isinstance(x._level, BatchLevel) and x._level.alive:
            levels.insert(0, x._level)
        x = x._value
    if not levels:
        return made
    sizes = [level.size for level in levels]
    value: Any = made
    value = value.expand((*sizes, *made.shape)).clone()
    for level in levels:
        value = level.wrap(value)
    spread: Tensor = value
    return spread


def alive(values: Sequence[Any]) -> list[Any]:
    """Replace tensors of levels that were left by the tensors they hold.

    Raises:
        RuntimeError: one is batched, and the tensor that it holds has a dimension more.
    """
    return [_unwrapped(value) for value in values]


def _unwrapped(value: Any) -> Any:
    while value.__class__ is not Tensor and isinstance(value, Wrapped) and not value._level.alive:
        if value._level.refuses_data:
            raise RuntimeError(
                "Either your tensor may have escaped from inside a function being vmapped and "
                "this is a user error (see "
                "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an "
                "internal functorch error in `gen_vmap_plumbing` Please file an issue if it looks "
                "like the latter"
            )
        value = value._value
    return value


def highest(values: Sequence[Any]) -> Level | None:
    """Return the level that handles an operation on these values; None if there is none."""
    found: Level | None = None
    for value in values:
        if value.__class__ is not Tensor and isinstance(value, Wrapped):
            level = value._level
            if found is None or level.number > found.number:
                found = level
    return found


class NotBatchableError(RuntimeError):
    """A single value was requested from a batched tensor, which has one for each example."""


# Scripts that print the type show the one that torch raises.
NotBatchableError.__name__ = NotBatchableError.__qualname__ = "RuntimeError"


class Flags(NamedTuple):
    """Layout of the elements in memory, as in an array's ``flags``."""

    c_contiguous: bool
    writeable: bool


class Outline:
    """Shape, dtype and strides of one example, in place of an array, which there is none of."""

    __slots__ = ("behind", "device", "dtype", "shape")

    def __init__(self, behind: Any) -> None:
        self.behind = behind
        """The array (or another outline) with all examples, along its first dimension."""
        self.shape: tuple[int, ...] = behind.shape[1:]
        self.dtype: np.dtype[Any] = behind.dtype
        self.device = behind.device

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes between neighbours in each dimension, the same for each example."""
        steps: tuple[int, ...] = self.behind.strides[1:]
        return steps

    @property
    def flags(self) -> Flags:
        """True for each property that all examples have."""
        step, dense = self.itemsize, True
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            dense = dense and (extent == 1 or stride == step)
            step *= extent
        writeable = getattr(self.behind.flags, "writeable", True)  # CuPy's always are
        return Flags(dense or self.size == 0, writeable)

    def __len__(self) -> int:
        return self.shape[0]

    def conj(self) -> Outline:
        """The outline of the conjugates."""
        return self

    __neg__ = conj

    def item(self) -> Any:
        """Refuse to name one value.

        Raises:
            NotBatchableError: always.
        """
        raise NotBatchableError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over "
            "calling .item() on a Tensor, please try to rewrite what you're doing with other "
            "operations. If error is occurring somewhere inside PyTorch internals, please file a "
            "bug report."
        )

    def nonzero(self) -> Any:
        """Refuse to say which elements are not zero: for each example they are others.

        Raises:
            NotBatchableError: always.
        """
        raise NotBatchableError(
            "vmap: We do not support batching operators that can support dynamic shape. "
            "Attempting to batch over indexing with a boolean mask."
        )

    def __getattr__(self, name: str) -> Any:
        raise NotBatchableError(
            "Cannot access data pointer of Tensor that doesn't have storage (vmap: a batched "
            f"tensor has no single value, and its `{name}` was requested)"
        )

    # Python looks special methods up on the class, past `__getattr__`.
    def __bool__(self) -> bool:
        raise NotBatchableError(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control "
            "flow. We don't support that yet, please file an issue at "
            "https://github.com/pytorch/pytorch/issues ."
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise NotBatchableError("Cannot access data pointer of Tensor that doesn't have storage")


def stand_in(array: Any) -> Any:
    """An array of a tensor's shape and dtype of which views can be taken."""
    return np.empty(array.shape, array.dtype) if isinstance(array, Outline) else array


def lower_copy(x: Tensor) -> Tensor:
    """Another object for `x`, which a tensor of a higher level can hold."""
    copy = x._bare()
    copy._node, copy._requires_grad = x._node, x._requires_grad
    return copy


def become(x: Tensor, wrapped: Wrapped) -> None:
    """Turn the object `x` itself into `wrapped`, for all references to it."""
    x.__class__ = wrapped.__class__
    # First of all: other fields may be those of the tensor that it holds.
    x.__dict__.update(wrapped.__dict__)
    share(x, wrapped)
    x._node, x._requires_grad = wrapped._node, wrapped._requires_grad
    if not hasattr(x, "_storage"):  # it was a dual tensor, which has the fields of its primal
        x._storage, x._view, x._grad, x._leaf_node = wrapped._storage, None, None, None


def lift_views(level: Level, x: Tensor) -> None:
    """Turn the view `x`, its base and all other views of that into tensors of the level."""
    assert x._view is not None
    base = x._view.base
    views = [
        (each, each._view)
        for each in base._shared_storage().living_views()
        if each._view is not None and each._view.base is base
    ]
    if not level.owns(base):
        level.lift_base(base)
    for each, view in views:
        again: Any = view.replay(base)
        become(each, again)
        each._view = again._view
