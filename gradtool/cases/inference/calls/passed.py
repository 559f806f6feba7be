"""Flags, numbers of iterations and tolerances that calls of a Function give.

With fewer iterations, or a larger tolerance, what iterates does not come close to its limit, of
which backward takes the derivative. And backward may be meant for one value of a flag.
"""

from __future__ import annotations

import re
from typing import Any

from gradtool.cases.inference.calls.call_sites import call_sites, module_source
from gradtool.cases.inference.clues import Clues

_TOLERANCE = re.compile(r"(.*_)?([ar]?tol(erance)?|eps|epsilon)")

_LARGEST_COUNT = 1000
"""Iterations beyond which they take too long to be repeated for each difference quotient."""


def passed_values(function: Any, names: tuple[str, ...], clues: Clues) -> dict[str, float]:
    """The flags, counts of loops and tolerances that the first call which shows them gives."""
    telling = clues.uses.counts | clues.uses.tested
    wanted = {n for n in names if n in telling or _TOLERANCE.fullmatch(n)}
    module = module_source(function)[0] if wanted else None
    if module is None:
        return {}
    found: dict[str, float] = {}
    for site in call_sites(function, module, names):
        for name in wanted & site.values.keys():
            value = site.values[name]
            is_flag = type(value) is bool and name in clues.uses.tested
            if is_flag or _is_used(name, value, is_count=name in clues.uses.counts):
                found.setdefault(name, value)
    return found


def _is_used(name: str, value: Any, *, is_count: bool) -> bool:
    if _TOLERANCE.fullmatch(name):
        return isinstance(value, float) and 0.0 < value < 1e-3
    return is_count and type(value) is int and 0 < value <= _LARGEST_COUNT
