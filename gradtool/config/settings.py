"""`Settings`: values for one Function, from options, its configuration and defaults.

An option overrides the file, and the file the default. Settings are plain data, so that a
unit of work can be sent to another process.
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
DEFAULT_EXPLORE = "quick"
DEFAULTS = {
    "seed": DEFAULT_SEED,
    "device": DEFAULT_DEVICE,
    "engine": DEFAULT_ENGINE,
    "dtype": DEFAULT_DTYPE,
    "timeout": DEFAULT_TIMEOUT,
    "memory_limit": DEFAULT_MEMORY_LIMIT,
    "strict": False,
    "witness": True,
    "explore": DEFAULT_EXPLORE,
}
"""Values for which there is neither an option nor a configuration."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Values that the check of one Function uses."""

    seed: int = DEFAULT_SEED
    device: str = DEFAULT_DEVICE
    engine: str = DEFAULT_ENGINE
    dtype: str = DEFAULT_DTYPE
    """Dtype of floating tensors without one."""
    forced_dtype: str | None = None
    """Dtype of all floating tensors, if an option gives it."""
    timeout: float | None = DEFAULT_TIMEOUT
    """Seconds for all cases of the Function; None: no limit."""
    memory_limit: int | None = None
    """Bytes that the Function may take; None: no limit."""
    flag_atol: float | None = None
    """Overrides the tolerance of a case."""
    flag_rtol: float | None = None
    atol: float | None = None
    """Used if a case has no tolerance of its own."""
    rtol: float | None = None
    witness: bool = True
    """The recorded forward is differentiated too, beside the evaluations."""
    explore: str = "off"
    """Effort to find arguments beside the cases at which it is wrong: off, quick or deep."""
    reason: str | None = None
    """Why the Function has a tolerance of its own."""
    expires: date | None = None
    """The last day of that tolerance."""
    surrogate: tuple[str, ...] = ()
    """Arguments whose gradient differs from the derivative on purpose."""
    surrogate_of: str | None = None
    """The function of the module whose derivative these gradients are."""
    codes: tuple[str, ...] = ()
    """Rules to check, sorted."""
    ignored: dict[str, Skip] = {}
    """Rules that are not reported, and why."""
    tolerates: bool = False
    """The configuration has a tolerance for all cases of this Function; no option overrides it."""
    timed: bool = False
    """Report the seconds of each rule and of exploring."""
    flags: tuple[str, ...] = ()
    """Options that a replay needs in addition to the rule and the seed."""
    replayable: bool = True
    """A command line can reproduce the cases: no test suite gave them."""

    @property
    def ignored_for_reason(self) -> tuple[str, ...]:
        """Rules that the configuration ignores for this Function, sorted."""
        return tuple(sorted(code for code, skip in self.ignored.items() if skip.is_ignored))

    def excuse(self, check: CheckResult) -> Skip | None:
        """The configuration's reason to ignore a failed `check`; None if it does not ignore it."""
        if check.verdict in (Verdict.PASS, Verdict.SKIPPED) or check.rule in codes.FINAL:
            return None
        if check.rule in self.ignored:
            return self.ignored[check.rule]
        excused_with = RULES[check.rule].excused_with if self.ignored else None
        return self.ignored[excused_with] if excused_with in self.ignored_for_reason else None

    def apply_ignores(self, check: CheckResult) -> CheckResult:
        """Turn a failed check that the configuration ignores into a skipped one."""
        excuse = self.excuse(check)
        return check if excuse is None else skipped(check, excuse)

    def tolerances(
        self, atol: float | None, rtol: float | None
    ) -> tuple[float | None, float | None]:
        """Tolerances of a case that has `atol` and `rtol` of its own, if not None."""
        return (
            _first(self.flag_atol, atol, self.atol, default=None),
            _first(self.flag_rtol, rtol, self.rtol, default=None),
        )


def settings_for(options: CheckOptions, check: Defaults, function: FunctionConfig) -> Settings:
    """Combine the options of a run, a file's ``check`` section and its entry for a Function."""
    rules, numeric, execution = options.rules, options.numeric, options.execution
    select, ignore = rules.select or check.select, rules.ignore or check.ignore
    if rules.no_ignores:
        function = msgspec.structs.replace(function, ignore={}, surrogate=())
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
        witness=_first(numeric.witness, check.witness, default=True),
        explore=numeric.explore or check.explore or DEFAULT_EXPLORE,
        reason=function.reason,
        expires=function.expires,
        surrogate=function.surrogate,
        surrogate_of=function.surrogate_of,
        codes=tuple(sorted(selected)),
        ignored=ignored,
        tolerates=_is_any(function.atol, function.rtol) and not _is_any(numeric.atol, numeric.rtol),
        timed=execution.timed,
        flags=_flags(options),
    )


def _ignored(ignore: tuple[str, ...], function: FunctionConfig) -> dict[str, Skip]:
    """Rules to skip with a reason: those that the file ignores, and those always checked."""
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
        "--explore": numeric.explore,
        "--memory-limit": options.execution.memory_limit,
    }
    pairs = [("--config", p) for p in (*map(as_pair, config.variables), *config.overrides)]
    values = [
        f"{flag} {shlex.quote(str(value))}"
        for flag, value in [*given.items(), *pairs]
        if value is not None
    ]
    switches = {
        "--isolated": config.isolated,
        "--no-ignores": options.rules.no_ignores,
        "--no-witness": numeric.witness is False,
    }
    return (*values, *(flag for flag, is_on in switches.items() if is_on))


def _is_any(*values: float | None) -> bool:
    return any(value is not None for value in values)


def _first(*values: T | None, default: D) -> T | D:
    """The first value that is not None."""
    return next((value for value in values if value is not None), default)
