"""Arguments beside the cases at which a derived class is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

from msgspec import structs

from gradtool.adapters.common.random_state import global_generators
from gradtool.cases.arguments import show_arguments
from gradtool.cases.sources import ResolvedCase
from gradtool.checking.plan import PlannedFunction
from gradtool.collect.checkable import Checkable
from gradtool.explore.explorer import Discovered, explore
from gradtool.sandbox.termination import Terminated, user_code
from gradtool.sandbox.timeout import time_limit


@dataclass(frozen=True)
class Beside:
    """Arguments that no case has.

    Args:
        checkable: The Function.
        found: The arguments, and the case that they vary.
    """

    checkable: Checkable
    found: Discovered

    @property
    def change(self) -> str:
        """Their difference from the case, in words."""
        return self.found.variant.change

    def as_case(self, name: str) -> ResolvedCase:
        """The same arguments as a case."""
        args, kwargs = self.found.variant.point.call()
        shown = show_arguments(self.checkable, args, kwargs)
        return structs.replace(
            self.found.case, name=name, args=tuple(args), kwargs=kwargs, arguments=shown
        )


def wrong_beside(planned: PlannedFunction, made: Any) -> Beside | None:
    """Return arguments at which a class is wrong; None if exploring finds none."""
    settings = planned.unit.settings
    if settings.explore == "off" or not settings.witness:
        return None
    checkable = structs.replace(planned.checkable, obj=made)
    try:
        with (
            user_code(settings, checkable.folder),
            time_limit(settings.timeout),
            global_generators(planned.cases[0].seed),
            catch_warnings(),
        ):
            simplefilter("ignore")  # Nobody gave these arguments.
            found, _ = explore(checkable, planned.cases, settings)
    except Terminated:
        return None
    return Beside(planned.checkable, found[0]) if found else None
