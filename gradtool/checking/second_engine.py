"""A Function under the second engine of a run with ``--engine both``: PyTorch.

Everything is checked under the first engine, gradtool's own. Then the same rules are checked under
the same case under the second, and GT702 reports where the two disagree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.common.module_call import ModuleCall
from gradtool.adapters.library import library
from gradtool.cases.sources import ResolvedCase
from gradtool.checking.unit import Unit
from gradtool.collect.checkable import Checkable
from gradtool.collect.loader import LoadedModule
from gradtool.config.settings import Settings
from gradtool.findings.check_results import check_result
from gradtool.findings.could_not_run import termination_result
from gradtool.results.report import CheckResult, Severity, Verdict
from gradtool.sandbox.termination import Terminated, user_code
from gradtool.sandbox.timeout import time_limit
from gradtool.verify.examine import Flaw, Outcome, examine
from gradtool.verify.protocol.observation import Array
from gradtool.verify.rules import RULES, codes
from gradtool.verify.rules.gt702_engines_disagree import disagreement
from gradtool.verify.subject import Subject as Examined

Active = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class _TensorValue:
    """A tensor of one engine, on its way to the other."""

    array: Array
    requires_grad: bool


@dataclass(frozen=True)
class _Named:
    """A dtype, by the name that both engines have for it."""

    name: str


class SecondEngine:
    """The module and the Function of a unit under the second engine."""

    def __init__(self, unit: Unit, loaded: LoadedModule, checkable: Checkable) -> None:
        self._unit = unit
        self._loaded = loaded
        self._checkable = checkable

    def compare(
        self, first: Active, checkable: Checkable, case: ResolvedCase, checks: Sequence[CheckResult]
    ) -> CheckResult | None:
        """The result of GT702 for a case of `checkable`; None where there is nothing to compare.

        Args:
            first: The context in which the code of the first engine's module can run.
            checkable: The Function under the first engine.
            case: Its case.
            checks: The results of the other rules there.
        """
        settings = self._unit.settings
        if codes.ENGINES not in settings.codes:
            return None
        if any(c.rule in RULES[codes.ENGINES].premises and _is_broken(c, settings) for c in checks):
            return None
        try:
            return self._compared(first, checkable, case, checks)
        except Terminated as error:
            node = f"{self._unit.node}[{case.name}]"
            return termination_result(node, error.termination, settings, checkable.location)

    def _compared(
        self, first: Active, checkable: Checkable, case: ResolvedCase, checks: Sequence[CheckResult]
    ) -> CheckResult | None:
        settings, node = self._unit.settings, f"{self._unit.node}[{case.name}]"
        with self._running(first):
            values = *case.args, *case.kwargs.values()
            if any(map(is_bound, values)):
                return None
            homes = homes_of(values)
            one = _differentiable(checkable, case.args, case.kwargs)
            here = Examined(one, seed=case.seed, witness=settings.witness)
            if here.nothing_to_check or here.first.baseline.failure or one.draws_random_numbers:
                return None
            at = here.first
            args, kwargs = sent(case.args), sent(case.kwargs)
            buffers = sent(_buffers(checkable))
        with self._running(self._loaded.active):
            if any(sys.modules.get(name) is not module for name, module in homes.items()):
                return None
            _buffers(self._checkable).update(received(buffers))
            for call in case.before:
                call()
            twin = _differentiable(self._checkable, received(args), received(kwargs))
            there = twin.call(at.primals, at.cotangents)
            outcomes, _ = examine(
                twin,
                codes=sorted(settings.codes),
                seed=case.seed,
                atol=case.atol,
                rtol=case.rtol,
                witness=settings.witness,
            )
        flaw = disagreement(here, at, there)
        if flaw:
            flaw = self._beside_ties(first, here, twin, flaw)
        flaw = flaw or _other_rules(checks, outcomes, settings)
        verdict = Verdict.FAIL if flaw else Verdict.PASS
        outcome = Outcome(RULES[codes.ENGINES], verdict, flaws=(flaw,) if flaw else ())
        return check_result(node, checkable, outcome, settings)

    def _beside_ties(
        self, first: Active, here: Examined, twin: FunctionDifferentiable, flaw: Flaw
    ) -> Flaw | None:
        """The flaw, unless it vanishes nearby: ties leave open which of equal entries is meant."""
        with self._running(first):
            if not here.given.is_nondifferentiable:
                return flaw
            at = here.given.at
            _ = at.baseline
        with self._running(self._loaded.active):
            there = twin.call(at.primals, at.cotangents)
        return disagreement(here, at, there)

    @contextmanager
    def _running(self, active: Active) -> Iterator[None]:
        """Code of a module may run in the block, within the time of the Function."""
        settings, folder = self._unit.settings, self._checkable.folder
        with active(), user_code(settings, folder), time_limit(settings.timeout):
            yield


def _buffers(checkable: Checkable) -> dict[str, Any]:
    """The buffers of a module; nothing for other callables."""
    return checkable.obj.buffers if isinstance(checkable.obj, ModuleCall) else {}


def _differentiable(checkable: Checkable, args: Any, kwargs: Any) -> FunctionDifferentiable:
    return FunctionDifferentiable(checkable.obj, args, kwargs, name=checkable.name)


def _other_rules(
    checks: Iterable[CheckResult], outcomes: Iterable[Outcome], settings: Settings
) -> Flaw | None:
    """A flaw where a rule is violated under one engine only."""
    here = {check.rule for check in checks if _is_broken(check, settings)}
    compared = {check.rule for check in checks if check.verdict is not Verdict.SKIPPED}
    for outcome in outcomes:
        code = outcome.rule.code
        broken = [flaw for flaw in outcome.flaws if _counts(flaw.severity or outcome.rule.severity)]
        if broken and code not in here and code in compared:
            message = broken[0].message
            return Flaw(
                message=f"{code} is violated under PyTorch only: {message}", hint=broken[0].hint
            )
        if code in here and outcome.verdict is Verdict.PASS:
            return Flaw(message=f"{code} is violated under gradtool's engine only")
    return None


def _is_broken(check: CheckResult, settings: Settings) -> bool:
    counts = any(_counts(finding.severity) for finding in check.findings)
    return counts and settings.excuse(check) is None


def _counts(severity: Severity) -> bool:
    return severity is not Severity.NOTE


_LEVELS = 3
"""Objects within objects that are searched for tensors."""


def is_bound(value: Any) -> bool:
    """Return True for an object with tensors of the active engine, which no other one can use."""
    if type(value) in {list, tuple}:
        return any(map(is_bound, value))
    return not isinstance(value, library().Tensor) and _holds_tensors(value, _LEVELS)


def _holds_tensors(value: Any, levels: int) -> bool:
    if isinstance(value, library().Tensor | library().torch.nn.Module):
        return True
    if type(value) in {list, tuple}:
        return any(_holds_tensors(each, levels) for each in value)
    if levels <= 0 or isinstance(value, type | ModuleType):
        return False
    held = [*getattr(value, "__dict__", {}).values(), getattr(value, "__self__", None)]
    return any(_holds_tensors(each, levels - 1) for each in held)


def homes_of(value: Any, levels: int = _LEVELS) -> dict[str, ModuleType | None]:
    """The modules that define the objects in a value, by name.

    A module that was imported for one engine alone has an equal for the other, which does not
    recognize its objects: neither their classes nor the entries of its enumerations.
    """
    if isinstance(value, library().Tensor | ModuleType):
        return {}
    made_by = value if isinstance(value, type | FunctionType) else type(value)
    homes = {made_by.__module__: sys.modules.get(made_by.__module__)}
    held = value if type(value) in {list, tuple} else getattr(value, "__dict__", {}).values()
    if levels > 0 and made_by is not value:
        for each in held:
            homes.update(homes_of(each, levels - 1))
    return homes


def sent(value: Any) -> Any:
    """A value of the first engine with each tensor and dtype in it ready for the second."""
    torch, kind = library().torch, library().Tensor
    if isinstance(value, kind):
        return _TensorValue(np.array(library().array(value)), value.requires_grad)
    if isinstance(value, torch.dtype):
        return _Named(str(value).rpartition(".")[2])
    return _mapped(value, sent)


def received(value: Any) -> Any:
    """A value from `sent` as one of the active engine."""
    if isinstance(value, _TensorValue):
        # A copy, since the tensor shares the array's memory.
        tensor = library().tensor(value.array.copy())
        return tensor.requires_grad_() if value.requires_grad else tensor
    if isinstance(value, _Named):
        return getattr(library().torch, value.name)
    return _mapped(value, received)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A plain list, tuple or dict with its entries changed; another value as it is."""
    # Exact types: a subclass, such as a named tuple, may not be made from its entries alone.
    if type(value) in {list, tuple}:
        return type(value)(map(change, value))
    if type(value) is dict:
        return {key: change(entry) for key, entry in value.items()}
    return value
