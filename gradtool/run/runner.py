"""A run: see what there is, have every case checked, and report."""

from __future__ import annotations

import itertools
import os
import platform
import time
from collections.abc import Collection, Sequence

import msgspec

from gradtool.adapters.engines import require_engine, shown
from gradtool.checking.unit import Discovery, Unit, UnitResult
from gradtool.collect.loader import LoadError, digest, read_source
from gradtool.config.options import CheckOptions, Unwatched, Watcher
from gradtool.config.schema import CaseConfig
from gradtool.config.settings import Settings
from gradtool.errors import UsageError
from gradtool.findings.could_not_run import source_changed
from gradtool.package import __version__
from gradtool.policy.changes import RunSettings, apply
from gradtool.policy.pipeline import policies_of_listing, policies_of_run
from gradtool.results.report import (
    CheckResult,
    Environment,
    Family,
    FunctionResult,
    Location,
    ModuleResult,
    Report,
)
from gradtool.run.executors.executor import Executor, UnitResults
from gradtool.run.executors.selection import open_executor
from gradtool.run.run_plan import Module, RunPlan
from gradtool.verify.rules import RULES, codes

_LARGEST_SEED = 2**64 - 1


def check(options: CheckOptions, watcher: Watcher | None = None) -> Report:
    """Check what `options` name.

    An interrupt ends the run early; its report holds what was done and says so.

    Raises:
        UsageError: The run cannot start.
    """
    started = time.perf_counter()
    with open_executor(options.execution) as executor:
        run = _Run(options, executor)
        try:
            run.check(watcher or Unwatched())
        except KeyboardInterrupt:
            run.interrupted = True
    return run.report(time.perf_counter() - started)


def collect(options: CheckOptions) -> tuple[ModuleResult, ...]:
    """The modules, Functions and cases that `check` would check, none of them checked.

    Raises:
        UsageError: The run cannot start.
    """
    return collect_with_cases(options)[0]


def collect_with_cases(
    options: CheckOptions,
) -> tuple[tuple[ModuleResult, ...], dict[str, tuple[CaseConfig | None, ...]]]:
    """The result of `collect`, and for each Function, by node id, its cases as a file writes them.

    Raises:
        UsageError: The run cannot start.
    """
    with open_executor(options.execution) as executor:
        run = _Run(options, executor)
        run.plan()
        done = executor.collect(run.units)
        cases = {unit.node: each.cases for unit, each in zip(run.units, done, strict=True)}
        return run.listed(done), cases


def discover(plan: RunPlan, executor: Executor, discoveries: Sequence[Discovery]) -> list[Module]:
    """Find the Functions of the modules that `discoveries`, those of `plan`, name.

    Raises:
        UsageError: An engine, a device or a requested name is not there.
    """
    for engine in plan.engines:
        require_engine(engine)
    executor.require_devices(plan.devices)
    return plan.modules(executor.discover(discoveries))


class _Run:
    """One run, as far as it has come."""

    def __init__(self, options: CheckOptions, executor: Executor) -> None:
        self.interrupted = False
        self._plan = RunPlan(options)
        self._executor = executor
        self._options = options
        self._modules: list[Module] = []
        self._outcome = UnitResults([])

    def plan(self) -> None:
        """Find out what there is to check."""
        self._modules = discover(self._plan, self._executor, self._plan.discoveries())

    @property
    def units(self) -> list[Unit]:
        """All that there is to check."""
        return [unit for module in self._modules for unit in module.units]

    def check(self, watcher: Watcher) -> None:
        """Find out what there is to check, and check it."""
        self.plan()
        units = with_seeds(self.units, self._seeds)
        watcher.started(len(units))
        self._outcome = check_in_order(
            self._executor, units, self._options.execution.first, watcher
        )
        self.interrupted = self._outcome.interrupted

    def listed(self, done: Sequence[UnitResult]) -> tuple[ModuleResult, ...]:
        """The modules with their Functions and cases; `done` is in the order of `units`."""
        raw = Report(environment=self._environment(), modules=self._results(done, 1))
        return apply(policies_of_listing(self._scope(done)), raw).modules

    def report(self, seconds: float) -> Report:
        """Everything that was found out."""
        options, done = self._options, self._outcome.done
        policies = policies_of_run(
            self._scope(done),
            None if options.rules.no_ignores else self._plan.comments,
            seeds=self._seeds,
            requirements=options.requirements,
        )
        return apply(policies, self._raw_report(seconds))

    @property
    def _seeds(self) -> int:
        return self._options.numeric.flake or 1

    def _raw_report(self, seconds: float) -> Report:
        """The results of the checks, before any policy."""
        plan, done = self._plan, self._outcome.done
        modules = self._results(done, self._seeds)
        return Report(
            environment=self._environment(),
            command=self._options.command,
            seed=plan.settings.seed,
            seeds=self._seeds,
            strict=plan.strict,
            modules=modules,
            configs=plan.configs,
            left_out=left_out(plan.settings),
            deselected=sum(map(self._deselected, range(len(self.units)))),
            passed_over=plan.selection.passed_over,
            may_be_empty=self._options.selection.allow_empty or plan.selection.is_unchanged,
            notices=(*_of_isolation(), *plan.notices.lines(modules), *plan.selection.notices),
            faults=self._outcome.faults,
            seconds=seconds,
            interrupted=self.interrupted,
            shard=plan.shard(self._unmatched()),
        )

    def _unmatched(self) -> list[str]:
        done = self._outcome.done
        units = zip(self.units, done, strict=False)
        return [unit.node for unit, each in units if each is not None and each.unwanted]

    def _deselected(self, place: int) -> int:
        """Cases that ``-k`` deselected of the unit at `place`, with its first seed."""
        # Results are by seed, then by unit; a unit's are as many apart as there are units.
        by_seed = self._outcome.done[place :: len(self.units)]
        return next((each.deselected for each in by_seed if each), 0)

    def _environment(self) -> Environment:
        return environment(self._executor.numpy, self._plan.settings)

    def _scope(self, done: Sequence[UnitResult | None]) -> RunSettings:
        units = self.units
        return RunSettings(
            units={unit.node: unit for unit in units},
            modules={module.shown: module.settings for module in self._modules},
            partial=frozenset(
                unit.node
                for unit, each in zip(units, done, strict=False)
                if each and each.deselected
            ),
        )

    def _results(self, done: Sequence[UnitResult | None], seeds: int) -> tuple[ModuleResult, ...]:
        """The results by module, those of a Function with several seeds in a row."""
        places = itertools.count()
        count = len(self.units)
        modules = []
        for module in self._modules:
            found = [_functions(unit, done[next(places) :: count], seeds) for unit in module.units]
            functions = tuple(itertools.chain.from_iterable(found))
            if functions or not module.units:
                problem = (module.problem,) if module.problem else ()
                modules.append(
                    ModuleResult(
                        path=module.shown,
                        digest=module.digest,
                        functions=functions,
                        checks=problem or _change_of(module, functions),
                    )
                )
        return tuple(modules)


def _change_of(module: Module, functions: Sequence[FunctionResult]) -> tuple[CheckResult, ...]:
    """GT010 if the file is no longer what was checked, and no Function has it already."""
    if any(check.rule == codes.SOURCE_CHANGED for each in functions for check in each.checks):
        return ()
    try:
        is_changed = digest(read_source(module.path)) != module.digest
    except LoadError:
        is_changed = True
    if not module.digest or not is_changed:
        return ()
    return (source_changed(module.shown, module.shown, module.settings),)


def _functions(unit: Unit, done: Sequence[UnitResult | None], seeds: int) -> list[FunctionResult]:
    """The results of a unit, one for each seed; none where there is nothing to report."""
    if not any(each and not each.unwanted for each in done):
        return []
    missing = [None] * (seeds - len(done))
    nothing = FunctionResult(name=unit.function, location=Location(path=unit.shown, line=unit.line))
    return [each.function if each else nothing for each in (*done, *missing)]


def check_in_order(
    executor: Executor, units: Sequence[Unit], first: Collection[str], watcher: Watcher
) -> UnitResults:
    """Check `units`; the results come in their order, not in that of the work.

    So a report does not depend on what ``--ff`` begins with.

    Args:
        executor: Where the work is done.
        units: What there is to check.
        first: Node ids of Functions, and paths of modules, that are begun before the others.
        watcher: Hears of the work.

    Raises:
        UsageError: A Function has no case of the name that was asked for.
    """
    nodes = frozenset(first)
    # sorted() is stable, so the others keep their order.
    places = sorted(range(len(units)), key=lambda at: not _is_among(units[at], nodes))
    results = executor.check([units[place] for place in places], watcher)
    done: list[UnitResult | None] = [None] * len(units)
    for place, answer in zip(places, results.done, strict=True):
        done[place] = answer
    return UnitResults(done, results.interrupted, results.faults)


def _is_among(unit: Unit, nodes: frozenset[str]) -> bool:
    return unit.node in nodes or unit.shown in nodes


def with_seeds(units: Sequence[Unit], count: int) -> list[Unit]:
    """All units with their seed, then all with the next, `count` times.

    Raises:
        UsageError: The last seed is no machine integer.
    """
    first = max((unit.settings.seed for unit in units), default=0)
    if first > _LARGEST_SEED - (count - 1):
        raise UsageError(f"--flake {count} starting at seed {first} goes beyond the largest seed")
    return [_with_seed_moved(unit, by) for by in range(count) for unit in units]


def _with_seed_moved(unit: Unit, by: int) -> Unit:
    settings = msgspec.structs.replace(unit.settings, seed=unit.settings.seed + by)
    return msgspec.structs.replace(unit, settings=settings) if by else unit


def _of_isolation() -> tuple[str, ...]:
    """Warn where the system, and no option, keeps modules from being isolated."""
    if hasattr(os, "fork"):
        return ()
    return (
        "not isolated: this system has no fork, so one checked module can change the verdicts on "
        "the others; see `gradtool doctor`",
    )


def environment(numpy: str, settings: Settings) -> Environment:
    """The versions and hardware of a run; `numpy` is empty if the executor did nothing."""
    return Environment(
        gradtool=__version__,
        python=platform.python_version(),
        numpy=numpy or _installed("numpy"),
        platform=f"{platform.system()} {platform.machine()}",
        engine=shown(settings.engine),
        device=settings.device,
    )


def _installed(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


def left_out(settings: Settings) -> tuple[str, ...]:
    """The rules that are neither checked nor ignored for a reason, which each case reports."""
    known = {code for code in RULES if code not in Family.RUNNING}
    return tuple(sorted(known.difference(settings.codes, settings.ignored)))
