"""The styles of the terminal report: colour for verdicts and severities, dim for the rest."""

from __future__ import annotations

from gradtool.results.report import Severity, Verdict

DIM = "dim"
STRONG = "bold"

VERDICTS = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.UNVERIFIED: "bold yellow",
    Verdict.ERROR: "bold red",
    Verdict.SKIPPED: "dim",
}

SEVERITIES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.NOTE: "bold",
}
