"""What all functions that make a tensor from nothing share: dtype, device, requires_grad."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradtool.device import made_on, pinned
from gradtool.engine import _dtypes
from gradtool.engine._device import device, get_default_device
from gradtool.engine._ops.core.dims import Ints, as_ints
from gradtool.engine._tensor import Tensor, wrap

Make = Callable[..., Any]


def as_device(given: Any) -> device:
    """A device, by its name, by the number of a CUDA device, or the default for None."""
    if given is None:
        return get_default_device()
    return device("cuda", given) if isinstance(given, int) else device(given)


def finished(array: Any, *, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A leaf over a new array.

    Raises:
        RuntimeError: a gradient is required of a dtype that has none.
    """
    out = wrap(pinned(array) if pin_memory else array)
    if requires_grad:
        if not out.dtype.is_differentiable:
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        out.requires_grad = True
    return out


def factory(make: Make) -> Callable[..., Tensor]:
    """A function that makes tensors, given one that makes arrays.

    `make` gets the array module first, then the arguments, and `dtype` (NumPy's, or None for what
    the arguments suggest). What it returns gets the options that all of torch's factories
    have.
    """

    @functools.wraps(make)
    def create(
        *args: Any,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        layout: Any = None,
        **named: Any,
    ) -> Tensor:
        kind = None if dtype is None else _dtypes.as_numpy_dtype(dtype)
        place = as_device(device)
        array = made_on(
            place.type, place.index, lambda library: make(library, *args, dtype=kind, **named)
        )
        return finished(array, requires_grad=requires_grad, pin_memory=pin_memory)

    del create.__wrapped__  # its parameters are not those of `create`
    return create


def size_of(name: str, given: Any) -> Ints:
    """A size given as ``2, 3`` or as ``(2, 3)``.

    Raises:
        TypeError: it is neither.
        RuntimeError: an extent is negative.
    """
    if len(given) == 1 and isinstance(given[0], tuple | list):
        given = given[0]
    try:
        size = as_ints(tuple(given))
    except TypeError:
        found = type(given[0]).__name__
        raise TypeError(
            f"{name}(): argument 'size' (position 1) must be tuple of ints, not {found}"
        ) from None
    for extent in size:
        if extent < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {extent}: {list(size)}"
            )
    return size


def required_size(name: str, given: Any, size: Any) -> Ints:
    """`size_of` what was given, which must be something."""
    if size is None and not given:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return size_of(name, given or (size,))


def or_default(dtype: Any) -> Any:
    """A NumPy dtype, or that of the default dtype for None."""
    return _dtypes.get_default_dtype().numpy if dtype is None else dtype


__all__ = ["as_device", "factory", "finished", "or_default", "required_size", "size_of"]
