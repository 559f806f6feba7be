"""The branches of a Function, and the sides of them that its cases and their variants take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradtool.adapters.common.branches import (
    SIDES_OF_A_LOOP,
    Branch,
    Side,
    jumps_of,
    sides_of,
    source_of,
    taken,
)
from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.common.value_branches import Compared, ValueBranches, Watch
from gradtool.collect.checkable import Checkable
from gradtool.explore.observed import cotangents_of
from gradtool.explore.point import Point
from gradtool.results.report import Coverage
from gradtool.verify.protocol.observation import Cotangents, Observation


class Branches:
    """The sides that were taken so far, of all that are known.

    Those of Python are known from the code; those by value once an operation has run.
    """

    def __init__(self, checkable: Checkable) -> None:
        self._checkable = checkable
        self._jumps = jumps_of(checkable.obj)
        self._taken = set[Side]()
        self._values = ValueBranches()
        self._watch = Watch(checkable.obj)

    def run(self, point: Point, seed: int) -> int:
        """Take the sides of a case; return the number of calls.

        Each argument also requires a gradient by itself, which a backward may ask about.
        """
        args, kwargs = point.call()
        function = FunctionDifferentiable(self._checkable.obj, args, kwargs, name="")
        wanted = [each.differentiable for each in function.arguments]
        alone = [
            [at == only for at in range(len(wanted))] for only, is_wanted in enumerate(wanted)
            if is_wanted
        ]  # fmt: skip
        asks = any("needs_input_grad" in source_of(side.branch) for side in sides_of(self._jumps))
        with self.watching() as keep:
            chosen: list[Cotangents] = []

            def choose(seen: Observation) -> Cotangents | None:
                chosen.extend([] if seen.failure else [cotangents_of(seen, seed)])
                return chosen[0] if chosen else None

            function.call(function.primals, choose)
            if not chosen:
                return 1
            further = alone if asks and len(alone) > 1 else []
            for needs in further:
                function.call(function.primals, chosen[0], needs=needs)
            keep()
        return 2 + 2 * len(further)

    @contextmanager
    def watching(self) -> Iterator[Keep]:
        """Collect the sides that are taken in the block; they count once `Keep` is called."""
        keep = Keep(self._taken, self._values)
        with taken(self._jumps, keep.taken), self._watch.watching(keep.values):
            yield keep

    def pause(self) -> None:
        """Leave the library as it is until the next watched block."""
        self._watch.end()

    @property
    def _known(self) -> frozenset[Side]:
        return sides_of(self._jumps) | self._values.known

    @property
    def missing(self) -> list[Side]:
        """The sides that nothing took, in the order of the source."""
        sides = self._known - self._taken - self._values.seen
        return sorted(sides, key=lambda side: (side.branch.path, side.branch.span, side.name))

    @property
    def limits(self) -> list[tuple[Branch, Compared]]:
        """All branches that compare values, with those that each compared first."""
        return list(self._values.compared.items())

    def compared(self, side: Side) -> Compared | None:
        """The values that a branch compared last; None if it compares none."""
        first, last, start, end = side.branch.span
        for branch, found in self._values.compared.items():
            inner = branch.span
            is_inside = (first, start) <= (inner[0], inner[2]) and (inner[1], inner[3]) <= (
                last,
                end,
            )
            if branch.path == side.branch.path and is_inside:
                return found
        return None

    @property
    def result(self) -> Coverage | None:
        """The numbers for the report; None for a Function without a branch."""
        known = self._known
        if not known:
            return None
        missing = self.missing
        return Coverage(
            covered=len(known) - len(missing),
            branches=len(known),
            missing=tuple(_in_words(side) for side in missing),
        )


class Keep:
    """Sides that were taken on trial: calling it counts them."""

    def __init__(self, taken_before: set[Side], values_before: ValueBranches) -> None:
        self._taken, self._values = taken_before, values_before
        self.taken, self.values = set(taken_before), ValueBranches()

    @property
    def is_new(self) -> bool:
        """True if one of them was not counted before."""
        return bool(self.taken - self._taken or self.values.seen - self._values.seen)

    def __call__(self) -> None:
        """Count them."""
        self._taken |= self.taken
        self._values.known |= self.values.known
        self._values.seen |= self.values.seen
        self._values.compared.update(
            {
                branch: found
                for branch, found in self.values.compared.items()
                if branch not in self._values.compared
            }
        )


def _in_words(side: Side) -> str:
    branch = side.branch
    what = "the loop" if side.name in SIDES_OF_A_LOOP else f"`{source_of(branch)}`"
    how = f"never {side.name}".replace("never is", "is never")
    return f"line {branch.line} of {branch.method}: {what} {how}"
