"""Measurements of a statement: the times, their statistics and their text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gradtool.measure.summary import NOISY, UNUSABLE, Summary, summarize

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_ENGLISH = {"s": "second", "ms": "millisecond", "us": "microsecond", "ns": "nanosecond"}
_FEWEST_DIGITS, _MOST_DIGITS = 2, 5


@dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """The timed statement, and its labels in reports."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement if it has a single line."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{_indented(self.stmt)}"

    def setup_str(self) -> str:
        """Return the setup as it is printed; empty if there is none."""
        if self.setup in ("", "pass"):
            return ""
        return f"setup:\n{_indented(self.setup)}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Return title, description and setup, one below the other."""
        parts = [self.title, self.description or "", self.setup_str()]
        return "\n".join(part for part in parts if part)


@dataclass(init=True, repr=False)
class Measurement:
    """Samples of the time of a statement.

    `raw_times` are the seconds of each sample of `number_per_run` runs; `times`, and `median`,
    `mean` and `iqr` (p75 - p25), are seconds per run.
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = field(default=None)

    @property
    def times(self) -> list[float]:
        """Seconds per run of each sample."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def _summary(self) -> Summary:
        return summarize(self.times)

    @property
    def median(self) -> float:
        """Median of `times`."""
        return self._summary.median

    @property
    def mean(self) -> float:
        """Mean of `times`, which is sensitive to outliers."""
        return math.fsum(self.times) / len(self.times)

    @property
    def iqr(self) -> float:
        """Interquartile range of `times`."""
        return self._summary.p75 - self._summary.p25

    @property
    def has_warnings(self) -> bool:
        """True if the spread is too large to trust the median."""
        return self._summary.relative_iqr > NOISY

    @property
    def significant_figures(self) -> int:
        """Number of significant digits of the median, from 2 to 5.

        The standard error of a median is about ``1.25 sigma / sqrt(n)``, and sigma about
        ``iqr / 1.35`` where times are normally distributed.
        """
        summary = self._summary
        error = 1.25 * (self.iqr / 1.35) / math.sqrt(summary.n)
        if error <= 0 or summary.median <= 0:
            return _MOST_DIGITS
        digits = math.floor(math.log10(summary.median) - math.log10(error)) + 1
        return min(max(digits, _FEWEST_DIGITS), _MOST_DIGITS)

    @property
    def title(self) -> str:
        """`TaskSpec.title` of the task."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """Title of the row in `Compare`."""
        return self.sub_label or self.stmt or "[Unknown]"

    def meets_confidence(self, threshold: float = NOISY) -> bool:
        """Return True if the relative interquartile range is below `threshold`."""
        return len(self.raw_times) > 1 and self._summary.relative_iqr < threshold

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Merge the samples of each task into one measurement.

        Times are per run, since the number of runs may differ between samples.
        """
        found: dict[TaskSpec, list[float]] = {}
        for each in measurements:
            found.setdefault(each.task_spec, []).extend(each.times)
        return [Measurement(1, times, spec) for spec, times in found.items()]

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the task: ``stmt``, ``setup``, ``label``, ``num_threads``, …."""
        if name.startswith("_") or name == "task_spec":
            raise AttributeError(name)
        return getattr(self.task_spec, name)

    def __repr__(self) -> str:
        lines = [f"<torch.utils.benchmark.utils.common.Measurement object at {id(self):#x}>"]
        lines.append(self.task_spec.summarize())
        lines += [f"  {line}" for line in self._figures()]
        return "\n".join(lines)

    def _figures(self) -> Iterable[str]:
        summary, n = self._summary, len(self.raw_times)
        unit, scale = select_unit(summary.median)
        threads = f"{self.task_spec.num_threads} thread{_s(self.task_spec.num_threads)}"
        if n == 1:
            yield f"{summary.median / scale:.2f} {unit}"
            yield f"1 measurement, {self.number_per_run} runs , {threads}"
            return
        low, high = summary.p25 / scale, summary.p75 / scale
        yield f"Median: {summary.median / scale:.2f} {unit}"
        yield f"IQR:    {high - low:.2f} {unit} ({low:.2f} to {high:.2f})"
        yield f"{n} measurements, {self.number_per_run} runs per measurement, {threads}"
        if summary.relative_iqr > NOISY:
            yield (
                f"WARNING: the interquartile range is {summary.relative_iqr:.1%} of the median: "
                f"{'do not use it' if summary.relative_iqr > UNUSABLE else 'the machine is busy'}."
            )


def select_unit(t: float) -> tuple[str, float]:
    """Return a suitable unit for a time in seconds, and the seconds per unit."""
    scale, unit = next((pair for pair in _UNITS if t >= pair[0]), _UNITS[-1])
    return unit, scale


def unit_to_english(u: str) -> str:
    """Return the English name of a unit of `select_unit`."""
    return _ENGLISH[u]


def trim_sigfig(x: float, n: int) -> float:
    """Round `x` to `n` significant digits."""
    return float(f"{x:.{n}g}")


def _indented(text: str) -> str:
    return textwrap.indent(textwrap.dedent(text).strip("\n"), "  ")


def _s(count: int) -> str:
    return "" if count == 1 else "s"


__all__ = ["Measurement", "TaskSpec", "select_unit", "trim_sigfig", "unit_to_english"]
