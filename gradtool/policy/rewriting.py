"""A report's modules with each of their checks changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from gradtool.results.report import CheckResult, FunctionResult, ModuleResult

Change = Callable[[CheckResult], CheckResult]


def with_checks(modules: Iterable[ModuleResult], change: Change) -> tuple[ModuleResult, ...]:
    """The modules with `change` applied to every check, of whatever it is a check."""
    return tuple(_module(module, change) for module in modules)


def _module(module: ModuleResult, change: Change) -> ModuleResult:
    functions = tuple(changed_function(function, change) for function in module.functions)
    return msgspec.structs.replace(
        module, functions=functions, checks=tuple(map(change, module.checks))
    )


def changed_function(function: FunctionResult, change: Change) -> FunctionResult:
    """The Function with `change` applied to its checks and those of its cases."""
    cases = tuple(
        msgspec.structs.replace(case, checks=tuple(map(change, case.checks)))
        for case in function.cases
    )
    return msgspec.structs.replace(
        function, cases=cases, checks=tuple(map(change, function.checks))
    )
