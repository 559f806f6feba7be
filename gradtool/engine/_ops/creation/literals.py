"""Tensors of Python data and NumPy arrays, and what all functions that make a tensor share."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from gradtool.device import made_on, moved_to, pinned
from gradtool.engine import _dtypes
from gradtool.engine._device import device, get_default_device
from gradtool.engine._ops.core.dims import Ints, as_ints
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.op import op
from gradtool.engine._placeholder import EngineLacksError
from gradtool.engine._tensor import Tensor, to_numpy, wrap

# ---- dtype, device and requires_grad of new tensors ------------------------------------------


Make = Callable[..., Any]


def as_device(given: Any) -> device:
    """A device, by its name, by the number of a CUDA device, or the default for None.

    Raises:
        EngineLacksError: it is one that the engine cannot compute on.
    """
    if given is None:
        found = get_default_device()
    elif isinstance(given, device):
        found = given
    else:
        found = _named_device("cuda", given) if isinstance(given, int) else _named_device(given)
    if found.type not in ("cpu", "cuda"):
        raise EngineLacksError(f"torch.device({str(found)!r})")
    return found


_named_device = functools.lru_cache(maxsize=64)(device)
"""The device of a name, which a loop over batches asks for again and again."""


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


# ---- tensors of data -------------------------------------------------------------------------


@op
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A leaf with a copy of `data`: a number, nested sequences, a NumPy array, or a tensor.

    Python floats have the default dtype, integers int64; arrays keep theirs.

    Raises:
        TypeError: elements and sequences are mixed, or a type has no tensor form.
        ValueError: sequences on one level differ in length.
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), "
            "rather than torch.tensor(sourceTensor).",
            stacklevel=2,
        )
        device = data.device if device is None else device
    place = as_device(device)
    array = moved_to(place.type, place.index, array_of(data, dtype))
    return finished(array, requires_grad=requires_grad, pin_memory=pin_memory)


@ignore_fp_warnings
def array_of(data: Any, dtype: Any = None) -> Any:
    """A new NumPy array with the elements of `data`, of the dtype that torch infers."""
    wanted = None if dtype is None else _dtypes.as_numpy_dtype(dtype)
    if isinstance(data, Tensor):
        return np.array(to_numpy(data._array), dtype=wanted)
    if isinstance(data, np.ndarray | np.generic):
        supported = _dtypes.from_numpy_dtype(data.dtype)
        return np.array(data, dtype=wanted or supported.numpy)
    leaves, shape = _flattened(data)
    kind = _inferred(leaves) if wanted is None else wanted
    numbers = [_number(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    return _packed(numbers, kind).reshape(shape)


def _number(x: Tensor) -> Any:
    if x.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return x.item()


def _packed(numbers: list[Any], kind: Any) -> Any:
    try:
        return np.array(numbers, dtype=kind)
    except OverflowError:
        if kind == np.int64:
            raise ValueError("Overflow when unpacking long long") from None
        raise RuntimeError(
            f"value cannot be converted to type {kind.name} without overflow"
        ) from None


def _is_sequence(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return bool(value.ndim)
    return isinstance(value, list | tuple | range)


def _flattened(data: Any) -> tuple[list[Any], tuple[int, ...]]:
    """The elements of nested sequences in row-major order, and the shape."""
    level: list[Any] = [data]
    shape: list[int] = []
    while level and _is_sequence(level[0]):
        length = len(level[0])
        for each in level:
            if not _is_sequence(each):
                raise TypeError("not a sequence")
            if len(each) != length:
                raise ValueError(
                    f"expected sequence of length {length} at dim {len(shape)} (got {len(each)})"
                )
        shape.append(length)
        level = list(chain.from_iterable(level))
    return level, tuple(shape)


def _inferred(leaves: list[Any]) -> Any:
    """The NumPy dtype that holds all elements."""
    if not leaves:
        return _dtypes.get_default_dtype().numpy
    kinds = dict.fromkeys(
        leaf.dtype if isinstance(leaf, Tensor | np.generic) else type(leaf) for leaf in leaves
    )
    return functools.reduce(_dtypes.promote_types, map(_dtype_for, kinds)).numpy


def _dtype_for(kind: Any) -> _dtypes.dtype:
    if isinstance(kind, _dtypes.dtype):
        return kind
    if isinstance(kind, np.dtype):
        return _dtypes.from_numpy_dtype(kind)
    if issubclass(kind, str | bytes):
        raise TypeError(f"new(): invalid data type '{kind.__name__}'")
    if issubclass(kind, list | tuple | range | np.ndarray):
        raise TypeError(f"the sequence contains a {kind.__name__} where a number is needed")
    if not issubclass(kind, bool | int | float | complex):
        raise RuntimeError(f"Could not infer dtype of {kind.__name__}")
    return _dtypes.of_scalar(kind())


@op
def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares the memory of a NumPy array.

    Raises:
        TypeError: it is no array, or no dtype of torch corresponds to its own.
        ValueError: a stride is negative.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    _dtypes.from_numpy_dtype(ndarray.dtype)
    if any(step < 0 for step in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not currently supported. (You can probably work around this by making a "
            "copy of your array with array.copy().)"
        )
    return wrap(ndarray.view(np.ndarray))


@op
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, without a copy where none is needed: a tensor keeps its history."""
    if isinstance(data, Tensor):
        out: Tensor = data.to(dtype=dtype, device=device)
        return out
    if isinstance(data, np.ndarray) and not any(step < 0 for step in data.strides):
        return as_tensor(from_numpy(data), dtype, device)
    return tensor(data, dtype=dtype, device=device)


@op
def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`obj` as a tensor; `copy` says whether it must (True) or must not (False) be a copy."""
    out = as_tensor(obj, dtype, device)
    shares = out is obj or (isinstance(obj, np.ndarray) and np.may_share_memory(out._array, obj))
    if copy is False and not shares:
        raise ValueError("can't alias the given object: a copy is needed")
    if copy and shares:
        out = out.clone()
    if requires_grad:
        out = out.detach()
        out.requires_grad = True
    return out


@op
def scalar_tensor(s: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """A 0-d tensor of the default dtype, unless another is given."""
    return tensor(s, dtype=_dtypes.get_default_dtype() if dtype is None else dtype, **options)
