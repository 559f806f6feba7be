"""Options that no run can start with, refused before anything is loaded."""

from __future__ import annotations

import math

from gradtool.collect.filters import parse_shard
from gradtool.config.options import (
    CheckOptions,
    ExecutionOptions,
    NumericOptions,
    SelectionOptions,
)
from gradtool.config.resources import DTYPES, EXECUTORS, EXPLORE, parse_size
from gradtool.errors import UsageError
from gradtool.spelling import known_names
from gradtool.verify.rules import codes


def require_valid(options: CheckOptions) -> None:
    """Refuse what the command line cannot mean.

    Raises:
        UsageError: A value is out of range, or a rule does not exist.
    """
    if not (options.selection.paths or options.selection.packages):
        raise UsageError("nothing to check: name a file or a folder")
    codes.require_known(options.rules.select, "--select")
    codes.require_known(options.rules.ignore, "--ignore")
    _require_valid_numbers(options.numeric)
    if options.requirements.functions is not None:
        _refuse_requirements_of_parts(options.selection)
    _require_valid_processes(options.execution)
    if options.selection.shard is not None:
        parse_shard(options.selection.shard)


def _require_valid_numbers(options: NumericOptions) -> None:
    if options.dtype is not None and options.dtype not in DTYPES:
        raise UsageError(f"--dtype: unknown {options.dtype!r}{known_names(options.dtype, DTYPES)}")
    if options.explore is not None and options.explore not in EXPLORE:
        raise UsageError(
            f"--explore: unknown {options.explore!r}{known_names(options.explore, EXPLORE)}"
        )
    if options.seed is not None and options.seed < 0:
        raise UsageError(f"--seed must be 0 or more, got {options.seed}")
    for flag, value in (("--atol", options.atol), ("--rtol", options.rtol)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise UsageError(f"{flag} must be finite and not negative, got {value}")


def _require_valid_processes(options: ExecutionOptions) -> None:
    """Refuse what the command line cannot mean about where the checked code runs."""
    if options.timeout is not None and not options.timeout > 0:
        raise UsageError(f"--timeout must be above 0, got {options.timeout}")
    if options.memory_limit is not None:
        try:
            parse_size(options.memory_limit)
        except ValueError as error:
            raise UsageError(f"--memory-limit {error}") from None
    if not options.isolation and (options.jobs or 1) > 1:
        raise UsageError("-j needs isolation: omit --no-isolation and --pdb")
    if options.executor not in EXECUTORS:
        known = known_names(options.executor, EXECUTORS)
        raise UsageError(f"--executor: unknown {options.executor!r}{known}")
    if (options.executor == "dask") != (options.scheduler is not None):
        raise UsageError("--executor dask and --scheduler ADDRESS must be used together")


def _refuse_requirements_of_parts(options: SelectionOptions) -> None:
    """Refuse to require a number of Functions of only part of a run."""
    for flag, value in options.narrowing.items():
        if value is not None:
            more = "; pass --require-functions to gradtool merge" if flag == "--shard" else ""
            raise UsageError(f"--require-functions needs a complete run: omit {flag}{more}")
