"""Options of a run, grouped by concern, and the `Watcher` of its progress."""

from __future__ import annotations

from typing import Protocol

import msgspec

from gradtool.results.report import CaseResult, FunctionResult


class ConfigOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration to use."""

    file: str | None = None
    """Used instead of the one found in or above the folder of each module."""
    overrides: tuple[str, ...] = ()
    """``KEY=VALUE``: values that replace those of a file."""
    variables: tuple[str, ...] = ()
    """``GRADTOOL_TIMEOUT=120``: values given by the environment, which `overrides` override."""
    isolated: bool = False
    """No configuration file is read."""


class SelectionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The files, Functions and cases to check."""

    paths: tuple[str, ...] = ()
    """Files, folders, ``file.py::Function`` or ``file.py::Function[case]``."""
    packages: tuple[str, ...] = ()
    """Installed packages, whose modules that define Functions are checked too."""
    exclude: tuple[str, ...] = ()
    """Patterns of paths to skip when a folder is walked; they replace the configuration's."""
    keyword: str | None = None
    """``-k``: a boolean expression of words found in node ids, as pytest's."""
    shard: str | None = None
    """``2/5``: only the Functions that belong to the second of five parts."""
    changed_since: str | None = None
    """Only modules that a change since this commit can affect."""
    changed_files: tuple[str, ...] | None = None
    """Only modules that a change of these files, by their real paths, can affect; None: all."""
    only_failed: tuple[str, ...] | None = None
    """Only these Functions, and all of these modules, by their node ids; None: all."""
    allow_empty: bool = False
    """Pass a run without a Function, and do not import a file that cannot define one."""

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
    """Seeds, tolerances and dtype of checks, and the device and engine that compute them."""

    seed: int | None = None
    flake: int | None = None
    """Number of seeds for each check, from `seed` on; None: one."""
    device: str | None = None
    engine: str | None = None
    """Engine that ``import torch`` gives: ``bundled`` or ``torch``."""
    dtype: str | None = None
    """Overrides the dtype of floating tensors: ``float32`` or ``float64``."""
    atol: float | None = None
    rtol: float | None = None
    witness: bool | None = None
    """Differentiate the recorded forward too, beside the evaluations."""
    explore: str | None = None
    """Effort to find arguments beside the cases at which a Function is wrong."""


class ExecutionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The processes that run the checked code, and their limits."""

    timeout: float | None = None
    """Seconds that one Function may take."""
    memory_limit: str | None = None
    """Memory that one Function may use beyond its process: ``4GiB``, or ``none``."""
    isolation: bool = False
    """Run the checked code in worker processes."""
    jobs: int | None = None
    """Number of worker processes at a time; None: one for each CPU."""
    pdb: bool = False
    """Open the debugger where the checked code raises; only without isolation."""
    executor: str = "local"
    """Location of the workers: ``local``, or ``dask`` for a cluster."""
    scheduler: str | None = None
    """Address of the scheduler of the cluster."""
    timed: bool = False
    """Report the seconds of each rule and of exploring."""
    first: tuple[str, ...] = ()
    """Node ids of Functions and modules to check before the others."""


class Requirements(msgspec.Struct, frozen=True, kw_only=True):
    """Minimum that a run must have checked."""

    functions: int | None = None
    """Number of Functions."""
    double_backward: bool = False
    """Every Function must pass double backward, or be excused for a reason."""


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of one run. None means the value of the configuration, or the default."""

    config: ConfigOptions = ConfigOptions()
    selection: SelectionOptions = SelectionOptions()
    rules: RuleOptions = RuleOptions()
    numeric: NumericOptions = NumericOptions()
    execution: ExecutionOptions = ExecutionOptions()
    requirements: Requirements = Requirements()
    strict: bool | None = None
    """Treat warnings as failures."""
    command: str = ""
    """The command line as typed, kept in the report."""


class Watcher(Protocol):
    """Receiver of the progress of a run."""

    def started(self, functions: int) -> None:
        """All modules were searched; `functions` Functions will be checked."""

    def case_started(self, node_id: str) -> None:
        """A case is about to be checked."""

    def case_finished(self, function: str, case: CaseResult) -> None:
        """A case has been checked."""

    def exploring(self, node_id: str, what: str) -> None:
        """A Function is explored beside its cases: `what` is tried."""

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

    def exploring(self, node_id: str, what: str) -> None:
        """Do nothing."""

    def function_finished(self, path: str, function: FunctionResult) -> None:
        """Do nothing."""
