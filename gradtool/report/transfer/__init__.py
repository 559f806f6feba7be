"""Reports of ``gradtool profile-transfer``: one file for each format."""

from __future__ import annotations

FORMATS: dict[str, str] = {
    "json": "gradtool.report.transfer.document:render",
    "csv": "gradtool.report.transfer.csv:render",
    "markdown": "gradtool.report.transfer.markdown:render",
    "html": "gradtool.report.transfer.html:render",
    "text": "gradtool.report.terminal.transfer:plain",
}
"""The renderer of each format, by its name on the command line."""
