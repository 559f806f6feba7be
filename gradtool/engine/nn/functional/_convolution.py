"""Convolutions: windows of the input times the weight, as one matrix product for each group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import SMOOTH, check_taken, takes
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._folding import for_each, product, windows
from gradtool.engine.nn.functional._padding import pad

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
        if any(each > 1 for each in apart):
            check_taken(input, _WIDE, "slow_conv_dilated<>")
        batch, alone = _with_batch(input, spatial, f"conv{spatial}d")
        _check_channels(batch, weight, groups)
        padded = pad(batch, _padding_ends(padding, weight.shape[2:], step, apart))
        _check_extents(padded, weight, apart)
        out = _products(windows(padded, weight.shape[2:], step, apart), weight, groups)
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


def _check_channels(batch: Tensor, weight: Tensor, groups: int) -> None:
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if weight.ndim != batch.ndim:
        raise RuntimeError(
            f"Expected {batch.ndim}-dimensional weight, but got weight of size: "
            f"{list(weight.shape)}"
        )
    if batch.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected "
            f"input{list(batch.shape)} to have {weight.shape[1] * groups} channels, but got "
            f"{batch.shape[1]} channels instead"
        )
    if weight.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{list(weight.shape)}] instead"
        )


def _padding_ends(padding: Any, size: Ints, step: Ints, apart: Ints) -> list[int]:
    """Padding at both ends of each dimension, the last one first."""
    if padding == "same":
        if any(each != 1 for each in step):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        totals = [each * (extent - 1) for each, extent in zip(apart, size)]
        return [end for total in reversed(totals) for end in (total // 2, total - total // 2)]
    if isinstance(padding, str):
        if padding != "valid":
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        return [0, 0] * len(size)
    each_side = for_each(padding, len(size), "padding")
    if any(each < 0 for each in each_side):
        raise RuntimeError("negative padding is not supported")
    return [each for each in reversed(each_side) for _ in range(2)]


def _check_extents(padded: Tensor, weight: Tensor, apart: Ints) -> None:
    reach = [each * (extent - 1) + 1 for each, extent in zip(apart, weight.shape[2:])]
    if any(have < need for have, need in zip(padded.shape[2:], reach)):
        sizes, kernel = (" x ".join(map(str, each)) for each in (padded.shape[2:], reach))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({sizes}). Kernel size: ({kernel}). "
            "Kernel size can't be greater than actual input size"
        )


def _products(taken: Tensor, weight: Tensor, groups: int) -> Tensor:
    """Windows (N, C, *positions, *elements) times the weight: (N, O, *positions)."""
    spatial = weight.ndim - 2
    count, channels = taken.shape[:2]
    places, size = taken.shape[2 : 2 + spatial], weight.shape[2:]
    apart = taken.reshape(count, groups, channels // groups, *places, *size)
    at_places = [*range(3, 3 + spatial)]
    elements = [*range(3 + spatial, 3 + 2 * spatial)]
    entries = channels // groups * product(size)
    columns = apart.permute(0, 1, 2, *elements, *at_places).reshape(
        count, groups, entries, product(places)
    )
    rows = weight.reshape(groups, weight.shape[0] // groups, entries)
    return matmul(rows, columns).reshape(count, weight.shape[0], *places)


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
        _check_output_padding(more, step, apart)
        batch, alone = _with_batch(input, spatial, f"conv_transpose{spatial}d")
        flipped = _flip_weight(weight, batch, groups)
        reach = [each * (extent - 1) for each, extent in zip(apart, weight.shape[2:])]
        ends = [
            end
            for total, less, extra in reversed([*zip(reach, cut, more)])
            for end in (total - less, total - less + extra)
        ]
        spread = pad(_insert_zeros(batch, step), ends)
        out = _products(windows(spread, weight.shape[2:], (1,) * spatial, apart), flipped, groups)
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


def _check_output_padding(more: Ints, step: Ints, apart: Ints) -> None:
    if any(extra >= max(pair) for extra, *pair in zip(more, step, apart)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            f"output_padding: {list(more)}, stride: {list(step)}, dilation: {list(apart)}"
        )


def _flip_weight(weight: Tensor, batch: Tensor, groups: int) -> Tensor:
    """Weight of the equivalent plain convolution: flipped, inputs and outputs swapped."""
    if batch.shape[1] != weight.shape[0]:
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(weight.shape)}, expected "
            f"input{list(batch.shape)} to have {weight.shape[0]} channels, but got "
            f"{batch.shape[1]} channels instead"
        )
    turned = weight.flip(tuple(range(2, weight.ndim)))
    apart = turned.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    swapped = apart.transpose(1, 2)
    return swapped.reshape(groups * weight.shape[1], weight.shape[0] // groups, *weight.shape[2:])


def _insert_zeros(batch: Tensor, step: Ints) -> Tensor:
    """Insert zeros between the elements, so that they lie a stride apart."""
    for dim, stride in enumerate(step, 2):
        if stride == 1:
            continue
        extent = batch.shape[dim]
        behind = batch.ndim - dim - 1
        apart = pad(batch.unsqueeze(dim + 1), [*[0, 0] * behind, 0, stride - 1])
        batch = apart.flatten(dim, dim + 1).narrow(dim, 0, (extent - 1) * stride + 1)
    return batch


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
        node_name(_convolution_node(_spatial))(_function)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """`conv1d` of an input (length, N, C) with a weight (width, C, O), plus a bias (O,).

    Raises:
        RuntimeError: the shapes do not fit.
    """
    convolved = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad)
    return convolved.permute(2, 0, 1)


__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d",
]  # fmt: skip
