"""A point: the arguments of a call, with tensors as arrays, which variants of a case replace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import replace

from gradtool.adapters.common.binding import names_of
from gradtool.adapters.library import library
from gradtool.cases.arguments import placed
from gradtool.cases.sources import ResolvedCase
from gradtool.collect.checkable import Checkable
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array

Axis = tuple[int, int]
"""An argument's position, and one of its axes."""


class Point(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The arguments of one call.

    Args:
        names: Names of all arguments, the keyword ones last.
        values: Their values; an array where the argument is a tensor.
        tensors: Positions of the tensors.
        tracked: Those that require a gradient.
        positional: Number of positional arguments.
        device: Device of the tensors.
    """

    names: tuple[str, ...]
    values: tuple[Any, ...]
    tensors: tuple[int, ...]
    tracked: frozenset[int]
    positional: int
    device: str

    @classmethod
    def of(cls, checkable: Checkable, case: ResolvedCase, device: str) -> Point:
        """The point of a case."""
        given = (*case.args, *case.kwargs.values())
        kind = library().Tensor
        tensors = tuple(at for at, value in enumerate(given) if isinstance(value, kind))
        return cls(
            names=(*names_of(checkable.obj, len(case.args)), *case.kwargs),
            values=tuple(
                library().array(value.detach()).copy() if at in tensors else value
                for at, value in enumerate(given)
            ),
            tensors=tensors,
            tracked=frozenset(at for at in tensors if given[at].requires_grad),
            positional=len(case.args),
            device=device,
        )

    @cached_property
    def plain(self) -> tuple[int, ...]:
        """Positions of the arguments that are no tensors."""
        return tuple(at for at in range(len(self.values)) if at not in self.tensors)

    @property
    def size(self) -> int:
        """The number of entries of all tensors."""
        return sum(self.values[at].size for at in self.tensors)

    def arrays(self) -> Iterator[tuple[int, Array]]:
        """Each tensor's position and values."""
        for at in self.tensors:
            yield at, self.values[at]

    def continuous(self) -> Iterator[tuple[int, Array]]:
        """The floating and complex ones of `arrays`."""
        return ((at, array) for at, array in self.arrays() if is_continuous(array.dtype))

    def having(self, changed: Mapping[int, Any]) -> Point:
        """The same with other values at some positions."""
        values = [changed.get(at, value) for at, value in enumerate(self.values)]
        return replace(self, values=tuple(values))

    def call(self) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments, with new tensors."""
        made = [self._made(at, value) for at, value in enumerate(self.values)]
        names = self.names[self.positional :]
        return made[: self.positional], dict(zip(names, made[self.positional :], strict=True))

    def _made(self, at: int, value: Any) -> Any:
        if at not in self.tensors:
            return value
        tensor = library().tensor(value.copy())
        return placed(tensor, self.device, requires_grad=at in self.tracked)


class Growth(msgspec.Struct, frozen=True, eq=False):
    """A change of an extent, beside twice the extent of the case.

    Whatever the extent has to be a multiple of, its double is one too.
    """

    before: int
    after: int
    case: Point
    doubled: Point
    is_of_part: bool = False
    """Other axes that are as long in the case stay so: forward may accept that by accident."""


class Option(msgspec.Struct, frozen=True, eq=False):
    """A changed argument that is no tensor.

    Args:
        at: Its place.
        before: Its value in the case.
        change: What is different, in words.
    """

    at: int
    before: Any
    change: str


class Variant(msgspec.Struct, frozen=True, eq=False):
    """A point beside a case, and in words what is different."""

    point: Point
    change: str
    growth: Growth | None = None
    along: Mapping[int, Array] | None = None
    """For one with equal entries: the direction of each argument that moves them alike."""
    has_common_point: bool = False
    """Two sets of points have a point in common: a distance is zero, and its gradient a number."""
    names_extents: bool = False
    """`change` is about extents."""
    options: Sequence[Option] = ()
    """The arguments that are no tensors and differ."""
    is_plain: bool = False
    """Only arguments that are no tensors differ."""
    is_less_special: bool = False
    """An argument leaves a value such as 0 or 1, at which other derivatives may be right too."""
    has_stated_shape: bool = False
    """A docstring states the shape: axes of extent one are broadcast on purpose."""
    may_raise: bool = True
    """It may lack what backward can rely on, such as a length of at least two."""
    may_lack: int | None = None
    """An argument that may have no gradient."""
    is_learned: int | None = None
    """An argument that a docstring calls learned, so that None is no gradient of it."""
    only_finite: bool = False
    """It lies where derivatives may jump or lose digits, but where a gradient must be finite."""
    keeps_digits: bool = False
    """Backward has to keep digits: forward computes in more than the arguments have, or a docstring
    names their precision."""
    keeps_most_digits: bool = False
    """Backward has to compute in as many digits as forward. Nothing else is looked at."""
    is_for_batches: bool = False
    """It is for rules about batches: what backward does wrong there may be outside the domain."""
    is_measured: bool = False
    """Only evaluations show the derivative, as where eigenvalues are equal: steps of forward, such
    as an eigenvector, have none."""
    offset: int | None = None
    """An argument with a number added that changes no output: digits that its gradient loses are
    lost by backward."""
    is_at_limit: bool = False
    """It lies where forward takes another formula over a step that is too short to show a slope."""
    may_be_outside: bool = False
    """It may lie outside the domain, where a gradient that is not a number is no mistake."""
    is_at_edge: bool = False
    """It may lie at the edge of the domain, or be in it if forward has a derivative there."""


def with_value(point: Point, at: int, value: Any, *, may_raise: bool = True) -> Variant:
    """The variant in which one argument that is no tensor has another value."""
    change = changed_to(point.names[at], value, point.values[at])
    return Variant(point.having({at: value}), change, is_plain=True, may_raise=may_raise)


def changed_to(name: str, value: Any, before: Any) -> str:
    """Say which value an argument has instead of that of the case."""
    return f"`{name}` is {value!r}, not {before!r}"
