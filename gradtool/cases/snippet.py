"""Cases written as configuration, ready to be pasted into ``gradtool.yaml``."""

from __future__ import annotations

from typing import Any

import msgspec

from gradtool.config.schema import CaseConfig

_WIDE = 10_000
"""Columns after which a line is broken: never, so that a flow mapping stays on its line."""


def one_line_snippet(function: str, case: CaseConfig) -> str:
    """``functions: {Linear: {cases: [{args: [{shape: [3, 4]}]}]}}``."""
    written = _dump({"functions": _section(function, case)}, flow=True)
    return written.removeprefix("{").removesuffix("}")


def _section(function: str, case: CaseConfig) -> dict[str, Any]:
    plain = {k: v for k, v in msgspec.to_builtins(case).items() if k != "name"}
    return {function: {"cases": [plain]}}


def _dump(value: Any, *, flow: bool) -> str:
    import yaml  # Loaded with the first snippet: workers import this module and rarely write one.

    text: str = yaml.safe_dump(value, default_flow_style=flow, width=_WIDE, sort_keys=False)
    return text.strip()
