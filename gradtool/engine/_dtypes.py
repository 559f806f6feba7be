"""torch's dtypes over NumPy's, and torch's own promotion rules, which differ from NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gradtool.engine._narrow import LIMITS, numpy_dtype

BOOL, INTEGER, FLOATING, COMPLEX = range(4)
"""Categories in the order in which one absorbs the other."""


class dtype:
    """One element type. Compared by identity, as there is one object for each."""

    __slots__ = ("category", "is_signed", "itemsize", "name", "numpy")

    numpy: np.dtype[Any]

    def __init__(self, name: str, category: int, itemsize: int = 0) -> None:
        self.name = name
        self.category = category
        self.itemsize, self.is_signed = itemsize, True
        if not itemsize:
            self.numpy = np.dtype(name)
            self.itemsize = self.numpy.itemsize
            self.is_signed = self.numpy.kind in "ifc"

    def __getattr__(self, attribute: str) -> Any:
        # Reached where the slot is empty: that of a dtype which NumPy does not have by itself.
        if attribute != "numpy":
            raise AttributeError(f"'torch.dtype' object has no attribute '{attribute}'")
        if self.name not in LIMITS:
            raise TypeError(f"gradtool's engine has no tensors of torch.{self.name}")
        self.numpy = numpy_dtype(self.name)
        BY_NUMPY[self.numpy] = self
        for each in ON_NARROW:
            each()
        return self.numpy

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
        parts = {"complex32": float16, "complex64": float32, "complex128": float64}
        return parts.get(self.name, self)

    def to_complex(self) -> dtype:
        """The complex type with the precision of a real one."""
        # torch has complex32 for float16, which NumPy lacks.
        if self.category != FLOATING:
            return self
        return complex128 if self is float64 else complex64

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        # Dtypes compare by identity: a copy must be the same object.
        return of_name, (self.name,)


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

uint16: Final = dtype("uint16", INTEGER)
uint32: Final = dtype("uint32", INTEGER)
uint64: Final = dtype("uint64", INTEGER)
bfloat16: Final = dtype("bfloat16", FLOATING, 2)
_BYTES: Final = tuple(dtype(name, FLOATING, 1) for name in LIMITS if name != "bfloat16")
complex32: Final = dtype("complex32", COMPLEX, 4)
"""Known by name, for code that mentions it; no tensor has it."""

ALL: Final = (
    bool_, uint8, int8, int16, int32, int64, float16, float32, float64, complex64, complex128,
)  # fmt: skip
"""Those that operations are made for. bfloat16 computes as float32, the others hold elements."""

UNSIGNED: Final = (uint16, uint32, uint64)
NARROW: Final = (bfloat16, *_BYTES)

ON_NARROW: Final[list[Callable[[], None]]] = []
"""What to do once arrays of a narrow dtype may be met, which few programs have."""

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
    "chalf": complex32,
    **{each.name: each for each in (*ALL, *UNSIGNED, *NARROW, complex32)},
}
"""Every public name of a dtype, as an attribute of the torch namespace."""

BY_NUMPY: Final = {each.numpy: each for each in (*ALL, *UNSIGNED)}

_default: dtype = float32


def of_name(name: str) -> dtype:
    """The dtype of this name."""
    return ALIASES[name]


def from_numpy_dtype(given: np.dtype[Any]) -> dtype:
    """The dtype of an array.

    Raises:
        TypeError: no dtype of torch corresponds to it.
    """
    try:
        return BY_NUMPY[given]
    except KeyError:
        if given.name in LIMITS:  # read from a file
            return BY_NUMPY[ALIASES[given.name].numpy]
        raise TypeError(
            f"can't convert np.ndarray of type {given}. The supported types are: "
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
    _check_promotion(a, b)
    if bfloat16 in (a, b) and a.category == b.category:
        return float64 if float64 in (a, b) else float32
    if a.category == b.category or COMPLEX in (a.category, b.category):
        if a.category < FLOATING and b.category == COMPLEX:
            return b
        if b.category < FLOATING and a.category == COMPLEX:
            return a
        # Among integers, and among floating and complex types, NumPy's rules are torch's.
        return BY_NUMPY[np.promote_types(a.numpy, b.numpy)]
    return a if a.category > b.category else b


def _check_promotion(a: dtype, b: dtype) -> None:
    for kinds, name in ((_BYTES, "Float8 Types"), (UNSIGNED, "uint16, uint32, uint64 types")):
        of_integers = kinds is not UNSIGNED or FLOATING not in (a.category, b.category)
        if of_integers and (a in kinds or b in kinds):
            raise RuntimeError(
                f"Promotion for {name} is not supported, attempted to promote "
                f"{TYPE_NAMES[a.name]} and {TYPE_NAMES[b.name]}"
            )


TYPE_NAMES: Final = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
    "int64": "Long", "float16": "Half", "float32": "Float", "float64": "Double",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble", "bfloat16": "BFloat16",
    "complex32": "ComplexHalf", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
    **{each.name: each.name.capitalize() for each in _BYTES},
}  # fmt: skip
"""What torch calls the dtypes in its messages."""


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
        # Of a complex type, torch too gives the real type of its parts.
        kind = kind.to_real()
        found = LIMITS[kind.name] if kind in NARROW else np.finfo(kind.numpy)
        self.dtype = kind.name
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
