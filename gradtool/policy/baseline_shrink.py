"""Which entries of a baseline have had their day: asked about in full, and not found.

What a run did not ask stays. So neither a shard, nor ``-k``, nor a module that does not import
today takes anything out of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gradtool.config.options import CheckOptions, SelectionOptions
from gradtool.policy.baseline import Baseline, Entry, entries_of, relocated
from gradtool.results.paths import split_path
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Family,
    FunctionResult,
    ModuleResult,
    Report,
    Verdict,
)


def vanished(baseline: Baseline, report: Report, options: CheckOptions) -> frozenset[Entry]:
    """The entries that the run of `report` has shown to be no longer true."""
    numeric, config = options.numeric, options.config
    asked_otherwise = (numeric.dtype, numeric.atol, numeric.rtol)
    reconfigured = config.isolated or config.overrides or config.variables
    is_part = bool(report.interrupted or report.faults)
    if is_part or reconfigured or any(v is not None for v in asked_otherwise):
        return frozenset()
    found = {entry.fingerprint for entry in entries_of(baseline, report).values()}
    run = _Run(report, baseline, is_whole=is_whole(options.selection))
    unseen = (entry for entry in baseline.entries if entry.fingerprint not in found)
    return frozenset(entry for entry in unseen if run.has_asked(entry))


def is_whole(options: SelectionOptions) -> bool:
    """Whether all Functions and cases of each module were asked for."""
    parts = (options.shard, options.keyword, options.only_failed or None)
    return not any("::" in path for path in options.paths) and not any(parts)


@dataclass(frozen=True)
class _Run:
    report: Report
    baseline: Baseline
    is_whole: bool

    def has_asked(self, entry: Entry) -> bool:
        """Whether the finding of `entry` would have been found, were it still there."""
        path, _, name = split_path(entry.node)
        function, _, case = name.partition("[")
        if not (self.baseline.path.parent / path).exists():
            return True
        module = next((m for m in self.report.modules if self._path(m) == path), None)
        if module is None or entry.rule in self.report.left_out:
            return False
        if not function or module.checks:
            return not function and not module.checks
        return self._has_asked_of(module, function, case.removesuffix("]"), entry.rule)

    def _path(self, module: ModuleResult) -> str:
        return relocated(module.path, self.baseline.path.parent)

    def _has_asked_of(self, module: ModuleResult, name: str, case: str, rule: str) -> bool:
        function = next((f for f in module.functions if f.name == name), None)
        if function is None:
            return self.is_whole
        if not case:
            return self.is_whole and _is_complete(function)
        found = next((c for c in function.cases if c.name == case), None)
        if found is None:
            return self.is_whole and bool(function.cases)
        return _was_asked(found, rule)


def _is_complete(function: FunctionResult) -> bool:
    cases = function.cases
    return bool(cases) and not any(_has_broken(case.checks) for case in cases)


def _has_broken(checks: Iterable[CheckResult]) -> bool:
    return any(check.verdict is Verdict.ERROR for check in checks)


def _was_asked(case: CaseResult, rule: str) -> bool:
    checks: Sequence[CheckResult] = [check for check in case.checks if check.rule == rule]
    if not checks:  # A rule of running is told of only where it is broken.
        return rule in Family.RUNNING and not _has_broken(case.checks)
    skipped = [check for check in checks if check.verdict is Verdict.SKIPPED]
    return all(check.skip is not None and check.skip.leaves_nothing for check in skipped)
