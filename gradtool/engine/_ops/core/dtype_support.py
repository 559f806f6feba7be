"""The dtypes that an operation supports, and torch's errors for the others."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final, TypeVar

from gradtool.engine import _dtypes

# ---- dtypes by primitive ---------------------------------------------------------------------
#
# Operations bring what they are given to a dtype that their primitive claims (integers become
# floats for a logarithm), or raise torch's error. What is not listed claims every dtype.


BOOL: Final = frozenset({_dtypes.bool_})
INTEGERS: Final = frozenset(each for each in _dtypes.ALL if each.category == _dtypes.INTEGER)
HALF: Final = frozenset({_dtypes.float16})
FLOATS: Final = frozenset({_dtypes.float32, _dtypes.float64})
COMPLEX: Final = frozenset(each for each in _dtypes.ALL if each.is_complex)

Claim = frozenset[_dtypes.dtype]

ORDERED: Final[Claim] = BOOL | INTEGERS | HALF | FLOATS
MEASURED: Final[Claim] = INTEGERS | HALF | FLOATS
NUMBERS: Final[Claim] = MEASURED | COMPLEX
REAL: Final[Claim] = HALF | FLOATS
SMOOTH: Final[Claim] = REAL | COMPLEX
FACTORED: Final[Claim] = FLOATS | COMPLEX
"""What LAPACK has routines for."""
BITS: Final[Claim] = BOOL | INTEGERS

_LISTED: Final[dict[str, Claim]] = {
    name: claim
    for names, claim in (
        (
            "amax amin argmax argmin argsort cummax cummin digamma erf erfc erfinv fmax fmin ge "
            "gt heaviside i0 isneginf isposinf le lgamma lt max maximum min minimum sign signbit "
            "sort special_entr special_i0e special_i1 special_i1e "
            "mode mode_index scatter_amax scatter_amin",
            ORDERED,
        ),
        (
            "bucketize ceil clamp clamp_max clamp_min floor floor_divide fmod hardtanh "
            "kthvalue median median_index nanmedian nanmedian_index relu remainder round "
            "searchsorted topk trunc",
            MEASURED,
        ),
        ("abs bmm div dot matmul mm mv neg pow sub", NUMBERS),
        (
            "atan2 binary_cross_entropy copysign frexp histc hypot log_softmax logaddexp2 "
            "nextafter polygamma softmax special_xlog1py xlogy zeros_like",
            REAL,
        ),
        (
            "gather_backward index_backward linalg_vector_norm logaddexp logsumexp mean "
            "slice_backward spread std var",
            SMOOTH,
        ),
        (
            "adjugate adjugate_slope linalg_cholesky linalg_det linalg_eig linalg_eigh linalg_inv "
            "linalg_matrix_rank linalg_pinv linalg_qr linalg_lu linalg_matrix_exp "
            "linalg_solve linalg_svd lu_rows phase_check slogdet",
            FACTORED,
        ),
        ("complex view_as_complex", FLOATS),
        ("conj fft_c2c imag real sgn view_as_real", COMPLEX),
        ("bitwise_and bitwise_not bitwise_or bitwise_xor", BITS),
        ("lu_order", frozenset({_dtypes.int32})),
        ("ignored", SMOOTH | INTEGERS),
        ("sum_to_size", SMOOTH | frozenset({_dtypes.int64})),
        (
            "special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_erfcx "
            "special_log_ndtr special_modified_bessel_k0 special_modified_bessel_k1 special_ndtri "
            "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 "
            "special_spherical_bessel_j0",
            BITS | FLOATS,
        ),
        ("unfold_backward", BOOL | SMOOTH),
        ("bincount_of_weights", INTEGERS | REAL),
        ("bincount bitwise_left_shift bitwise_right_shift gcd lcm", INTEGERS),
    )
    for name in names.split()
}

_EVERYTHING: Final[Claim] = frozenset(_dtypes.ALL)


def claimed(name: str) -> Claim:
    """The dtypes that the primitives of this name claim, between them."""
    return _LISTED.get(name, _EVERYTHING)


# ---- errors ----------------------------------------------------------------------------------


F = TypeVar("F", bound=Callable[..., Any])

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


def check_taken(x: Any, claim: frozenset[_dtypes.dtype], name: str) -> None:
    """Refuse a tensor of a dtype that is not claimed; what is no tensor is left to others."""
    dtype = getattr(x, "dtype", None)
    if dtype.__class__ is _dtypes.dtype and dtype not in claim:
        raise not_implemented(name, dtype.numpy)


def check_positions(index: Any, words: str, *, narrow: bool = False) -> None:
    """Refuse positions that are no int64, nor with `narrow` int32, in these words of torch."""
    if index.dtype.name != "int64" and not (narrow and index.dtype.name == "int32"):
        raise RuntimeError(words.format(TYPE_NAMES[index.dtype.name]))


def takes(claim: frozenset[_dtypes.dtype], name: str) -> Callable[[F], F]:
    """Refuse a first argument of a dtype that is not claimed, in the words of torch.

    For operations made of others that would take it. `name` is that of torch's kernel.
    """

    def claiming(function: F) -> F:
        @functools.wraps(function)
        def checked(*args: Any, **named: Any) -> Any:
            check_taken(args[0] if args else named.get(_first_name(function)), claim, name)
            return function(*args, **named)

        return checked  # type: ignore[return-value]  # it has the signature of `function`

    return claiming


@functools.cache
def _first_name(function: Callable[..., Any]) -> str:
    return next(iter(inspect.signature(function).parameters))


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

    def checked(x: Any) -> Any:
        if x.dtype.char == "e":
            raise not_implemented(name, x.dtype)
        return compute(x)

    return checked


def _refusing(kinds: str, name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    def checked(x: Any, *others: Any, **params: Any) -> Any:
        refuse(kinds, name, x)
        return compute(x, *others, **params)

    return checked
