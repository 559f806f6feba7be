"""The step of forward that is constant where backward returns a gradient.

A value at its bound, or below zero, carries no gradient. Backward that forgets so is often wrong
by more than that, so that no altered forward explains all of it.
"""

from __future__ import annotations

import re

import numpy as np

from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.diagnosis.looks import Explanation, Looks
from gradtool.verify.diagnosis.patience import patiently
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import Alteration

_BOUNDED = re.compile(r"\b(clamp|clip|relu|hardtanh|maximum|minimum|where|threshold)\w*\(")
"""Matches an operation that is constant on one side of a bound."""


def bounding_step(
    derivatives: Derivatives, recorded: Examinable | None, comparison: Comparison, name: str
) -> Explanation | None:
    """The sentence that names the step; None if the gradient is wrong elsewhere, too."""
    if recorded is None or comparison.exact is None:
        return None
    try:
        return _found(Looks(derivatives, (comparison.argument,)), recorded, name)
    except Exception:  # The user's code may raise anything.
        return None


def _found(looks: Looks, recorded: Examinable, name: str) -> Explanation | None:
    look = looks.first
    (gradients,) = recorded.vjps(look.primals, [look.cotangents])
    exact, returned = looks.flat(gradients), looks.returned(look)
    wrong = np.abs(returned - exact) > looks.precision * np.abs(returned).max(initial=0.0)
    if not wrong.any() or exact[wrong].any():
        return None
    tried = [each for each in recorded.alterations(look.primals) if _lifts_a_bound(each)]
    found = recorded.altered(look.primals, look.cotangents, tried)
    for made, lifted in patiently(zip(tried, found, strict=True)):
        if lifted is not None and looks.flat(lifted)[wrong].all():
            place = f"`{made.code}` (line {made.line})"
            text = f"the gradient of `{name}` is not zero where {place} passes none"
            return Explanation(text, made.path, made.line)
    return None


def _lifts_a_bound(made: Alteration) -> bool:
    bounds, left = (len(_BOUNDED.findall(code)) for code in (made.code, made.other))
    return made.kind == "kept" and left < bounds
