"""Whether a configuration can say what a case is called with."""

from __future__ import annotations

from typing import Any

from gradtool.config.schema import CaseConfig

_SCALARS = (type(None), bool, int, float, str)


def is_sayable(case: CaseConfig) -> bool:
    """Whether the arguments are those that a file could hold.

    Inference takes defaults from signatures, which can be anything: a tuple, which a file
    would give back as a list, a dtype, a function.
    """
    return all(map(_is_plain, (*case.args, *case.kwargs.values())))


def _is_plain(value: Any) -> bool:
    if type(value) is list:
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(type(key) is str and _is_plain(inner) for key, inner in value.items())
    return type(value) in _SCALARS
