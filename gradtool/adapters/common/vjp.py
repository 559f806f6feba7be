"""From cotangents, as arrays, to the gradients of a call's leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.adapters.common.bound import Outputs
from gradtool.adapters.common.memory_layout import laid
from gradtool.adapters.common.undefined import undefined_gradients
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Array, Cotangents, MemoryLayout


def cotangent_tensors(
    outputs: Outputs, arrays: Cotangents, layout: MemoryLayout = "contiguous"
) -> list[Any]:
    """New tensors of the values `arrays`, on the devices of the outputs."""
    return [
        None if array is None or output is None else _like(output, array, layout)
        for output, array in zip(outputs, arrays, strict=True)
    ]


def _like(output: Any, array: Array, layout: MemoryLayout) -> Any:
    tensor = library().tensor(np.array(array))
    tensor = tensor.to(output.device) if output.is_cuda else tensor
    return tensor if layout == "contiguous" else laid(tensor, layout)


def vjp(outputs: Outputs, cotangents: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
    """The gradient of each leaf; None where none arrives. The graph stays."""
    targets = [leaf for leaf in leaves if leaf is not None]
    found = iter(_gradients(outputs, cotangents, targets) if targets else ())
    return [None if leaf is None else next(found) for leaf in leaves]


def _gradients(
    outputs: Outputs, cotangents: Sequence[Any], targets: Sequence[Any]
) -> Sequence[Any]:
    if all(cotangent is None for cotangent in cotangents):
        return undefined_gradients(outputs, targets)
    roots = [
        (output, cotangent)
        for output, cotangent in zip(outputs, cotangents, strict=True)
        if cotangent is not None and output is not None and output.requires_grad
    ]
    if not roots:
        return (None,) * len(targets)
    gradients: Sequence[Any] = library().torch.autograd.grad(
        [output for output, _ in roots],
        targets,
        [cotangent for _, cotangent in roots],
        retain_graph=True,
        allow_unused=True,
    )
    return gradients


def copied(tensor: Any) -> Array | None:
    """The values in host memory that nothing else holds."""
    return None if tensor is None else np.array(library().array(tensor))
