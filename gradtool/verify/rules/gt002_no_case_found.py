"""gradtool found no arguments that forward accepts.

What it does
------------

Looks for cases in the configuration, then in ``sample_inputs`` on the Function, and then tries
small tensors of various shapes, guided first by the signature of ``forward``, then by its source
and by calls to the Function. Reports a Function if ``forward`` accepts none of them, or returns no
finite result. An entry of the configuration that does not fit the Function, such as a ``surrogate``
that is not an argument of ``forward``, is reported at its line, and the exit code is 2.

Why it matters
--------------

A Function without a case was not checked. That is a failure to verify, not a pass.

Wrong example
-------------

    from gradtool import Function


    class Polynomial(Function):
        @staticmethod
        def forward(ctx, x, coefficients):
            if coefficients["slope"] <= coefficients["offset"]:
                raise ValueError("the slope must be greater than the offset")
            ctx.slope = coefficients["slope"]
            return ctx.slope * x + coefficients["offset"]

        @staticmethod
        def backward(ctx, grad_output):
            return ctx.slope * grad_output, None

Right example
-------------

    from gradtool import Function, randn


    class Polynomial(Function):
        @staticmethod
        def forward(ctx, x, coefficients):
            if coefficients["slope"] <= coefficients["offset"]:
                raise ValueError("the slope must be greater than the offset")
            ctx.slope = coefficients["slope"]
            return ctx.slope * x + coefficients["offset"]

        @staticmethod
        def backward(ctx, grad_output):
            return ctx.slope * grad_output, None

        @staticmethod
        def sample_inputs():
            yield randn(3, 4, requires_grad=True), {"slope": 2.0, "offset": 1.0}

How to fix
----------

Add a static method ``sample_inputs`` that yields tuples of arguments, as above, or name the
arguments in ``gradtool.yaml``::

    version: 1
    functions:
      Polynomial:
        cases:
          - args: [{shape: [3, 4]}, {literal: {slope: 2.0, offset: 1.0}}]

Reference
---------

``gradtool config my_ops.py`` prints the configuration that applies to a file.
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Rule, Scope

RULE = Rule(
    code="GT002",
    name="no-case-found",
    summary="gradtool found no arguments that forward accepts.",
    severity=Severity.ERROR,
    page=__doc__,
    scopes=(Scope.FUNCTION,),
)
