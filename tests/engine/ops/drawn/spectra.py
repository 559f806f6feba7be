"""Fourier transforms, triangular factors, exponentials and reflectors of matrices."""

from __future__ import annotations

from typing import Any

from tests.engine.ops.cases.case import Shape, normal
from tests.engine.ops.drawn.language import (
    BOOL,
    SMOOTH,
    WIDE,
    Call,
    Op,
    Pick,
    among,
    by_shape,
    dim,
    each,
    of_one,
    op,
    optional,
    typed,
)
from tests.engine.ops.drawn.matrices import loose, oblong, squares, systems

NORM = optional(among("backward", "ortho", "forward"))
COUNT = optional(among(1, 2, 3, 5))
ANY = (*SMOOTH, "int64")


def _some(shape: Shape) -> Any:
    return among(None, (-1,), (0, -1)) if len(shape) > 1 else among(None, (-1,))


FOURIER: dict[str, Op] = {
    **each("fft.fft fft.ifft",
           op(of_one(normal, n=COUNT, dim=dim, norm=NORM, dtypes=ANY, least=1, smallest=1))),
    **each("fft.rfft fft.ihfft",
           op(of_one(normal, n=COUNT, dim=dim, norm=NORM, dtypes=WIDE, least=1, smallest=1))),
    **each("fft.irfft fft.hfft",
           op(of_one(normal, n=COUNT, dim=dim, norm=NORM, dtypes=SMOOTH, least=1, smallest=1))),
    **each("fft.fftn fft.ifftn",
           op(of_one(normal, dim=_some, norm=NORM, dtypes=ANY, least=1, smallest=1))),
    "fft.rfftn": op(of_one(normal, dim=_some, norm=NORM, dtypes=WIDE, least=1, smallest=1)),
    "fft.irfftn": op(of_one(normal, dim=_some, norm=NORM, dtypes=SMOOTH, least=1, smallest=2)),
    "fft.hfftn": op(of_one(normal, dim=_some, norm=NORM, dtypes=SMOOTH, least=1, smallest=2)),
    "fft.ihfftn": op(of_one(normal, dim=_some, norm=NORM, dtypes=WIDE, least=1, smallest=1)),
    "fft.hfft2": op(of_one(normal, norm=NORM, dtypes=SMOOTH, least=2, smallest=2)),
    "fft.ihfft2": op(of_one(normal, norm=NORM, dtypes=WIDE, least=2, smallest=1)),
    **each("fft.fft2 fft.ifft2",
           op(of_one(normal, s=optional(among((2, 3), (4, 1))), norm=NORM, dtypes=ANY, least=2,
                     smallest=1))),
    "fft.rfft2": op(of_one(normal, norm=NORM, dtypes=WIDE, least=2, smallest=1)),
    "fft.irfft2": op(of_one(normal, norm=NORM, dtypes=SMOOTH, least=2, smallest=2)),
    **each("fft.fftshift fft.ifftshift", op(of_one(normal, dim=_some, least=1))),
    "fft.fftfreq": op(by_shape(lambda pick, _: Call((), (pick(among(1, 4, 5)), 0.5)), most=0)),
    "fft.rfftfreq": op(by_shape(lambda pick, _: Call((), (pick(among(1, 4, 5)), 0.5)), most=0)),
}  # fmt: skip


def _spectrogram(pick: Pick, _: Shape) -> Call:
    batch = pick(among((), (2,)))
    options = {"n_fft": pick(among(4, 5)), "hop_length": pick(among(None, 1, 2)),
               "center": pick(BOOL), "normalized": pick(BOOL), "onesided": pick(BOOL)}  # fmt: skip
    signal = typed(normal(*batch, pick(among(8, 11))), pick(among(*WIDE)))
    return Call((signal,), (), {**options, "win_length": pick(among(None, 3))})


def _windowed(name: str) -> Any:
    """With a window, or the ones that are the default."""

    def call(t: Any, x: Any, **options: Any) -> Any:
        window = t.hann_window(options["win_length"] or options["n_fft"], periodic=False,
                               dtype=x.dtype) + 0.5  # fmt: skip
        spectra = t.stft(x, window=window, return_complex=True, **options)
        if name == "stft":
            return spectra
        return t.istft(spectra * 2, window=window, **options)

    return call


SPECTROGRAMS: dict[str, Op] = {
    "stft": op(by_shape(_spectrogram, most=0), _windowed("stft")),
    "istft": op(by_shape(_spectrogram, most=0), _windowed("istft"), second_order=False),
    **{name: op(by_shape(lambda pick, _: Call((), (pick(among(1, 2, 5)), pick(BOOL))), most=0))
       for name in ("hann_window", "hamming_window", "blackman_window", "bartlett_window",
                    "kaiser_window")},
}  # fmt: skip


def _unpacked(t: Any, x: Any) -> Any:
    return t.linalg.lu(x)


def _triangle_solved(t: Any, x: Any, y: Any, **options: Any) -> Any:
    compact, pivots = t.linalg.lu_factor(x)
    return t.linalg.lu_solve(compact, pivots, y, **options)


def _reflecting(pick: Pick, batch: Shape) -> Call:
    """Reflectors, their factors, and what they reflect."""
    rows = pick(among(3, 2))
    count = pick(among(1, 2))
    dtype = pick(among(*SMOOTH[::2]))
    return Call(
        (
            typed(normal(*batch, rows, count), dtype),
            typed(normal(*batch, count), dtype),
            typed(normal(*batch, rows, 2), dtype),
        ),
        (),
        {"transpose": pick(BOOL)},
    )


FACTORS: dict[str, Op] = {
    "linalg.lu": loose(oblong(), _unpacked),
    "linalg.lu_factor": loose(oblong(), lambda t, x: t.linalg.lu_factor(x)),
    "linalg.lu_factor_ex": loose(oblong(), lambda t, x: t.linalg.lu_factor_ex(x)),
    "lu": loose(oblong(), lambda t, x: t.linalg.lu_factor(x) + tuple(x.lu()[:1])),
    "lu_unpack": loose(oblong(), lambda t, x: t.lu_unpack(*t.linalg.lu_factor(x))),
    "linalg.lu_solve": loose(systems(), _triangle_solved),
    "lu_solve": loose(systems(), lambda t, x, y: t.lu_solve(y, *t.linalg.lu_factor(x))),
    "linalg.lu_solve of the adjoint": loose(systems(), lambda t, x, y: (
        _triangle_solved(t, x, y, adjoint=True))),
    "linalg.lu_solve from the right": loose(systems(), lambda t, x, y: (
        _triangle_solved(t, x, y.mT, left=False))),
    **each("linalg.matrix_exp matrix_exp", loose(squares())),
    "linalg.householder_product": loose(by_shape(_reflecting, most=1), lambda t, x, tau, y,
                                        transpose: t.linalg.householder_product(x, tau)),
    "orgqr": loose(by_shape(_reflecting, most=1), lambda t, x, tau, y, transpose: (
        t.orgqr(x, tau))),
    "ormqr": loose(by_shape(_reflecting, most=1), not_pushed="PyTorch has no forward mode of it"),
    "geqrf": loose(oblong(), lambda t, x: t.geqrf(x.detach())),
}  # fmt: skip

TABLE: dict[str, Op] = {**FOURIER, **SPECTROGRAMS, **FACTORS}
