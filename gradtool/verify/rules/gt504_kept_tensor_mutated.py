"""Backward or jvp changes a saved tensor, or repeated calls accumulate in a buffer.

What it does
------------

Compares the values of inputs, outputs, saved tensors and tensors on ctx before and after backward.
It is an error if backward or ``jvp`` changes a tensor that belongs to the caller, or if the same
backward gives a different gradient after the change. It is only a note for a constant argument on
which no output and no gradient depends, since that is there to be written to. Buffers outside the
call (attributes of the class, tensors of the module or of an enclosing function) are compared
before and after two identical calls: a buffer that the second call changes again is accumulating,
which is a warning. A scratch buffer is the same after both calls.

Why it matters
--------------

Backward may run again on a retained graph. It then computes with the values that the first run left
behind. A saved input or output belongs to the caller, who does not expect a backward pass to change
it. A buffer that accumulates makes results depend on how often the Function was called, not only on
its arguments.

Wrong example
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
            return x.mul_(2) * grad_output

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
            return x.mul(2) * grad_output

How to fix
----------

Compute new tensors in backward. If a buffer must be updated, pass it as an argument, mark it
dirty and return it, or update it where the Function is called.

Reference
---------

https://pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._contract import CALLS
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.rules._runs import all_same
from gradtool.verify.wording import listed

if TYPE_CHECKING:
    from gradtool.verify.protocol.observation import Observation
    from gradtool.verify.subject import Subject

_OF_CTX = "ctx."
_HINT = "compute a new tensor in backward"
_HINT_FOR_WRITTEN = "say so in the docstring, since callers do not expect it"
_HINT_FOR_BUFFER = "pass it as an argument that is marked dirty, or update it outside the Function"
_HINT_FOR_BUFFERS = (
    "pass them as arguments that are marked dirty, or update them outside the Function"
)


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    flaws = next(filter(None, (tuple(look(subject)) for look in _LOOKS)), ())
    return failed(*flaws) if flaws else passed()


def _of_the_call(subject: Subject) -> Iterator[Flaw]:
    """Flaws for tensors of its own call that backward changes."""
    seen = subject.first.baseline
    callers = [f"`{subject.function.arguments[i].name}`" for i in seen.mutated_in_backward]
    callers += [f"output {i}" for i in seen.mutated_outputs]
    if callers:
        is_meant = _only_writes(subject)
        yield Flaw(
            message=f"backward changes {listed(callers)} in place",
            hint=_HINT_FOR_WRITTEN if is_meant else _HINT,
            severity=Severity.NOTE if is_meant else None,
        )
        return
    on_ctx = [name for name in seen.buffers_changed_in_backward if name.startswith(_OF_CTX)]
    kept = [f"saved tensor {i}" for i in seen.mutated_saved] + on_ctx
    if not kept:
        return
    message = f"backward changes {listed(kept)} in place"
    if not _repeats(subject):
        again = "a second run on the same graph gives a different gradient"
        yield Flaw(message=f"{message}: {again}", hint=_HINT)
    elif seen.mutated_saved:
        yield Flaw(message=message, hint=_HINT, severity=Severity.WARNING)


def _only_writes(subject: Subject) -> bool:
    """Return True if backward changes nothing but constant arguments that no result depends on.

    Such an argument is there to be written to, as one in which gradients of several calls add up.
    """
    seen, primals = subject.first.baseline, list(subject.first.primals)
    for at in seen.mutated_in_backward:
        if subject.function.arguments[at].differentiable or primals[at].dtype.kind not in "fc":
            return False
        primals[at] = primals[at] + 1
    rows = [subject.first.cotangents]
    try:
        runs = [subject.function.valued_vjps(at, rows) for at in (subject.first.primals, primals)]
    except Exception:  # What the user's code may raise has no bounds.
        return False
    before, after = ([*outputs, *gradients] for outputs, (gradients,) in runs)
    return not seen.mutated_outputs and all_same(before, after)


def _of_jvp(subject: Subject) -> Iterator[Flaw]:
    """Flaws for tensors of the caller that jvp changes."""
    seen, changed = subject.first.baseline, subject.changed_by_jvp
    mine = {*seen.mutated_arguments, *seen.declared_dirty}
    names = [f"`{subject.function.arguments[i].name}`" for i in changed.arguments if i not in mine]
    names += [f"output {i}" for i in changed.outputs]
    if names:
        hint = "compute a new tensor in jvp"
        yield Flaw(message=f"jvp changes {listed(names)} in place", hint=hint, method="jvp")


def _repeats(subject: Subject) -> bool:
    """Return True if backward gives the same gradients twice on one graph."""
    row = subject.first.cotangents
    try:
        once, again = subject.function.vjps(subject.first.primals, [row, row])
    except Exception:  # What the user's backward may raise has no bounds.
        return False
    return all_same(once, again)


def _outside(subject: Subject) -> Iterator[Flaw]:
    """Flaws for buffers in which calls accumulate, though their results do not show it."""
    if not _buffers(subject.first.baseline):
        return
    first, second = (
        subject.function.call(subject.first.primals, subject.first.cotangents) for _ in range(2)
    )
    drifting = _buffers(second)
    if drifting and all_same(first.outputs, second.outputs):
        is_one = len(drifting) == 1
        what = "is not an argument" if is_one else "are not arguments"
        names = listed([f"`{name}`" for name in drifting])
        yield Flaw(
            message=f"every call changes {names}, which {what}",
            hint=_HINT_FOR_BUFFER if is_one else _HINT_FOR_BUFFERS,
            severity=Severity.WARNING,
        )


_LOOKS = (_of_the_call, _of_jvp, _outside)


def _buffers(seen: Observation) -> list[str]:
    names = dict.fromkeys((*seen.buffers_changed_in_forward, *seen.buffers_changed_in_backward))
    return [name for name in names if not name.startswith(_OF_CTX)]


RULE = Rule(
    code="GT504",
    name="kept-tensor-mutated",
    summary="Backward or jvp changes a saved tensor, or repeated calls accumulate in a buffer.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=CALLS,
    check=_check,
)
