"""A Function's backward as a function in its own right: (primals, cotangents) -> gradients.

Its derivative is the Function's second derivative; its own backward map leads to the third.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtool.adapters.library import library

Apply = Callable[[Sequence[Any]], tuple[Any, ...]]
"""The outputs of a function for its tensor arguments."""


class BackwardMap:
    """Takes the tensor arguments of a function, then a cotangent for each output in `given`.

    Returns one gradient for each argument in `differentiable`; None where there is none.
    """

    def __init__(self, apply: Apply, differentiable: Sequence[bool], given: Sequence[int]) -> None:
        self.apply = apply
        """The function whose backward this is."""
        self._differentiable = tuple(differentiable)
        self._given = tuple(given)

    def __call__(self, *tensors: Any) -> tuple[Any, ...]:
        """The gradients, with a graph of their own where one is being recorded."""
        torch = library().torch
        recording = torch.is_grad_enabled()
        count = len(self._differentiable)
        with torch.enable_grad():
            pairs = list(zip(tensors[:count], self._differentiable, strict=True))
            primals = [_requiring(tensor) if needed else tensor for tensor, needed in pairs]
            handed = [
                primal.clone() if needed else primal
                for primal, needed in zip(primals, self._differentiable, strict=True)
            ]
            outputs = self.apply(handed)
            sent = [
                (outputs[at], _beside(outputs[at], cotangent))
                for at, cotangent in zip(self._given, tensors[count:], strict=True)
            ]
            targets = [p for p, needed in zip(primals, self._differentiable, strict=True) if needed]
            return _gradients(sent, targets, recording)


def _beside(output: Any, cotangent: Any) -> Any:
    """The cotangent on the output's device."""
    return cotangent if output is None else cotangent.to(output.device)


def _requiring(tensor: Any) -> Any:
    """The tensor, or one outside its graph, to differentiate with respect to."""
    return tensor if tensor.requires_grad else tensor.detach().requires_grad_()


def _gradients(
    sent: Sequence[tuple[Any, Any]], targets: Sequence[Any], recording: bool
) -> tuple[Any, ...]:
    roots = [pair for pair in sent if pair[0] is not None and pair[0].requires_grad]
    if not roots or not targets:
        return (None,) * len(targets)
    outputs, cotangents = zip(*roots, strict=True)
    gradients: tuple[Any, ...] = library().torch.autograd.grad(
        outputs, targets, cotangents, create_graph=recording, allow_unused=True
    )
    return gradients
