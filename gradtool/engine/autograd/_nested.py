"""NestedIOFunction: a Function whose arguments and outputs are nested collections of tensors.

torch keeps the name for old modules, but its implementation no longer runs. Here it works on
the static methods of today's Functions: arguments are flattened into the tensors they hold,
``forward_extended`` and ``backward_extended`` see them as they were passed, and so does what
is saved.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradtool.engine._errors import ContractError
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.function import BackwardCFunction, Function, FunctionMeta

_LEAF = object()
"""Stands for a tensor in the shape of a collection."""


def tensors_of(nested: Any) -> Iterator[Tensor]:
    """The tensors in lists, tuples and dictionaries, in order.

    Raises:
        ValueError: There is something in them that is neither a tensor nor None.
    """
    if isinstance(nested, Tensor):
        yield nested
    elif isinstance(nested, list | tuple):
        for each in nested:
            yield from tensors_of(each)
    elif isinstance(nested, dict):
        yield from tensors_of(list(nested.values()))
    elif nested is not None:
        raise ValueError(
            "Auto nesting doesn't know how to process an input object of type "
            f"{type(nested).__name__}. Accepted types: Tensors, or lists/tuples/dicts of them"
        )


def shape_of(nested: Any) -> Any:
    """The same collection with a mark in the place of each tensor."""
    return _mapped(nested, lambda _: _LEAF)


def filled(shape: Any, leaves: Iterator[Any]) -> Any:
    """The collection of this shape that holds `leaves` in order."""
    return _mapped(shape, lambda _: next(leaves))


def _mapped(nested: Any, change: Any) -> Any:
    """The collection with `change` applied to its tensors, or to the marks of them."""
    if nested is _LEAF or isinstance(nested, Tensor):
        return change(nested)
    if isinstance(nested, dict):
        return {key: _mapped(value, change) for key, value in nested.items()}
    if isinstance(nested, tuple) and hasattr(nested, "_fields"):
        # The constructor of a named tuple takes its fields one by one.
        return type(nested)(*[_mapped(each, change) for each in nested])
    if isinstance(nested, list | tuple):
        return type(nested)([_mapped(each, change) for each in nested])
    return nested


class _Call:
    """The shapes of one call's arguments and outputs."""

    def __init__(self, inputs: Any) -> None:
        self.inputs = inputs
        self.outputs: Any = None


class _NestedContext(BackwardCFunction):
    """A ``ctx`` whose methods take and give nested collections."""

    _call: _Call
    _saved_shape: Any = ()

    def save_for_backward(self, *nested: Any) -> None:
        """Keep the tensors of nested collections for `saved_tensors`."""
        self._saved_shape = shape_of(nested)
        super().save_for_backward(*tensors_of(nested))

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors, nested as they were."""
        saved: tuple[Any, ...] = filled(self._saved_shape, iter(super().saved_tensors))
        return saved

    def mark_dirty(self, *nested: Any) -> None:
        """Name the inputs that ``forward_extended`` changed in place."""
        super().mark_dirty(*tensors_of(nested))

    def mark_non_differentiable(self, *nested: Any) -> None:
        """Name the outputs that have no gradient."""
        super().mark_non_differentiable(*tensors_of(nested))


class _NestedMeta(FunctionMeta):
    def __init__(
        cls,  # noqa: N805 - the class is what a metaclass makes
        name: str,
        bases: tuple[type, ...],
        attrs: dict[str, Any],
    ) -> None:
        super().__init__(name, bases, attrs)
        cls._backward_cls = type(name + "Backward", (_NestedContext,), {"_forward_cls": cls})


class NestedIOFunction(Function, metaclass=_NestedMeta):
    """Override ``forward_extended`` and ``backward_extended``, then call ``apply``.

    Arguments and outputs are tensors, None, or lists, tuples and dictionaries of them.
    ``backward_extended`` receives a gradient in the place of each tensor of each output, and
    returns one for each argument: nested as the argument is, or None where it has none.
    """

    @staticmethod
    def forward_extended(ctx: Any, *nested: Any) -> Any:
        """Compute the outputs."""
        raise NotImplementedError("You must implement the forward_extended function.")

    @staticmethod
    def backward_extended(ctx: Any, *nested_grads: Any) -> Any:
        """The gradient of each argument, given that of each output."""
        raise NotImplementedError("You must implement the backward_extended function.")

    @classmethod
    def apply(cls, *nested: Any) -> Any:
        """Run ``forward_extended`` and record it."""
        call = _Call(shape_of(nested))
        outputs = super().apply(call, *tensors_of(nested))
        return filled(call.outputs, iter(outputs))

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Nest the tensors, run ``forward_extended``, and flatten what it returns."""
        ctx._call = call
        outputs = ctx._forward_cls.forward_extended(ctx, *filled(call.inputs, iter(tensors)))
        call.outputs = shape_of(outputs)
        return tuple(tensors_of(outputs))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        """Nest the gradients, run ``backward_extended``, and flatten what it returns."""
        nested = filled(ctx._call.outputs, iter(grads))
        # Not `isinstance`: a named tuple is one output.
        outputs = nested if type(ctx._call.outputs) is tuple else (nested,)
        returned = ctx._forward_cls.backward_extended(ctx, *outputs)
        if type(returned) is not tuple:
            returned = (returned,)
        # None is for `call`, the first argument of `forward`.
        return (None, *_flat_grads(ctx._call.inputs, returned, ctx._name()))


def _flat_grads(shape: Any, grads: Any, name: str) -> Iterator[Tensor | None]:
    """The gradient for each tensor of the arguments, in order.

    Raises:
        ContractError: The gradients are not nested as the arguments are.
    """
    if shape is _LEAF:
        yield grads
        return
    parts, held = _side_by_side(shape, grads)
    if len(held) != len(parts):
        raise ContractError(
            "gradient-count",
            f"function {name} returned gradients nested differently from its inputs "
            f"(expected {len(parts)} in one place, got {len(held)})",
        )
    for part, grad in zip(parts, held, strict=True):
        yield from _flat_grads(part, grad, name)


def _side_by_side(shape: Any, grads: Any) -> tuple[list[Any], list[Any]]:
    """The members of a collection, and the gradients that were returned for them."""
    if isinstance(shape, dict):
        held = grads if isinstance(grads, dict) else {}
        unknown = [grad for key, grad in held.items() if key not in shape]
        return list(shape.values()), [*map(held.get, shape), *unknown]
    parts = list(shape) if isinstance(shape, list | tuple) else []
    if grads is None:
        return parts, [None] * len(parts)
    return parts, list(grads) if isinstance(grads, list | tuple) else [grads]
