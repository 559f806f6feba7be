"""The formats of ``gradtool check --report FORMAT=PATH``, one file each.

To add one, write a file here with ``render(report) -> str`` and list it in `FORMATS`. A renderer
is imported when it is needed, so that one format costs nothing to the others.
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
"""Renderers by the names that the command line uses."""


def renderer(form: str) -> Renderer:
    """The renderer of a format of `FORMATS`."""
    module, _, name = FORMATS[form].partition(":")
    found: Renderer = getattr(import_module(module), name)
    return found
