"""Options of a run by the names of their fields, whichever group they are in."""

from __future__ import annotations

from typing import Any

from gradtool.config.options import CheckOptions

_RENAMED = {
    "config": ("config", "file"),
    "no_config": ("config", "isolated"),
    "require_functions": ("requirements", "functions"),
    "require_double_backward": ("requirements", "double_backward"),
}
_GROUPS = {
    name: type(value)
    for name in CheckOptions.__struct_fields__
    if hasattr(value := getattr(CheckOptions(), name), "__struct_fields__")
}
_PLACES = {
    **{field: (group, field) for group in _GROUPS for field in _GROUPS[group].__struct_fields__},
    **_RENAMED,
}


def check_options(**values: Any) -> CheckOptions:
    """Options with `values`: ``check_options(paths=("ops.py",), seed=1)``."""
    groups: dict[str, dict[str, Any]] = {}
    own = {}
    for name, value in values.items():
        if name in _PLACES:
            group, field = _PLACES[name]
            groups.setdefault(group, {})[field] = value
        else:
            own[name] = value
    return CheckOptions(**{name: _GROUPS[name](**given) for name, given in groups.items()}, **own)
