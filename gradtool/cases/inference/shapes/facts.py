"""Facts about the shapes of parameters, which share extents that have the same name."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

Extent = int | str
"""A number, or the name of one."""

_MOST_EXTENTS = 6


class ShapeFacts(msgspec.Struct):
    """The known extents of parameters."""

    names: tuple[str, ...]
    shapes: dict[str, list[Extent]] = msgspec.field(default_factory=dict)
    """The extents of parameters with a known rank."""
    equal: dict[str, Extent] = msgspec.field(default_factory=dict)
    """Symbols that stand for another extent."""
    defined: dict[str, tuple[str, int]] = msgspec.field(default_factory=dict)
    """Local names of one extent: the parameter and the axis."""

    weak: set[str] = msgspec.field(default_factory=set)
    """Parameters of which one extent alone is known: they may have more."""

    def rank(self, name: str, rank: int) -> None:
        """Note the rank of a parameter; its extents get symbols of their own."""
        if name in self.weak and rank > len(self.shapes[name]):
            self.shape(name, [f"{name}.{axis}" for axis in range(rank)])
        elif name in self.names and name not in self.shapes and 0 <= rank <= _MOST_EXTENTS:
            self.shapes[name] = [f"{name}.{axis}" for axis in range(rank)]

    def at_least(self, name: str, rank: int) -> None:
        """Note a number of dimensions that a parameter has, and maybe more."""
        if name in self.names and name not in self.shapes:
            self.rank(name, rank)
            self.weak.add(name)

    def shape(self, name: str, extents: Iterable[Extent]) -> None:
        """Note all extents of a parameter."""
        given = list(extents)
        if name not in self.names or len(given) > _MOST_EXTENTS:
            return
        if name in self.weak and len(given) > len(self.shapes[name]):
            known_before = self.shapes.pop(name)
            self.weak.discard(name)
            for one, other in zip(known_before, given, strict=False):
                self.same(one, other)
        known = self.shapes.setdefault(name, [f"{name}.{axis}" for axis in range(len(given))])
        if len(known) == len(given):
            for one, other in zip(known, given, strict=True):
                self.same(one, other)

    def extent(self, name: str, axis: int, value: Extent) -> None:
        """Note one extent of a parameter whose rank is known, or follows from the axis."""
        if name in self.names and name not in self.shapes:
            self.rank(name, axis + 1 if axis >= 0 else max(2, -axis))
            self.weak.add(name)
        known = self.shapes.get(name, [])
        if -len(known) <= axis < len(known):
            self.same(known[axis], value)

    def same(self, one: Extent, other: Extent) -> None:
        """Note that two extents are equal."""
        one, other = self.resolved(one), self.resolved(other)
        if one == other:
            return
        if isinstance(one, str):
            self.equal[one] = other
        elif isinstance(other, str):
            self.equal[other] = one

    def resolved(self, extent: Extent) -> Extent:
        """Follow equalities to the number or symbol that stands for an extent."""
        while isinstance(extent, str) and extent in self.equal:
            extent = self.equal[extent]
        return extent

    def sizes(self) -> dict[str, int]:
        """A number for each symbol, distinct where they may be."""
        symbols = [
            resolved
            for shape in self.shapes.values()
            for extent in shape
            if isinstance(resolved := self.resolved(extent), str)
        ]
        # Four distinct extents tell dimensions apart; more would make tensors large.
        numbers = {symbol: 2 + at % 4 for at, symbol in enumerate(dict.fromkeys(symbols))}
        for name in self.equal:
            end = self.resolved(name)
            if isinstance(end, int) or end in numbers:
                numbers[name] = end if isinstance(end, int) else numbers[end]
        for symbol in list(numbers):
            numbers[symbol] = _computed(symbol, numbers) or numbers[symbol]
        return numbers

    def concrete(self) -> dict[str, tuple[int, ...]]:
        """The shapes with numbers for their symbols."""
        numbers = self.sizes()
        return {
            name: tuple(
                numbers[end] if isinstance(end := self.resolved(extent), str) else end
                for extent in shape
            )
            for name, shape in self.shapes.items()
        }


def _computed(symbol: str, numbers: dict[str, int]) -> int | None:
    """The value of a symbol such as ``rotary_dim // 2`` or ``n + 1``; None for a plain name."""
    found = re.fullmatch(r"(\w+)\s*(//|[-+*/])\s*(\d+)", symbol) or re.fullmatch(
        r"(\d+)\s*(\*)\s*(\w+)", symbol
    )
    if found is None:
        return None
    sides = [int(part) if part.isdigit() else numbers.get(part, 4) for part in found.group(1, 3)]
    operation = {"+": sum(sides), "-": sides[0] - sides[1], "*": sides[0] * sides[1]}
    value = operation.get(found.group(2), sides[0] // max(sides[1], 1))
    return max(value, 1)
