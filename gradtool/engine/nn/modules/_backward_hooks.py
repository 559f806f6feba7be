"""Hooks of a Module on the backward walk: called with the gradients of its inputs and outputs.

The inputs and the outputs pass through a Function that changes nothing. Its backward sees the
gradients as they come by.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.function import Function


class BackwardHookFunction(Function):
    """Passes tensors on; hands their gradients to a function, which may replace them."""

    @staticmethod
    def forward(ctx: Any, seen: Callable[[tuple[Any, ...]], Any], *tensors: Tensor) -> Any:
        """The same tensors."""
        ctx.seen = seen
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(each for each in tensors if not each.requires_grad))
        return tuple(each.detach() for each in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Their gradients, or what takes their place."""
        replaced = ctx.seen(grads)
        return None, *(grads if replaced is None else replaced)


class Passage:
    """One call of a Module between its backward hooks."""

    def __init__(
        self, module: Any, before: list[Callable[..., Any]], after: list[Callable[..., Any]]
    ) -> None:
        self._module, self._before, self._after = module, before, after
        self._grad_outputs: tuple[Any, ...] = ()
        self._has_inputs = False

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, whose gradients will be handed to the hooks."""
        self._has_inputs = modes.grad and any(_needs(each) for each in args)
        if not self._has_inputs:
            return args
        places = [place for place, each in enumerate(args) if isinstance(each, Tensor)]
        return _passed(args, places, lambda grads: self._leave(_filled(args, places, grads)))

    def outputs(self, output: Any) -> Any:
        """The outputs, at whose gradients the walk enters the Module."""
        several = isinstance(output, tuple | list)
        outputs = tuple(output) if several else (output,)
        if not (modes.grad and any(_needs(each) for each in outputs)):
            return output
        places = [place for place, each in enumerate(outputs) if isinstance(each, Tensor)]
        passed = _passed(
            outputs, places, lambda grads: self._enter(_filled(outputs, places, grads), places)
        )
        return type(output)(passed) if several else passed[0]

    def _enter(self, grads: tuple[Any, ...], places: list[int]) -> Any:
        for hook in self._before:
            replaced = hook(self._module, grads)
            if replaced is not None:
                grads = replaced if isinstance(replaced, tuple) else (replaced,)
        self._grad_outputs = grads
        if not self._has_inputs and self._after:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients. See "
                "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
                "#torch.nn.Module.register_full_backward_hook for more details.",
                stacklevel=2,
            )
            self._leave((None,))
        return [grads[place] for place in places]

    def _leave(self, grads: tuple[Any, ...]) -> Any:
        for hook in self._after:
            replaced = hook(self._module, grads, self._grad_outputs)
            if replaced is not None:
                grads = replaced if isinstance(replaced, tuple) else (replaced,)
        return [each for each in grads if each is not None] if None not in grads else None


def _needs(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _filled(values: tuple[Any, ...], places: list[int], grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """The gradients at their places, None at the others."""
    found = dict(zip(places, grads, strict=True))
    return tuple(found.get(place) for place in range(len(values)))


def _passed(
    values: tuple[Any, ...], places: list[int], seen: Callable[[tuple[Any, ...]], Any]
) -> tuple[Any, ...]:
    through = BackwardHookFunction.apply(seen, *(values[place] for place in places))
    found = dict(zip(places, through, strict=True))
    return tuple(found.get(place, value) for place, value in enumerate(values))


__all__ = ["Passage"]
