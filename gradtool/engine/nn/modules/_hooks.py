"""Calling a Module: its `forward`, between the hooks that were registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine.autograd._node import RemovableHandle
from gradtool.engine.nn.modules._backward_hooks import Passage


class ModuleHooks:
    """What a Module does when it is called."""

    _forward_hooks: dict[int, Any]
    _forward_pre_hooks: dict[int, Any]
    _backward_hooks: dict[int, Any]
    _backward_pre_hooks: dict[int, Any]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What calling the Module computes."""
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
        passage = self._passage()
        output = self.forward(*(passage.inputs(args) if passage else args), **kwargs)
        for after, with_kwargs in list(self._forward_hooks.values()):
            given = (args, kwargs, output) if with_kwargs else (args, output)
            replaced = after(self, *given)
            output = output if replaced is None else replaced
        return passage.outputs(output) if passage else output

    def _passage(self) -> Passage | None:
        """What hands this call's gradients to the backward hooks, if there are any."""
        before, after = (
            list(each.values()) for each in (self._backward_pre_hooks, self._backward_hooks)
        )
        return Passage(self, before, after) if before or after else None

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before `forward`; it may replace the arguments.

        `with_kwargs` hands over the named arguments too; `prepend` calls it before the others.
        """
        return _registered(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after `forward`; it may replace the output.

        `with_kwargs` hands over the named arguments too; `prepend` calls it before the others.
        """
        return _registered(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` in the backward walk.

        It may replace the gradients of the inputs.
        """
        return _registered(self._backward_hooks, hook, prepend)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` first; it may replace the gradients of the outputs."""
        return _registered(self._backward_pre_hooks, hook, prepend)


def _registered(hooks: dict[int, Any], hook: Any, first: bool) -> RemovableHandle:
    handle = RemovableHandle(hooks, hook)
    if first:
        others = {key: each for key, each in hooks.items() if each is not hook}
        newest = {key: each for key, each in hooks.items() if each is hook}
        hooks.clear()
        hooks.update({**newest, **others})
    return handle
