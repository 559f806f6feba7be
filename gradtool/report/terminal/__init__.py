"""A report for a person at a terminal, or for a log that a person reads.

Colour marks verdicts and nothing else; what matters second is dim. The only place
besides `gradtool.cli` that imports Rich.
"""

from gradtool.report.terminal.report import plain, render

__all__ = ["plain", "render"]
