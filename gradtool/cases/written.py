"""Cases as text of ``gradtool.yaml``."""

from __future__ import annotations

from typing import Any

import msgspec

from gradtool.config.schema import CaseConfig

_SCALARS = (type(None), bool, int, float, str)


def is_serializable(case: CaseConfig) -> bool:
    """Return True for arguments that a configuration file can hold.

    Inference takes defaults from signatures, which can be anything: a tuple, which a file
    would turn into a list, a dtype, a function.
    """
    return all(map(_is_plain, (*case.args, *case.kwargs.values())))


def _is_plain(value: Any) -> bool:
    if type(value) is list:
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(type(key) is str and _is_plain(inner) for key, inner in value.items())
    return type(value) in _SCALARS


_WIDE = 10_000
"""Columns after which a line is broken: never, so that a flow mapping stays on its line."""


def one_line_snippet(function: str, case: CaseConfig) -> str:
    """Write a case for ``gradtool.yaml`` in one line.

    It goes under ``functions``: ``Linear: {cases: [{args: [{shape: [3, 4]}]}]}``.
    """
    written = _dump(_section(function, case), flow=True)
    return written.removeprefix("{").removesuffix("}")


def _section(function: str, case: CaseConfig) -> dict[str, Any]:
    plain = {k: v for k, v in msgspec.to_builtins(case).items() if k != "name"}
    return {function: {"cases": [plain]}}


def _dump(value: Any, *, flow: bool) -> str:
    import yaml  # Workers import this module and rarely write a case.

    text: str = yaml.safe_dump(value, default_flow_style=flow, width=_WIDE, sort_keys=False)
    return text.strip()
