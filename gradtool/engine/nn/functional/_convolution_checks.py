"""Arguments that convolutions refuse, in PyTorch's words."""

from __future__ import annotations

from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import TYPE_NAMES
from gradtool.engine._tensor import Tensor

_NATIVE = {"float32": "float", "float64": "double", "float16": "c10::Half"}
"""What C++ calls the dtypes."""


def check_steps(stride: Ints, dilation: Ints) -> None:
    """Refuse a stride or dilation of zero or less.

    Raises:
        RuntimeError: there is one.
    """
    for name, numbers in (("stride", stride), ("dilation", dilation)):
        if min(numbers) <= 0:
            raise RuntimeError(f"non-positive {name} is not supported")


def check_weight(batch: Ints, weight: Ints, groups: int) -> None:
    """Refuse a weight with other dimensions than the input, or that makes no equal groups.

    Raises:
        RuntimeError: it does not fit.
    """
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if len(weight) != len(batch):
        raise RuntimeError(
            f"Expected {len(weight)}-dimensional input for {len(weight)}-dimensional weight "
            f"{list(weight)}, but got {len(batch)}-dimensional input of size "
            f"{list(batch)} instead"
        )
    rows = weight[0]
    if rows < groups or rows % groups:
        need = f"at least {groups}" if rows < groups else f"divisible by {groups}"
        least = rows < groups
        shown = f"{list(weight)}" if least else f"[{list(weight)}]"
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be {need} at dimension 0, but got weight "
            f"of size {shown} instead"
        )


def check_channels(batch: Ints, weight: Ints, groups: int, transposed: bool) -> None:
    """Refuse an input with other channels than the weight is for.

    Raises:
        RuntimeError: it has.
    """
    expected = weight[0] if transposed else weight[1] * groups
    if batch[1] != expected:
        given = "transposed=1" if transposed else f"groups={groups}"
        raise RuntimeError(
            f"Given {given}, weight of size {list(weight)}, expected "
            f"input{list(batch)} to have {expected} channels, but got {batch[1]} "
            "channels instead"
        )


def check_bias(weight: Ints, bias: Ints | None, groups: int, transposed: bool) -> None:
    """Refuse a bias that is no vector of the outputs.

    Raises:
        RuntimeError: it is not.
    """
    outputs = weight[1] * groups if transposed else weight[0]
    if bias is not None and bias != (outputs,):
        given = "transposed=1, " if transposed else ""
        raise RuntimeError(
            f"Given {given}weight of size {list(weight)}, expected bias to be 1-dimensional "
            f"with {outputs} elements, but got bias of size {list(bias)} instead"
        )


def check_dtypes(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """Refuse a weight or a bias of another dtype than the input.

    Raises:
        RuntimeError: it has.
    """
    own, other = TYPE_NAMES[input.dtype.name], TYPE_NAMES[weight.dtype.name]
    if weight.dtype is not input.dtype:
        if own in ("Float", "Half") and weight.is_floating_point():
            raise RuntimeError(
                f"Input type (torch.{own}Tensor) and weight type (torch.{other}Tensor) should be "
                "the same or input should be a MKLDNN tensor and weight is a dense tensor"
            )
        raise RuntimeError(f"expected scalar type {own} but found {other}")
    if bias is not None and bias.dtype is not input.dtype:
        names = [_NATIVE.get(each.dtype.name, each.dtype.name) for each in (input, bias)]
        raise RuntimeError(f"Input type ({names[0]}) and bias type ({names[1]}) should be the same")


def check_output_padding(more: Ints, stride: Ints, dilation: Ints) -> None:
    """Refuse more elements at the end than a step has.

    Raises:
        RuntimeError: there are more.
    """
    if all(extra < max(pair) for extra, *pair in zip(more, stride, dilation)):
        return
    axes = ("depth", "height", "width")[-max(len(more), 2) :]
    front = max(2 - len(more), 0)
    shown = [
        f"{name}_{axis}: {number}"
        for name, numbers in (
            ("output_padding", (0,) * front + more), ("stride", (1,) * front + stride),
            ("dilation", (1,) * front + dilation),
        )
        for axis, number in zip(axes, numbers)
    ]  # fmt: skip
    raise RuntimeError(
        f"output padding must be smaller than either stride or dilation, but got {' '.join(shown)}"
    )
