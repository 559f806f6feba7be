"""Reports of ``gradtool profile``: one file for each format."""

from __future__ import annotations

FORMATS: dict[str, str] = {
    "json": "gradtool.report.profile.document:render",
    "csv": "gradtool.report.profile.csv:render",
    "html": "gradtool.report.profile.html:render",
    "markdown": "gradtool.report.profile.markdown:render",
    "text": "gradtool.report.terminal.profile:plain",
}
"""The renderer of each format, by its name on the command line."""
