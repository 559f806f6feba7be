"""From cotangents, as arrays, to the gradients of a call's leaves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.engine import Tensor
from gradtool.engine._tensor import to_numpy, wrap
from gradtool.engine.autograd import grad
from gradtool.gate.adapters.bound import Outputs
from gradtool.gate.adapters.memory_layout import lay
from gradtool.gate.adapters.undefined import undefined_gradients
from gradtool.verify.examinable import MemoryLayout
from gradtool.verify.protocol import Array, Cotangents


def cotangent_tensors(
    outputs: Outputs, arrays: Cotangents, layout: MemoryLayout = "contiguous"
) -> list[Tensor | None]:
    """New tensors of the values `arrays`, on the devices of the outputs."""
    return [
        None if array is None or output is None else _like(output, array, layout)
        for output, array in zip(outputs, arrays, strict=True)
    ]


def _like(output: Tensor, array: Array, layout: MemoryLayout) -> Tensor:
    tensor = wrap(np.array(array))
    tensor = tensor.to(output.device) if output.is_cuda else tensor
    if layout != "contiguous":
        lay(tensor, layout)
    return tensor


def pulled_back(
    outputs: Outputs, cotangents: Sequence[Tensor | None], leaves: Sequence[Tensor | None]
) -> list[Tensor | None]:
    """The gradient of each leaf; None where none arrives. The graph stays."""
    targets = [leaf for leaf in leaves if leaf is not None]
    found = iter(_gradients(outputs, cotangents, targets) if targets else ())
    return [None if leaf is None else next(found) for leaf in leaves]


def _gradients(
    outputs: Outputs, cotangents: Sequence[Tensor | None], targets: Sequence[Tensor]
) -> Sequence[Tensor | None]:
    if all(cotangent is None for cotangent in cotangents):
        return undefined_gradients(outputs, targets)
    roots = [
        (output, cotangent)
        for output, cotangent in zip(outputs, cotangents, strict=True)
        if cotangent is not None and output is not None and output.requires_grad
    ]
    if not roots:
        return (None,) * len(targets)
    return grad(
        [output for output, _ in roots],
        targets,
        [cotangent for _, cotangent in roots],
        retain_graph=True,
        allow_unused=True,
    )


def copied(tensor: Tensor | None) -> Array | None:
    """The values in host memory that nothing else holds."""
    return None if tensor is None else np.array(to_numpy(tensor._array))
