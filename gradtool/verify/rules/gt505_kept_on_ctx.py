"""An input or output is kept on ctx instead of being saved.

What it does
------------

Searches the attributes of ctx, including views of a tensor, and the contents of lists, tuples,
dicts, functions and your own objects. For each input or output found there, makes a call that
changes the tensor in place between forward and backward. If the gradient changes without an
exception, the finding is an error; otherwise, it is a warning. For an integer or boolean input,
such as an index or a mask, which no graph holds and few programs change in place, it is a note.
Anything else may be kept on ctx, including intermediate tensors.

Why it matters
--------------

``save_for_backward`` records the version of a tensor, and backward raises if it has changed since.
An attribute of ctx does not: an optimizer step, or an in-place activation, silently makes the
gradient wrong. An output on ctx also keeps itself, and all of the graph's memory, alive until the
garbage collector runs. Hooks that offload saved tensors do not see a tensor on ctx.

Wrong example
-------------

    from gradtool import Function


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * ctx.x * grad_output

Right example
-------------

    from gradtool import Function


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * x * grad_output

How to fix
----------

Pass inputs and outputs to ``ctx.save_for_backward``, all in one call. If backward needs only a
property, such as a shape, keep only that: ``ctx.shape = x.shape``.

Reference
---------

https://pytorch.org/docs/stable/generated/torch.autograd.function.FunctionCtx.save_for_backward.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.rules._contract import CHANGES_NOTHING, RUNS
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.rules._runs import silently_differs

if TYPE_CHECKING:
    from gradtool.verify.protocol.observation import Observation
    from gradtool.verify.subject import Subject

_HINT = "save it with ctx.save_for_backward"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    flaws = tuple(_flaws(subject))
    return failed(*flaws) if flaws else passed()


def _flaws(subject: Subject) -> Iterator[Flaw]:
    kept = {word: name for name, word in reversed(subject.first.baseline.kept_on_ctx)}
    for word, attribute in reversed(kept.items()):
        kind, _, which = word.partition(":")
        what = f"`{which}`" if kind == "input" else f"output {which}"
        changed = _changed_between(subject, kind, which)
        if changed is None or _is_written(subject, which):
            continue
        note = Severity.NOTE if _is_discrete(subject, which) else None
        if silently_differs(subject.first.baseline, changed):
            harm = ": if it is changed in place before backward, the gradient is silently wrong"
            yield Flaw(
                message=f"{what} is kept as ctx.{attribute}{harm}", hint=_HINT, severity=note
            )
        else:
            yield Flaw(
                message=f"{what} is kept as ctx.{attribute}, where autograd cannot see it",
                hint=_HINT,
                severity=note or Severity.WARNING,
            )


def _is_written(subject: Subject, which: str) -> bool:
    """Return True for an input that backward writes to, which it cannot do to a saved tensor."""
    written = subject.first.baseline.mutated_in_backward
    return any(subject.function.arguments[at].name == which for at in written)


def _is_discrete(subject: Subject, which: str) -> bool:
    """Return True for an input of integers or booleans."""
    named = zip(subject.function.arguments, subject.first.primals, strict=True)
    return any(each.name == which and not is_continuous(at.dtype) for each, at in named)


def _changed_between(subject: Subject, kind: str, which: str) -> Observation | None:
    """A call whose input or output is changed before backward; None if it is no tensor."""
    function, at, cotangents = subject.function, subject.first.primals, subject.first.cotangents
    if kind == "output":
        return function.call_with_output_changed_between(at, cotangents, int(which))
    places = [i for i, argument in enumerate(function.arguments) if argument.name == which]
    if not places:
        return None
    return function.call_with_input_changed_between(at, cotangents, places[0])


RULE = Rule(
    code="GT505",
    name="kept-on-ctx",
    summary="An input or output is kept on ctx instead of being saved.",
    severity=Severity.ERROR,
    page=__doc__,
    blames=("setup_context", "forward"),
    premises=(*RUNS, *CHANGES_NOTHING),
    check=_check,
)
