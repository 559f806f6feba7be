"""A level of forward mode: its tensors carry a tangent beside the primal they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine._levels import Level, Wrapped, become, wrap_at
from gradtool.engine._levels.jvp import jvp_of_primitive
from gradtool.engine._tensor import Tensor, alias


def check_size(primal: Tensor, tangent: Tensor) -> None:
    """Refuse a tangent of another shape than what it is the tangent of.

    Raises:
        RuntimeError: it is one.
    """
    if primal.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(primal.shape)} while the "
            f"given forward gradient is of size {list(tangent.shape)}."
        )


class DualTensor(Wrapped):
    """A primal with a tangent; operations push both forward."""

    __slots__ = ()

    _tangent: Tensor


class DualLevel(Level):
    """Pushes tangents through operations by each primitive's jvp."""

    def __init__(self, *, by_func: bool = False) -> None:
        self.by_func = by_func
        """Whether it is that of `func.jvp`: text then shows no tangent."""

    def wrap(self, primal: Tensor, tangent: Tensor) -> DualTensor:
        """A tensor of this level."""
        wrapped: DualTensor = wrap_at(self, DualTensor, primal, primal._array)
        wrapped.__dict__["_tangent"] = tangent
        return wrapped

    def tangent_of(self, value: Any) -> Tensor | None:
        """The tangent of a tensor of this level; None for anything else, which is constant."""
        return value._tangent if self.owns(value) else None

    def apply(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        """The primitive of the primals, and its jvp."""
        primals = [self.below(arg) for arg in args]
        tangents = [self.tangent_of(arg) for arg in args]
        out: Tensor = primitive.operation(*primals, **params)
        tangent = jvp_of_primitive(primitive, primals, tangents, out, params)
        return out if tangent is None else self.wrap(out, tangent)

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the Function's own jvp."""
        from gradtool.engine._levels.functions import pushed_forward

        return pushed_forward(self, function, args, kwargs)

    def detached(self, x: Any) -> Any:
        """The primal alone: a detached tensor carries no tangent."""
        return x._value.detach()

    def before_change(self, x: Any) -> Any:
        """`x` as it is now, its tangent included."""
        from gradtool.engine._ops.core.inplace import before_change

        return self.wrap(before_change(x._value), before_change(x._tangent))

    def write(self, x: Any, result: Tensor) -> None:
        """Change primal to primal and tangent to tangent."""
        from gradtool.engine._ops.core.inplace import replace
        from gradtool.engine._ops.core.kinds import zeros_like

        tangent = self.tangent_of(result)
        replace(x._value, self.below(result))
        replace(x._tangent, zeros_like(x._tangent) if tangent is None else tangent)

    def lift(self, x: Tensor) -> None:
        """Make `x` a tensor of this level whose tangent is zero."""
        from gradtool.engine._ops.core.kinds import zeros_like

        primal = alias(x._array, x._shared_storage())
        primal._node, primal._requires_grad = x._node, x._requires_grad
        become(x, self.wrap(primal, zeros_like(primal.detach())))
