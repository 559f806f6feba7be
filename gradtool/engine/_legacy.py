"""Legacy constructors: ``torch.FloatTensor(2, 3)`` is a tensor of that size and dtype."""

from __future__ import annotations

from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._ops.creation.literals import tensor
from gradtool.engine._tensor import Tensor


class _OfDtype(type):
    """Class whose instances are the tensors of one dtype."""

    kind: _dtypes.dtype

    def __call__(cls, *given: Any, device: Any = None) -> Any:
        """Make a tensor of a size, given as integers or a `Size`; of data, copied; or empty."""
        sized = all(isinstance(each, int) for each in given) or hasattr(given[0], "numel")
        if len(given) == 1 and isinstance(given[0], Tensor):
            return given[0].to(cls.kind).clone()
        if sized:
            size = given or (0,)
            return empty(*size, dtype=cls.kind, device=device)
        return tensor(given[0], dtype=cls.kind, device=device)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.kind and not instance.is_cuda

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def _legacy(name: str, kind: _dtypes.dtype) -> _OfDtype:
    documentation = f"Tensors of {kind} on the CPU."
    return _OfDtype(name, (), {"kind": kind, "__doc__": documentation, "__module__": "torch"})


TYPES: dict[str, Any] = {
    name: _legacy(name, kind)
    for name, kind in {
        "BoolTensor": _dtypes.bool_,
        "ByteTensor": _dtypes.uint8,
        "CharTensor": _dtypes.int8,
        "DoubleTensor": _dtypes.float64,
        "FloatTensor": _dtypes.float32,
        "HalfTensor": _dtypes.float16,
        "BFloat16Tensor": _dtypes.bfloat16,
        "IntTensor": _dtypes.int32,
        "LongTensor": _dtypes.int64,
        "ShortTensor": _dtypes.int16,
    }.items()
}
"""All of torch's legacy constructors."""
