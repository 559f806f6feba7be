"""The families of rules, in the words a user of autograd has for them."""

from __future__ import annotations

FAMILIES = {
    "GT0": "running",
    "GT1": "gradient",
    "GT2": "double backward",
    "GT3": "forward mode",
    "GT4": "batching",
    "GT5": "contract",
    "GT6": "numerics",
    "GT7": "devices",
}
"""First three characters of a rule's code, and what the rule asks about."""

PROVES = {
    "GT101": "gradient",
    "GT201": "double backward",
    "GT204": "third derivative",
    "GT301": "forward mode",
    "GT401": "batching",
    "GT701": "device comparison",
    "GT702": "engine comparison",
}
"""The rules whose pass says that a derivative is right, and which one it is."""


def family(rule: str) -> str:
    """The words for the family of a rule; of a rule of no known family, its code."""
    return FAMILIES.get(rule[:3], rule)
