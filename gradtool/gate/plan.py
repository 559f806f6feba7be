"""What a run will check: modules, their Functions, and the cases of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gradtool.gate.cases import ResolvedCase, given_cases, resolve_cases
from gradtool.gate.config import Config
from gradtool.gate.config_format import CaseConfig, Defaults, FunctionConfig
from gradtool.gate.configs import Configs
from gradtool.gate.deadline import TimedOut, deadline
from gradtool.gate.devices import require_device
from gradtool.gate.discover import can_define_functions, discover, named
from gradtool.gate.findings import no_case, not_imported
from gradtool.gate.keyword import Predicate, parse_keyword
from gradtool.gate.load import LoadedModule, Loader, LoadError, parse
from gradtool.gate.no_case import NoCase
from gradtool.gate.notices import Notices
from gradtool.gate.options import CheckOptions, UsageError
from gradtool.gate.samples import as_case
from gradtool.gate.settings import Settings, settings_for
from gradtool.gate.subject import Subject
from gradtool.gate.suggest import known_names
from gradtool.gate.targets import Target, find_targets
from gradtool.gate.validate import require_valid
from gradtool.results import CheckResult


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One Function of one module: the unit of work.

    It is plain data and all there is to know, so that another process can do the work.
    """

    path: str
    shown: str
    function: str
    settings: Settings
    cases: tuple[CaseConfig, ...] = ()
    """Those of the configuration; without any the other sources are asked."""

    @property
    def node(self) -> str:
        """``path/mod.py::Function``."""
        return f"{self.shown}::{self.function}"


@dataclass
class PlannedFunction:
    """A unit, the Function it speaks of, and its cases or why it has none."""

    unit: Unit
    subject: Subject
    cases: list[ResolvedCase] = field(default_factory=list)
    problem: CheckResult | None = None


@dataclass
class PlannedModule:
    """A file of a run. If it could not be loaded, its checks say why."""

    shown: str
    functions: list[PlannedFunction] = field(default_factory=list)
    checks: tuple[CheckResult, ...] = ()
    loaded: LoadedModule | None = None
    """None when it could not be loaded, or was imported by whoever asks."""

    def active(self) -> AbstractContextManager[None]:
        """In this context its code can run."""
        return self.loaded.active() if self.loaded else nullcontext()


@dataclass
class Plan:
    """All that a run will do, and what holds for the whole of it."""

    modules: list[PlannedModule]
    notices: tuple[str, ...]
    settings: Settings
    """Those of the first module: its seed and device stand for the run's."""
    strict: bool
    configs: tuple[str, ...] = ()
    """Configuration files that were read, as reports show them."""
    deselected: int = 0
    """Cases that ``-k`` did not match."""


def make_plan(options: CheckOptions) -> Plan:
    """Load what `options` name and find the cases.

    Raises:
        UsageError: The options, a configuration or a name in them is wrong.
    """
    require_valid(options)
    planner = _Planner(options)
    targets = find_targets(options.paths, planner.configs.excludes)
    used = [planner.configs.nearest(target.path) for target in targets] or [Config()]
    settings = [settings_for(options, config.check, FunctionConfig()) for config in used]
    for device in dict.fromkeys(each.device for each in settings):
        require_device(device)
    modules = [module for target in targets for module in planner.plan(target)]
    strict = any(config.check.strict for config in used)
    return Plan(
        modules=modules,
        notices=planner.notices.lines(modules),
        settings=settings[0],
        strict=strict if options.strict is None else options.strict,
        configs=planner.configs.read(),
        deselected=planner.deselected,
    )


class _Planner:
    """Plans one file after the other."""

    def __init__(self, options: CheckOptions) -> None:
        self.configs = Configs(options)
        self.notices = Notices(options)
        self.deselected = 0
        self._options = options
        self._wanted: Predicate = (
            parse_keyword(options.keyword) if options.keyword is not None else lambda _: True
        )
        self._loader = Loader()

    def plan(self, target: Target) -> Iterator[PlannedModule]:
        """The module of `target`; nothing when a walk met it and it has no Function."""
        config = self.configs.nearest(target.path)
        try:
            if not target.named and not can_define_functions(parse(target.path)):
                self.notices.passed_over(target)
                return
            loaded = self._loader.load(target.path)
        except LoadError as error:
            settings = settings_for(self._options, config.check, FunctionConfig())
            yield PlannedModule(target.shown, checks=(not_imported(target.shown, error, settings),))
            return
        with loaded.active():
            yield from self._plan_loaded(target, loaded, config)

    def _plan_loaded(
        self, target: Target, loaded: LoadedModule, config: Config
    ) -> Iterator[PlannedModule]:
        if target.functions is None:
            subjects = discover(loaded, target.shown)
        else:
            subjects = named(loaded, target.shown, target.functions)
        if not subjects:
            self.notices.passed_over(target)
        self.notices.discovered(target, config, [subject.name for subject in subjects])
        planned = [self._plan_function(target, subject, config) for subject in subjects]
        functions = [function for function in planned if function.cases or function.problem]
        if functions or (target.named and not subjects):
            yield PlannedModule(target.shown, functions, loaded=loaded)

    def _plan_function(self, target: Target, subject: Subject, config: Config) -> PlannedFunction:
        said = config.function(target.path, subject.name)
        unit = Unit(
            path=str(subject.file),
            shown=target.shown,
            function=subject.name,
            settings=settings_for(self._options, config.check, said),
            cases=said.cases,
        )
        planned = plan_unit(unit, subject)
        only = (target.functions or {}).get(subject.name)
        if only and planned.problem is None:
            planned.cases = _chosen(unit, planned.cases, only)
        found = len(planned.cases)
        planned.cases = [c for c in planned.cases if self._wanted(f"{unit.node}[{c.name}]")]
        self.deselected += found - len(planned.cases)
        if not self._wanted(unit.node):
            planned.problem = None
        return planned


def plan_unit(unit: Unit, subject: Subject) -> PlannedFunction:
    """Find the cases of one Function; having none is a finding."""
    return _planned(unit, subject, lambda: resolve_cases(subject, unit.settings, unit.cases))


def plan_subject(subject: Subject, cases: list[Any] | None, options: CheckOptions) -> Plan:
    """The plan to check `subject` alone, at `cases` when a test suite gives them.

    Raises:
        UsageError: The options are wrong.
    """
    require_valid(options)
    settings = settings_for(options, Defaults(), FunctionConfig())
    settings = msgspec.structs.replace(settings, replayable=cases is None, timeout=None)
    shown = subject.location.path
    unit = Unit(path=str(subject.file), shown=shown, function=subject.name, settings=settings)
    if cases is None:
        planned = plan_unit(unit, subject)
    else:
        planned = _planned(unit, subject, lambda: _given(subject, settings, cases))
    return Plan([PlannedModule(shown, [planned])], (), settings, strict=False)


def _given(subject: Subject, settings: Settings, cases: list[Any]) -> list[ResolvedCase]:
    if not cases:
        raise NoCase("no case was given")
    return given_cases(subject, settings, [as_case(case, "a case is") for case in cases], "cases")


def _planned(
    unit: Unit, subject: Subject, cases: Callable[[], list[ResolvedCase]]
) -> PlannedFunction:
    try:
        with deadline(unit.settings.timeout):
            return PlannedFunction(unit, subject, cases())
    except NoCase as error:
        reason = error
    except TimedOut:
        reason = NoCase(
            f"finding arguments took longer than {unit.settings.timeout:g} s and was stopped",
            hint="mend an endless loop, or give it cases in gradtool.yaml",
        )
    problem = no_case(unit.node, subject, reason, unit.settings)
    return PlannedFunction(unit, subject, problem=problem)


def _chosen(unit: Unit, cases: list[ResolvedCase], names: set[str]) -> list[ResolvedCase]:
    known = [case.name for case in cases]
    for name in sorted(names.difference(known)):
        raise UsageError(f"{unit.node} has no case {name!r}{known_names(name, known)}")
    return [case for case in cases if case.name in names]
