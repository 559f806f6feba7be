"""Reverse mode: gradients from cotangents, and backward as a function of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.adapters.common.arguments import laid_out
from gradtool.adapters.library import Outputs, library
from gradtool.verify.protocol.observation import Array, Cotangents, MemoryLayout

Apply = Callable[[Sequence[Any]], Outputs]
"""The outputs of a function for its tensor arguments."""


def cotangent_tensors(
    outputs: Outputs, arrays: Cotangents, layout: MemoryLayout = "contiguous"
) -> list[Any]:
    """Return new tensors of the values `arrays`, on the devices of the outputs."""
    return [
        None if array is None or output is None else _cotangent(output, array, layout)
        for output, array in zip(outputs, arrays, strict=True)
    ]


def _cotangent(output: Any, array: Array, layout: MemoryLayout) -> Any:
    tensor = library().tensor(np.array(array))
    tensor = tensor.to(output.device) if output.is_cuda else tensor
    return tensor if layout == "contiguous" else laid_out(tensor, layout)


def vjp(outputs: Outputs, cotangents: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
    """Return the gradient of each leaf; None if none arrives. The graph is kept."""
    targets = [leaf for leaf in leaves if leaf is not None]
    found = iter(_gradients(outputs, cotangents, targets) if targets else ())
    return [None if leaf is None else next(found) for leaf in leaves]


def _gradients(
    outputs: Outputs, cotangents: Sequence[Any], targets: Sequence[Any]
) -> Sequence[Any]:
    if all(cotangent is None for cotangent in cotangents):
        return undefined_gradients(outputs, targets)
    roots = _roots(outputs, cotangents)
    if not roots:
        return (None,) * len(targets)
    ends, sent = zip(*roots, strict=True)
    return _found(ends, sent, targets)


def _found(ends: Sequence[Any], sent: Sequence[Any], targets: Sequence[Any]) -> Sequence[Any]:
    try:
        # Many cotangents go through one graph, one after the other.
        gradients: Sequence[Any] = library().torch.autograd.grad(
            ends, targets, sent, retain_graph=True, allow_unused=True
        )
    except RuntimeError as error:
        if not _asks_for_backward(error):
            raise
        return _accumulated(ends, sent, targets)
    return gradients


def _asks_for_backward(error: RuntimeError) -> bool:
    """Return True for a backward that runs another one inside, as activation checkpoints do.

    PyTorch's own refuses ``autograd.grad``, which would have to stop at its targets inside too.
    """
    message = str(error)
    return ".grad()" in message and ".backward(" in message


def _accumulated(ends: Sequence[Any], sent: Sequence[Any], targets: Sequence[Any]) -> Sequence[Any]:
    """Return the gradients that ``backward()`` adds to the targets, which are leaves."""
    for target in targets:
        target.grad = None
    library().torch.autograd.backward(ends, sent, retain_graph=True)
    gradients = [target.grad for target in targets]
    for target in targets:
        target.grad = None
    return gradients


def _roots(outputs: Outputs, cotangents: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pair the outputs that backward can start from with their cotangents."""
    return [
        (output, cotangent)
        for output, cotangent in zip(outputs, cotangents, strict=True)
        if cotangent is not None and output is not None and output.requires_grad
    ]


def copied(tensor: Any) -> Array | None:
    """Return a copy of the values in host memory."""
    return None if tensor is None else np.array(library().array(tensor))


# ---- undefined cotangents ---------------------------------------------------------------------


def undefined_gradients(outputs: Sequence[Any], leaves: Sequence[Any]) -> tuple[Any, ...]:
    """Return the gradients of `leaves` when no output has a cotangent.

    A backward walk starts from a cotangent that has a value. Here it starts one step later, from
    a Function that takes all outputs and sends nothing back to any of them.

    Raises what the user's backward or the library raises.
    """
    recorded = [output for output in outputs if output is not None and output.requires_grad]
    if not recorded or not leaves:
        return (None,) * len(leaves)
    torch = library().torch
    with torch.enable_grad():
        end = _silent_function(torch.autograd.Function).apply(*recorded)
    return tuple(_found([end], [None], list(leaves)))


@functools.cache
def _silent_function(function: Any) -> Any:
    """Derive the Function that sends nothing back from a library's base class."""

    class Silent(function):  # type: ignore[misc]  # a base class known at run time only
        @staticmethod
        def forward(ctx: Any, *outputs: Any) -> Any:
            ctx.count = len(outputs)
            # A real scalar: only from one of those does backward start without a cotangent.
            return outputs[0].new_zeros((), dtype=library().torch.float64)

        @staticmethod
        def backward(ctx: Any, _cotangent: Any) -> tuple[None, ...]:
            count: int = ctx.count
            return (None,) * count

    return Silent


# ---- backward as a function -------------------------------------------------------------------


class BackwardMap:
    """A Function's backward as a function of its own: (primals, cotangents) -> gradients.

    Its derivative is the Function's second derivative; its own backward map leads to the third.

    Takes the tensor arguments of a function, then a cotangent for each output in `given`.
    Returns one gradient for each argument in `differentiable`; None if there is none.
    """

    def __init__(self, apply: Apply, differentiable: Sequence[bool], given: Sequence[int]) -> None:
        self.apply = apply
        """The function whose backward this is."""
        self._differentiable = tuple(differentiable)
        self._given = tuple(given)

    def __call__(self, *tensors: Any) -> tuple[Any, ...]:
        """Return the gradients, with a graph of their own if one is being recorded."""
        torch = library().torch
        recording = torch.is_grad_enabled()
        count = len(self._differentiable)
        with torch.enable_grad():
            pairs = list(zip(tensors[:count], self._differentiable, strict=True))
            primals = [_requiring_grad(tensor) if needed else tensor for tensor, needed in pairs]
            arguments = [
                # The function may change its arguments in place, which a leaf that requires a
                # gradient forbids.
                primal.clone() if needed else primal
                for primal, needed in zip(primals, self._differentiable, strict=True)
            ]
            outputs = self.apply(arguments)
            pairs = [
                (outputs[at], _on_device_of(outputs[at], cotangent))
                for at, cotangent in zip(self._given, tensors[count:], strict=True)
            ]
            targets = [p for p, needed in zip(primals, self._differentiable, strict=True) if needed]
            return self.gradients(pairs, targets, recording)

    def gradients(
        self, pairs: Sequence[tuple[Any, Any]], targets: Sequence[Any], recording: bool
    ) -> tuple[Any, ...]:
        """Return the gradients of `targets` for pairs of an output and its cotangent."""
        roots = [pair for pair in pairs if pair[0] is not None and pair[0].requires_grad]
        if not roots or not targets:
            return (None,) * len(targets)
        outputs, cotangents = zip(*roots, strict=True)
        found: tuple[Any, ...] = library().torch.autograd.grad(
            outputs, targets, cotangents, create_graph=recording, allow_unused=True
        )
        return found


def _on_device_of(output: Any, cotangent: Any) -> Any:
    return cotangent if output is None else cotangent.to(output.device)


def _requiring_grad(tensor: Any) -> Any:
    """Return the tensor, or one outside its graph, to differentiate with respect to."""
    return tensor if tensor.requires_grad else tensor.detach().requires_grad_()
