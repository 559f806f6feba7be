"""Recognizes the gradient of a forward some of whose paths are meant to be cut.

The codebook of a vector quantizer learns from one term of its loss and the encoder from another
(van den Oord, Vinyals and Kavukcuoglu, "Neural Discrete Representation Learning"): each gets only
its share of the derivative. Forgetting a path looks the same, so a docstring has to say it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.diagnosis.forgotten_steps import is_held_constant

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

STOPPED = "a stop-gradient"

_SAYS_STOPPED = re.compile(r"stop(s|ped)?[-_ ]?(the )?grad(ient)?s?\b|\bsg[(\[]", re.IGNORECASE)
"""Matches what says of a path that it carries no gradient."""

_SAYS_CONSTANT = re.compile(
    r"[^.;,]*\b(treat\w*|held|kept|taken|regarded|considered|counts?|counted) (as )?(a )?"
    r"constants?\b[^.;,]*",
    re.IGNORECASE,
)
"""Matches a clause that says so of a value that forward computes."""

_TERM_WITH_CONSTANT = re.compile(
    r"\b(term|part|path|branch)\b[^.;,]*\b(treats|holds|keeps|takes|regards|considers|counts) "
    r"(the )?\w+ (as )?(a )?constant\b(?![^.;,]*\bunless\b)",
    re.IGNORECASE,
)
"""Matches a clause that says it of an argument in one of the terms of forward."""

SAYS_STOPPED = re.compile(
    "|".join(each.pattern for each in (_SAYS_STOPPED, _SAYS_CONSTANT, _TERM_WITH_CONSTANT)),
    re.IGNORECASE,
)
"""What a docstring says of a path that carries no gradient, in any way."""


def is_documented_constant(subject: Subject, at: Derivatives, comparison: Comparison) -> bool:
    """Return True if backward takes a step of forward for a constant, as a docstring says.

    What is said of an argument is nothing but that it has no gradient, if it is not said of one
    term of forward.
    """
    docstrings = subject.function.docstrings
    names = {argument.name.lower() for argument in subject.function.arguments}
    clauses = _SAYS_CONSTANT.finditer(docstrings)
    words = (set(re.findall(r"\w+", match.group().lower())) for match in clauses)
    is_said = any(names.isdisjoint(each) and "unless" not in each for each in words)
    is_of_term = _TERM_WITH_CONSTANT.search(docstrings) is not None
    return (is_said or is_of_term) and is_held_constant(at, subject.recorded, comparison)


def kind_of_stopped(subject: Subject, comparison: Comparison, rows: slice) -> str | None:
    """Name the gradient of one output if it is a share of its derivative, and documented as that.

    The share may be zero, and is the same for all entries.
    """
    if not _SAYS_STOPPED.search(subject.function.docstrings):
        return None
    analytic, numeric = comparison.analytic[rows], comparison.numeric.value[rows]
    if not (np.isfinite(analytic).all() and np.isfinite(numeric).all()):
        return None
    share = float(np.sum(analytic * numeric) / max(np.sum(numeric * numeric), np.finfo(float).tiny))
    is_share = bool((np.abs(analytic - share * numeric) <= comparison.allowed[rows]).all())
    return STOPPED if is_share and 0 <= share < 1 else None
