"""Numbers, durations and counts as people read them, the same in every format."""

from __future__ import annotations

from collections.abc import Sequence

from gradtool.results.report import Basis, Cost, Coverage
from gradtool.spelling import plural


def printable(text: str) -> str:
    """The text with control characters escaped, so that it cannot steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def one_line(text: str) -> str:
    """The text, made printable, with each run of white space made one space."""
    return printable(" ".join(text.split()))


def with_code_lines(text: str) -> str:
    """A hint, made printable: its sentence in one line, then lines of code to paste as they are."""
    sentence, *code = text.split("\n")
    return "\n".join([one_line(sentence), *map(printable, code)])


_MOST_NAMED = 5


def listed(names: Sequence[str]) -> str:
    """``a, b and 3 others``: the first few names, printable, and the number of the others."""
    more = len(names) - _MOST_NAMED
    named = ", ".join(map(printable, names[:_MOST_NAMED]))
    return f"{named} and {plural(more, 'other')}" if more > 0 else named


def csv_cell(value: object) -> object:
    """A value as spreadsheets show it: text that they would run as a formula follows a quote.

    https://owasp.org/www-community/attacks/CSV_Injection
    """
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if is_formula else value


def number(value: float | str) -> str:
    """A value to ten digits, zero without a sign; text stays as it is.

    Text stands for complex and for non-finite values.
    """
    return value if isinstance(value, str) else f"{value + 0.0:.10g}"


def magnitude(value: float | str) -> str:
    """A value of which only the size matters, such as an error or a tolerance."""
    return value if isinstance(value, str) else f"{value:.3g}"


def is_nan(value: float | str) -> bool:
    """Return True for NaN, also as text."""
    return value == "nan" or value != value


def branches(coverage: Coverage) -> str:
    """The coverage of a Function: ``branches: 5 of 7 covered (71%)``."""
    covered, every = coverage.covered, coverage.branches
    return f"branches: {covered} of {every} covered ({coverage.percent:.0f}%)"


def evaluations(cost: Cost) -> str:
    """The cost of a case or a run: ``21 forward and 10 backward evaluations``."""
    return f"{cost.forward} forward and {plural(cost.backward, 'backward evaluation')}"


def evidence(basis: Basis) -> str:
    """The evidence of a case: ``numeric only: forward leaves the engine at line 8 ...``."""
    return basis.evidence + (f": {basis.reason}" if basis.reason else "")


def duration(seconds: float) -> str:
    """Seconds in the unit a person would choose: ``12 ms``, ``3.4 s``, ``2 min 05 s``."""
    if seconds < 0.0005:
        return "<1 ms"
    if round(seconds * 1000) < 1000:
        return f"{seconds * 1000:.0f} ms"
    if round(seconds, 1) < 10:
        return f"{seconds:.1f} s"
    if round(seconds) < 100:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"
