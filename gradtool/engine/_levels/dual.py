"""A level of forward mode: its tensors carry a tangent with the primal they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from gradtool.engine._levels import Level, Wrapped, become, lift_views, lower_copy, wrap_at
from gradtool.engine._levels.jvp import jvp_of_primitive
from gradtool.engine._levels.mutation import refuse_captured
from gradtool.engine._levels.tangents import check_layout, check_size, check_tangents
from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor

NESTED = "Nested forward mode AD is not supported at the moment"
"""Forward mode by hand is refused within the transform, and the transform within it."""


class DualTensor(Wrapped):
    """A primal with a tangent."""

    __slots__ = ()

    _tangent: Tensor | None
    """None for a constant."""


class DualLevel(Level):
    """Computes tangents of operations by each primitive's jvp."""

    marks = True

    outer = True
    """Tangents are computed at the levels around this one."""

    def __enter__(self) -> Self:
        super().__enter__()
        # As with recording in `func.grad`: what is set around a transform holds for levels below.
        self.outer, self.in_inference = modes.forward, modes.inference
        modes.forward, modes.inference = True, modes.inference and not self.marks
        return self

    def __exit__(self, *exc_info: object) -> None:
        modes.forward, modes.inference = self.outer, self.in_inference
        super().__exit__(*exc_info)

    def make_dual(self, primal: Tensor, tangent: Tensor) -> DualTensor:
        """A tensor of this level, once it is sure that the tangent fits.

        Raises:
            RuntimeError: the shapes differ, or the primal is expanded and the tangent is not.
            ValueError: one of them is not floating or complex.
        """
        for name, value in (("primal", primal), ("tangent", tangent)):
            if value._array.dtype.kind not in "fcV":
                raise ValueError(
                    f"Expected {name} to be floating point or complex, but got: {value.dtype}"
                )
        check_size(primal, tangent)
        check_layout(primal, tangent)
        return self.wrap(primal, tangent)

    def wrap(self, primal: Tensor, tangent: Tensor | None = None) -> DualTensor:
        """Return a tensor of this level; without a tangent it is a constant."""
        wrapped: DualTensor = wrap_at(self, DualTensor, primal, primal._array)
        wrapped.__dict__["_tangent"] = tangent
        return wrapped

    def tangent_of(self, value: Any) -> Tensor | None:
        """Return the tangent of a tensor of this level; None for constants, which is all else."""
        return value._tangent if self.owns(value) else None

    def apply(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        """Apply the primitive to the primals, and its jvp to the tangents."""
        primals = [self.below(arg) for arg in args]
        if not modes.forward:
            constant: Tensor = primitive.operation(*primals, **params)
            return constant
        tangents = [self.tangent_of(arg) for arg in args]
        modes.forward = self.outer
        try:
            out: Tensor = primitive.operation(*primals, **params)
            tangent = jvp_of_primitive(primitive, primals, tangents, out, params)
        finally:
            modes.forward = True
        return out if tangent is None else self.wrap(out, tangent)

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the Function on the primals, and its own jvp on the tangents."""
        from gradtool.engine.autograd._apply import finish

        primals = tuple([self.below(arg) for arg in args])
        with self.lowered():
            ctx, raw = function._run_forward(primals, kwargs)
        # Read now: `finish` drops it.
        saved, fixed = ctx.saved_for_forward, ctx.non_differentiable
        output = finish(ctx, primals, raw, modes.grad and any(ctx.needs_input_grad))
        ctx._saved_for_jvp = with_their_graph(saved, raw, output)
        returned = run_jvp(function, ctx, input_tangents(self, ctx, args))
        outputs = output if isinstance(output, tuple) else (output,)
        tangents = returned if isinstance(returned, tuple) else (returned,)
        check_tangents(outputs, tangents, fixed)
        for each, tangent in zip(outputs, tangents):
            if tangent is not None:
                check_size(each, tangent)
        changed = {id(primal): arg for primal, arg in zip(primals, args) if self.owns(arg)}
        duals = tuple(
            self._of_function(each, tangent, changed) for each, tangent in zip(outputs, tangents)
        )
        return duals if isinstance(output, tuple) else duals[0]

    def _of_function(self, output: Any, tangent: Tensor | None, changed: dict[int, Any]) -> Any:
        """Return an output with its tangent: the argument, by id of its primal, if that is it."""
        if not isinstance(output, Tensor) or tangent is None:
            return output
        if id(output) not in changed:
            return self.wrap(output, tangent)
        dual = changed[id(output)]
        dual.__dict__["_tangent"] = tangent
        return dual

    def detached(self, x: Any) -> Any:
        """Return the primal alone: a detached tensor carries no tangent."""
        return x._value.detach()

    def before_change(self, x: Any, below: Callable[[Tensor], Tensor]) -> Any:
        """Return `x` as it is now, its tangent included."""
        return self.wrap(below(x._value), None if x._tangent is None else below(x._tangent))

    def check_change(self, x: Any, name: str, others: Sequence[Any]) -> None:
        """Refuse to change a tensor from outside: its graph would not know."""
        refuse_captured(self, x, name)

    def write(self, x: Any, result: Tensor, partial: bool) -> None:
        """Write primal over primal and tangent over tangent."""
        from gradtool.engine._ops.core.inplace import replace

        replace(x._value, self.below(result), partial)
        self._write_tangent(x, result, partial)

    def _write_tangent(self, x: Any, result: Tensor, partial: bool) -> None:
        """Write the tangent of `result`, zero where it is a constant, over that of `x`."""
        from gradtool.engine._ops.core.inplace import check_in_place, replace
        from gradtool.engine._ops.core.kinds import zeros_like

        tangent = self.tangent_of(result)
        if not (modes.forward and self.alive):
            return
        if x._tangent is not None:
            x._tangent._current_node()  # the derivative has read it: a view follows its base
            check_in_place(x._tangent)
            written = zeros_like(x._tangent) if tangent is None else tangent
            # A tangent keeps its dtype, which need not be that of the primal.
            replace(x._tangent, written.to(x._tangent.dtype), partial)
        elif tangent is not None:
            # A copy: later changes of `x` must not reach that of the result.
            self._give_tangent(x, tangent.to(x.dtype).clone())

    def _give_tangent(self, x: Any, tangent: Tensor) -> None:
        """Give a constant of this level a tangent."""
        x.__dict__["_tangent"] = tangent

    def lift(self, x: Tensor) -> None:
        """Turn `x` into a tensor of this level that is a constant so far."""
        if x._view is not None:
            lift_views(self, x)
        else:
            become(x, self.wrap(lower_copy(x)))

    def lift_base(self, x: Tensor) -> None:
        """Do so with a tangent, of which those of the views are views."""
        from gradtool.engine._ops.core.kinds import zeros_like

        self.lift(x)
        x.__dict__["_tangent"] = zeros_like(self.below(x).detach())


def run_jvp(function: Any, ctx: Any, tangents: Sequence[Tensor | None]) -> Any:
    """Call a Function's jvp, while ctx has what was saved for it under both names."""
    if ctx._saved_for_jvp:
        ctx.saved_for_forward = ctx._saved_for_jvp
    returned = function.jvp(ctx, *tangents)
    if ctx._saved_for_jvp:
        del ctx.saved_for_forward
    ctx._saved_for_jvp = None
    return returned


def with_their_graph(saved: tuple[Tensor | None, ...], raw: Any, output: Any) -> tuple[Any, ...]:
    """Return the saved tensors, outputs connected to the graph: jvp can be differentiated."""
    before, after = (each if isinstance(each, tuple) else (each,) for each in (raw, output))
    placed = {id(old): new for old, new in zip(before, after)}
    return tuple([placed.get(id(each), each) for each in saved])


def input_tangents(level: DualLevel, ctx: Any, args: tuple[Any, ...]) -> list[Tensor | None]:
    """Return a tangent for each argument; zeros for a constant tensor if ctx materializes them."""
    from gradtool.engine._ops.core.kinds import zeros_like

    tangents: list[Tensor | None] = []
    for arg in args:
        tangent = level.tangent_of(arg)
        floating = isinstance(arg, Tensor) and arg._array.dtype.kind in "fcV"
        if tangent is None and floating and ctx.materialize_grads:
            tangent = zeros_like(level.below(arg).detach())
        tangents.append(tangent)
    return tangents
