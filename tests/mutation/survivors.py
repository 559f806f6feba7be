"""Mutants that are wrong and not found, each with the reason why that has to be so.

The key is the fingerprint of the mutant, which has no line numbers.
"""

from __future__ import annotations

EXPLAINED: dict[str, str] = {
    "tests/zoo/right/saturated.py::HypotHuge.forward: ctx.save_for_backward(x, y, h) -> "
    "ctx.save_for_backward(x, y.detach(), h)": "Its inputs are as large as 4e200, where second "
    "derivatives are 1e-201 and gradients are 1. Entries below 2e-14 of the largest entry of the "
    "double backward count as lost to rounding, so second derivatives are not checked there. For "
    "inputs below 1e13, the same mistake is found.",
}
