"""Rules that need all cases of a Function: needless settings, and lines that no case executes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path

import msgspec

from gradtool.adapters.common.parsed_source import parsed
from gradtool.checking.plan import PlannedFunction
from gradtool.config.settings import Settings
from gradtool.findings.finding import make_finding
from gradtool.findings.needless_ignore import needless_ignore
from gradtool.results.paths import shown_path
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Coverage,
    Family,
    Finding,
    Location,
    Verdict,
)
from gradtool.verify.protocol.observation import SourceLine
from gradtool.verify.rules import RULES, codes

_WRONG = (Verdict.FAIL, Verdict.ERROR, Verdict.UNVERIFIED)


class Checked(msgspec.Struct, frozen=True):
    """A checked case, with data that is useful only together with other cases."""

    result: CaseResult
    silenced: frozenset[str] = frozenset()
    """Rules that the configuration ignores, and of which it cannot be said that they hold."""
    loose: CheckResult | None = None
    """What is to be said of a tolerance that holds for all cases of the Function."""
    lines: frozenset[SourceLine] = frozenset()
    executed: frozenset[SourceLine] = frozenset()
    is_complete: bool = True
    """Nothing stopped it."""


def checks_of_function(
    planned: PlannedFunction, cases: Sequence[Checked], coverage: Coverage | None = None
) -> list[CheckResult]:
    """The results of the rules that need all cases of a Function, each checked to its end."""
    # A case that was cut short may have executed, or broken, anything after that.
    if not cases or not all(case.is_complete for case in cases):
        return []
    selected = planned.unit.settings.codes
    # A case that was left out may be what an ignored rule is ignored for.
    is_whole = not planned.deselected and not planned.unit.only
    checks = []
    if codes.NEEDLESS in selected and is_whole:
        checks.append(_needless(planned, cases))
    if codes.NOT_EXECUTED in selected and _is_right(cases, planned.unit.settings):
        checks.append(_not_executed(planned, cases, coverage))
    return [check for check in checks if check.findings]


def _is_right(cases: Iterable[Checked], settings: Settings) -> bool:
    """Return True if nothing is wrong except what the configuration ignores."""
    return not any(
        check.verdict in _WRONG and settings.excuse(check) is None
        for case in cases
        for check in case.result.checks
    )


def _needless(planned: PlannedFunction, cases: Sequence[Checked]) -> CheckResult:
    findings = [*_unused_ignores(planned, cases), *_loose(cases)]
    verdict = Verdict.FAIL if findings else Verdict.PASS
    return CheckResult(rule=codes.NEEDLESS, verdict=verdict, findings=tuple(findings))


def _unused_ignores(planned: PlannedFunction, cases: Sequence[Checked]) -> Iterator[Finding]:
    settings = planned.unit.settings
    silenced = frozenset[str]().union(*(case.silenced for case in cases))
    for skip, group in groupby(configured_ignores(settings), settings.ignored.__getitem__):
        ignored = list(group)
        if silenced.isdisjoint(ignored) and all(RULES[code].check for code in ignored):
            yield needless_ignore(
                planned.unit.node,
                settings,
                ignored,
                nothing="no case",
                reason=skip.detail,
                location=planned.checkable.location,
                hint="remove the entry under `ignore`",
            )


def configured_ignores(settings: Settings) -> list[str]:
    """The rules of a case that the configuration ignores for this Function, by reason."""
    return sorted(
        (code for code in settings.ignored_for_reason if code not in Family.RUNNING),
        key=lambda code: (settings.ignored[code].detail or "", code),
    )


def _loose(cases: Sequence[Checked]) -> tuple[Finding, ...]:
    """The finding of the first case, when the tolerance is too loose for all of them."""
    found = [case.loose.findings if case.loose else () for case in cases]
    return found[0] if all(found) else ()


def _not_executed(
    planned: PlannedFunction, cases: Sequence[Checked], coverage: Coverage | None
) -> CheckResult:
    executed = frozenset[SourceLine]().union(*(case.executed for case in cases))
    selected = planned.unit.settings.codes
    missing = sorted(
        line
        for line in cases[0].lines - executed - _raising(cases[0].lines)
        if _runner_of(line.method) in selected or _alone(selected)
    )
    findings = tuple(
        make_finding(
            codes.NOT_EXECUTED,
            planned.unit.node,
            planned.unit.settings,
            message=_told(f"{_listed(lines)} of {method}", coverage),
            location=Location(path=shown_path(Path(lines[0].path)), line=lines[0].line),
            hint="add a case that takes this branch",
        )
        for method, lines in sorted(_by_method(missing), key=lambda each: each[1][0].line)
    )
    return CheckResult(rule=codes.NOT_EXECUTED, verdict=Verdict.PASS, findings=findings)


def _told(lines: str, coverage: Coverage | None) -> str:
    if coverage is None:
        return f"no case executes {lines}"
    if not coverage.missing:
        return f"only exploration executes {lines}; no case does"
    covered = f"{coverage.covered} of {coverage.branches} branches"
    return f"no case executes {lines}; exploration took {covered}"


@cache
def _runner_of(method: str) -> str:
    """The code of the rule without which no case executes `method`."""
    only = (code for code, rule in RULES.items() if rule.only_runner_of == method)
    return next(only, codes.WRONG_GRADIENT)


def _alone(selected: Sequence[str]) -> bool:
    """Return True if GT604 is selected without the rules that execute the lines."""
    return codes.WRONG_GRADIENT not in selected


def _by_method(lines: Iterable[SourceLine]) -> Iterator[tuple[str, list[SourceLine]]]:
    for method, group in groupby(lines, lambda line: line.method):
        yield method, list(group)


def _listed(lines: Sequence[SourceLine]) -> str:
    """``line 7``, or ``lines 7-9, 12``."""
    numbers = sorted({line.line for line in lines})
    starts = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    spans = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True)]
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(spans)}"


def _raising(lines: frozenset[SourceLine]) -> frozenset[SourceLine]:
    """The lines of ``raise`` statements, which only compute messages."""
    raising = {path: _raise_lines(path) for path in {x.path for x in lines}}
    return frozenset(line for line in lines if line.line in raising[line.path])


def _raise_lines(path: str) -> frozenset[int]:
    try:
        return _raises_in(Path(path).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return frozenset()


@lru_cache(maxsize=8)
def _raises_in(source: str) -> frozenset[int]:
    """The lines of ``raise`` statements in the source of a module."""
    return frozenset(
        number
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Raise)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )
