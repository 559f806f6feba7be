"""torch's errors for dtypes that an operation is not made for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

TYPE_NAMES: Final = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
    "int64": "Long", "float16": "Half", "float32": "Float", "float64": "Double",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip
"""What torch calls the dtypes in its messages."""


def not_implemented(name: str, numpy_dtype: Any) -> NotImplementedError:
    """The error for an operation on elements of a dtype that it is not made for."""
    return NotImplementedError(f"\"{name}\" not implemented for '{TYPE_NAMES[numpy_dtype.name]}'")


def refuse(kinds: str, name: str, array: Any) -> None:
    """Raise torch's error for an array whose dtype is of one of these kinds (NumPy's letters)."""
    if array.dtype.kind in kinds:
        raise not_implemented(name, array.dtype)


def refusing_bool(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute`, which takes no booleans."""
    return _refusing("b", name, compute)


def refusing_floats(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute`, which takes integers and booleans only."""
    return _refusing("fc", name, compute)


def refusing_integers(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute`, which takes floating and complex numbers only."""
    return _refusing("biu", name, compute)


def refusing_complex(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute`, which needs an order among the numbers."""
    return _refusing("c", name, compute)


def refusing_bool_and_complex(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute`, which takes real numbers only."""
    return _refusing("bc", name, compute)


def _refusing(kinds: str, name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    def checked(x: Any, *others: Any, **params: Any) -> Any:
        refuse(kinds, name, x)
        return compute(x, *others, **params)

    return checked
