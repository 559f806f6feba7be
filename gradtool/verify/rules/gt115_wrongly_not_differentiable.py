"""An output is marked non-differentiable, or has no graph, but depends on the inputs.

What it does
------------

For each floating-point output without a graph, moves the inputs along random directions and checks
whether the output changes in proportion to the step. An intermediate that forward saves for
backward, such as a reciprocal deviation or a log-sum-exp, and also returns and marks gets only a
note, unless a docstring calls outputs differentiable. So does a marked output if a docstring says
that outputs carry no gradient. An input without a gradient that forward updates in place and
returns, such as a running mean, does not count as such an output; one that it returns anew and
marks gets a note.

Why it matters
--------------

The output's part of the loss silently gets no gradient. ``gradcheck`` looks only at differentiable
outputs.

Wrong example
-------------

    from gradtool import Function


    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            doubled, tripled = x * 2, x * 3
            ctx.mark_non_differentiable(tripled)
            return doubled, tripled

        @staticmethod
        def backward(ctx, g2, g3):
            return g2 * 2

Right example
-------------

    from gradtool import Function


    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g2, g3):
            return g2 * 2 + g3 * 3

How to fix
----------

Mark only outputs that do not change with the inputs or change only in jumps, such as indices,
counts and masks. If an output is only for inspection, say in the docstring that it is not
differentiable.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html#how-to-use
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, shifted
from gradtool.verify.rules._contract import RUNS
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, not_offered, passed, skipped
from gradtool.verify.thresholds.rules import UNGRAPHED_PROPORTION, UNGRAPHED_STEP

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


_HINT = "mark an output as non-differentiable only if it does not vary with the inputs"

_SAID = re.compile(
    r"(?i)non-?differentiable|not differentiable|no gradient"
    r"|(for|only) (logging|inspection|display)|logging (values|only)"
)
"""What a docstring says of outputs that are meant to have no gradient."""

_PROMISED = re.compile(
    r"(?i)(?<!non)(?<!non-)(?<!not )\bdifferentiable"
    r"|\b(feeds?|used|meant|useful|intended)( in| for| by)?( an?| the)?( \w+)?"
    r" [\w-]*(loss|penalty|regulari[sz]er)"
)
"""What a docstring says of outputs that are meant to have a gradient."""

_STATE = re.compile(r"(.*_)?(state|stats?|mean|var|std|ema|momentum|memory|buffer|running)(_.*)?")
"""Names of arguments that one call hands to the next."""

_HINT_FOR_SAID = "do not use this output in a loss"

_HINT_FOR_SAVED = "this is fine for a by-product that backward uses: do not use it in a loss"


def _check(subject: Subject) -> Answer:
    if not subject.first.inputs:
        return skipped("no argument requires a gradient")
    forward = subject.first.forward
    silent = [
        number
        for number, (output, graphed) in enumerate(
            zip(forward.outputs, forward.output_requires_grad, strict=True)
        )
        if output is not None
        and is_continuous(output.dtype)
        and output.size
        and not graphed
        and not _is_buffer(subject, number)
    ]
    if not silent:
        return not_offered("every output has a graph")
    varying = [number for number in silent if _follows(subject, number)]
    worst = [number for number in varying if not _is_only_saved(subject, number)] or varying
    return failed(_flaw(subject, worst[0])) if worst else passed()


def _is_buffer(subject: Subject, output: int) -> bool:
    """Return True for an input without a gradient that forward updates in place and returns."""
    forward = subject.first.forward
    return any(
        (argument, output) in forward.aliases
        and not subject.function.arguments[argument].differentiable
        for argument in forward.declared_dirty
    )


def _is_next_state(subject: Subject, output: int) -> bool:
    """Return True for a marked output like a statistic without a gradient, which it is to follow.

    As a running mean that forward takes and returns anew.
    """
    made = _base(subject, output)
    return output in subject.first.forward.non_differentiable and any(
        _STATE.fullmatch(argument.name) and argument.shape == made.shape
        for argument in subject.function.arguments
        if not argument.differentiable and is_continuous(argument.dtype)
    )


def _is_said(subject: Subject, output: int) -> bool:
    """Return True if a docstring declares an output that is marked."""
    is_marked = output in subject.first.forward.non_differentiable
    return is_marked and _SAID.search(subject.function.docstrings) is not None


def _is_only_saved(subject: Subject, output: int) -> bool:
    """Return True for an intermediate that backward needs, and that is returned beside others.

    ``setup_context`` can save nothing else.
    """
    forward = subject.first.forward
    is_marked = output in forward.non_differentiable
    is_saved = f"output:{output}" in forward.saved
    has_others = any(forward.output_requires_grad)
    is_promised = _PROMISED.search(subject.function.docstrings) is not None
    return is_marked and is_saved and has_others and not is_promised


def _follows(subject: Subject, output: int) -> bool:
    """Return True if half a step changes an output half as much."""
    whole, half = (_answer(subject, output, part) for part in (UNGRAPHED_STEP, UNGRAPHED_STEP / 2))
    if whole is None or half is None:
        return False
    size = float(np.abs(whole).max(initial=0.0))
    noise = 64 * np.finfo(np.float64).eps * float(np.abs(_base(subject, output)).max(initial=0.0))
    if size <= noise / UNGRAPHED_PROPORTION:
        return False
    return bool(np.abs(half - whole / 2).max() <= UNGRAPHED_PROPORTION * size)


def _answer(subject: Subject, output: int, part: float) -> Array | None:
    """The change of an output when all inputs move along a random direction."""
    own = subject.first.primals
    point = shifted(own, part, generator(subject.seed, "outputs without a graph"))
    moved = [point[i] if i in subject.first.inputs else own[i] for i in range(len(own))]
    try:
        found = subject.function.evaluate(moved)[output]
    except Exception:  # A point that forward does not take shows nothing.
        return None
    base = _base(subject, output)
    if found is None or found.shape != base.shape or not np.isfinite(found).all():
        return None
    return np.asarray(found - base)


def _base(subject: Subject, output: int) -> Array:
    value = subject.first.forward.outputs[output]
    assert value is not None
    return value


def _flaw(subject: Subject, output: int) -> Flaw:
    marked = output in subject.first.forward.non_differentiable
    how = "is marked non-differentiable" if marked else "requires no gradient"
    varies = "but varies with the inputs"
    message = f"output {output} {how}, {varies}"
    if _is_only_saved(subject, output):
        return Flaw(message=message, hint=_HINT_FOR_SAVED, severity=Severity.NOTE)
    if _is_said(subject, output):
        message = f"output {output} {how}, as a docstring says, {varies}"
        return Flaw(message=message, hint=_HINT_FOR_SAID, severity=Severity.NOTE)
    if _is_next_state(subject, output):
        return Flaw(message=message, hint=_HINT_FOR_SAID, severity=Severity.NOTE)
    return Flaw(message=message, hint=_HINT)


RULE = Rule(
    code="GT115",
    name="wrongly-not-differentiable",
    summary="An output is marked non-differentiable, but varies with the inputs.",
    severity=Severity.ERROR,
    page=__doc__,
    blames=("setup_context", "forward"),
    premises=RUNS,
    check=_check,
)
