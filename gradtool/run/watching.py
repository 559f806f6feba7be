"""The watcher of a run that nobody watches."""

from __future__ import annotations

from gradtool.results.report import CaseResult, FunctionResult


class Unwatched:
    """Takes note of nothing."""

    def started(self, functions: int) -> None:
        """Nothing."""

    def case_started(self, node_id: str) -> None:
        """Nothing."""

    def case_finished(self, function: str, case: CaseResult) -> None:
        """Nothing."""

    def function_finished(self, path: str, function: FunctionResult) -> None:
        """Nothing."""
