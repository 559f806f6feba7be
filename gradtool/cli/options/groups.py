"""The options of ``gradtool check`` in groups, each of which becomes a group of `CheckOptions`.

The command takes one argument for each group; `expanded` declares their fields to Typer.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_type_hints

import msgspec
from msgspec import structs

from gradtool.adapters.engines import ENGINES
from gradtool.cli.options import declared as cli
from gradtool.cli.options.choices import choose, printed_form, split
from gradtool.config.resources import DTYPES, EXECUTORS, EXPLORE

if TYPE_CHECKING:
    from gradtool.cli.output.display import Display
    from gradtool.config.options import (
        ConfigOptions,
        ExecutionOptions,
        NumericOptions,
        Requirements,
        RuleOptions,
        SelectionOptions,
    )
    from gradtool.report.terminal.console import Color

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T")


class _Group(msgspec.Struct, frozen=True, eq=False):
    """A group of options, each of which has a default."""


def expanded(command: F) -> F:
    """A command whose parameters are the fields of the groups that `command` takes."""
    groups: dict[str, type[_Group]] = {}
    parameters: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if isinstance(kind, type) and issubclass(kind, _Group):
            groups[parameter.name] = kind
            parameters += _fields(kind)
        else:
            parameters.append(
                parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY)
            )

    @wraps(command)
    def called(**given: Any) -> object:
        for name, kind in groups.items():
            given[name] = kind(**{field: given.pop(field) for field in kind.__struct_fields__})
        return command(**given)

    vars(called)["__signature__"] = inspect.Signature(parameters)
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    del vars(called)["__wrapped__"]
    return cast("F", called)


def _fields(group: type[_Group]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=hints[field],
        )
        for field, default in zip(group.__struct_fields__, group.__struct_defaults__, strict=True)
    ]


class ConfigGroup(_Group, frozen=True):
    """The configuration to use."""

    config: cli.Config = None
    isolated: cli.Isolated = False

    def options(self) -> ConfigOptions:
        """The group of `CheckOptions`."""
        return configured(self.config, self.isolated)


class SelectionGroup(_Group, frozen=True):
    """The Functions and cases to check."""

    packages: cli.Packages = None
    keyword: cli.Keyword = None
    exclude: cli.Exclude = None
    shard: cli.Shard = None
    changed_since: cli.ChangedSince = None
    allow_empty: cli.AllowEmpty = False

    def options(self, paths: Sequence[str]) -> SelectionOptions:
        """The group of `CheckOptions`."""
        from gradtool.config.options import SelectionOptions

        return SelectionOptions(
            paths=tuple(paths),
            **{
                **structs.asdict(self),
                "packages": tuple(self.packages or ()),
                "exclude": split(self.exclude),
            },
        )


class RuleGroup(_Group, frozen=True):
    """The rules to check."""

    select: cli.Select = None
    ignore: cli.Ignore = None
    no_ignores: cli.NoIgnores = False

    def options(self) -> RuleOptions:
        """The group of `CheckOptions`."""
        from gradtool.config.options import RuleOptions

        return RuleOptions(
            select=split(self.select), ignore=split(self.ignore), no_ignores=self.no_ignores
        )


class NumericGroup(_Group, frozen=True):
    """The numbers that checks compute with, and where."""

    seed: cli.Seed = None
    flake: cli.Flake = None
    device: cli.Device = None
    engine: cli.Engine = None
    dtype: cli.Dtype = None
    atol: cli.Atol = None
    rtol: cli.Rtol = None
    witness: cli.Witness = None
    explore: cli.Explore = None

    def options(self) -> NumericOptions:
        """The group of `CheckOptions`.

        Raises:
            UsageError: There is no such engine or dtype.
        """
        from gradtool.config.options import NumericOptions

        if self.engine is not None:
            choose(self.engine, ENGINES, "value of --engine:")
        if self.dtype is not None:
            choose(self.dtype, DTYPES, "value of --dtype:")
        if self.explore is not None:
            choose(self.explore, EXPLORE, "value of --explore:")
        return NumericOptions(**structs.asdict(self))


class ExecutionGroup(_Group, frozen=True):
    """The processes that run the checked code."""

    timeout: cli.Timeout = None
    memory_limit: cli.MemoryLimit = None
    jobs: cli.Jobs = None
    no_isolation: cli.NoIsolation = False
    pdb: cli.Pdb = False
    executor: cli.Executor = "local"
    scheduler: cli.Scheduler = None

    def options(self, *, timed: bool) -> ExecutionOptions:
        """The group of `CheckOptions`; a `timed` run reports the seconds of each rule.

        Raises:
            UsageError: There is no such executor, or ``-j`` is no number.
        """
        from gradtool.config.options import ExecutionOptions

        return ExecutionOptions(
            timeout=self.timeout,
            memory_limit=self.memory_limit,
            isolation=not self.no_isolation and not self.pdb and hasattr(os, "fork"),
            jobs=_number_of(self.jobs),
            pdb=self.pdb,
            executor=choose(self.executor, EXECUTORS, "value of --executor:"),
            scheduler=self.scheduler,
            timed=timed,
        )


def _number_of(jobs: str | None) -> int | None:
    """The number after ``-j``; None stands for one per CPU."""
    if jobs is None or jobs == "auto":
        return None
    if not jobs.isdecimal() or int(jobs) < 1:
        from gradtool.errors import UsageError

        raise UsageError(f"-j must be auto or a whole number greater than 0, got {jobs!r}")
    return int(jobs)


class HistoryGroup(_Group, frozen=True):
    """The results of earlier runs, and their use in this one."""

    baseline: cli.Baseline = None
    write_baseline: cli.WriteBaseline = False
    baseline_commit: cli.BaselineCommit = None
    last_failed: cli.LastFailed = False
    failed_first: cli.FailedFirst = False
    no_cache: cli.NoCache = False

    @property
    def baseline_file(self) -> str | None:
        """The baseline of the run, if it has one."""
        from gradtool.policy.baseline import FILE_NAME

        return self.baseline or (FILE_NAME if self.write_baseline else None)


class RequirementGroup(_Group, frozen=True):
    """The checks that a run must have made."""

    require_functions: cli.RequireFunctions = None
    require_double_backward: cli.RequireDoubleBackward = False

    def options(self) -> Requirements:
        """The group of `CheckOptions`."""
        from gradtool.config.options import Requirements

        return Requirements(
            functions=self.require_functions, double_backward=self.require_double_backward
        )


class OutputGroup(_Group, frozen=True):
    """The printed output, and the reports to write."""

    form: cli.Format = None
    reports: cli.Reports = None
    quiet: cli.Quiet = 0
    verbose: cli.Verbose = 0
    durations: cli.Durations = None
    color: cli.Color = "auto"

    def display(self) -> Display:
        """The printed output.

        Raises:
            UsageError: There is no such format or colour.
        """
        from gradtool.cli.output.display import Display

        return Display(
            form=self.form and printed_form(self.form),
            color=cast("Color", choose(self.color, cli.COLORS, "value of --color:")),
            verbosity=self.verbose - self.quiet,
            durations=self.durations,
        )


def configured(given: Sequence[str] | None, isolated: bool) -> ConfigOptions:
    """The configuration to use, by options and by the environment.

    Args:
        given: What ``--config`` was given: a file, and ``KEY=VALUE`` pairs.
        isolated: ``--isolated`` was given.

    Raises:
        UsageError: Two files were given, or a variable is misspelt.
    """
    from gradtool.config.environment import of_environment
    from gradtool.config.options import ConfigOptions
    from gradtool.config.overrides import split_config

    file, pairs = split_config(given or ())
    variables = of_environment(os.environ)
    return ConfigOptions(file=file, overrides=pairs, variables=variables, isolated=isolated)
