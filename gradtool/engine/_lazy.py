"""Conjugates and negatives as views of memory that holds the elements before either.

Such a tensor is of a class of its own, derived from that which it would be otherwise: reading
``_array`` computes the elements, and what is written reaches the memory as it has to be there.
Other tensors pay nothing for it.
"""

from __future__ import annotations

import inspect
import types
from functools import cache
from typing import Any, NamedTuple

from gradtool.engine._tensor import Tensor, as_array, wrap
from gradtool.engine._views import Storage

_held: Any = inspect.getattr_static(Tensor, "_array")


class Lazy(NamedTuple):
    """The work left to do on the elements in memory, when they are read."""

    conj: bool
    neg: bool
    plain: type[Tensor]
    """The class of tensors without any."""


def memory(x: Tensor) -> Any:
    """The array that a tensor shares with what it is a view of."""
    return x._array if x._lazy is None else _held.__get__(x)


def bits(x: Tensor) -> tuple[bool, bool]:
    """Return (is to be conjugated, is to be negated)."""
    lazy = x._lazy
    return (False, False) if lazy is None else (lazy.conj, lazy.neg)


def mark(x: Tensor, conj: bool, neg: bool) -> None:
    """Let `x` show the conjugates or negatives of what its memory holds."""
    lazy = x._lazy
    plain: Any = x.__class__ if lazy is None else lazy.plain
    x.__class__ = _kind(plain, conj, neg) if conj or neg else plain


def share(x: Tensor, source: Tensor) -> None:
    """Let `x` have the memory of another tensor, and show of it the same."""
    if x._lazy is None and source._lazy is None:
        x._array = source._array
        return
    _held.__set__(x, memory(source))
    mark(x, *bits(source))


def hold(x: Tensor, array: Any) -> None:
    """Let `x` have other memory, and show of it what it showed of the former."""
    _held.__set__(x, array)


def alias_of(x: Tensor, storage: Storage | None) -> Tensor:
    """A tensor outside the graph over the memory of `x`, whose version `storage` counts."""
    out = wrap(memory(x))
    out._storage = storage
    mark(out, *bits(x))
    return out


def computed(values: Any, conj: bool, neg: bool) -> Any:
    """The conjugates or negatives of an array or a number; being their own inverses, also back."""
    if conj:
        values = values.conj() if hasattr(values, "conj") else values.conjugate()
    return as_array(-values if neg else values)


@cache
def _kind(plain: type[Tensor], conj: bool, neg: bool) -> Any:
    body = {
        "__slots__": (),
        "__module__": plain.__module__,
        "__qualname__": plain.__qualname__,
        "_lazy": Lazy(conj, neg, plain),
    }
    return types.new_class(plain.__name__, (_Lazily, plain), {}, lambda space: space.update(body))


def _of_memory(name: str) -> Any:
    """A property or a method of tensors that no element has a part in."""
    member = inspect.getattr_static(Tensor, name)
    if isinstance(member, property):
        return property(lambda self: getattr(wrap(_held.__get__(self)), name))
    return lambda self, *args, **named: getattr(wrap(_held.__get__(self)), name)(*args, **named)


class _Lazily:
    """The part of such a class that other tensors do not have."""

    __slots__ = ()

    _lazy: Lazy

    def __init_subclass__(cls) -> None:
        """Do not tell `Tensor` of the class: it is none that a user derived from it."""

    @property
    def _array(self) -> Any:
        return computed(_held.__get__(self), self._lazy.conj, self._lazy.neg)

    @_array.setter
    def _array(self, array: Any) -> None:
        _held.__set__(self, array)
        self.__class__ = self._lazy.plain  # type: ignore[assignment]  # of one layout

    for _name in (
        "shape", "ndim", "dtype", "device", "itemsize", "nbytes", "size", "dim", "numel",
        "element_size", "stride", "is_contiguous", "is_floating_point", "is_complex", "is_signed",
        "is_cuda", "data_ptr",
    ):  # fmt: skip
        vars()[_name] = _of_memory(_name)
    del _name

    def _put(self, key: Any, values: Any) -> None:
        """Write values over the elements that `key` picks."""
        held = _held.__get__(self)
        if hasattr(values, "astype"):
            values = values.astype(held.dtype, copy=False)
        held[key] = computed(values, self._lazy.conj, self._lazy.neg)

    def numpy(self: Any, *, force: bool = False) -> Any:
        """The elements as an array, if `force`: it cannot share the memory.

        Raises:
            RuntimeError: unless `force`.
        """
        found = self._lazy.plain.numpy(self, force=force)
        if force:
            return found
        name, bit = ("conj", "conjugate") if self._lazy.conj else ("neg", "negative")
        raise RuntimeError(
            f"Can't call numpy() on Tensor that has {bit} bit set. Use "
            f"tensor.resolve_{name}().numpy() instead."
        )


def copy_of(x: Tensor) -> Tensor:
    """A tensor with a copy of the memory of `x`, of which it shows the same."""
    out = wrap(memory(x).copy(order="K"))
    mark(out, *bits(x))
    return out


def written(x: Tensor) -> tuple[Any, bool, bool]:
    """The arguments of `rebuild` but for the last."""
    return (memory(x), *bits(x))


def rebuild(array: Any, conj: bool, neg: bool, requires_grad: bool) -> Tensor:
    """Read back what was pickled."""
    tensor = wrap(array)
    mark(tensor, conj, neg)
    tensor._requires_grad = requires_grad
    return tensor
