"""torch's dtypes over NumPy's, and torch's own promotion rules, which differ from NumPy's."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

BOOL, INTEGER, FLOATING, COMPLEX = range(4)
"""Categories in the order in which one absorbs the other."""


class dtype:
    """One element type. Compared by identity, as there is one object for each."""

    __slots__ = ("category", "is_signed", "itemsize", "name", "numpy")

    def __init__(self, name: str, category: int) -> None:
        self.name = name
        self.category = category
        self.numpy: np.dtype[Any] = np.dtype(name)
        self.itemsize = self.numpy.itemsize
        self.is_signed = self.numpy.kind in "ifc"

    @property
    def is_floating_point(self) -> bool:
        """True if it is a real floating type."""
        return self.category == FLOATING

    @property
    def is_complex(self) -> bool:
        """True if it is a complex type."""
        return self.category == COMPLEX

    @property
    def is_differentiable(self) -> bool:
        """True if a tensor of it may require a gradient."""
        return self.category >= FLOATING

    def to_real(self) -> dtype:
        """The real type with the precision of a complex one."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self) -> dtype:
        """The complex type with the precision of a real one."""
        # torch has complex32 for float16, which NumPy lacks.
        return {"float16": complex64, "float32": complex64, "float64": complex128}.get(
            self.name, self
        )

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        # Dtypes compare by identity: a copy must be the same object.
        return from_numpy_dtype, (self.numpy,)


bool_: Final = dtype("bool", BOOL)
uint8: Final = dtype("uint8", INTEGER)
int8: Final = dtype("int8", INTEGER)
int16: Final = dtype("int16", INTEGER)
int32: Final = dtype("int32", INTEGER)
int64: Final = dtype("int64", INTEGER)
float16: Final = dtype("float16", FLOATING)
float32: Final = dtype("float32", FLOATING)
float64: Final = dtype("float64", FLOATING)
complex64: Final = dtype("complex64", COMPLEX)
complex128: Final = dtype("complex128", COMPLEX)

ALL: Final = (
    bool_, uint8, int8, int16, int32, int64, float16, float32, float64, complex64, complex128,
)  # fmt: skip

ALIASES: Final = {
    "bool": bool_,
    "short": int16,
    "int": int32,
    "long": int64,
    "half": float16,
    "float": float32,
    "double": float64,
    "cfloat": complex64,
    "cdouble": complex128,
    **{each.name: each for each in ALL},
}
"""Every public name of a dtype, as an attribute of the torch namespace."""

_BY_NUMPY: Final = {each.numpy: each for each in ALL}

_default: dtype = float32


def from_numpy_dtype(numpy_dtype: np.dtype[Any]) -> dtype:
    """The dtype of an array.

    Raises:
        TypeError: no dtype of torch corresponds to it.
    """
    try:
        return _BY_NUMPY[numpy_dtype]
    except KeyError:
        raise TypeError(
            f"can't convert np.ndarray of type {numpy_dtype}. The supported types are: "
            + ", ".join(each.name for each in ALL)
        ) from None


def as_numpy_dtype(given: dtype | type) -> np.dtype[Any]:
    """The NumPy dtype of a torch one; Python's ``float``, ``int``, ``bool`` stand for theirs."""
    if isinstance(given, dtype):
        return given.numpy
    named = {float: float64, int: int64, bool: bool_, complex: complex128}.get(given)
    if named is None:
        raise TypeError(f"dtype must be a torch.dtype, not {given!r}")
    return named.numpy


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats."""
    return _default


def set_default_dtype(new: dtype) -> None:
    """Set the dtype of tensors made from Python floats.

    Raises:
        TypeError: it is not a floating dtype.
    """
    if new.category != FLOATING:
        raise TypeError("only floating-point types are supported as the default type")
    global _default
    _default = new


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest dtype that holds both, by torch's rules.

    Unlike NumPy's, an integer never widens a float (int64 with float16 is float16).
    """
    if a is b:
        return a
    if a.category == b.category or COMPLEX in (a.category, b.category):
        if a.category < FLOATING and b.category == COMPLEX:
            return b
        if b.category < FLOATING and a.category == COMPLEX:
            return a
        # Among integers, and among floating and complex types, NumPy's rules are torch's.
        return _BY_NUMPY[np.promote_types(a.numpy, b.numpy)]
    return a if a.category > b.category else b


def of_scalar(value: complex) -> dtype:
    """The dtype that a Python number stands for."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    return _default if isinstance(value, float) else _default.to_complex()


def _absorb(higher: dtype | None, lower: dtype | None) -> dtype | None:
    """Let operands of lower priority raise the category, but not the width, of higher ones."""
    if higher is None or lower is None:
        return higher or lower
    if higher.category >= lower.category:
        return higher
    if higher.category == FLOATING:
        return higher.to_complex()
    return promote_types(higher, lower)


def result_type_of(dimensioned: list[dtype], zero_dim: list[dtype], scalars: list[dtype]) -> dtype:
    """The dtype of an operation: dimensioned tensors rule, then 0-d ones, then Python numbers.

    See "Type promotion" in torch's ``tensor_attributes`` page.
    """
    result: dtype | None = None
    # Lowest priority first: each group absorbs the result of those before.
    for group in (scalars, zero_dim, dimensioned):
        widest: dtype | None = None
        for each in group:
            widest = each if widest is None else promote_types(widest, each)
        result = _absorb(widest, result)
    if result is None:
        raise RuntimeError("result_type needs at least one operand")
    return result


class finfo:
    """The limits of a floating or complex dtype; by default of the default one."""

    def __init__(self, type: dtype | None = None) -> None:
        kind = get_default_dtype() if type is None else type
        if not isinstance(kind, dtype) or not kind.is_differentiable:
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                f"'{kind}'"
            )
        found = np.finfo(kind.numpy)
        # For a complex type, NumPy and torch both give the real type of its parts.
        self.dtype = str(np.dtype(found.dtype))
        self.bits = int(found.bits)
        self.eps, self.max, self.min = float(found.eps), float(found.max), float(found.min)
        self.tiny = self.smallest_normal = float(found.smallest_normal)
        self.resolution = float(found.resolution)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype."""

    def __init__(self, type: dtype) -> None:
        if type.category != INTEGER:
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type}'"
            )
        found = np.iinfo(type.numpy)
        self.dtype, self.bits = type.name, int(found.bits)
        self.min, self.max = int(found.min), int(found.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
