"""Custom Functions under transforms: how each level applies one.

Reverse mode records the Function's own backward at its level; forward mode calls its jvp;
batching calls its vmap, or batches its methods when it says that they allow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd import _apply

if TYPE_CHECKING:
    from gradtool.engine._levels.batch import BatchLevel
    from gradtool.engine._levels.dual import DualLevel
    from gradtool.engine._levels.grad import GradLevel


class VmapInfo(NamedTuple):
    """What a Function's ``vmap`` is told."""

    batch_size: int
    randomness: str


def check_separate(function: Any) -> None:
    """Refuse a Function whose forward and context cannot be told apart.

    Raises:
        RuntimeError: it does not override ``setup_context``.
    """
    from gradtool.engine.autograd.function import Function

    if function.setup_context is Function.setup_context:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
            "jacrev, ...), it must override the setup_context staticmethod. For more details, "
            "please see https://pytorch.org/docs/main/notes/extending.func.html"
        )


def recorded(level: GradLevel, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute below, then make the Function's node at this level."""
    check_separate(function)
    recording = modes.grad
    below = [level.below(arg) for arg in args]
    modes.grad = recording and level.outer
    try:
        output = function.apply(*below, **kwargs)
    finally:
        modes.grad = recording
    same = {id(value): arg for value, arg in zip(below, args)}
    wrapped = _mapped(
        output,
        lambda each: same.get(id(each)) or level.wrap(each) if isinstance(each, Tensor) else each,
    )
    ctx = function._backward_cls()
    ctx.needs_input_grad = tuple([level.owns(arg) and arg._requires_grad for arg in args])
    modes.grad = False
    try:
        function.setup_context(ctx, args, wrapped)
    finally:
        modes.grad = recording
    return _apply.finish(ctx, args, wrapped, recording and any(ctx.needs_input_grad))


def _mapped(output: Any, change: Any) -> Any:
    return tuple([change(each) for each in output]) if isinstance(output, tuple) else change(output)


def pushed_forward(
    level: DualLevel, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The Function of the primals, and its own jvp of the tangents."""
    primals = tuple([level.below(arg) for arg in args])
    ctx, raw = function._run_forward(primals, kwargs)
    saved = ctx.saved_for_forward
    output = _apply.finish(ctx, primals, raw, modes.grad and any(ctx.needs_input_grad))
    ctx._saved_for_jvp = _with_their_graph(saved, raw, output)
    returned = function.jvp(ctx, *_input_tangents(level, ctx, args))
    ctx._saved_for_jvp = None
    outputs = output if isinstance(output, tuple) else (output,)
    tangents = returned if isinstance(returned, tuple) else (returned,)
    _check_tangents(function, outputs, tangents)
    duals = tuple(
        level.wrap(each, tangent) if isinstance(each, Tensor) and tangent is not None else each
        for each, tangent in zip(outputs, tangents)
    )
    return duals if isinstance(output, tuple) else duals[0]


def _check_tangents(function: Any, outputs: Sequence[Any], tangents: Sequence[Any]) -> None:
    """Refuse what a jvp returns when it is no tangent of the outputs."""
    from gradtool.engine._levels.dual import check_size

    if len(tangents) != len(outputs):
        raise RuntimeError(
            f"{function.__name__}.jvp: expected {len(outputs)} tangents, one for each output, "
            f"got {len(tangents)}"
        )
    for at, (output, tangent) in enumerate(zip(outputs, tangents)):
        if tangent is not None and not isinstance(tangent, Tensor):
            raise RuntimeError(
                f"{function.__name__}.jvp: expected a tensor or None for output {at}, "
                f"got {type(tangent).__name__}"
            )
        if tangent is not None and isinstance(output, Tensor):
            check_size(output, tangent)


def _with_their_graph(saved: tuple[Tensor | None, ...], raw: Any, output: Any) -> tuple[Any, ...]:
    """What was saved, outputs in their places in the graph: jvp can be differentiated."""
    before, after = (each if isinstance(each, tuple) else (each,) for each in (raw, output))
    placed = {id(old): new for old, new in zip(before, after)}
    return tuple([placed.get(id(each), each) for each in saved])


def _input_tangents(level: DualLevel, ctx: Any, args: tuple[Any, ...]) -> list[Tensor | None]:
    """One for each argument; zeros for a constant tensor unless the ctx says otherwise."""
    from gradtool.engine._ops.core.kinds import zeros_like

    tangents: list[Tensor | None] = []
    for arg in args:
        tangent = level.tangent_of(arg)
        floating = isinstance(arg, Tensor) and arg._array.dtype.kind in "fc"
        if tangent is None and floating and ctx.materialize_grads:
            tangent = zeros_like(level.below(arg).detach())
        tangents.append(tangent)
    return tangents


def batched(level: BatchLevel, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The Function of all examples at once."""
    from gradtool.engine._levels.generated import batched_function
    from gradtool.engine.autograd.function import Function

    check_separate(function)
    own_rule = function.vmap is not Function.vmap
    if own_rule and function.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True "
            "and an overriden vmap staticmethod. Please set generate_vmap_rule=False or delete "
            "the overriden vmap staticmethod to avoid ambiguity."
        )
    dims = tuple([0 if level.owns(arg) else None for arg in args])
    below = [level.below(arg) for arg in args]
    if own_rule:
        info = VmapInfo(level.size, level.randomness)
        output, out_dims = function.vmap(info, dims, *below)
    elif function.generate_vmap_rule:
        output, out_dims = batched_function(function, level, dims).call(below)
    else:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. "
            "Please override and implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    if not isinstance(output, tuple):
        return _placed(level, output, out_dims)
    if not isinstance(out_dims, tuple | list):
        out_dims = (out_dims,) * len(output)
    return tuple([_placed(level, each, dim) for each, dim in zip(output, out_dims)])


def _placed(level: BatchLevel, value: Any, dim: Any) -> Any:
    from gradtool.engine._levels.generated import placed_in

    return placed_in(value, dim, lambda each, at: level.wrap(each.movedim(at, 0) if at else each))
