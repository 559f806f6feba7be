"""What a run of the gate is asked to do, and how it tells the caller what goes on."""

from __future__ import annotations

from typing import Protocol

import msgspec

from gradtool.results.report import CaseResult, FunctionResult


class ConfigOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration to use."""

    file: str | None = None
    """In place of the one found beside or above each module."""
    overrides: tuple[str, ...] = ()
    """``KEY=VALUE``: values in place of those of a file."""
    variables: tuple[str, ...] = ()
    """``GRADTOOL_TIMEOUT=120``: values given by the environment, which `overrides` override."""
    isolated: bool = False
    """No configuration file is read."""


class SelectionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The files, Functions and cases to check."""

    paths: tuple[str, ...] = ()
    """Files, folders, ``file.py::Function`` or ``file.py::Function[case]``."""
    exclude: tuple[str, ...] = ()
    """Patterns of paths left out when a folder is walked; they replace the configuration's."""
    keyword: str | None = None
    """``-k``: a boolean expression of words found in node ids, as pytest's."""
    shard: str | None = None
    """``2/5``: only the Functions that belong to the second of five parts."""
    changed_since: str | None = None
    """Only modules that a change since this commit of git can concern."""
    only_failed: tuple[str, ...] | None = None
    """Only these Functions, and all of these modules, by their node ids; None: all."""
    allow_empty: bool = False
    """A run that finds no Function is right, and a file that cannot hold one is not imported."""

    @property
    def narrowing(self) -> dict[str, object]:
        """The options that make a run a part of a larger one, by their flags; None if not given."""
        return {
            "-k": self.keyword,
            "--shard": self.shard,
            "--changed-since": self.changed_since,
            "--lf": self.only_failed,
        }


class RuleOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The rules to check."""

    select: tuple[str, ...] = ()
    """Codes or prefixes (``GT1``); empty means all."""
    ignore: tuple[str, ...] = ()
    no_ignores: bool = False
    """Report also what the configuration or a comment ignores for a reason."""


class NumericOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers that checks compute with, and where."""

    seed: int | None = None
    flake: int | None = None
    """How many seeds to make each check with, from `seed` on; None: one."""
    device: str | None = None
    engine: str | None = None
    """What ``import torch`` gives: ``bundled`` or ``torch``."""
    dtype: str | None = None
    """Overrides the dtype of floating tensors: ``float32`` or ``float64``."""
    atol: float | None = None
    rtol: float | None = None


class ExecutionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The processes that run the checked code, and their limits."""

    timeout: float | None = None
    """Seconds that one Function may take."""
    memory_limit: str | None = None
    """What one Function may take beyond what its process uses: ``4GiB``, or ``none``."""
    isolation: bool = False
    """The checked code runs in processes of its own, not in this one."""
    jobs: int | None = None
    """How many of these processes work at a time; None: one for each CPU."""
    pdb: bool = False
    """Open the debugger where the checked code raises; only without isolation."""
    executor: str = "local"
    """Where the processes are: ``local``, or ``dask`` for a cluster."""
    scheduler: str | None = None
    """Address of the scheduler of the cluster."""
    first: tuple[str, ...] = ()
    """These Functions, and those of these modules, are begun before the others."""


class Requirements(msgspec.Struct, frozen=True, kw_only=True):
    """What a run must have checked."""

    functions: int | None = None
    """How many Functions."""
    double_backward: bool = False
    """Every Function must pass double backward, or be excused for a reason."""


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of one run. None means: as the configuration or the default says."""

    config: ConfigOptions = ConfigOptions()
    selection: SelectionOptions = SelectionOptions()
    rules: RuleOptions = RuleOptions()
    numeric: NumericOptions = NumericOptions()
    execution: ExecutionOptions = ExecutionOptions()
    requirements: Requirements = Requirements()
    strict: bool | None = None
    """Warnings fail the gate too. None leaves it to the configuration."""
    command: str = ""
    """The command line as typed, kept in the report."""


class Watcher(Protocol):
    """Told what happens while a run is under way."""

    def started(self, functions: int) -> None:
        """All modules were looked through and `functions` Functions will be checked."""

    def case_started(self, node_id: str) -> None:
        """A case is about to be checked."""

    def case_finished(self, function: str, case: CaseResult) -> None:
        """A case has been checked."""

    def function_finished(self, path: str, function: FunctionResult) -> None:
        """All cases of a Function have been checked."""


class Unwatched:
    """A watcher that ignores everything."""

    def started(self, functions: int) -> None:
        """Do nothing."""

    def case_started(self, node_id: str) -> None:
        """Do nothing."""

    def case_finished(self, function: str, case: CaseResult) -> None:
        """Do nothing."""

    def function_finished(self, path: str, function: FunctionResult) -> None:
        """Do nothing."""
