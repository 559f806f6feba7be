"""The formats that ``--report FORMAT=PATH`` knows.

To add one, write a file beside this one with ``render(report) -> str`` and name it here. A
renderer is imported when it is asked for, so that one format costs nothing to the others.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from gradtool.results.report import Report

Renderer = Callable[[Report], str]

FORMATS: dict[str, str] = {
    "json": "gradtool.report.formats.json:render",
    "json-lines": "gradtool.report.formats.json_lines:render",
    "junit": "gradtool.report.formats.junit:render",
    "sarif": "gradtool.report.formats.sarif:render",
    "github": "gradtool.report.formats.github:render",
    "gitlab": "gradtool.report.formats.gitlab:render",
    "markdown": "gradtool.report.formats.markdown:render",
    "html": "gradtool.report.html:render",
    "text": "gradtool.report.terminal:plain",
    "concise": "gradtool.report.formats.concise:render",
}
"""Where the renderer of each format is, by the name that the command line gives it."""


def renderer(form: str) -> Renderer:
    """The renderer of a format of `FORMATS`."""
    module, _, name = FORMATS[form].partition(":")
    found: Renderer = getattr(import_module(module), name)
    return found
