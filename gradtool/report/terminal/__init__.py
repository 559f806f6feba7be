"""A report for a person at a terminal, or for a log that a person reads.

Colour marks verdicts and nothing else; secondary text is dim. Only this package and
`gradtool.cli` import Rich.
"""

from gradtool.report.terminal.report import plain, render

__all__ = ["plain", "render"]
