"""``--ff``: in which order the units of a run are begun.

Only the start is moved: answers come back in the order of the units, so that a report does not
depend on what failed before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gradtool.checking.unit import Done, Unit
from gradtool.config.options import Watcher
from gradtool.run.executors.executor import Executor, Outcome


def checked_in_order(
    executor: Executor, units: Sequence[Unit], first: Collection[str], watcher: Watcher
) -> Outcome:
    """The answers to `units`, in their order.

    Args:
        executor: Does the work.
        units: What there is to check.
        first: Node ids of Functions, and paths of modules, that are begun before the others.
        watcher: Told of the work.

    Raises:
        UsageError: A Function has no case of the name that was asked for.
    """
    wanted = frozenset(first)
    places = sorted(range(len(units)), key=lambda at: not _is_among(units[at], wanted))
    outcome = executor.check([units[place] for place in places], watcher)
    done: list[Done | None] = [None] * len(units)
    for place, answer in zip(places, outcome.done, strict=True):
        done[place] = answer
    return Outcome(done, outcome.interrupted, outcome.faults)


def _is_among(unit: Unit, wanted: frozenset[str]) -> bool:
    return unit.node in wanted or unit.shown in wanted
