"""The formats that ``--report FORMAT=PATH`` knows.

To add one, write a file beside this one with ``render(report) -> str`` and name it here. A
renderer is imported when it is asked for, so that one format costs nothing to the others.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from gradtool.results import Report

Renderer = Callable[[Report], str]

FORMATS: dict[str, str] = {
    "json": "gradtool.report.json:render",
    "json-lines": "gradtool.report.json_lines:render",
    "junit": "gradtool.report.junit:render",
    "sarif": "gradtool.report.sarif:render",
    "github": "gradtool.report.github:render",
    "gitlab": "gradtool.report.gitlab:render",
    "markdown": "gradtool.report.markdown:render",
    "html": "gradtool.report.html:render",
    "text": "gradtool.report.terminal:plain",
    "concise": "gradtool.report.concise:render",
}
"""Where the renderer of each format is, by the name that the command line gives it."""


def renderer(form: str) -> Renderer:
    """The renderer of a format of `FORMATS`."""
    module, _, name = FORMATS[form].partition(":")
    found: Renderer = getattr(import_module(module), name)
    return found
