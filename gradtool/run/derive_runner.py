"""A run of ``gradtool derive``: plan, and each Function in turn in this process."""

from __future__ import annotations

from dataclasses import dataclass

from gradtool.checking.unit import Unit
from gradtool.config.options import CheckOptions
from gradtool.run.run_plan import RunPlan


@dataclass(frozen=True)
class Answer:
    """Text derived for a Function, or the reason why there is none.

    Args:
        node: The node id of the Function, or the file that cannot be imported.
        text: The source of its class.
        cases: The cases at which it was checked, each with a line for each argument.
        unrolled: The lines of loops whose steps are written out, and the number of these.
        limits: What differs from these cases where it is wrong.
        problem: The reason why there is no text.
    """

    node: str
    text: str = ""
    cases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unrolled: tuple[tuple[int, int], ...] = ()
    limits: tuple[str, ...] = ()
    problem: str = ""


def derive(options: CheckOptions, *, jvp: bool = False, vmap: bool = False) -> list[Answer]:
    """Write a backward for each Function that the options name.

    Raises:
        UsageError: The options cannot be satisfied.
    """
    from gradtool.checking.worker_session import WorkerSession

    plan, session = RunPlan(options), WorkerSession()
    modules = plan.modules([session.discover(each) for each in plan.discoveries()])
    found = [
        Answer(module.shown, problem=module.problem.findings[0].message)
        for module in modules
        if module.problem is not None and not module.units
    ]
    return found + [
        _derived(session, unit, jvp=jvp, vmap=vmap) for module in modules for unit in module.units
    ]


def _derived(session: object, unit: Unit, *, jvp: bool, vmap: bool) -> Answer:
    from gradtool.checking.worker_session import WorkerSession
    from gradtool.derive.deriving import derive as derived
    from gradtool.derive.problem import NotDerivable
    from gradtool.derive.writing import Wanted

    assert isinstance(session, WorkerSession)
    try:
        with session.opened(unit) as planned:
            made = derived(planned, Wanted(jvp=jvp, vmap=vmap))
    except NotDerivable as problem:
        return Answer(unit.node, problem=problem.message)
    return Answer(unit.node, made.text, made.cases, tuple(made.unrolled.items()), made.limits)
