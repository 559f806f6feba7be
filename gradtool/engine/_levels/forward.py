"""The level of `autograd.forward_ad`: tensors carry a tangent, and share the ground's graph.

Unlike the levels of `func`'s transforms, this one has no graph of its own. A dual tensor has the
place in the graph that its primal has, and what nodes save are dual tensors: a backward walk while
the level is entered gives gradients with tangents, and tangents can be walked back from.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine._lazy import bits, mark, share
from gradtool.engine._levels.dual import (
    DualLevel,
    DualTensor,
    input_tangents,
    run_jvp,
    with_their_graph,
)
from gradtool.engine._levels.jvp import jvp_of_primitive
from gradtool.engine._levels.tangents import (
    apart_view,
    base_of,
    check_size,
    check_tangents,
    check_view,
    in_layout_of,
    zeros_in_layout_of,
)
from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine._views import version_of

_new = object.__new__


def _of_primal(name: str) -> Any:
    """A field that a dual tensor shares with its primal."""
    return property(
        lambda self: getattr(self._value, name),
        lambda self, value: setattr(self._value, name, value),
    )


class ForwardTensor(DualTensor):
    """A primal with a tangent, and with the primal's place in the graph."""

    __slots__ = ()

    _node = _of_primal("_node")
    _requires_grad = _of_primal("_requires_grad")
    _grad = _of_primal("_grad")
    _leaf_node = _of_primal("_leaf_node")
    _storage = _of_primal("_storage")
    _view = _of_primal("_view")

    def _bare(self) -> Tensor:
        bare: Tensor = self._level.wrap(self._value._bare(), self._tangent)  # type: ignore[attr-defined]
        return bare

    @property
    def data(self) -> Tensor:
        """The primal outside the graph; in-place changes through it go uncounted."""
        return self._value.data if modes.recording is None else modes.recording.keep(self)

    @data.setter
    def data(self, value: Tensor) -> None:
        self._value.data = value
        share(self, self._value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self._value.__deepcopy__(memo)

    def _accumulator(self) -> Any:
        return self._value._accumulator()

    def detach_(self) -> Tensor:
        """Take this tensor out of the graph that computed it, and drop its tangent."""
        super().detach_()
        self._level.lower(self)  # type: ignore[attr-defined]  # it is a `ForwardLevel`
        return self


class ForwardLevel(DualLevel):
    """Computes tangents of operations, which are recorded with the dual tensors they are of."""

    by_func = False
    marks = False

    def wrap(self, primal: Tensor, tangent: Tensor | None = None) -> DualTensor:
        """Return a tensor of this level; without a tangent it is a constant."""
        # Not `_fill`: the fields are those of the primal.
        wrapped = _new(ForwardTensor)
        fields = wrapped.__dict__
        fields["_level"], fields["_value"], fields["_tangent"] = self, primal, tangent
        share(wrapped, primal)
        return wrapped

    def make_dual(self, primal: Tensor, tangent: Tensor) -> DualTensor:
        """A tensor of this level over a view of `primal`."""
        dual = super().make_dual(primal, tangent)
        # Not the primal itself: the dual tensor may become one that requires a gradient.
        dual.__dict__["_value"] = apart_view(primal)
        dual.__dict__["_tangent"] = in_layout_of(primal, tangent)
        return dual

    def apply(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        """Apply the primitive and its jvp, and record it over the dual tensors."""
        needed = self._recorded(primitive, args)
        if not needed:
            return _holding(self._apart(primitive, super().apply(primitive, args, params), args))
        primals = [self.below(arg) for arg in args]
        modes.grad = False
        try:
            out: Tensor = primitive.operation(*primals, **params)
        finally:
            modes.grad = True
        if out._view is not None:
            held = primals[0]._view
            out._view.made = None if held is None else held.made  # as one that is recorded
        dual = _holding(self.wrap(out))
        primitive.record_over(needed, args, params, dual)
        if not modes.forward:
            return out
        tangent = jvp_of_primitive(primitive, primals, self._tangents(args), out, params)
        if tangent is None:
            return out
        dual.__dict__["_tangent"] = tangent
        self._apart(primitive, dual, args)
        # The node may have saved its output, which has a tangent only now.
        out._node.keep_output(dual)  # type: ignore[union-attr]  # it was recorded
        return dual

    def _apart(self, primitive: Any, dual: Tensor, args: Sequence[Any]) -> Tensor:
        """Give a result that is no view a tangent that shares no memory with that of an argument.

        Changes in place of either are to leave the other alone.
        """
        tangent = self.tangent_of(dual)
        if tangent is not None and not primitive.is_view:
            for each in self._tangents(args):
                shared = each is not None and each._storage is tangent._storage is not None
                if each is tangent or shared:
                    dual.__dict__["_tangent"] = tangent.clone()
                    break
        return dual

    def _recorded(self, primitive: Any, args: Sequence[Any]) -> tuple[int, ...]:
        """Positions of the arguments that require a gradient, if the ground records them."""
        if not modes.grad or not primitive.vjps:
            return ()
        if any(isinstance(arg, Tensor) and self.below(arg)._level is not None for arg in args):
            return ()  # A transform inside which the level was entered records for itself.
        return tuple(
            [at for at, arg in enumerate(args) if isinstance(arg, Tensor) and arg._requires_grad]
        )

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a Function's forward on the dual tensors, and its jvp on their tangents."""
        from gradtool.engine.autograd._apply import finish

        tangents = self._tangents(args)
        ctx, raw = function._run_forward(args, kwargs)
        record = modes.grad and any(ctx.needs_input_grad)
        if not modes.forward or all(tangent is None for tangent in tangents):
            return finish(ctx, args, raw, record)
        single = not isinstance(raw, tuple)
        raws = (raw,) if single else raw
        saved, dirty = ctx.saved_for_forward, ctx.dirty_tensors
        duals = [self._dual(each, dirty) for each in raws]
        fixed = [dual for each, dual in zip(raws, duals) if _is_among(each, ctx.non_differentiable)]
        _rename(ctx, raws, duals)
        saved = ctx.saved_for_forward
        output = finish(ctx, args, duals[0] if single else tuple(duals), record)
        outputs = (output,) if single else output
        ctx._saved_for_jvp = tuple(map(self.below, with_their_graph(saved, duals, outputs)))
        given = input_tangents(self, ctx, args)
        versions = [0 if each is None else version_of(each) for each in given]
        returned = run_jvp(function, ctx, given)
        moved = returned if isinstance(returned, tuple) else (returned,)
        inputs = list(zip(args, tangents, versions))
        self._carry(ctx, duals, outputs, moved, inputs, fixed)
        return output

    def _dual(self, output: Any, dirty: Sequence[Tensor]) -> Any:
        """An output of a forward as a tensor of this level, which is to have its tangent."""
        if not isinstance(output, Tensor) or self.owns(output):
            return output
        if _is_among(output, dirty):
            self.lift(output)
            return output
        return _holding(self.wrap(output))

    def _carry(
        self,
        ctx: Any,
        raw: Sequence[Any],
        outputs: Sequence[Any],
        tangents: Sequence[Any],
        inputs: Sequence[tuple[Any, Any, int]],
        fixed: Sequence[Tensor],
    ) -> None:
        """Give the outputs their tangents, and so the outputs that the node saved."""
        check_tangents(raw, tangents, fixed)
        for output, tangent in zip(outputs, tangents):
            changed = [each for each in inputs if each[0] is output]
            if changed and changed[0][1] is not None:
                _check_changed(changed[0], tangent)
            elif isinstance(output, ForwardTensor):
                output.__dict__["_tangent"] = None
                if tangent is not None:
                    check_view(output, tangent, [(arg, given) for arg, given, _ in inputs])
                    check_size(output, tangent)
                    self._give_tangent(output, tangent)
        for saved in ctx._saved or ():
            if saved is not None and saved.number is not None and saved.packed is None:
                saved.tensor.__dict__["_tangent"] = tangents[saved.number]

    def _tangents(self, args: Sequence[Any]) -> list[Tensor | None]:
        return [self.tangent_of(arg) for arg in args]

    def before_change(self, x: Any, below: Callable[[Tensor], Tensor]) -> Any:
        """Return `x` as it is now, its tangent included."""
        tangent = None if x._tangent is None else below(x._tangent)
        if tangent is x._tangent and tangent is not None and modes.grad and x._requires_grad:
            # The graph keeps the primal, and with it the tangent, which is no part of a graph.
            tangent = tangent.clone()
        return self.wrap(below(x._value), tangent)

    def apart(self, x: Any, below: Callable[[Tensor], Tensor]) -> Any:
        """Return a tensor over what `below` makes of the primal of `x`, and of its tangent."""
        tangent = None if x._tangent is None else below(x._tangent)
        return _holding(self.wrap(below(x._value), tangent))

    def check_change(self, x: Any, name: str, others: Sequence[Any]) -> None:
        """Accept it: the graph is the ground's."""

    def write(self, x: Any, result: Tensor, partial: bool) -> None:
        """Write primal over primal and tangent over tangent; the caller records it."""
        from gradtool.engine._ops.core.inplace import write

        write(x._value, self.below(result), partial)
        try:
            self._write_tangent(x, result, partial)
        except RuntimeError:
            x._bump()  # as in torch, the values have changed
            raise

    def lift(self, x: Tensor) -> None:
        """Turn `x` into a tensor of this level, its place in the graph into its primal's."""
        primal = x._alias(x._storage)
        for name in _SHARED:
            setattr(primal, name, getattr(x, name))
        x.__class__ = ForwardTensor
        mark(x, *bits(primal))
        fields = x.__dict__
        fields["_level"], fields["_value"], fields["_tangent"] = self, primal, None
        _holding(x)

    def lower(self, x: Any) -> None:
        """Turn a tensor of this level back into a plain one, without its tangent."""
        fields = x.__dict__
        primal = fields.pop("_value")
        del fields["_level"], fields["_tangent"]
        x.__class__ = Tensor
        share(x, primal)
        for name in ("_storage", *_SHARED):
            setattr(x, name, getattr(primal, name))

    def _give_tangent(self, x: Any, tangent: Tensor) -> None:
        """Give a constant of this level a tangent, and with it what `x` shares memory with."""
        from gradtool.engine._ops.core.overlap import repeats

        base: Any = base_of(x)
        tangent = x.__dict__["_tangent"] = in_layout_of(x, tangent)
        if base is None:
            base = x
        elif not self.owns(base) or base._tangent is None:
            alike = base.shape == x.shape and base.stride() == x.stride()
            whole = in_layout_of(base, tangent) if alike else None
            if whole is not tangent and repeats(x):
                return  # there is no telling what the tangent of the whole is
            if whole is not tangent:
                whole = zeros_in_layout_of(base, tangent)
                part = x._view.replay(whole)
                part.copy_(tangent)
                x.__dict__["_tangent"] = part
            if not self.owns(base):
                self.lift(base)
            base.__dict__["_tangent"] = whole
        for other in [] if x._storage is None else x._storage.living_views():
            if base_of(other) is base and other is not x and not self.owns(other):
                self.lift(other)
                other.__dict__["_tangent"] = other._view.replay(base._tangent)  # type: ignore[union-attr]  # it has one


def _holding(x: Tensor) -> Tensor:
    """Let views of what a dual tensor holds be shown as views of that."""
    if isinstance(x, ForwardTensor) and x._view is None:
        x._value.__dict__["_holder"] = weakref.ref(x)
    return x


_SHARED = ("_node", "_requires_grad", "_grad", "_leaf_node", "_view")


def _is_among(tensor: Any, tensors: Sequence[Any]) -> bool:
    """Return True for one of the tensors, which ``in`` would compare by element."""
    return any(tensor is each for each in tensors)


def _check_changed(changed: tuple[Any, Tensor, int], tangent: Any) -> None:
    """Refuse a tangent of an input changed in place, unless it is the input's, changed in place."""
    _, given, version = changed
    if tangent is None or version_of(tangent) == version:
        raise RuntimeError(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If "
            "the forward is modifying an input inplace, then the jvp function must modify the "
            "corresponding gradient inplace."
        )
    if tangent is not given:
        raise RuntimeError(
            "An inplace custom Function is not returning the forward mode gradients as-is. If the "
            "forward is modifying an input inplace, then the jvp function must modify the gradient "
            "inplace and return it as-is."
        )


def _rename(ctx: Any, raw: Sequence[Any], duals: Sequence[Any]) -> None:
    """Replace the raw outputs that `ctx` refers to by their duals."""
    names = {id(old): new for old, new in zip(raw, duals)}
    for field in ("to_save", "saved_for_forward", "non_differentiable"):
        held = getattr(ctx, field)
        if held:
            setattr(ctx, field, tuple([names.get(id(each), each) for each in held]))
