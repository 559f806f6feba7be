"""What a run is held to: an earlier run, and thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from gradtool.results.transfer import Cell, TransferReport
from gradtool.transfer import requirements
from gradtool.transfer.changes import compared, load_report, parse_share, require_comparable


@dataclass(frozen=True)
class Demands:
    """What was asked for, understood before anything is measured."""

    earlier: TransferReport | None
    limit: float
    thresholds: Sequence[requirements.Threshold]

    @classmethod
    def read(cls, compare: str | None, limit: str, texts: Sequence[str]) -> Demands:
        """Understand the flags.

        Raises:
            TransferError: one of them cannot be understood, or the earlier report not be read.
        """
        return cls(
            load_report(compare) if compare is not None else None,
            parse_share(limit),
            tuple(requirements.parse(text) for text in texts),
        )

    def require_decidable(self, cells: Sequence[Cell], simulated: bool) -> None:
        """Refuse before the run what it could not answer; raises TransferError."""
        requirements.require_decidable(self.thresholds, cells, simulated=simulated)
        if self.earlier is not None:
            require_comparable(self.earlier, simulated=simulated)

    def answered(self, report: TransferReport) -> TransferReport:
        """The report with what was asked of it."""
        met = tuple(requirements.decide(threshold, report) for threshold in self.thresholds)
        report = replace(report, requirements=met)
        return report if self.earlier is None else compared(report, self.earlier, self.limit)

    def compared_nothing(self, report: TransferReport) -> bool:
        """Whether a comparison was asked for that had nothing to compare."""
        return self.earlier is not None and not report.changes
