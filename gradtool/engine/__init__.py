"""The bundled engine, under torch's names: ``import gradtool.engine as torch`` works."""

from __future__ import annotations

from gradtool.engine import _dtypes, autograd
from gradtool.engine._device import device
from gradtool.engine._dtypes import (
    dtype,
    get_default_dtype,
    promote_types,
    set_default_dtype,
)
from gradtool.engine._ops import methods as _methods
from gradtool.engine._ops._promotion import result_type
from gradtool.engine._tensor import Size, Tensor
from gradtool.engine.autograd.grad_mode import (
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)

inf = float("inf")
nan = float("nan")
pi = 3.141592653589793
e = 2.718281828459045
newaxis = None

globals().update(_dtypes.ALIASES)
globals().update(_methods.table(_methods.FAMILIES))
_methods.attach()


def is_tensor(value: object) -> bool:
    """Whether it is a Tensor."""
    return isinstance(value, Tensor)


def is_floating_point(tensor: Tensor) -> bool:
    """Whether the dtype is a real floating one."""
    return tensor.is_floating_point()


def is_complex(tensor: Tensor) -> bool:
    """Whether the dtype is a complex one."""
    return tensor.is_complex()


__all__ = sorted(  # noqa: PLE0605 - the table is the list
    {
        "Size", "Tensor", "autograd", "device", "dtype", "e", "enable_grad", "get_default_dtype",
        "inf", "is_complex", "is_floating_point", "is_grad_enabled", "is_tensor", "nan", "newaxis",
        "no_grad", "pi", "promote_types", "result_type", "set_default_dtype", "set_grad_enabled",
        *_dtypes.ALIASES, *(name for name, _ in _methods.table(_methods.FAMILIES)),
    }
)  # fmt: skip
