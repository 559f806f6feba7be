"""A tolerance is still in place after its expiry date.

What it does
------------

Compares the date under ``expires``, next to a tolerance in the configuration or in a ``Case``, with
today's date in UTC. The tolerance still applies, so this is the only finding; the summary of every
run lists the tolerances in force, with their reasons and dates.

Why it matters
--------------

A tolerance is often meant to last until something is fixed. Then everyone forgets the tolerance,
and it lets other mistakes of that size pass.

Wrong example
-------------

    from gradtool import Case, Function, randn


    class Radians(Function):
        @staticmethod
        def forward(ctx, degrees):
            return degrees * (3.141592653589793 / 180)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 0.01745

        @staticmethod
        def sample_inputs():
            degrees = randn(3, requires_grad=True)
            yield Case((degrees,), rtol=1e-3, reason="0.01745 is short", expires="2020-01-31")

Right example
-------------

    from gradtool import Case, Function, randn


    class Radians(Function):
        @staticmethod
        def forward(ctx, degrees):
            return degrees * (3.141592653589793 / 180)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * (3.141592653589793 / 180)

        @staticmethod
        def sample_inputs():
            yield Case((randn(3, requires_grad=True),))

How to fix
----------

Fix the cause and remove the tolerance, or set a later date and say why.

Reference
---------

Deprecation warnings that name the release in which the removal will happen work the same way.
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Rule, Scope

RULE = Rule(
    code="GT512",
    name="expired-tolerance",
    summary="A tolerance is still in place after its expiry date.",
    severity=Severity.ERROR,
    page=__doc__,
    scopes=(Scope.ALL_CASES,),
)
