"""The form of a policy, and the ways to rewrite a report that policies share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from gradtool.checking.unit import Unit
from gradtool.config.settings import Settings
from gradtool.results.report import CheckResult, Finding, FunctionResult, ModuleResult, Report

Policy = Callable[[Report], Report]
"""A step from one report to the next. It reads no clock but the date, and writes nothing."""

CheckChange = Callable[[CheckResult], CheckResult]
FunctionChange = Callable[[str, FunctionResult], FunctionResult]
"""Takes a Function with its node id."""


class RunSettings(msgspec.Struct, frozen=True):
    """The settings behind the results of a run, which a report does not hold."""

    units: Mapping[str, Unit]
    """By the node ids of their Functions."""
    modules: Mapping[str, Settings] = {}
    """By the paths of the modules."""
    partial: frozenset[str] = frozenset()
    """Functions with cases that ``-k`` deselected."""


def apply(policies: Iterable[Policy], report: Report) -> Report:
    """Apply `policies` to `report`, one after the other."""
    for policy in policies:
        report = policy(report)
    return report


def change_checks(modules: Iterable[ModuleResult], change: CheckChange) -> tuple[ModuleResult, ...]:
    """The modules with `change` applied to their own checks and those of all below."""
    return tuple(_changed_module(module, change) for module in modules)


def _changed_module(module: ModuleResult, change: CheckChange) -> ModuleResult:
    functions = tuple(change_function(function, change) for function in module.functions)
    return msgspec.structs.replace(
        module, functions=functions, checks=tuple(map(change, module.checks))
    )


def change_function(function: FunctionResult, change: CheckChange) -> FunctionResult:
    """The Function with `change` applied to its checks and those of its cases."""
    cases = tuple(
        msgspec.structs.replace(case, checks=tuple(map(change, case.checks)))
        for case in function.cases
    )
    return msgspec.structs.replace(
        function, cases=cases, checks=tuple(map(change, function.checks))
    )


def change_functions(report: Report, change: FunctionChange) -> Report:
    """The report with `change` applied to every Function."""
    modules = tuple(
        msgspec.structs.replace(
            module,
            functions=tuple(change(f"{module.path}::{f.name}", f) for f in module.functions),
        )
        for module in report.modules
    )
    return msgspec.structs.replace(report, modules=modules)


def add_notices(report: Report, lines: Iterable[str]) -> Report:
    """The report with more lines about the run itself."""
    return msgspec.structs.replace(report, notices=(*report.notices, *lines))


def also_hinted(finding: Finding, advice: str) -> Finding:
    """Add to the hint of a finding; in front of one that ends with code, which stays apart."""
    given = [finding.hint] if finding.hint else []
    both = [advice, *given] if "\n" in (finding.hint or "") else [*given, advice]
    return msgspec.structs.replace(finding, hint="; ".join(both))
