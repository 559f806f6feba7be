"""Short-time Fourier transforms, and the windows that they weigh by."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.creation.creation import arange, ones
from gradtool.engine._ops.elementwise.complex_parts import real, view_as_real
from gradtool.engine._ops.elementwise.special import i0
from gradtool.engine._ops.indexing.views import sum_of_windows, unfold
from gradtool.engine._ops.signal.fourier import of_real, to_real, transformed
from gradtool.engine._tensor import Tensor

Window = Callable[..., Tensor]


def _cosines(name: str, *weights: float) -> Window:
    def window(window_length: int, periodic: bool = True, *given: float, **options: Any) -> Tensor:
        parts = given or weights
        _check_dtype(name, options.get("dtype"))
        if window_length == 1:
            return ones(1, **options)
        steps = window_length if periodic else window_length - 1
        turns = arange(window_length, **options) * (2 * math.pi / max(steps, 1))
        terms = [weight * (turns * at).cos() for at, weight in enumerate(parts)]
        return terms[0] + sum(terms[1:])

    window.__name__ = window.__qualname__ = name
    window.__doc__ = "A sum of cosines over one period, or up to its end if not `periodic`."
    return window


def _check_dtype(name: str, dtype: Any) -> None:
    """Refuse what cosines are not.

    Raises:
        RuntimeError: it is a dtype of integers, of truth, or a complex one.
    """
    if dtype is not None and not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")


hann_window = op(_cosines("hann_window", 0.5, -0.5))
blackman_window = op(_cosines("blackman_window", 0.42, -0.5, 0.08))
_hamming = _cosines("hamming_window")


@op
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    **options: Any,
) -> Tensor:
    """``alpha - beta * cos`` over one period, or up to its end if not `periodic`."""
    return _hamming(window_length, periodic, alpha, -beta, **options)


@op
def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A triangle over one period, or up to its end if not `periodic`."""
    _check_dtype("bartlett_window", options.get("dtype"))
    if window_length == 1:
        return ones(1, **options)
    steps = window_length if periodic else window_length - 1
    return 1 - (arange(window_length, **options) * (2 / steps) - 1).abs()


@op
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any
) -> Tensor:
    """``i0(beta * sqrt(1 - r**2)) / i0(beta)`` for `r` from -1 over one period.

    Up to 1 if not `periodic`. The formula is that of J. F. Kaiser and R. W. Schafer, "On the use of
    the I0-sinh window for spectrum analysis", IEEE Trans. ASSP 28 (1980).
    """
    _check_dtype("kaiser_window", options.get("dtype"))
    if window_length == 1:
        return ones(1, **options)
    steps = window_length if periodic else window_length - 1
    place = arange(window_length, **options) * (2 / steps) - 1
    inside = (1 - place.square()).clamp(min=0)
    return i0(beta * inside.sqrt()) / i0(ones((), **options) * beta)


# ---- forth ----------------------------------------------------------------------------------


@op(method=True)
def stft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """The transforms of windows `hop_length` apart: (…, frequencies, windows).

    Raises:
        RuntimeError: the numbers do not fit, or it is not said whether complex numbers are to
            come back.
    """
    if return_complex is None and not (
        x.is_complex() or (window is not None and window.is_complex())
    ):
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will "
            "further require that return_complex=True in a future PyTorch release."
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    if x.ndim not in (1, 2):
        raise RuntimeError("stft: expected a 1D or 2D tensor")
    signal = _centred(x, n_fft, pad_mode) if center else x
    if not 0 < n_fft <= signal.shape[-1]:
        extent = signal.shape[-1]
        raise RuntimeError(f"stft: expected 0 < n_fft < {extent}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    length = _length(n_fft, win_length, "stft")
    if window is not None and tuple(window.shape) != (length,):
        raise RuntimeError(
            f"stft: expected a 1D window tensor of size equal to win_length={length}, but got "
            f"window with size {list(window.shape)}"
        )
    weights = _weights(x, n_fft, length, window)
    frames = unfold(signal, -1, n_fft, hop) * weights
    half = not frames.is_complex() if onesided is None else onesided
    _check_half(half and frames.is_complex())
    norm = "ortho" if normalized else "backward"
    spectra = (
        of_real("stft", frames, n_fft, -1, norm)
        if half
        else transformed(frames, n_fft, -1, norm, forward=True)
    ).transpose(-1, -2)
    return view_as_real(spectra) if return_complex is False else spectra


def _centred(x: Tensor, n_fft: int, pad_mode: str) -> Tensor:
    from gradtool.engine.nn.functional import pad  # It is made of the operations here.

    lead = x.reshape(1, -1, x.shape[-1])
    padded = pad(lead, (n_fft // 2, n_fft // 2), mode=pad_mode)
    return padded.reshape(*x.shape[:-1], -1)


def _length(n_fft: int, win_length: int | None, name: str) -> int:
    length = n_fft if win_length is None else win_length
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={length}")
    return length


def _check_half(of_complex: bool) -> None:
    if of_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")


def _weights(x: Tensor, n_fft: int, length: int, window: Tensor | None) -> Tensor:
    """The window, with zeros around it."""
    dtype = real(x.detach()).dtype
    weights = ones(length, dtype=dtype, device=x.device) if window is None else window
    if length == n_fft:
        return weights
    from gradtool.engine.nn.functional import pad

    left = (n_fft - length) // 2
    return pad(weights, (left, n_fft - length - left))


# ---- and back -------------------------------------------------------------------------------


@op(method=True)
def istft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose `stft` comes closest: windows added, and divided by the sum of squares.

    Raises:
        RuntimeError: the numbers do not fit, or the windows leave gaps.
    """
    if not x.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    frequencies = x.shape[wrap_dim(-2, x.ndim)]
    half = frequencies != n_fft if onesided is None else onesided
    _check_frequencies(frequencies, n_fft, half)
    length_of_window = _length(n_fft, win_length, "istft")
    if not 0 < hop <= length_of_window:
        raise RuntimeError("istft: expected 0 < hop_length <= win_length")
    if window is not None and tuple(window.shape) != (length_of_window,):
        raise RuntimeError(
            "istft: Invalid window shape. window has to be 1D and length of `win_length`"
        )
    weights = _weights(x, n_fft, length_of_window, window)
    norm = "ortho" if normalized else "backward"
    by_window = x.transpose(-1, -2)
    if return_complex:
        _check_half(half)
        frames = transformed(by_window, n_fft, -1, norm, forward=False)
    else:
        if weights.is_complex():
            raise RuntimeError("Complex windows are incompatible with return_complex=False")
        frames = to_real(by_window, n_fft, -1, norm, forward=False)
    return _added(frames * weights, weights * weights, hop, center, length)


def _check_frequencies(count: int, n_fft: int, half: bool) -> None:
    wanted, words = (n_fft // 2 + 1, "n_fft / 2 + 1") if half else (n_fft, "n_fft")
    if count != wanted:
        raise RuntimeError(
            "istft: expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match {words} when onesided={half}, but got {count}"
        )


def _added(frames: Tensor, squares: Tensor, hop: int, center: bool, length: int | None) -> Tensor:
    count, n_fft = frames.shape[-2:]
    extent = n_fft + hop * (count - 1)
    dim = frames.ndim - 2
    signal = sum_of_windows(frames, shape=(*frames.shape[:-2], extent), dim=dim, step=hop)
    envelope = sum_of_windows(squares.expand(count, n_fft), shape=(extent,), dim=0, step=hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else extent - (n_fft // 2 if center else 0)
    kept = min(end, extent) - start
    weights = envelope.narrow(-1, start, kept)
    if kept < 1 or float(weights.detach().abs().min()) < 1e-11:
        raise RuntimeError("istft: window overlap add min: 1")
    out = signal.narrow(-1, start, kept) / weights
    return out if end <= extent else _filled(out, end - extent)


def _filled(x: Tensor, missing: int) -> Tensor:
    from gradtool.engine.nn.functional import pad

    return pad(x, (0, missing))
