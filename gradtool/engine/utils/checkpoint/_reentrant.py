"""The reentrant variant: a Function whose backward walks the graph of the second call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd import _is_checkpoint_valid, backward
from gradtool.engine.autograd.function import Function
from gradtool.engine.autograd.grad_mode import enable_grad, no_grad
from gradtool.engine.utils.checkpoint._states import replaying


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no argument requires a gradient: none would pass."""
    if not any(each.requires_grad for each in inputs if isinstance(each, Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs as leaves, each of which requires a gradient if the input does.

    Raises:
        RuntimeError: they are no tuple.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(
        each.detach().requires_grad_(each.requires_grad) if isinstance(each, Tensor) else each
        for each in inputs
    )


class CheckpointFunction(Function):
    """Function that keeps its arguments, and calls `run_function` again in backward."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Call the function without recording."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.same_numbers = replaying(preserve_rng_state)
        ctx.tensor_places = [n for n, each in enumerate(args) if isinstance(each, Tensor)]
        ctx.inputs = [None if isinstance(each, Tensor) else each for each in args]
        ctx.save_for_backward(*(args[place] for place in ctx.tensor_places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients of the arguments; those of closed-over tensors accumulate.

        Raises:
            RuntimeError: the walk is for the gradients of inputs alone, or nothing requires any.
        """
        if not _is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        inputs = list(ctx.inputs)
        for place, each in zip(ctx.tensor_places, ctx.saved_tensors, strict=True):
            inputs[place] = each
        leaves = detach_variable(tuple(inputs))
        with ctx.same_numbers(), enable_grad():
            outputs = ctx.run_function(*leaves)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [
            (out, grad)
            for out, grad in zip(outputs, grads, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([out for out, _ in pairs], [grad for _, grad in pairs])
        found = (each.grad if isinstance(each, Tensor) else None for each in leaves)
        return None, None, *found
