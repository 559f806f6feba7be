"""``torch.utils.checkpoint``: functions that are recomputed in backward.

Forward keeps the arguments alone. Backward calls the function again, with the random numbers of the
first call, and takes the saved tensors from there.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from gradtool.engine._ops.creation.generators import get_rng_state, set_rng_state
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd import _is_checkpoint_valid, backward
from gradtool.engine.autograd.function import Function
from gradtool.engine.autograd.grad_mode import enable_grad, no_grad
from gradtool.engine.autograd.graph import saved_tensors_hooks

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]
ContextFn = Callable[[], Contexts]


def noop_context_fn() -> Contexts:
    """Two contexts without effect."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: ContextFn = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function`, which is called again in backward.

    `context_fn` returns the context of the first call and that of the second one.

    Raises:
        ValueError: the reentrant variant is given what it does not take.
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
            "exception. use_reentrant=False is recommended, but if you need to preserve the "
            "current default behavior, you can pass use_reentrant=True. Refer to docs for more "
            "details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    if not use_reentrant:
        return _CheckpointFunction(function, args, kwargs, preserve_rng_state, context_fn).run()
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    check_backward_validity(args)
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def check_backward_validity(inputs: Sequence[Any]) -> None:
    """Warn if no argument requires a gradient: none would pass."""
    if not any(isinstance(each, Tensor) and each.requires_grad for each in inputs):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3
        )


class CheckpointFunction(Function):
    """Reentrant variant: a Function whose backward records the call and differentiates it."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Call the function without recording."""
        ctx.run_function = run_function
        ctx.state = get_rng_state() if preserve_rng_state else None
        ctx.tensor_places = [n for n, each in enumerate(args) if isinstance(each, Tensor)]
        ctx.inputs = [None if isinstance(each, Tensor) else each for each in args]
        ctx.save_for_backward(*(args[place] for place in ctx.tensor_places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients of the arguments; those of closed-over tensors accumulate."""
        if not _is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        inputs = list(ctx.inputs)
        for place, each in zip(ctx.tensor_places, ctx.saved_tensors, strict=True):
            inputs[place] = each.detach()
            inputs[place].requires_grad = each.requires_grad
        with _random_numbers_of(ctx.state), enable_grad():
            outputs = ctx.run_function(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
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
        found = (each.grad if isinstance(each, Tensor) else None for each in inputs)
        return None, None, *found


class _CheckpointFunction:
    """Non-reentrant variant: unpacking a saved tensor takes it from a second call."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        preserve_rng_state: bool,
        context_fn: ContextFn,
    ) -> None:
        self._context, self._context_again = context_fn()
        self._call: Callable[[], Any] = lambda: function(*args, **kwargs)
        self._state = get_rng_state() if preserve_rng_state else None
        self._count = 0
        self._again: dict[int, Tensor] = {}

    def run(self) -> Any:
        """Call the function; save indices in place of tensors."""
        with saved_tensors_hooks(self._number, self._tensor), self._context:
            return self._call()

    def _number(self, _tensor: Tensor) -> int:
        self._count += 1
        return self._count - 1

    def _tensor(self, number: int) -> Tensor:
        if number not in self._again:
            self._recompute()
        if number not in self._again:
            raise RuntimeError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {self._count}\n"
                f"Number of tensors saved during recomputation: {len(self._again)}."
            )
        return self._again.pop(number)

    def _recompute(self) -> None:
        found: list[Tensor] = []

        def keep(tensor: Tensor) -> Tensor:
            found.append(tensor)
            return tensor

        hooks = saved_tensors_hooks(keep, lambda tensor: tensor)
        with _random_numbers_of(self._state), enable_grad(), self._context_again, hooks:
            self._call()
        self._again = dict(enumerate(found))


@contextlib.contextmanager
def _random_numbers_of(state: Tensor | None) -> Iterator[None]:
    """Replay random numbers from a state; restore the current state afterwards."""
    if state is None:
        yield
        return
    before = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(before)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Call functions one after the other, in segments that are checkpointed but for the last.

    Raises:
        ValueError: `segments` is less than 1, or more than there are functions.
    """
    steps: list[Callable[..., Any]] = list(functions)
    if not 0 < segments <= len(steps):
        raise ValueError(f"segments is {segments}, but there are {len(steps)} functions")
    length = len(steps) // segments
    for start in range(0, length * (segments - 1), length):
        part = _chain(steps[start : start + length])
        input = checkpoint(part, input, use_reentrant=use_reentrant, **kwargs)
    return _chain(steps[length * (segments - 1) :])(input)


def _chain(steps: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return run


__all__ = [
    "CheckpointFunction", "check_backward_validity", "checkpoint", "checkpoint_sequential",
    "noop_context_fn",
]  # fmt: skip
