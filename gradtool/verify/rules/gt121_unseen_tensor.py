"""A tensor in a container or a module gets no gradient, though the outputs depend on it.

What it does
------------

Finds each tensor that requires a gradient and that a case passes inside a list, tuple, dict or
dataclass, or as a parameter of a module, and changes its values. Reports the tensor if an output
changes but backward gives it no gradient. For a parameter of a module, which may be meant to be
frozen, this is a warning.

Why it matters
--------------

Autograd looks at the arguments of ``apply``, not inside them. The tensor's part of the gradient is
silently zero, whatever backward returns, and training goes on without it.

Wrong example
-------------

    from gradtool import Function, randn


    class WeightedSum(Function):
        @staticmethod
        def forward(ctx, weight, xs):
            ctx.save_for_backward(*xs)
            return sum(weight * x for x in xs)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * sum(ctx.saved_tensors), None

        @staticmethod
        def sample_inputs():
            xs = [randn(3, requires_grad=True) for _ in range(2)]
            yield randn(3, requires_grad=True), xs

Right example
-------------

    from gradtool import Function, randn


    class WeightedSum(Function):
        @staticmethod
        def forward(ctx, weight, *xs):
            ctx.save_for_backward(weight, *xs)
            return sum(weight * x for x in xs)

        @staticmethod
        def backward(ctx, grad_output):
            weight, *xs = ctx.saved_tensors
            return grad_output * sum(xs), *(grad_output * weight for _ in xs)

        @staticmethod
        def sample_inputs():
            xs = [randn(3, requires_grad=True) for _ in range(2)]
            yield randn(3, requires_grad=True), *xs

How to fix
----------

Pass each tensor as a separate argument, ``apply(weight, *xs)``, and return a gradient for each. A
tensor that is meant to be a constant should not require a gradient: pass ``x.detach()``.

Pass the parameters of a module as separate arguments alongside it, ``apply(module, x,
*module.parameters())``, or run ``torch.autograd.backward`` inside backward, which leaves their
gradients on them. Freeze a module that is meant to be constant: ``module.requires_grad_(False)``.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html#how-to-use
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._contract import CALLS
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, not_offered, passed, skipped
from gradtool.verify.wording import listed

if TYPE_CHECKING:
    from gradtool.verify.protocol.observation import LostGradient
    from gradtool.verify.subject import Subject

_OF_MODULE = (
    "pass the parameters as separate arguments too, or freeze them with `requires_grad_(False)`"
)


def _check(subject: Subject) -> Answer:
    try:
        lost = subject.function.lost_gradients(subject.first.primals)
    except Exception:  # What the user's backward may raise has no bounds: GT004 reports it.
        return skipped("a call with other tensors raised")
    if lost is None:
        return not_offered("no container or module holds a tensor that requires a gradient")
    if not lost:
        return passed()
    return failed(*map(_flaw, groupby(lost, key=attrgetter("of_module"))))


def _flaw(group: tuple[bool, Iterable[LostGradient]]) -> Flaw:
    of_module, lost = group
    names = [f"`{each.name}`" for each in lost]
    them = "them" if len(names) > 1 else "it"
    where = "modules" if of_module else "lists, tuples, dicts and dataclasses"
    return Flaw(
        message=f"no gradient reaches {listed(names)}, though the outputs depend on {them}:"
        f" autograd does not look into {where}",
        hint=_OF_MODULE
        if of_module
        else "pass each tensor as a separate argument, as in `apply(*xs)`",
        method="forward",
        severity=Severity.WARNING if of_module else None,
    )


RULE = Rule(
    code="GT121",
    name="unseen-tensor",
    summary="A tensor in a list, tuple, dict, dataclass or module gets no gradient.",
    severity=Severity.ERROR,
    page=__doc__,
    blames=("forward",),
    premises=CALLS,
    check=_check,
)
