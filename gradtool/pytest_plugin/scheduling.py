"""How pytest-xdist shares the tests out: all tests of a Function go to one process."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling


def by_function(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """The scheduler for runs that have Functions among their tests."""
    return _ByFunction(config, log)


class _ByFunction(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Cuts ``my_ops.py::Cube[large]::GT101`` after ``Cube``, and other tests nowhere."""

    def _split_scope(self, nodeid: str) -> str:
        function, separator, rule = nodeid.rpartition("::")
        return function.partition("[")[0] if separator and _is_rule(rule) else nodeid


def _is_rule(name: str) -> bool:
    return len(name) == 5 and name.startswith("GT") and name[2:].isdigit()
