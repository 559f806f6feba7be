"""Reports of ``gradtool profile``: one file for each format."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from gradtool.results.profile import ProfileReport

Renderer = Callable[[ProfileReport], str]

FORMATS: dict[str, str] = {
    "json": "gradtool.report.profile.document:render",
    "csv": "gradtool.report.profile.csv:render",
    "html": "gradtool.report.profile.html:render",
    "markdown": "gradtool.report.profile.markdown:render",
    "text": "gradtool.report.terminal.profile:plain",
}
"""The renderer of each format, by its name on the command line."""


def renderer(form: str) -> Renderer:
    """The renderer of a format of `FORMATS`."""
    module, _, name = FORMATS[form].partition(":")
    found: Renderer = getattr(import_module(module), name)
    return found
