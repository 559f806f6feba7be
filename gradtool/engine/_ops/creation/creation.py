"""Tensors made from a size, or like another tensor, with values that follow a rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.device.differences import order_of_copy
from gradtool.engine import _dtypes
from gradtool.engine._levels import for_each_example
from gradtool.engine._ops.core.dims import as_ints
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.creation.literals import (
    factory,
    finished,
    or_default,
    required_size,
    size_of,
    tensor,
)
from gradtool.engine._tensor import Tensor

# ---- by size --------------------------------------------------------------------------------


@op
@factory
def zeros(library: Any, *given: Any, size: Any = None, dtype: Any) -> Any:
    """Zeros."""
    return library.zeros(required_size("zeros", given, size), or_default(dtype))


@op
@factory
def ones(library: Any, *given: Any, size: Any = None, dtype: Any) -> Any:
    """Ones."""
    return library.ones(required_size("ones", given, size), or_default(dtype))


@op
def empty(
    *given: Any, memory_format: Any = None, requires_grad: bool = False, **options: Any
) -> Tensor:
    """Values that nothing should depend on: zeros here, so that runs repeat."""
    made = _empty(*given, **options)
    if memory_format is not None:
        made = made.contiguous(memory_format=memory_format)
    return made.requires_grad_() if requires_grad else made


@factory
def _empty(library: Any, *given: Any, size: Any = None, dtype: Any) -> Any:
    return library.zeros(required_size("empty", given, size), or_default(dtype))


@op
def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Tensor:
    """A tensor without values, its dimensions in memory in the order of `physical_layout`.

    Raises:
        RuntimeError: that is no order of the dimensions.
    """
    size, layout = as_ints(size), as_ints(physical_layout)
    if len(size) != len(layout):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(size)} is not equal to len(physical_layout) = {len(layout)}"
        )
    for position, dim in enumerate(layout):
        if not 0 <= dim < len(size):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(size) - 1}, but got "
                f"{dim} at index {position}).  NB: negative dims not currently supported; file an "
                "issue if you want it."
            )
        if dim in layout[:position]:
            raise RuntimeError("Duplicate dim not allowed")
    memory = empty([size[dim] for dim in layout], **options)
    return finished(
        memory._array.transpose([layout.index(dim) for dim in range(len(size))]),
        requires_grad=memory.requires_grad,
    )


@op
@factory
def full(library: Any, size: Any, fill_value: Any, *, dtype: Any) -> Any:
    """One number everywhere; its kind decides the dtype."""
    if not isinstance(size, tuple | list):
        found = type(size).__name__
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {found}")
    number = fill_value.item() if isinstance(fill_value, Tensor | np.generic) else fill_value
    kind = _dtypes.of_scalar(number).numpy if dtype is None else dtype
    return library.full(size_of("full", size), number, kind)


@op
@factory
def eye(library: Any, n: int, m: int | None = None, *, dtype: Any) -> Any:
    """Ones on the diagonal of a matrix, zeros elsewhere."""
    for name, extent in (("n", n), ("m", m)):
        if extent is not None and extent < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {extent}")
    return library.eye(n, m, dtype=or_default(dtype))


# ---- ranges ---------------------------------------------------------------------------------


@op
@factory
def arange(library: Any, *given: Any, dtype: Any, **named: Any) -> Any:
    """``start``, ``start + step``, … below ``end``: one number is the end; integers make int64."""
    bounds: dict[str, Any] = {"start": 0, "step": 1}
    names = ("end",) if len(given) == 1 and "end" not in named else ("start", "end", "step")
    bounds.update(zip(names, given, strict=False), **named)
    start, end, step = (_number(bounds[name]) for name in ("start", "end", "step"))
    whole = all(isinstance(each, int) for each in (start, end, step))
    count = _range_length(start, end, step)
    kind = dtype or (np.dtype(np.int64) if whole else or_default(None))
    positions = library.arange(count, dtype=np.int64 if whole else np.float64)
    return (start + step * positions).astype(kind)


def _range_length(start: float, end: float, step: float) -> int:
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return -(-(end - start) // step)
    return math.ceil((end - start) / step)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor | np.generic) else value


def _spaced(library: Any, start: Any, end: Any, steps: int) -> Any:
    """Evenly spaced numbers, counted from the nearer end, so that both ends are exact."""
    start, end = _number(start), _number(end)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if steps < 2:
        return library.full(steps, start, np.result_type(start, np.float64))
    step = (end - start) / (steps - 1)
    positions = library.arange(steps)
    return library.where(
        positions < steps // 2, start + step * positions, end - step * (steps - 1 - positions)
    )


@op
@factory
def linspace(library: Any, start: Any, end: Any, steps: int, *, dtype: Any) -> Any:
    """So many evenly spaced numbers from `start` to `end`, both included."""
    return _spaced(library, start, end, steps).astype(or_default(dtype))


@op
@factory
def logspace(
    library: Any, start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any
) -> Any:
    """`base` to the power of evenly spaced exponents."""
    return (float(base) ** _spaced(library, start, end, steps)).astype(or_default(dtype))


@op
@factory
def tril_indices(library: Any, row: int, col: int, offset: int = 0, *, dtype: Any) -> Any:
    """Rows and columns of the lower triangle of a matrix."""
    below = library.tril(library.ones((row, col), bool), offset)
    return library.stack(below.nonzero()).astype(dtype or np.int64)


@op
@factory
def triu_indices(library: Any, row: int, col: int, offset: int = 0, *, dtype: Any) -> Any:
    """Rows and columns of the upper triangle of a matrix."""
    above = library.triu(library.ones((row, col), bool), offset)
    return library.stack(above.nonzero()).astype(dtype or np.int64)


# ---- like another tensor --------------------------------------------------------------------

_OVER_ARRAY = {"zeros": np.zeros_like, "ones": np.ones_like, "empty": np.zeros_like}


def _like(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The form of a factory that takes shape, dtype and device from a tensor."""
    name = make.__name__

    def create(
        x: Tensor,
        *,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        memory_format: Any = None,
        **options: Any,
    ) -> Tensor:
        if device is None and memory_format is None and isinstance(x._array, np.ndarray):
            kind = None if dtype is None else _dtypes.as_numpy_dtype(dtype)
            order = order_of_copy(x._array)
            array = _OVER_ARRAY[name](x._array, dtype=kind, order=order)
            return finished(array, requires_grad=requires_grad)
        options.update(dtype=dtype or x.dtype, device=device or x.device)
        made = make(x.shape, requires_grad=requires_grad, **options)
        return made if x._level is None else for_each_example(x, made)

    create.__name__ = create.__qualname__ = f"{name}_like"
    create.__doc__ = f"`{name}` in the shape and, unless given, the dtype of a tensor."
    return create


zeros_like = op(_like(zeros))
ones_like = op(_like(ones))
empty_like = op(_like(empty))


@op
def full_like(x: Tensor, fill_value: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """`full` in the shape and, unless given, the dtype of a tensor."""
    options.pop("memory_format", None)
    return new_full(x, x.shape, fill_value, dtype=dtype, **options)


def _new(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The form of a factory that takes dtype and device from a tensor."""
    name = make.__name__

    def create(
        x: Tensor, *size: Any, dtype: Any = None, device: Any = None, **options: Any
    ) -> Tensor:
        made = make(*size, dtype=dtype or x.dtype, device=device or x.device, **options)
        return made if x._level is None else for_each_example(x, made)

    create.__name__ = create.__qualname__ = f"new_{name}"
    create.__doc__ = f"`{name}` of, unless given, the dtype and device of a tensor."
    return create


new_zeros = method()(_new(zeros))
new_ones = method()(_new(ones))
new_empty = method()(_new(empty))
new_full = method()(_new(full))


@method()
def new_tensor(
    x: Tensor, data: Any, *, dtype: Any = None, device: Any = None, **options: Any
) -> Tensor:
    """`tensor` of, unless given, the dtype and device of a tensor."""
    return tensor(data, dtype=dtype or x.dtype, device=device or x.device, **options)
