"""Properties of a tensor, and changes of its shape in place, which compute nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine import _settings
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dims import as_ints
from gradtool.engine._ops.core.dtype_support import TYPE_NAMES
from gradtool.engine._ops.core.inplace import check_in_place, replace
from gradtool.engine._ops.core.op import attribute, method, op
from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._tensor import Storage, Tensor

# ---- questions ------------------------------------------------------------------------------


@op(method=True)
def is_nonzero(x: Tensor) -> bool:
    """Return True where the only element is not zero.

    Raises:
        RuntimeError: there is not exactly one element.
    """
    if x.numel() != 1:
        amount = "no values" if x.numel() == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {amount} is ambiguous")
    return bool(x)


@op(method=True)
def is_same_size(x: Tensor, other: Tensor) -> bool:
    """Return True for tensors of the same shape."""
    return tuple(x.shape) == tuple(other.shape)


@op(method=True)
def get_device(x: Tensor) -> int:
    """The number of the CUDA device; -1 on the CPU."""
    return (x.device.index or 0) if x.is_cuda else -1


@method("storage_offset")
def _storage_offset(x: Tensor) -> int:
    """Count the elements before it in the memory that it shares with its base."""
    base = x._base
    return 0 if base is None else (x.data_ptr() - base.data_ptr()) // x.itemsize


@method("is_set_to")
def _is_set_to(x: Tensor, other: Tensor) -> bool:
    """Return True where both are the same memory in the same shape and strides."""
    same = x.data_ptr() == other.data_ptr() and x.stride() == other.stride()
    return same and x.shape == other.shape


# ---- memory ---------------------------------------------------------------------------------


@method("new")
def _new(x: Tensor, *given: Any) -> Tensor:
    """A tensor of the same dtype: of data, or without values of a size."""
    if len(given) == 1 and not isinstance(given[0], int | tuple):
        return x.new_tensor(np.asarray(given[0]))
    return x.new_empty(*(given or (0,)))


@method("set_")
def _set(x: Tensor, source: Tensor | None = None) -> Tensor:
    """Let the tensor have the memory and the shape of `source`; without one, none at all.

    Raises:
        RuntimeError: the dtypes differ.
    """
    source = x.new_empty(0) if source is None else source
    if source.dtype is not x.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {TYPE_NAMES[source.dtype.name]} to a tensor of type "
            f"{TYPE_NAMES[x.dtype.name]}"
        )
    check_in_place(x)
    x._array, x._storage, x._view = source._array, source._shared_storage(), None
    # As in torch: what was computed before is no function of what it is now.
    x._leaf_node = None
    return x


@method("resize_")
def _resize(x: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """Change the shape in place; elements are kept in row-major order as far as they go.

    Raises:
        RuntimeError: the tensor requires a gradient.
    """
    if x._requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    wanted = as_ints(size[0]) if len(size) == 1 and not isinstance(size[0], int) else as_ints(size)
    array = np.zeros_like(x._array, shape=wanted)
    flat, held = array.reshape(-1), x._array.reshape(-1)
    count = min(flat.size, held.size)
    flat[:count] = held[:count]
    x._array, x._storage, x._view = array, Storage(x._version + 1), None
    x._leaf_node = None
    return x


@method("resize_as_")
def _resize_as(x: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """`resize_` to the shape of another tensor."""
    return _resize(x, tuple(other.shape))


@method("new_empty_strided")
def _new_empty_strided(x: Tensor, size: Any, stride: Any, **options: Any) -> Tensor:
    return empty_strided(size, stride, **{"dtype": x.dtype, "device": x.device, **options})


@op
def empty_strided(size: Any, stride: Any, **options: Any) -> Tensor:
    """A tensor without values, with these steps between neighbours in each dimension."""
    size, stride = as_ints(size), as_ints(stride)
    reach = sum((extent - 1) * step for extent, step in zip(size, stride)) + 1
    memory = empty(max(reach, 0) if 0 not in size else 0, **options)
    return memory.as_strided(size, stride)


# ---- by a function of Python ----------------------------------------------------------------


@method("apply_")
def _apply(x: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Write over each element what a function of Python makes of it."""
    return _map(x, callable=lambda element: callable(element))


def _map(x: Tensor, *others: Tensor, callable: Callable[..., Any]) -> Tensor:
    if x.requires_grad and modes.grad:
        raise TypeError("can't call a function of Python on each element where a grad is required")
    columns = [each.expand(x.shape).reshape(-1).tolist() for each in (x, *others)]
    values = [callable(*elements) for elements in zip(*columns)]
    return replace(x, x.new_tensor(np.array(values).astype(x.dtype.numpy).reshape(x.shape)))


# ---- views in place -------------------------------------------------------------------------


def _in_new_shape(name: str) -> Callable[..., Tensor]:
    """The in-place form of a function that returns a view: the tensor becomes that view."""

    def become(x: Tensor, *args: Any, **named: Any) -> Tensor:
        check_in_place(x)
        view = getattr(x, name)(*args, **named)
        x._array, x._storage = view._array, view._storage
        x._node, x._requires_grad = view._node, view._requires_grad
        return x

    become.__name__ = become.__qualname__ = f"{name}_"
    become.__doc__ = f"`{name}`, of the tensor itself."
    return become


for _name in ("squeeze", "swapaxes", "swapdims", "t", "transpose", "unsqueeze"):
    method()(_in_new_shape(_name))

# ---- answers that are the same for every tensor, or an older name's -------------------------

method("map_")(lambda x, other, function: _map(x, other, callable=function))
method("map2_")(lambda x, y, z, function: _map(x, y, z, callable=function))
method("is_shared")(lambda _x: False)
method("share_memory_")(lambda x: x)
method("ndimension", "dense_dim")(Tensor.dim)
method("nelement")(Tensor.numel)
method("sparse_dim")(lambda _x: 0)
method("to_dense")(lambda x, dtype=None, **_options: x if dtype is None else x.to(dtype))

attribute("is_cpu")(lambda x: not x.is_cuda)
attribute("layout")(lambda _x: _settings.strided)
attribute("name")(lambda _x: None)
attribute("names")(lambda x: (None,) * x.ndim)
attribute("is_meta", "is_mkldnn", "is_mps", "is_quantized", "is_sparse", "is_xpu")(lambda _x: False)
