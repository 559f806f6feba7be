"""A run: see what there is, have every case checked, and report."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Sequence

from gradtool.adapters.engines import require_engine, shown
from gradtool.checking.unit import Done, Unit
from gradtool.config.options import CheckOptions, Watcher
from gradtool.config.schema import CaseConfig
from gradtool.config.settings import Settings
from gradtool.package import __version__
from gradtool.policy.flaky_seeds import Folded, folded, with_seeds
from gradtool.policy.requirements import held_to
from gradtool.policy.rule_infos import rulebook
from gradtool.policy.tolerances import in_force
from gradtool.results.report import Environment, Family, ModuleResult, OwnFault, Report
from gradtool.run.executors.executor import Executor, Outcome, executing
from gradtool.run.order import checked_in_order
from gradtool.run.run_plan import Agenda, Module
from gradtool.run.watching import Unwatched
from gradtool.verify.rules import RULES


def check(options: CheckOptions, watcher: Watcher | None = None) -> Report:
    """Check what `options` name.

    An interrupt ends the run early; its report holds what was done and says so.

    Raises:
        UsageError: The run cannot start as asked.
    """
    started = time.perf_counter()
    with executing(options) as executor:
        run = _Run(options, executor)
        try:
            run.check(watcher or Unwatched())
        except KeyboardInterrupt:
            run.interrupted = True
    return run.report(time.perf_counter() - started)


def collect(options: CheckOptions) -> tuple[ModuleResult, ...]:
    """The modules, Functions and cases that `check` would check, none of them checked.

    Raises:
        UsageError: The run cannot start as asked.
    """
    return collect_with_cases(options)[0]


def collect_with_cases(
    options: CheckOptions,
) -> tuple[tuple[ModuleResult, ...], dict[str, tuple[CaseConfig | None, ...]]]:
    """What `collect` gives, and for each Function, by node id, its cases as they are written.

    Raises:
        UsageError: The run cannot start as asked.
    """
    with executing(options) as executor:
        run = _Run(options, executor)
        run.plan()
        done = executor.collect(run.units)
        cases = {unit.node: each.cases for unit, each in zip(run.units, done, strict=True)}
        return run.results(done), cases


class _Run:
    """One run, as far as it has come."""

    def __init__(self, options: CheckOptions, executor: Executor) -> None:
        self.interrupted = False
        self._agenda = Agenda(options)
        self._executor = executor
        self._options = options
        self._modules: list[Module] = []
        self._outcome = Outcome([])

    def plan(self) -> None:
        """Find out what there is to check."""
        for engine in self._agenda.engines:
            require_engine(engine)
        self._executor.require_devices(self._agenda.devices)
        self._modules = self._agenda.modules(self._executor.survey(self._agenda.surveys()))

    @property
    def units(self) -> list[Unit]:
        """All that there is to check."""
        return [unit for module in self._modules for unit in module.units]

    @property
    def _asked(self) -> list[Unit]:
        """The same, with each of the seeds."""
        return with_seeds(self.units, self._options.flake or 1)

    def check(self, watcher: Watcher) -> None:
        """Find out what there is to check, and check it."""
        self.plan()
        units = self._asked
        watcher.started(len(units))
        first = self._options.first
        self._outcome = checked_in_order(self._executor, units, first, watcher)
        self.interrupted = self._outcome.interrupted

    def results(self, done: Sequence[Done | None]) -> tuple[ModuleResult, ...]:
        """The results of units in the order of `units`, by module."""
        answers = iter(done)
        modules = [(module, _answered(module, answers)) for module in self._modules]
        return tuple(
            ModuleResult(
                path=module.shown,
                functions=tuple(each.function for each in found),
                checks=(module.problem,) if module.problem else (),
            )
            for module, found in modules
            if found or not module.units
        )

    def _heeded(self, done: Sequence[Done | None]) -> list[Done | None]:
        """The answers without what comments ignore."""
        if self._options.no_ignores:
            return list(done)
        heeded = self._agenda.ignores.heeded
        return [each and heeded(each, unit) for each, unit in zip(done, self._asked, strict=False)]

    def _folded(self) -> Folded:
        """One answer for each of `units`."""
        done = self._heeded(self._outcome.done)
        count = self._options.flake or 1
        return Folded(done) if count == 1 else folded(self.units, done, count)

    def _notices(self, found: Folded, modules: Sequence[ModuleResult]) -> tuple[str, ...]:
        lines = [*self._agenda.notices.lines(modules), *self._agenda.selection.notices]
        lines += in_force(modules)
        if self._options.flake and not self.interrupted:
            same = f"no verdict differs between {self._options.flake} seeds"
            lines += found.differing or ([same] if modules else [])
        lines += map(_incomplete, self._outcome.faults)
        return tuple(lines)

    def report(self, seconds: float) -> Report:
        """All that was found out."""
        agenda, options = self._agenda, self._options
        found = self._folded()
        done = found.done
        modules = self.results(done)
        report = Report(
            environment=environment(self._executor.numpy, agenda.settings),
            command=self._options.command,
            seed=agenda.settings.seed,
            seeds=options.flake or 1,
            strict=agenda.strict,
            modules=modules,
            configs=agenda.configs,
            left_out=left_out(agenda.settings),
            deselected=sum(each.deselected for each in done if each),
            passed_over=tuple(agenda.selection.passed_over),
            may_be_empty=self._options.allow_empty or agenda.selection.is_unchanged,
            notices=self._notices(found, modules),
            rules=rulebook(modules),
            faults=self._outcome.faults,
            seconds=seconds,
            interrupted=self.interrupted,
            shard=agenda.shard(),
        )
        return held_to(report, options.require_functions, options.require_double_backward)


def _incomplete(fault: OwnFault) -> str:
    return f"warning: gradtool itself failed at {fault.node}: {fault.summary}"


def _answered(module: Module, answers: Iterator[Done | None]) -> list[Done]:
    """The next answers, one for each unit of the module, without those that say nothing."""
    found = [next(answers, None) for _ in module.units]
    return [each for each in found if each is not None and not each.unwanted]


def environment(numpy: str, settings: Settings) -> Environment:
    """What the run ran on; `numpy` is the version of the work, empty if none was begun."""
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
    """The rules that are neither asked nor ignored for a reason, which is told of each case."""
    known = {code for code in RULES if code not in Family.RUNNING}
    return tuple(sorted(known.difference(settings.codes, settings.ignored)))
