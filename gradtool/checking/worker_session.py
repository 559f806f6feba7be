"""Discoveries and units, done in the process that imports this."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import structs

from gradtool.adapters.engines import BOTH, BUNDLED, TORCH, require_device_of
from gradtool.cases.construction import construct
from gradtool.cases.module_samples import unused_samples
from gradtool.cases.sample_inputs import misspelt_samples
from gradtool.cases.sources import ResolvedCase
from gradtool.checking.beside_cases import explored
from gradtool.checking.case_check import check_case, listed_function
from gradtool.checking.function_checks import Checked, checks_of_function
from gradtool.checking.plan import PlannedFunction, plan_unit
from gradtool.checking.unit import Discovery, DiscoveryResult, Unit, UnitResult
from gradtool.collect.checkable import Checkable
from gradtool.collect.declared import declared_functions
from gradtool.collect.discovery import can_define_functions, discover, named
from gradtool.collect.loader import LoadedModule, Loader, LoadError, parse
from gradtool.collect.source_loader import imported_files
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import import_terminated, not_imported, source_changed
from gradtool.results.report import CaseResult, CheckResult, Coverage
from gradtool.sandbox.termination import Terminated, user_code
from gradtool.sandbox.timeout import time_limit

if TYPE_CHECKING:
    from gradtool.checking.second_engine import SecondEngine

Active = Callable[[], AbstractContextManager[None]]
"""Makes a context in which the code of a module can run."""


class Listener(Protocol):
    """Hears of each step of a unit."""

    def loaded(self) -> None:
        """Its module is imported."""

    def opened(self, listed: UnitResult) -> None:
        """The cases of the Function are found, none is checked."""

    def case_started(self, name: str) -> None:
        """A case is about to be checked."""

    def case_finished(self, case: CaseResult) -> None:
        """A case has been checked."""

    def exploring(self, what: str) -> None:
        """The Function is explored: `what` is tried."""

    def explored(self, coverage: Coverage | None, seconds: float) -> None:
        """The Function has been explored; `coverage` is None where that was cut short."""


class WorkerSession:
    """Does the work piece by piece; imported modules stay imported."""

    def __init__(self) -> None:
        self._loaders: dict[str, Loader] = {}

    def discover(self, discovery: Discovery) -> DiscoveryResult:
        """Find the Functions of a module, or the reason why it cannot be loaded.

        Raises:
            UsageError: It lacks a Function that was named.
        """
        return structs.replace(self._discovered(discovery), imported=imported_files())

    def _discovered(self, discovery: Discovery) -> DiscoveryResult:
        path, shown = Path(discovery.path), discovery.shown
        settings, problem = discovery.settings, None
        require_device_of(settings.engine, settings.device)
        try:
            is_requested = discovery.named or discovery.configured
            if not is_requested and not can_define_functions(parse(path)):
                return DiscoveryResult()
            loaded = self._load(path, settings)
        except LoadError as error:
            problem = not_imported(shown, error, settings, path=discovery.path)
            return DiscoveryResult(problem=problem)
        except Terminated as error:
            found = self._slice(path, settings)
            problem = import_terminated(
                shown,
                error.termination,
                settings,
                in_part=found is not None,
                path=discovery.path,
            )
            if found is None:
                return DiscoveryResult(problem=problem)
            loaded = found
        if discovery.digest not in ("", loaded.digest):
            return DiscoveryResult(problem=source_changed(shown, shown, settings))
        is_sliced = problem is not None
        with loaded.active():
            checkables = self._requested(discovery, loaded)
        first = loaded.first_failure
        # A module that defines no Function loses none by what its imports lack.
        if not checkables and first is not None and declared_functions(loaded.tree):
            problem = not_imported(shown, first, settings, path=discovery.path)
            return DiscoveryResult(problem=problem)
        if loaded.failure is not None and problem is None:
            problem = not_imported(shown, loaded.failure, settings, in_part=True)
        return DiscoveryResult(
            functions=tuple(checkable.name for checkable in checkables),
            lines=tuple(checkable.location.line for checkable in checkables),
            problem=problem,
            sliced=is_sliced,
            notes=(
                *loaded.notes,
                *chain.from_iterable(map(misspelt_samples, checkables)),
                *unused_samples(checkables),
            ),
        )

    def _requested(self, discovery: Discovery, loaded: LoadedModule) -> list[Checkable]:
        """The Functions and callables of a module that a discovery asks for.

        Raises:
            UsageError: It lacks a Function that was named.
        """
        shown = discovery.shown
        checkables = discover(loaded, shown, discovery.configured) if discovery.whole else []
        known = {checkable.name for checkable in checkables}
        requested = [name for name in discovery.functions if name not in known]
        return checkables + named(loaded, shown, requested)

    def _slice(self, path: Path, settings: Settings) -> LoadedModule | None:
        """The part of a module that its Functions need; None if that fails too."""
        try:
            return self._load(path, settings, sliced=True)
        except (LoadError, Terminated):
            return None

    def check(
        self,
        unit: Unit,
        listener: Listener,
        *,
        finished: frozenset[str] = frozenset(),
        left: float | None = None,
        only_list: bool = False,
    ) -> tuple[CheckResult, ...]:
        """Check one Function at its cases, each reported to the listener.

        Args:
            unit: The Function.
            listener: Hears of each case.
            finished: Names of cases that need not be checked again.
            left: Seconds there are for all cases, if fewer than the settings say.
            only_list: Find the cases, and check none.

        Returns:
            The checks of the Function as a whole.

        Raises:
            UsageError: A case was asked for that it has not.
        """
        try:
            loaded = self._load(Path(unit.path), unit.settings, sliced=unit.sliced)
        except LoadError as error:
            return (not_imported(unit.node, error, unit.settings),)
        except Terminated as error:
            return (import_terminated(unit.node, error.termination, unit.settings),)
        if unit.digest not in ("", loaded.digest):
            return (source_changed(unit.node, unit.shown, unit.settings),)
        listener.loaded()
        with loaded.active():
            planned = _planned(unit, loaded)
        listener.opened(listed(planned))
        if only_list:
            return ()
        try:
            second = self._second(unit)
        except LoadError as error:
            return (not_imported(unit.node, error, unit.settings),)
        left = unit.settings.timeout if left is None else left
        return check_planned(planned, listener, finished, left, loaded.active, second)

    def plan(self, unit: Unit) -> PlannedFunction:
        """The Function of a unit and its cases, for those who want to look at them.

        Raises:
            LoadError: Its module cannot be loaded.
        """
        with self.opened(unit) as planned:
            return planned

    @contextmanager
    def opened(self, unit: Unit) -> Iterator[PlannedFunction]:
        """The same for the duration of a block, in which its code can run.

        Raises:
            LoadError: Its module cannot be loaded.
            Terminated: Its module came to no end of its own.
        """
        loaded = self._load(Path(unit.path), unit.settings, sliced=unit.sliced)
        with loaded.active():
            yield _planned(unit, loaded, needs_backward=False)

    def _second(self, unit: Unit) -> SecondEngine | None:
        """The Function under the second engine, where there is one."""
        if unit.settings.engine != BOTH:
            return None
        from gradtool.checking.second_engine import SecondEngine

        loaded = self._load(Path(unit.path), unit.settings, TORCH, sliced=unit.sliced)
        with loaded.active():
            (checkable,) = named(loaded, unit.shown, [unit.function])
            checkable = construct(checkable, unit.module, unit.settings)
        return SecondEngine(unit, loaded, checkable)

    def _load(
        self, path: Path, settings: Settings, engine: str | None = None, *, sliced: bool = False
    ) -> LoadedModule:
        """The module under `engine`; None: the one that the settings name, or the first of two."""
        chosen = engine or (BUNDLED if settings.engine == BOTH else settings.engine)
        with (
            user_code(settings, path.parent, environment=False),
            time_limit(settings.timeout),
        ):
            loader = self._loaders.setdefault(chosen, Loader(chosen))
            loaded = loader.load(path, only_slice=sliced)
            _ = loaded.inventory  # It may run code of the module's.
            return loaded


def _planned(unit: Unit, loaded: LoadedModule, *, needs_backward: bool = True) -> PlannedFunction:
    (checkable,) = named(loaded, unit.shown, [unit.function])
    if checkable.unchecked is not None and not needs_backward and checkable.unchecked.has_forward:
        checkable = structs.replace(checkable, unchecked=None)
    return plan_unit(unit, checkable)


def listed(planned: PlannedFunction) -> UnitResult:
    """The Function with its cases, none of them checked."""
    return UnitResult(
        function=listed_function(planned),
        cases=tuple(case.written for case in planned.cases),
        deselected=planned.deselected,
        unwanted=not planned.cases and planned.problem is None,
    )


def check_planned(
    planned: PlannedFunction,
    listener: Listener,
    finished: frozenset[str] = frozenset(),
    left: float | None = None,
    active: Active = nullcontext,
    second: SecondEngine | None = None,
) -> tuple[CheckResult, ...]:
    """Check the cases of a Function one by one.

    Args:
        planned: The Function and its cases.
        listener: Hears of each case.
        finished: Names of cases that need not be checked again.
        left: Seconds there are for all cases.
        active: In this context the code of its module can run.
        second: The Function under the other engine of the run.

    Returns:
        The checks of the Function as a whole.
    """
    cases: list[Checked] = []
    for case in planned.cases:
        if case.name in finished:
            continue
        listener.case_started(case.name)
        with active():
            checked = check_case(planned.unit, planned.checkable, case, left)
        if second is not None and checked.is_complete:
            checked = _with_second(second, active, planned, case, checked)
        cases.append(checked)
        left = left and max(left - checked.result.seconds, 0)
        listener.case_finished(checked.result)
    if finished:
        return ()
    started = time.perf_counter()
    with active():
        beside, coverage = explored(planned, cases, left, listener.exploring)
    seconds = time.perf_counter() - started if planned.unit.settings.timed else 0.0
    if seconds or coverage is not None:
        listener.explored(coverage, seconds)
    return (*checks_of_function(planned, cases, coverage), *beside)


def _with_second(
    second: SecondEngine,
    active: Active,
    planned: PlannedFunction,
    case: ResolvedCase,
    checked: Checked,
) -> Checked:
    started = time.perf_counter()
    found = second.compare(active, planned.checkable, case, checked.result.checks)
    if found is None:
        return checked
    others = (check for check in checked.result.checks if check.rule != found.rule)
    took = time.perf_counter() - started
    result = checked.result
    result = structs.replace(
        result,
        checks=(*others, found),
        seconds=result.seconds + took,
        durations={**result.durations, found.rule: took} if planned.unit.settings.timed else {},
    )
    return structs.replace(checked, result=result)
