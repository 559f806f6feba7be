"""The formats that ``gradtool profile-transfer --report FORMAT=PATH`` knows."""

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
"""Where the renderer of each format is, by the name that the command line gives it."""


def renderer(form: str) -> Renderer:
    """The renderer of a format of `FORMATS`."""
    module, _, name = FORMATS[form].partition(":")
    found: Renderer = getattr(import_module(module), name)
    return found
