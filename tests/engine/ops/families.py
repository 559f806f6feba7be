"""Every family of operations that is compared with real PyTorch.

A family is a module with a list ``CASES``; import it here and add it to `FAMILIES`.
"""

from __future__ import annotations

from tests.engine.ops import comparison_cases, elementwise_cases, reduction_cases

FAMILIES = {
    "comparison": comparison_cases.CASES,
    "elementwise": elementwise_cases.CASES,
    "reduction": reduction_cases.CASES,
}
