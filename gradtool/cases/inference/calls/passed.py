"""Numbers of iterations and tolerances that calls of a Function give.

With fewer iterations, or a larger tolerance, what iterates does not come close to its limit, of
which backward takes the derivative.
"""

from __future__ import annotations

import re
from typing import Any

from gradtool.cases.inference.calls.call_sites import call_sites, module_source
from gradtool.cases.inference.clues import Clues

_TOLERANCE = re.compile(r"(.*_)?([ar]?tol(erance)?|eps|epsilon)")

_LARGEST_COUNT = 1000
"""Iterations beyond which they take too long to be repeated for each difference quotient."""


def passed_numbers(function: Any, names: tuple[str, ...], clues: Clues) -> dict[str, float]:
    """The counts of loops and the tolerances that the first call which shows them gives."""
    wanted = {n for n in names if n in clues.uses.counts or _TOLERANCE.fullmatch(n)}
    module = module_source(function)[0] if wanted else None
    if module is None:
        return {}
    found: dict[str, float] = {}
    for site in call_sites(function, module, names):
        for name in wanted & site.values.keys():
            if _is_used(name, site.values[name], is_count=name in clues.uses.counts):
                found.setdefault(name, site.values[name])
    return found


def _is_used(name: str, value: Any, *, is_count: bool) -> bool:
    if _TOLERANCE.fullmatch(name):
        return isinstance(value, float) and 0.0 < value < 1e-3
    return is_count and type(value) is int and 0 < value <= _LARGEST_COUNT
