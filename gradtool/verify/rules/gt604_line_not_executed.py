"""Some lines of the Function's own methods are not executed by any case.

What it does
------------

Records which lines of ``forward``, ``setup_context``, ``backward``, ``vjp``, ``jvp`` and ``vmap``
run in any case of a Function. The others are listed once everything else is right. Lines that
only raise an exception do not count.

Why it matters
--------------

A branch that never ran was not verified, whatever the verdict. It may handle the other side of a
``clamp``, a bias, another dtype, or a size for which another formula holds.

Wrong example
-------------

    from gradtool import Function


    class Power(Function):
        @staticmethod
        def forward(ctx, x, cubed=False):
            ctx.save_for_backward(x)
            ctx.cubed = cubed
            return x**3 if cubed else x**2

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            if ctx.cubed:
                return grad_output * 3 * x**2, None
            return grad_output * 2 * x, None

Right example
-------------

    from gradtool import Case, Function, randn


    class Power(Function):
        @staticmethod
        def forward(ctx, x, cubed=False):
            ctx.save_for_backward(x)
            ctx.cubed = cubed
            return x**3 if cubed else x**2

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            if ctx.cubed:
                return grad_output * 3 * x**2, None
            return grad_output * 2 * x, None

        @staticmethod
        def sample_inputs():
            yield (randn(3, requires_grad=True), False)
            yield (randn(3, requires_grad=True), True)

How to fix
----------

Add a case that takes the branch, in ``gradtool.yaml`` or ``sample_inputs``.

Reference
---------

https://coverage.readthedocs.io explains what line coverage can and cannot tell you.
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Rule, Scope

RULE = Rule(
    code="GT604",
    name="line-not-executed",
    summary="Some lines of the Function's own methods are not executed by any case.",
    severity=Severity.NOTE,
    page=__doc__,
    scopes=(Scope.ALL_CASES,),
)
