"""Convolutions over one to three dimensions, and their transposes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import SMOOTH, check_taken, takes
from gradtool.engine._ops.core.node_names import node_name, saving
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._convolution_checks import (
    check_bias,
    check_channels,
    check_dtypes,
    check_output_padding,
    check_steps,
    check_weight,
)
from gradtool.engine.nn.functional._convolving import Pairs
from gradtool.engine.nn.functional._convolving import convolution as correlate
from gradtool.engine.nn.functional._convolving import convolution_transposed as correlate_transposed
from gradtool.engine.nn.functional._folding import for_each

Convolution = Callable[..., Tensor]

_WIDE = SMOOTH | {_dtypes.int64}
"""Dtypes of torch's dilated and transposed convolutions; other convolutions take more."""


def _convolution(spatial: int) -> Convolution:
    def convolve(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        step, apart = for_each(stride, spatial, "stride"), for_each(dilation, spatial, "dilation")
        if not isinstance(padding, str):
            padding = for_each(padding, spatial, "padding")
        if max(apart) > 1:
            check_taken(input, _WIDE, "slow_conv_dilated<>")
        batch, alone = _with_batch(input, spatial, f"conv{spatial}d")
        ends, counts = _planned(*_shapes(batch, weight, bias), step, padding, apart, groups)
        check_dtypes(batch, weight, bias)
        out = correlate(
            batch, weight, counts=counts, stride=step, ends=ends, dilation=apart, groups=groups
        )
        return _finish(out, bias, alone)

    convolve.__name__ = convolve.__qualname__ = f"conv{spatial}d"
    convolve.__doc__ = f"""Cross-correlation over the last {spatial} dimensions.

    Args:
        input: Of shape (N, C, …) or (C, …).
        weight: Of shape (O, C / groups, …).
        bias: Of shape (O,).
        stride: Steps between windows.
        padding: Zeros at each end, or ``valid`` (none) or ``same``.
        dilation: Steps within a window.
        groups: Number of independent groups of channels and outputs.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return convolve


def _with_batch(input: Tensor, spatial: int, name: str) -> tuple[Tensor, bool]:
    """Return the input as a batch, and whether it was a single example."""
    if input.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to {name}, "
            f"but got input of size: {list(input.shape)}"
        )
    alone = input.ndim == spatial + 1
    return (input.unsqueeze(0) if alone else input), alone


def _shapes(batch: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Ints, Ints, Ints | None]:
    return batch._array.shape, weight._array.shape, None if bias is None else bias._array.shape


@functools.lru_cache(maxsize=64)
def _planned(
    batch: Ints, weight: Ints, bias: Ints | None, step: Ints, padding: Any, apart: Ints, groups: int
) -> tuple[Pairs, Ints]:
    """Padding at both ends of each dimension, and numbers of windows, of shapes that fit."""
    _check(batch, weight, bias, step, apart, groups, transposed=False)
    ends = _padding_ends(padding, weight[2:], step, apart)
    reach = [each * (extent - 1) + 1 for each, extent in zip(apart, weight[2:])]
    padded = [extent + sum(pair) for extent, pair in zip(batch[2:], ends)]
    if any(have < need for have, need in zip(padded, reach)):
        sizes, kernel = (" x ".join(map(str, each)) for each in (padded, reach))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({sizes}). Kernel size: ({kernel}). "
            "Kernel size can't be greater than actual input size"
        )
    counts = [(have - need) // each + 1 for have, need, each in zip(padded, reach, step)]
    return ends, tuple(counts)


def _check(
    batch: Ints, weight: Ints, bias: Ints | None, step: Ints, apart: Ints, groups: int,
    transposed: bool,
) -> None:  # fmt: skip
    check_steps(step, apart)
    check_weight(batch, weight, groups)
    check_channels(batch, weight, groups, transposed)
    check_bias(weight, bias, groups, transposed)


def _padding_ends(padding: Any, size: Ints, step: Ints, apart: Ints) -> Pairs:
    """Padding at both ends of each dimension."""
    if padding == "same":
        if any(each != 1 for each in step):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        totals = [each * (extent - 1) for each, extent in zip(apart, size)]
        return tuple([(total // 2, total - total // 2) for total in totals])
    if isinstance(padding, str):
        if padding != "valid":
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        return ((0, 0),) * len(size)
    if any(each < 0 for each in padding):
        raise RuntimeError("negative padding is not supported")
    return tuple([(each, each) for each in padding])


def _finish(out: Tensor, bias: Tensor | None, alone: bool) -> Tensor:
    if bias is not None:
        out = out + bias.reshape(-1, *[1] * (out.ndim - 2))
    return out.squeeze(0) if alone else out


# ---- transposed -----------------------------------------------------------------------------


def _transposed(spatial: int) -> Convolution:
    @takes(_WIDE, f"slow_conv_transpose{max(spatial, 2)}d_out_cpu", fused=True)
    def convolve(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        step, apart = for_each(stride, spatial, "stride"), for_each(dilation, spatial, "dilation")
        more = for_each(output_padding, spatial, "output_padding")
        cut = for_each(padding, spatial, "padding")
        batch, alone = _with_batch(input, spatial, f"conv_transpose{spatial}d")
        _check(*_shapes(batch, weight, bias), step, apart, groups, transposed=True)
        check_dtypes(batch, weight, bias)
        check_output_padding(more, step, apart)
        extents = tuple(
            [
                (count - 1) * step[at] + apart[at] * (weight.shape[2 + at] - 1) + 1 + more[at]
                - 2 * cut[at]
                for at, count in enumerate(batch.shape[2:])
            ]
        )  # fmt: skip
        out = correlate_transposed(
            batch, weight, extents=extents, stride=step, ends=tuple([(n, n) for n in cut]),
            dilation=apart, groups=groups,
        )  # fmt: skip
        return _finish(out, bias, alone)

    convolve.__name__ = convolve.__qualname__ = f"conv_transpose{spatial}d"
    convolve.__doc__ = f"""The transpose of ``conv{spatial}d``, which has the same arguments.

    Args:
        input: Of shape (N, C, …) or (C, …).
        weight: Of shape (C, O / groups, …).
        bias: Of shape (O,).
        stride: Steps between windows of the output.
        padding: Elements removed at each end of the output.
        output_padding: Elements added at the end of each dimension of the output.
        groups: Number of independent groups of channels and outputs.
        dilation: Steps within a window.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return convolve


conv1d, conv2d, conv3d = (_convolution(spatial) for spatial in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (
    _transposed(spatial) for spatial in (1, 2, 3)
)


def _convolution_node(spatial: int) -> Callable[..., str]:
    """Return the rule for the node's name: a batch of one is squeezed again."""

    def node(input: Any, *_: Any, **__: Any) -> str:
        return "ConvolutionBackward0" if input.ndim == spatial + 2 else "SqueezeBackward1"

    return node


for _spatial, _functions in (
    (1, (conv1d, conv_transpose1d)),
    (2, (conv2d, conv_transpose2d)),
    (3, (conv3d, conv_transpose3d)),
):
    for _function in _functions:
        node_name(saving(_convolution_node(_spatial), "input", "weight"))(_function)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """`conv1d` of an input (length, N, C) with a weight (width, C, O), plus a bias (O,).

    Raises:
        RuntimeError: the shapes do not fit.
    """
    convolved = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad)
    return convolved.permute(2, 0, 1).contiguous()


__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d",
]  # fmt: skip
