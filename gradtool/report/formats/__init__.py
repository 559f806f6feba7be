"""The formats of ``gradtool check --report FORMAT=PATH``, one file each.

To add one, write a file here with ``render(report) -> str`` and list it in `FORMATS`. A renderer
is imported when it is needed, so that one format costs nothing to the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

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


def renderer(form: str, formats: Mapping[str, str] = FORMATS) -> Callable[[Any], str]:
    """The renderer of a format of `formats`, which name it as ``module:function``."""
    module, _, name = formats[form].partition(":")
    found: Callable[[Any], str] = getattr(import_module(module), name)
    return found
