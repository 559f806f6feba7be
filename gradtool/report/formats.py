"""The formats that ``--report FORMAT=PATH`` knows.

To add one, write a file beside this one with ``render(report) -> str`` and name it here.
"""

from __future__ import annotations

from collections.abc import Callable

from gradtool.report import json
from gradtool.results import Report

Renderer = Callable[[Report], str]

FORMATS: dict[str, Renderer] = {
    "json": json.render,
}
"""Renderer of each format, by the name that the command line gives it."""
