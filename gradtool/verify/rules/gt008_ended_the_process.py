"""The Function ended the process that ran it.

What it does
------------

Reports a Function that calls ``sys.exit`` or ``os._exit``, or raises something that is not an
``Exception``, such as ``KeyboardInterrupt``. Exiting without an error counts too: a check that did
not return its whole result has not passed.

Why it matters
--------------

To anything that only reads exit codes, ``os._exit(0)`` in the middle of a gate looks like success.
In a training job it ends the run, and ``except Exception`` cannot stop it.

Wrong example
-------------

    from gradtool import Function, randn
    import sys


    class Scale(Function):
        @staticmethod
        def sample_inputs():
            yield (randn(3, requires_grad=True), 0.5)

        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad_output):
            if ctx.factor < 1:
                sys.exit("factor must be 1 or more")
            return grad_output * ctx.factor, None

Right example
-------------

    from gradtool import Function, randn


    class Scale(Function):
        @staticmethod
        def sample_inputs():
            yield (randn(3, requires_grad=True), 1.5)

        @staticmethod
        def forward(ctx, x, factor):
            if factor < 1:
                raise ValueError("factor must be 1 or more")
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.factor, None

How to fix
----------

Raise an exception that says what is wrong, in ``forward`` if the problem can be detected there.

Reference
---------

https://docs.python.org/3/library/exceptions.html#exception-hierarchy
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Rule

RULE = Rule(
    code="GT008",
    name="ended-the-process",
    summary="The Function ended the process that ran it.",
    severity=Severity.ERROR,
    page=__doc__,
    taints_worker=True,
)
