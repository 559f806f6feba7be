"""Calling a Module: its `forward`, between the hooks that were registered."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import RemovableHandle, registered
from gradtool.engine.autograd.function import Function


class ModuleHooks:
    """The call of a Module, and the registration of its hooks."""

    _forward_hooks: dict[int, Any]
    _forward_pre_hooks: dict[int, Any]
    _backward_hooks: dict[int, Any]
    _backward_pre_hooks: dict[int, Any]
    _is_full_backward_hook: bool | None = None
    """Whether its backward hooks are full ones; None while it has none."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; subclasses define it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` between the hooks."""
        state = vars(self)
        if not (
            state["_forward_pre_hooks"] or state["_forward_hooks"]
            or state["_backward_hooks"] or state["_backward_pre_hooks"]
        ):  # fmt: skip
            return self.forward(*args, **kwargs)
        for before, with_kwargs in list(self._forward_pre_hooks.values()):
            changed = before(self, args, kwargs) if with_kwargs else before(self, args)
            if changed is not None and with_kwargs:
                args, kwargs = changed
            elif changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        hooked = self._hooked_call()
        output = self.forward(*(hooked.inputs(args) if hooked else args), **kwargs)
        for after, with_kwargs in list(self._forward_hooks.values()):
            given = (args, kwargs, output) if with_kwargs else (args, output)
            replaced = after(self, *given)
            output = output if replaced is None else replaced
        return hooked.outputs(output) if hooked else output

    def _hooked_call(self) -> HookedCall | None:
        """Return the object that passes this call's gradients to the backward hooks, if any."""
        before, after = (
            list(each.values()) for each in (self._backward_pre_hooks, self._backward_hooks)
        )
        return HookedCall(self, before, after) if before or after else None

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before `forward`; the hook may replace the arguments.

        `with_kwargs` passes keyword arguments too; `prepend` calls it before the other hooks.
        """
        return _register(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after `forward`; the hook may replace the output.

        `with_kwargs` passes keyword arguments too; `prepend` calls it before the other hooks.
        """
        return _register(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` during backward.

        The hook may replace the gradients of the inputs.

        Raises:
            RuntimeError: there is one from `register_backward_hook`.
        """
        self._let_backward_hooks_be(full=True)
        return _register(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` during backward: the old name.

        Raises:
            RuntimeError: there is one from `register_full_backward_hook`.
        """
        self._let_backward_hooks_be(full=False)
        return _register(self._backward_hooks, hook, False)

    def _let_backward_hooks_be(self, *, full: bool) -> None:
        if self._is_full_backward_hook not in (None, full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self._is_full_backward_hook = full

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` first; it may replace the gradients of the outputs."""
        return _register(self._backward_pre_hooks, hook, prepend)


def _register(hooks: dict[int, Any], hook: Any, first: bool) -> RemovableHandle:
    handle = registered(hooks, hook)
    if first:
        others = {key: each for key, each in hooks.items() if each is not hook}
        newest = {key: each for key, each in hooks.items() if each is hook}
        hooks.clear()
        hooks.update({**newest, **others})
    return handle


class BackwardHookFunction(Function):
    """Identity whose backward passes the gradients to a function that may replace them."""

    @staticmethod
    def forward(ctx: Any, seen: Callable[[tuple[Any, ...]], Any], *tensors: Tensor) -> Any:
        """Return the same tensors."""
        ctx.seen = seen
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(each for each in tensors if not each.requires_grad))
        return tuple(each.detach() for each in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients, or those that replace them."""
        replaced = ctx.seen(grads)
        return None, *(grads if replaced is None else replaced)


class HookedCall:
    """One call of a Module between its backward hooks."""

    def __init__(
        self, module: Any, before: list[Callable[..., Any]], after: list[Callable[..., Any]]
    ) -> None:
        self._module, self._before, self._after = module, before, after
        self._grad_outputs: tuple[Any, ...] | None = None
        """Those of the walk under way, until the gradients of the inputs are there."""
        self._count = 0
        self._has_inputs = False

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments, linked so that the hooks get their gradients."""
        self._count = len(args)
        self._has_inputs = modes.grad and any(_needs(each) for each in args)
        if not self._has_inputs:
            return args
        places = [place for place, each in enumerate(args) if isinstance(each, Tensor)]
        return _pass_through(
            args,
            places,
            lambda grads: self._call_backward_hooks(_at_positions(args, places, grads), places),
        )

    def outputs(self, output: Any) -> Any:
        """Return the outputs, linked so that the hooks get their gradients."""
        several = isinstance(output, tuple | list)
        outputs = tuple(output) if several else (output,)
        if not (modes.grad and any(_needs(each) for each in outputs)):
            return output
        places = [place for place, each in enumerate(outputs) if isinstance(each, Tensor)]
        passed = _pass_through(
            outputs,
            places,
            lambda grads: self._call_pre_hooks(_at_positions(outputs, places, grads), places),
        )
        return type(output)(passed) if several else passed[0]

    def _call_pre_hooks(self, grads: tuple[Any, ...], places: list[int]) -> Any:
        for hook in self._before:
            returned = hook(self._module, grads)
            grads = _replaced(grads, returned, "Backward pre hook", "grad_output")
        self._grad_outputs = grads
        if not self._has_inputs:
            self._call_hooks_without_inputs()
        return [grads[place] for place in places]

    def _call_hooks_without_inputs(self) -> None:
        if self._after:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients. See "
                "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
                "#torch.nn.Module.register_full_backward_hook for more details.",
                stacklevel=2,
            )
        for hook in self._after:
            returned = hook(self._module, (None,) * self._count, self._grad_outputs)
            nothing = isinstance(returned, tuple) and all(each is None for each in returned)
            if returned is not None and not nothing:
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self._grad_outputs = None

    def _call_backward_hooks(self, grads: tuple[Any, ...], places: list[int]) -> Any:
        if self._grad_outputs is None:
            return None  # not by way of the outputs: in a second derivative
        for hook in self._after:
            returned = hook(self._module, grads, self._grad_outputs)
            grads = _replaced(grads, returned, "Backward hook", "grad_input")
        self._grad_outputs = None
        return [grads[place] for place in places]


def _replaced(grads: tuple[Any, ...], returned: Any, hook: str, kind: str) -> tuple[Any, ...]:
    """The gradients that a hook returned, or if it returned None those it was given."""
    if returned is None:
        return grads
    replaced = returned if isinstance(returned, tuple) else (returned,)
    if len(replaced) != len(grads):
        raise RuntimeError(
            f"{hook} returned an invalid number of {kind}, got {len(replaced)}, but expected "
            f"{len(grads)}"
        )
    return replaced


def _needs(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _at_positions(
    values: tuple[Any, ...], places: list[int], grads: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Put the gradients at their positions, and None at the others."""
    found = dict(zip(places, grads, strict=True))
    return tuple(found.get(place) for place in range(len(values)))


def _pass_through(
    values: tuple[Any, ...], places: list[int], seen: Callable[[tuple[Any, ...]], Any]
) -> tuple[Any, ...]:
    through = BackwardHookFunction.apply(seen, *(values[place] for place in places))
    found = dict(zip(places, through, strict=True))
    return tuple(found.get(place, value) for place, value in enumerate(values))


__all__ = [
    "HookedCall",
]  # fmt: skip
