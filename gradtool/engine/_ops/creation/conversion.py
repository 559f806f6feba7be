"""The same values as another dtype or on another device."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from gradtool.device import CUDA, keep_until_done, moved_to, pinned
from gradtool.device.differences import as_dtype
from gradtool.engine import _dtypes
from gradtool.engine._device import device as device_type
from gradtool.engine._ops.core.batching import unchanged
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import constant, linear
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.core.op import method
from gradtool.engine._ops.creation.literals import as_device
from gradtool.engine._ops.shape.expansion import in_format
from gradtool.engine._settings import preserve_format
from gradtool.engine._tensor import Tensor


@ignore_fp_warnings
def _as_dtype(x: Any, *, dtype: _dtypes.dtype) -> Any:
    if x.dtype.kind == "c" and not (dtype.is_complex or dtype is _dtypes.bool_):
        x = x.real
    return as_dtype(x, dtype.numpy)


def _back_to_dtype(g: Tensor, x_dtype: _dtypes.dtype) -> Tensor:
    part = g.real if g.is_complex() and not x_dtype.is_complex else g
    return to(part, x_dtype)


_cast = linear("to_copy", _as_dtype, _back_to_dtype, batch=unchanged)
_cast_to_constant = constant("to_copy", _as_dtype, batch=unchanged)
_move = linear(
    "to_copy",
    lambda x, *, place, source, non_blocking=False: moved_to(  # noqa: ARG005 - `source` is for the vjp
        place.type, place.index, x, non_blocking=non_blocking
    ),
    lambda g, source: g.to(source),
    batch=unchanged,
)
_pin = linear("pin_memory", pinned, lambda g: g, batch=unchanged)


@method()
def to(
    x: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    other: Tensor | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """The tensor in another dtype, on another device, or both; itself if it is so already.

    Takes, in any of torch's orders, a dtype, a device or a tensor to be like, then
    `non_blocking` and `copy`.
    """
    given = _read(args if other is None else (other, *args))
    dtype, device = given.get("dtype", dtype), given.get("device", device)
    out = x
    if device is not None and (place := as_device(device)) != (source := x.device):
        out = _moved(out, place, source, given.get("non_blocking", non_blocking))
    if dtype is not None:
        out = _in_dtype(out, dtype if isinstance(dtype, _dtypes.dtype) else _named_dtype(dtype))
    if out is x and given.get("copy", copy):
        out = x.clone()
        give_name(out, "ToCopyBackward0")
    if memory_format is not None and memory_format is not preserve_format:
        before = out
        out = in_format(out, memory_format)
        if out is not before:
            give_name(out, "ToCopyBackward0")
    return out


def _read(args: tuple[Any, ...]) -> dict[str, Any]:
    """Positional arguments of `to` by name."""
    given: dict[str, Any] = {}
    flags: list[bool] = []
    for arg in args:
        if isinstance(arg, Tensor):
            given.update(dtype=arg.dtype, device=arg.device)
        elif arg is True or arg is False:
            flags.append(arg)
        elif isinstance(arg, _dtypes.dtype | type):
            given["dtype"] = arg
        elif arg is not None:
            given["device"] = arg
    return given | dict(zip(("non_blocking", "copy"), flags))


def _named_dtype(kind: Any) -> _dtypes.dtype:
    return _dtypes.from_numpy_dtype(_dtypes.as_numpy_dtype(kind))


def _moved(x: Tensor, place: device_type, source: device_type, non_blocking: bool) -> Tensor:
    if place.index is None and source.type == place.type:
        return x
    return _move(x, place=place, source=source, non_blocking=non_blocking)


def _in_dtype(x: Tensor, dtype: _dtypes.dtype) -> Tensor:
    if x.dtype is dtype:
        return x
    if x.is_complex() and not (dtype.is_complex or dtype is _dtypes.bool_):
        warnings.warn("Casting complex values to real discards the imaginary part", stacklevel=4)
    return (_cast if dtype.is_differentiable else _cast_to_constant)(x, dtype=dtype)


@method("type")
def type_(x: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type; or, given a dtype or such a name, the tensor as that."""
    if dtype is None:
        place = "cuda." if x.is_cuda else ""
        return f"torch.{place}{_TYPE_NAMES[x.dtype]}Tensor"
    if isinstance(dtype, str):
        found = [kind for kind, name in _TYPE_NAMES.items() if dtype == f"torch.{name}Tensor"]
        if not found:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = found[0]
    if isinstance(dtype, type):  # one of torch's legacy constructors
        dtype = getattr(dtype, "kind", dtype)
    return to(x, dtype=dtype)


_TYPE_NAMES = {kind: _dtypes.TYPE_NAMES[kind.name] for kind in _dtypes.ALIASES.values()}


@method()
def type_as(x: Tensor, other: Tensor) -> Tensor:
    """``x.to(other)``: its dtype, on its device."""
    return to(x, other)


@method()
def cpu(x: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor in host memory."""
    return to(x, device="cpu", memory_format=memory_format)


@method()
def cuda(x: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """The tensor on a CUDA device, the current one unless another is named."""
    return to(x, device="cuda" if device is None else device, non_blocking=non_blocking)


@method()
def pin_memory(x: Tensor, device: Any = None) -> Tensor:
    """A copy in page-locked memory; the tensor itself if it lies there, or without CUDA."""
    return x if is_pinned(x) else _pin(x)


@method()
def is_pinned(x: Tensor, device: Any = None) -> bool:
    """Return True for a tensor in page-locked memory; False without CUDA."""
    return CUDA.is_pinned(x._array)


@method()
def record_stream(x: Tensor, stream: Any) -> None:
    """Keep the tensor's memory until the work that the stream has been given so far is done.

    Raises:
        RuntimeError: the tensor lies in host memory.
    """
    if not x.is_cuda:
        raise RuntimeError("record_stream is only for tensors on a CUDA device")
    keep_until_done(x._array, stream.inner)


def _to_kind(name: str, dtype: _dtypes.dtype) -> Callable[..., Tensor]:
    def convert(x: Tensor, memory_format: Any = None) -> Tensor:
        return to(x, dtype, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor as {dtype.name}."
    return convert


for _name in (
    "bfloat16", "bool", "cdouble", "cfloat", "chalf", "double", "float", "half", "int", "long",
    "short",
):  # fmt: skip
    method()(_to_kind(_name, _dtypes.ALIASES[_name]))
method()(_to_kind("byte", _dtypes.uint8))
method()(_to_kind("char", _dtypes.int8))
