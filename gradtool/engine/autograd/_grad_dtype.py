"""The dtype of a tensor's ``grad``: that of the tensor, another, or whichever it arrives in."""

from __future__ import annotations

from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._dtypes import TYPE_NAMES
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import AccumulateGrad, Node, hooks_of

_IN_C = {
    "bfloat16": "c10::BFloat16", "bool": "bool", "complex128": "c10::complex<double>",
    "complex64": "c10::complex<float>", "float16": "c10::Half", "float32": "float",
    "float64": "double", "int16": "short int", "int32": "int", "int64": "long int",
    "int8": "signed char", "uint8": "unsigned char",
}  # fmt: skip
"""The types of elements in C++, which errors name."""


def check_grad(tensor: Tensor, value: Any) -> None:
    """Refuse what cannot be the ``grad`` of a tensor.

    Raises:
        TypeError: it is no tensor.
        RuntimeError: it is the tensor itself, or of another shape, dtype or device.
    """
    if not isinstance(value, Tensor):
        raise TypeError(
            "assigned grad expected to be a Tensor or None but got grad of type "
            f"{type(value).__name__}"
        )
    if value is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    wanted = _wanted(tensor)
    if wanted is not None and value.dtype is not wanted:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{_IN_C[value.dtype.name]}' to a tensor "
            f"with grad_dtype '{TYPE_NAMES[wanted.name]}'. The gradient must match the tensor's "
            "grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype "
            "attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
            "caution. Diverging the dtypes of a tensor and its gradient may break downstream "
            "systems that assume they match."
        )
    if value._array.shape != tensor._array.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
            f"'{list(tensor.shape)}'. Please ensure that the gradient and the tensor are the same "
            "size"
        )
    if value._array.__class__ is not tensor._array.__class__ and value.device != tensor.device:
        raise RuntimeError("assigned grad has data located on a different device")


def takes(edge: Node, grad: Tensor) -> bool:
    """Return True for the end of a leaf that takes a gradient in the dtype that it has."""
    return isinstance(edge, AccumulateGrad) and _wanted(edge.variable) in (None, grad.dtype)


def _wanted(tensor: Tensor) -> _dtypes.dtype | None:
    wanted: _dtypes.dtype | None = vars(tensor).get("_grad_dtype", tensor.dtype)
    return wanted


def _get(self: Tensor) -> _dtypes.dtype | None:
    """The dtype of the gradient; None if it may be any."""
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    return _wanted(self)


def _set(self: Tensor, value: Any) -> None:
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    if not (value is None or isinstance(value, _dtypes.dtype)):
        raise RuntimeError(
            f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}"
        )
    if value is not None and self._grad is not None and self._grad.dtype is not value:
        raise RuntimeError(
            f"Cannot set grad_dtype to '{TYPE_NAMES[value.name]}' because there is already a "
            f"gradient with dtype '{_IN_C[self._grad.dtype.name]}'. Please clear the gradient "
            "(.grad = None) before changing grad_dtype, or ensure the new grad_dtype matches the "
            "existing gradient's dtype."
        )
    node = self._accumulator()
    # The tensor refers to its end weakly otherwise.
    vars(self).update(_grad_dtype=value, _hooked_accumulator=node)
    hooks_of(node).dtype = value


Tensor.grad_dtype = property(_get, _set)  # type: ignore[attr-defined]  # attributes are attached
