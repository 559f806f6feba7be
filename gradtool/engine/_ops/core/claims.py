"""Which dtypes each primitive claims: works on, with its derivatives where it has any.

Operations bring what they are given to a dtype that their primitive claims (integers become
floats for a logarithm), or raise torch's error. What is not listed claims every dtype.
"""

from __future__ import annotations

from typing import Final

from gradtool.engine import _dtypes

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
