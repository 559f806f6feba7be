"""A watcher that says nothing, for runs whose output no person follows."""

from __future__ import annotations

from gradtool.results import CaseResult, FunctionResult, ModuleResult


class Silent:
    """Implements `gradtool.gate.options.Watcher` and ignores what it is told."""

    def started(self, cases: int) -> None:
        """Ignored."""

    def case_started(self, node_id: str) -> None:
        """Ignored."""

    def case_finished(self, function: str, case: CaseResult) -> None:
        """Ignored."""

    def function_finished(self, path: str, function: FunctionResult) -> None:
        """Ignored."""

    def module_finished(self, module: ModuleResult) -> None:
        """Ignored."""
