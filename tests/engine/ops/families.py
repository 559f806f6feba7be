"""Every family of operations that is compared with real PyTorch.

A family is a module with a list ``CASES``; import it here and add it to `FAMILIES`.
"""

from __future__ import annotations

from tests.engine.ops import (
    arithmetic_cases,
    comparison_cases,
    elementwise_cases,
    extremum_cases,
    reduction_cases,
    selection_cases,
    softmax_cases,
    statistics_cases,
)

FAMILIES = {
    "arithmetic": arithmetic_cases.CASES,
    "comparison": comparison_cases.CASES,
    "elementwise": elementwise_cases.CASES,
    "extremum": extremum_cases.CASES,
    "reduction": reduction_cases.CASES,
    "selection": selection_cases.CASES,
    "softmax": softmax_cases.CASES,
    "statistics": statistics_cases.CASES,
}
