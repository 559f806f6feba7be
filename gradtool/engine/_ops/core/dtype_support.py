"""The dtypes that an operation supports, and torch's errors for the others."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from gradtool.engine import _dtypes
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.parameters import parameter_names

# ---- dtypes by primitive ---------------------------------------------------------------------
#
# A primitive states on which dtypes it works, with its derivatives where it has any. Operations
# bring their operands to one of these (integers become floats for a logarithm), or raise torch's
# error.


BOOL: Final = frozenset({_dtypes.bool_})
INTEGERS: Final = frozenset(each for each in _dtypes.ALL if each.category == _dtypes.INTEGER)
INT32: Final = frozenset({_dtypes.int32})
INT64: Final = frozenset({_dtypes.int64})
HALF: Final = frozenset({_dtypes.float16})
FLOATS: Final = frozenset({_dtypes.float32, _dtypes.float64})
COMPLEX: Final = frozenset(each for each in _dtypes.ALL if each.is_complex)

Dtypes = frozenset[_dtypes.dtype]

ORDERED: Final[Dtypes] = BOOL | INTEGERS | HALF | FLOATS
MEASURED: Final[Dtypes] = INTEGERS | HALF | FLOATS
NUMBERS: Final[Dtypes] = MEASURED | COMPLEX
REAL: Final[Dtypes] = HALF | FLOATS
SMOOTH: Final[Dtypes] = REAL | COMPLEX
FACTORED: Final[Dtypes] = FLOATS | COMPLEX
"""What LAPACK has routines for."""
BITS: Final[Dtypes] = BOOL | INTEGERS

EVERY: Final[Dtypes] = frozenset(_dtypes.ALL)

_SHORT: Final[Dtypes] = HALF | {_dtypes.bfloat16}


# ---- errors ----------------------------------------------------------------------------------


F = TypeVar("F", bound=Callable[..., Any])

TYPE_NAMES: Final = _dtypes.TYPE_NAMES

C_NAMES: Final = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int",
    "int32": "int", "int64": "long int", "float16": "c10::Half", "float32": "float",
    "float64": "double", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip
"""What it calls them where it writes the types of C++."""


def not_implemented(name: str, numpy_dtype: Any) -> NotImplementedError:
    """The error for an operation on elements of a dtype that it is not made for."""
    return NotImplementedError(f"\"{name}\" not implemented for '{TYPE_NAMES[numpy_dtype.name]}'")


def refuse(kinds: str, name: str, array: Any) -> None:
    """Raise torch's error for an array whose dtype is of one of these kinds (NumPy's letters)."""
    if array.dtype.kind in kinds:
        raise not_implemented(name, array.dtype)


def check_taken(x: Any, claim: Dtypes, name: str) -> None:
    """Refuse a tensor of a dtype that is not claimed; what is no tensor is left to others."""
    dtype = getattr(x, "dtype", None)
    if dtype is _dtypes.bfloat16:  # computed as float32, wherever float16 is taken
        dtype = _dtypes.float16 if _dtypes.float16 in claim else dtype
    if dtype.__class__ is _dtypes.dtype and dtype not in claim:
        raise not_implemented(name, dtype.numpy)


def refuse_complex_gradient(name: str, *operands: Any) -> None:
    """Raise torch's error for a complex result that is to be recorded, and that it does not.

    Raises:
        RuntimeError: one of the operands requires a gradient, and the first is complex.
    """
    if operands[0].is_complex() and modes.grad and any(x._requires_grad for x in operands):
        raise RuntimeError(
            f"{name} does not support automatic differentiation for outputs with complex dtype."
        )


def check_positions(index: Any, words: str, *, narrow: bool = False) -> None:
    """Refuse positions that are no int64, nor with `narrow` int32, in these words of torch."""
    if index.dtype.name != "int64" and not (narrow and index.dtype.name == "int32"):
        raise RuntimeError(words.format(TYPE_NAMES[index.dtype.name]))


def takes(claim: Dtypes, name: str, *, fused: bool = False) -> Callable[[F], F]:
    """Refuse a first argument of a dtype that is not claimed, in the words of torch.

    For operations made of others that would take it. `name` is that of torch's kernel. One that
    is `fused` rounds floats of two bytes once, after computing in single precision.
    """
    plain = claim - _SHORT

    def claiming(function: F) -> F:
        run = _rounding_once(function) if fused else function
        first = parameter_names(function)[0]

        @functools.wraps(function)
        def checked(*args: Any, **named: Any) -> Any:
            x = args[0] if args else named.get(first)
            if getattr(x, "dtype", None) in plain:
                return function(*args, **named)
            check_taken(x, claim, name)
            return run(*args, **named)

        return checked  # type: ignore[return-value]  # it has the signature of `function`

    return claiming


def _rounding_once(function: Callable[..., Any]) -> Callable[..., Any]:
    single, parameters = _dtypes.float32, parameter_names(function)
    first = parameters[0]
    if "running_mean" in parameters:  # which changes in place
        return function

    def run(*args: Any, **named: Any) -> Any:
        given = args[0] if args else named.get(first)
        dtype: Any = getattr(given, "dtype", None)
        if dtype not in _SHORT or named.get("inplace") or _has_wide((*args, *named.values())):
            return function(*args, **named)
        wide = [_widened(each, dtype) for each in args]
        others = {key: _widened(each, dtype) for key, each in named.items()}
        out = function(*wide, **others)
        return _rounded(out, dtype) if getattr(out, "dtype", None) is single else out

    return run


def _rounded(out: Any, dtype: _dtypes.dtype) -> Any:
    """A result in a short dtype, by a node of the same name."""
    rounded = out.to(dtype)
    if rounded._node is not None and out._node is not None:
        rounded._node.title = out._node.shown()._name()
    return rounded


def _has_wide(values: Sequence[Any]) -> bool:
    """Return True where a tensor of full precision is among the arguments, which rules then."""
    return any(getattr(each, "dtype", None) in FLOATS for each in values)


def _widened(value: Any, dtype: _dtypes.dtype) -> Any:
    return value.to(_dtypes.float32) if getattr(value, "dtype", None) is dtype else value


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


def refusing_half(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute`, which is not made for half precision."""

    def checked(x: Any, *others: Any) -> Any:
        if x.dtype.char == "e":
            raise not_implemented(name, x.dtype)
        return compute(x, *others)

    return checked


def _refusing(kinds: str, name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    def checked(x: Any, *others: Any, **params: Any) -> Any:
        refuse(kinds, name, x)
        return compute(x, *others, **params)

    return checked
