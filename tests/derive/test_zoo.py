"""Over the zoo: a backward is derived of right Functions, and of wrong ones whose forward is right.

A sample is tried; ``python -m tests.derive.test_zoo`` tries all, which takes many minutes.
"""

from __future__ import annotations

from functools import cache

import pytest

from gradtool.checking.worker_session import WorkerSession
from gradtool.derive.deriving import derive
from gradtool.derive.problem import NotDerivable
from gradtool.run.run_plan import RunPlan
from tests.options import check_options
from tests.zoo.members import ZOO

SAMPLE = {
    "right": ("ExpSavedOutput", "LayerNorm", "DropoutKeepsMask", "ModeByString", "ModRelu"),
    "wrong": ("CubeWithoutThree", "GeluWithTypo", "NormWithoutDivision"),
}
FORWARD_IS_WRONG = {"GT0", "GT115", "GT112", "GT40", "GT501", "GT502", "GT503", "GT508"}
"""Rules that a Function breaks by its forward, or by a vmap of its own."""


@cache
def derived(kind: str, names: tuple[str, ...] = ()) -> dict[str, str]:
    """The reason why nothing could be derived, by Function; empty where something could."""
    plan, session = RunPlan(check_options(paths=(str(ZOO / kind),))), WorkerSession()
    modules = plan.modules([session.discover(each) for each in plan.discoveries()])
    found = {}
    for unit in [unit for module in modules for unit in module.units]:
        if names and unit.function not in names:
            continue
        with session.opened(unit) as planned:
            expect = getattr(planned.checkable.obj, "expect", ())
            if any(rule.startswith(tuple(FORWARD_IS_WRONG)) for rule in expect):
                continue
            try:
                derive(planned)
            except NotDerivable as problem:
                found[unit.function] = problem.message
            else:
                found[unit.function] = ""
    return found


@pytest.mark.parametrize("kind", ["right", "wrong"])
def test_a_sample_is_derived(kind: str) -> None:
    assert set(derived(kind, SAMPLE[kind]).values()) == {""}


def main() -> None:
    """Print what share of each half of the zoo is derived, and why the others are not."""
    for kind in ("right", "wrong"):
        found = derived(kind)
        failed = {name: reason for name, reason in found.items() if reason}
        print(f"{kind}: {len(found) - len(failed)} of {len(found)}")
        for name, reason in failed.items():
            print(f"  {name}: {reason}")


if __name__ == "__main__":
    main()
