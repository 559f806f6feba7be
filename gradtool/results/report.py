"""The result model: everything that a run found, as plain typed data.

A run is one `Report`; it holds modules, which hold
Functions, which hold cases, which hold one `CheckResult` for each rule that was checked.
All types are frozen msgspec structs, so a report encodes to JSON, crosses a process
boundary and decodes again without code of its own.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Literal

import msgspec

from gradtool.results.evidence import Evidence, JacobianBlock, LadderCurve, Source, Struct, scalar
from gradtool.results.rules import DOUBLE_BACKWARD, Family, RuleInfo, Severity, Skip, SkipKind

__all__ = [
    "DOUBLE_BACKWARD",
    "SCHEMA_VERSION",
    "Basis",
    "CaseResult",
    "CheckResult",
    "Cost",
    "Coverage",
    "Environment",
    "Evidence",
    "Family",
    "Finding",
    "FunctionResult",
    "JacobianBlock",
    "LadderCurve",
    "Location",
    "ModuleResult",
    "Relaxation",
    "Report",
    "RuleInfo",
    "Severity",
    "Shard",
    "Skip",
    "SkipKind",
    "Source",
    "Verdict",
    "is_left_out",
    "scalar",
    "worst",
]

SCHEMA_VERSION = 1
"""Version of the JSON form of `Report`. It grows when a field changes meaning or goes."""


class Verdict(enum.Enum):
    """The result of one check, or the worst result in a case, a Function or a module."""

    PASS = "pass"
    """Checked, and right."""
    FAIL = "fail"
    """Wrong."""
    UNVERIFIED = "unverified"
    """Neither shown to be right nor wrong. It fails a run, as a wrong gradient does."""
    ERROR = "error"
    """Not checked, because the code raised, crashed, hung or could not be loaded."""
    KNOWN = "known"
    """Wrong, but all its findings are in the baseline. A single check never has this verdict."""
    SKIPPED = "skipped"
    """Not checked, for a reason that the check gives."""


class Location(Struct, frozen=True, kw_only=True):
    """A place in the user's source."""

    path: str
    line: int | None = None


class Finding(Struct, frozen=True, kw_only=True):
    """One violated rule at one case, with everything that a person needs to act on it."""

    rule: str
    """Stable code, such as ``GT101``."""
    name: str
    """Stable words for the code, such as ``wrong-gradient``."""
    severity: Severity
    """``error``, ``warning`` or ``note``."""
    node_id: str
    """``path/mod.py::Function[case]::GT101``."""
    message: str
    """One line that states the mistake and its place."""
    location: Location
    """The file and line."""
    source: Source | None = None
    """The lines around `location`, as they were when the code ran."""
    evidence: Evidence | None = None
    hint: str | None = None
    """The likely cause, or how to fix the mistake; lines after the first are code to paste."""
    detail: str | None = None
    """More lines for ``-v``: usually a traceback."""
    seed: int | None = None
    replay: str | None = None
    """A command line that reproduces just this finding."""
    step: Source | None = None
    """The line of ``forward`` that the hint names."""
    repair: str | None = None
    """A command line that writes what the finding says is wrong."""
    case: str | None = None
    """Found by exploring: the entry of ``gradtool.yaml`` that keeps its arguments as a case."""
    known: bool = False
    """It is in the baseline, so it does not fail the run."""
    seeds: tuple[int, ...] = ()
    """The seeds that show it, in a run with several. The other fields come from the first."""


class CheckResult(Struct, frozen=True, kw_only=True):
    """The result of one rule at one case."""

    rule: str
    verdict: Verdict
    reason: str | None = None
    """Why it is unverified or passed as declared; in JSON also why it was skipped."""
    skip: Skip | None = None
    """Why it was skipped."""
    proves: str | None = None
    """The derivative that a pass shows to be right, such as ``double backward``."""
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        """Drop the words for `skip`, which JSON repeats for its readers."""
        if self.skip is not None and self.reason is not None:
            msgspec.structs.force_setattr(self, "reason", None)


class Cost(Struct, frozen=True, kw_only=True):
    """The cost of a case, in calls to the user's code."""

    forward: int = 0
    backward: int = 0


def rests_on(check: CheckResult) -> str | None:
    """The code of the violated rule that a skipped check rests on."""
    skip = check.skip
    return skip.blocked_by if skip and skip.kind is SkipKind.BLOCKED else None


def is_left_out(check: CheckResult) -> bool:
    """Return True for a skipped check that had something to check."""
    offered = check.skip is None or check.skip.kind is not SkipKind.NOT_OFFERED
    return check.verdict is Verdict.SKIPPED and offered


def skipped(check: CheckResult, skip: Skip) -> CheckResult:
    """The check without an answer, for the reason `skip`."""
    return CheckResult(rule=check.rule, verdict=Verdict.SKIPPED, skip=skip, proves=check.proves)


class Basis(Struct, frozen=True, kw_only=True):
    """The evidence that the verdicts on derivatives rest on."""

    evidence: Literal["exact and numeric", "numeric only"]
    """Evaluations of the function, and the exact derivative of its recorded forward where they
    agree with it."""
    reason: str | None = None
    """Why there is no exact derivative that evaluations agree with."""


class CaseResult(Struct, frozen=True, kw_only=True):
    """One set of arguments for one Function, and every check made with it."""

    name: str
    arguments: tuple[str, ...] = ()
    """One line for each argument, as ``weight: float64[30, 20]``."""
    source: str = ""
    """The origin of the arguments: ``config``, ``sample_inputs`` or ``inferred``."""
    inferred_from: str | None = None
    """The part of the source that inferred arguments follow from, as ``the call at line 40``; None
    where the signature alone gave them."""
    is_guess: bool = False
    """Nothing states some of these arguments, and forward happened to accept them: what is wrong
    there is in doubt."""
    relaxed: Relaxation | None = None
    """The tolerance that holds for it, where one was given."""
    checks: tuple[CheckResult, ...] = ()
    basis: Basis | None = None
    """The evidence that they rest on; None where no derivatives were compared."""
    compared: int = 0
    """Entries of derivatives that were compared. A pass without any rests on nothing."""
    cost: Cost = Cost()
    seconds: float = 0.0
    durations: dict[str, float] = msgspec.field(default_factory=dict)
    """Seconds of each rule by its code, where the run was timed. A computation that several rules
    share counts for the first."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the checks."""
        return worst(check.verdict for check in self.checks)


class Coverage(Struct, frozen=True, kw_only=True):
    """The branches of forward and backward, and which of them were taken.

    A Python test, a comparison of tensors, a mask, a limit and a rounding each have one branch
    per side.
    """

    covered: int
    """Branches that a case, or arguments explored beside it, took."""
    branches: int
    """All branches; never 0."""
    missing: tuple[str, ...] = ()
    """The others, as ``line 9 of backward: `x > 3` is never true``."""

    @property
    def percent(self) -> float:
        """The part that was covered."""
        return 100 * self.covered / self.branches


class FunctionResult(Struct, frozen=True, kw_only=True):
    """One Function of a module. A finding of its own means that no case could be created."""

    name: str
    location: Location
    cases: tuple[CaseResult, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    """Checks of the Function as a whole, made before any case (GT002, GT507)."""
    declared: tuple[str, ...] = ()
    """Declarations of the Function, such as ``once_differentiable``."""
    coverage: Coverage | None = None
    """The branches that were covered; None where nothing was explored or there is no branch."""
    exploring: float = 0.0
    """Seconds for which it was explored beside its cases, where the run was timed."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of its own checks and of its cases."""
        own = [check.verdict for check in self.checks]
        return worst([*own, *(case.verdict for case in self.cases)])


class ModuleResult(Struct, frozen=True, kw_only=True):
    """One module that was loaded, or failed to load."""

    path: str
    digest: str = ""
    """SHA-256 of the source that was checked, in hexadecimal."""
    functions: tuple[FunctionResult, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    """Checks of the module as a whole (GT001)."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of its own checks and of its Functions."""
        own = [check.verdict for check in self.checks]
        return worst([*own, *(function.verdict for function in self.functions)])


class OwnFault(Struct, frozen=True, kw_only=True):
    """An error in gradtool itself while it checked one Function."""

    node: str
    summary: str
    """The error, in a line."""
    traceback: str


class Report(Struct, frozen=True, kw_only=True):
    """The results of a whole run."""

    schema: int = SCHEMA_VERSION
    environment: Environment
    command: str = ""
    seed: int = 0
    seeds: int = 1
    """Number of seeds that each check was made with, from `seed` on."""
    strict: bool = False
    modules: tuple[ModuleResult, ...] = ()
    configs: tuple[str, ...] = ()
    """Configuration files that were read; options and variables that gave values themselves."""
    left_out: tuple[str, ...] = ()
    """Codes of rules that were not asked because ``--select`` or ``--ignore`` said so."""
    deselected: int = 0
    """Number of cases that ``-k`` did not match."""
    passed_over: tuple[str, ...] = ()
    """Phrases for what other options left out: ``4 modules unchanged since main``."""
    may_be_empty: bool = False
    """A run without any Function is right: nothing changed, or the options allow it."""
    unmet: tuple[str, ...] = ()
    """Requirements of the options that the run does not meet, one line each."""
    notices: tuple[str, ...] = ()
    """Lines about the run itself: paths that held no Function, cases that matched nothing."""
    rules: tuple[RuleInfo, ...] = ()
    """The rules that the findings are about."""
    faults: tuple[OwnFault, ...] = ()
    """Bugs in gradtool that the run met; the Functions they concern have no result."""
    seconds: float = 0.0
    interrupted: bool = False
    exit_code: int | None = None
    """The exit code of the process; None until it is decided."""
    shard: Shard | None = None
    """None for a whole run."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of its modules."""
        return worst(module.verdict for module in self.modules)

    def functions(self) -> Iterator[tuple[ModuleResult, FunctionResult]]:
        """Every Function, with its module."""
        for module in self.modules:
            for function in module.functions:
                yield module, function

    def checks(self) -> Iterator[CheckResult]:
        """Every check of the run: those of modules, Functions and cases."""
        for module in self.modules:
            yield from module.checks
            for function in module.functions:
                yield from function.checks
                for case in function.cases:
                    yield from case.checks

    def findings(self) -> Iterator[Finding]:
        """Every finding of the run, in the order of the checks."""
        for check in self.checks():
            yield from check.findings


_BADNESS = {
    Verdict.SKIPPED: 0,
    Verdict.PASS: 1,
    Verdict.KNOWN: 2,
    Verdict.UNVERIFIED: 3,
    Verdict.FAIL: 4,
    Verdict.ERROR: 5,
}


def worst(verdicts: Iterator[Verdict] | list[Verdict]) -> Verdict:
    """The verdict that decides among several: the first of these that is among them.

    ERROR, FAIL, UNVERIFIED, KNOWN, PASS, SKIPPED. Of none, SKIPPED: without an answer nothing
    has passed.
    """
    return max(verdicts, key=_BADNESS.__getitem__, default=Verdict.SKIPPED)


class Environment(Struct, frozen=True, kw_only=True):
    """The software and the device of the run."""

    gradtool: str
    python: str
    numpy: str
    platform: str
    engine: str = "bundled"
    device: str = "cpu"


class Shard(Struct, frozen=True, kw_only=True):
    """The part of a run that a report covers."""

    number: int
    """From 1 to `count`."""
    count: int
    nodes: tuple[str, ...] = ()
    """Functions and modules of the whole run in its order, those of other shards included."""
    unmatched: tuple[str, ...] = ()
    """Functions of this shard of which ``-k`` matched nothing."""


class Relaxation(Struct, frozen=True, kw_only=True):
    """A tolerance that replaces gradtool's default."""

    atol: float | None = None
    rtol: float | None = None
    reason: str | None = None
    """Why it is needed."""
    expires: str | None = None
    """The last day on which it is meant to apply, such as ``2027-01-31``."""
