"""What recording a primitive amounts to: which values are kept, and how gradients come of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from gradtool.engine.autograd._node import FREED

if TYPE_CHECKING:
    from gradtool.engine._ops.core.primitive import Primitive
    from gradtool.engine._tensor import Tensor


class Vjp(NamedTuple):
    """The gradient with respect to one argument: ``apply(g, *values of needs)``.

    `of_complex` takes its place when ``g`` is complex; elementwise entries conjugate there.
    """

    apply: Callable[..., Any]
    needs: tuple[str, ...]
    of_complex: Callable[..., Any] | None = None


def vjp_of(function: Callable[..., Any]) -> Vjp:
    """A vjp that names what it needs by its parameters after ``g``."""
    return Vjp(function, tuple(inspect.signature(function).parameters)[1:])


class Plan:
    """What recording a primitive amounts to, for one choice of arguments that need gradients."""

    __slots__ = (
        "complex_rules", "getters", "keeps_tensors", "names", "out_slot", "primitive", "rules",
        "take", "tensor_slots",
    )  # fmt: skip

    def __init__(self, primitive: Primitive, needed: tuple[int, ...]) -> None:
        self.primitive = primitive
        vjps = [primitive.vjps[position] for position in needed]
        names = list(dict.fromkeys(name for vjp in vjps for name in vjp.needs))
        self.names = names
        """What is saved, in this order."""
        self.rules = tuple(_rule(vjp.apply, vjp.needs, names) for vjp in vjps)
        self.complex_rules = tuple(
            _rule(vjp.of_complex or vjp.apply, vjp.needs, names) for vjp in vjps
        )
        self.getters = [primitive.getter(name) for name in names]
        self.take = _taker(primitive, names)
        """Picks the saved values out of the arguments where they are all tensor arguments."""
        self.out_slot = names.index("out") if "out" in names else None
        self.tensor_slots = tuple(
            slot for slot, name in enumerate(names) if name in primitive.arguments
        )
        self.keeps_tensors = bool(self.tensor_slots) or self.out_slot is not None
        """Whether any saved value can be changed in place, freed or packed."""

    def kept(self, name: str, saved: Sequence[Any]) -> Any:
        """One of the saved values by its name; None where it is not there, or was freed."""
        there = name in self.names and len(saved) == len(self.names) and saved is not FREED
        return saved[self.names.index(name)] if there else None


def _rule(
    apply: Callable[..., Any], needs: tuple[str, ...], names: list[str]
) -> Callable[[Tensor, Sequence[Any]], Tensor | None]:
    """A vjp as a function of (g, saved values); written out for the short cases, which are hot."""
    slots = [names.index(name) for name in needs]
    if not slots:
        return lambda g, _saved: apply(g)
    first = slots[0]
    if len(slots) == 1:
        return lambda g, saved: apply(g, saved[first])
    if len(slots) == 2:
        second = slots[1]
        return lambda g, saved: apply(g, saved[first], saved[second])
    return lambda g, saved: apply(g, *[saved[slot] for slot in slots])


def _taker(
    primitive: Primitive, names: list[str]
) -> Callable[[Sequence[Any]], tuple[Any, ...]] | None:
    if not all(name in primitive.arguments for name in names):
        return None
    positions = [primitive.arguments.index(name) for name in names]
    if not positions:
        return lambda _args: ()
    if len(positions) == 1:
        only = positions[0]
        return lambda args: (args[only],)
    return itemgetter(*positions)
