"""Reports of ``gradtool profile-transfer``: one file for each format."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from gradtool.results.transfer import TransferReport

Renderer = Callable[[TransferReport], str]

FORMATS: dict[str, str] = {
    "json": "gradtool.report.transfer.document:render",
    "csv": "gradtool.report.transfer.csv:render",
    "markdown": "gradtool.report.transfer.markdown:render",
    "html": "gradtool.report.transfer.html:render",
    "text": "gradtool.report.terminal.transfer:plain",
}
"""The renderer of each format, by its name on the command line."""


def renderer(form: str) -> Renderer:
    """The renderer of a format of `FORMATS`."""
    module, _, name = FORMATS[form].partition(":")
    found: Renderer = getattr(import_module(module), name)
    return found
