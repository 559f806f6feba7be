"""What holds for one Function once flags, its configuration and defaults are weighed.

A flag overrides the file, and the file the default. Settings are plain data, so that a
unit of work can be handed to another process.
"""

from __future__ import annotations

import shlex
from datetime import date
from typing import TypeVar

import msgspec

from gradtool.config.environment import as_pair
from gradtool.config.options import CheckOptions
from gradtool.config.resources import parse_size
from gradtool.config.schema import Defaults, FunctionConfig
from gradtool.results.report import CheckResult, Family, Skip, SkipKind, Verdict, skipped
from gradtool.verify.rules import RULES, codes

T = TypeVar("T")
D = TypeVar("D")

DEFAULT_SEED = 0
DEFAULT_DEVICE = "cpu"
DEFAULT_ENGINE = "bundled"
DEFAULT_DTYPE = "float64"
DEFAULT_TIMEOUT = 60.0
DEFAULT_MEMORY_LIMIT = "4GiB"
DEFAULTS = {
    "seed": DEFAULT_SEED,
    "device": DEFAULT_DEVICE,
    "engine": DEFAULT_ENGINE,
    "dtype": DEFAULT_DTYPE,
    "timeout": DEFAULT_TIMEOUT,
    "memory_limit": DEFAULT_MEMORY_LIMIT,
    "strict": False,
}
"""What holds where neither an option nor the configuration says anything."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How one Function is checked."""

    seed: int = DEFAULT_SEED
    device: str = DEFAULT_DEVICE
    engine: str = DEFAULT_ENGINE
    dtype: str = DEFAULT_DTYPE
    """Of floating tensors that name no dtype."""
    forced_dtype: str | None = None
    """Of all floating tensors, when a flag says so."""
    timeout: float | None = DEFAULT_TIMEOUT
    """Seconds for all cases of the Function; None: no limit."""
    memory_limit: int | None = None
    """Bytes that the Function may take; None: no limit."""
    flag_atol: float | None = None
    """Overrides the tolerance of a case."""
    flag_rtol: float | None = None
    atol: float | None = None
    """Holds where a case has no tolerance of its own."""
    rtol: float | None = None
    reason: str | None = None
    """Why the Function has a tolerance of its own."""
    expires: date | None = None
    """The last day on which that is meant to be there."""
    codes: tuple[str, ...] = ()
    """Rules that are asked, sorted."""
    ignored: dict[str, Skip] = {}
    """Rules that are not reported, and why."""
    tolerates: bool = False
    """The configuration has a tolerance for all cases of this Function; no flag overrides it."""
    flags: tuple[str, ...] = ()
    """Options that a replay needs beside the rule and the seed."""
    replayable: bool = True
    """A command line can reproduce the cases; it cannot when a test suite gave them."""

    @property
    def ignored_for_reason(self) -> tuple[str, ...]:
        """Those of `ignored` that the configuration names for this Function, sorted."""
        return tuple(sorted(code for code, skip in self.ignored.items() if skip.is_ignored))

    def excuse(self, check: CheckResult) -> Skip | None:
        """The reason for which the configuration ignores what is wrong with `check`, if it does."""
        if check.verdict in (Verdict.PASS, Verdict.SKIPPED):
            return None
        if check.rule in self.ignored:
            return self.ignored[check.rule]
        excused_with = RULES[check.rule].excused_with if self.ignored else None
        return self.ignored[excused_with] if excused_with in self.ignored_for_reason else None

    def apply_ignores(self, check: CheckResult) -> CheckResult:
        """The check, skipped where something is wrong that the configuration ignores."""
        excuse = self.excuse(check)
        return check if excuse is None else skipped(check, excuse)

    def tolerances(
        self, atol: float | None, rtol: float | None
    ) -> tuple[float | None, float | None]:
        """Tolerances of a case that asks for `atol` and `rtol` itself."""
        return (
            _first(self.flag_atol, atol, self.atol, default=None),
            _first(self.flag_rtol, rtol, self.rtol, default=None),
        )


def settings_for(options: CheckOptions, check: Defaults, function: FunctionConfig) -> Settings:
    """Weigh the flags of a run, the ``check`` section of a file and its word on a Function."""
    rules, numeric, execution = options.rules, options.numeric, options.execution
    select, ignore = rules.select or check.select, rules.ignore or check.ignore
    if rules.no_ignores:
        function = msgspec.structs.replace(function, ignore={})
    ignored = _ignored(ignore, function)
    selected = codes.matching(select or [""]) - codes.matching(ignore) - ignored.keys()
    device = numeric.device or check.device or DEFAULT_DEVICE
    memory = execution.memory_limit or check.memory_limit or DEFAULT_MEMORY_LIMIT
    return Settings(
        seed=_first(numeric.seed, check.seed, default=DEFAULT_SEED),
        device=device,
        engine=numeric.engine or check.engine or DEFAULT_ENGINE,
        dtype=numeric.dtype or check.dtype or DEFAULT_DTYPE,
        forced_dtype=numeric.dtype,
        timeout=None
        if execution.pdb
        else _first(execution.timeout, check.timeout, default=DEFAULT_TIMEOUT),
        memory_limit=parse_size(memory) if device == "cpu" and execution.isolation else None,
        flag_atol=numeric.atol,
        flag_rtol=numeric.rtol,
        atol=_first(function.atol, check.atol, default=None),
        rtol=_first(function.rtol, check.rtol, default=None),
        reason=function.reason,
        expires=function.expires,
        codes=tuple(sorted(selected)),
        ignored=ignored,
        tolerates=_is_any(function.atol, function.rtol) and not _is_any(numeric.atol, numeric.rtol),
        flags=_flags(options),
    )


def _ignored(ignore: tuple[str, ...], function: FunctionConfig) -> dict[str, Skip]:
    """Rules to skip with a reason: those of the file, and those that are asked in any case."""
    always = {code for code in codes.matching(ignore) if code in Family.RUNNING}
    reasons = {
        code: Skip(kind=SkipKind.IGNORED, detail=reason)
        for prefix, reason in function.ignore.items()
        for code in codes.matching([prefix])
    }
    return {**dict.fromkeys(sorted(always), Skip(kind=SkipKind.LEFT_OUT)), **reasons}


def _flags(options: CheckOptions) -> tuple[str, ...]:
    config, numeric = options.config, options.numeric
    given = {
        "--config": config.file,
        "--device": numeric.device,
        "--engine": numeric.engine,
        "--dtype": numeric.dtype,
        "--atol": numeric.atol,
        "--rtol": numeric.rtol,
        "--memory-limit": options.execution.memory_limit,
    }
    pairs = [("--config", p) for p in (*map(as_pair, config.variables), *config.overrides)]
    told = [
        f"{flag} {shlex.quote(str(value))}"
        for flag, value in [*given.items(), *pairs]
        if value is not None
    ]
    switches = {"--isolated": config.isolated, "--no-ignores": options.rules.no_ignores}
    return (*told, *(flag for flag, is_on in switches.items() if is_on))


def _is_any(*values: float | None) -> bool:
    return any(value is not None for value in values)


def _first(*values: T | None, default: D) -> T | D:
    """The first value that is given; 0 is one."""
    return next((value for value in values if value is not None), default)
