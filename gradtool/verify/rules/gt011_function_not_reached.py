"""A Function is declared in code that did not run, has no backward, or is half of an operation.

What it does
------------

Lists the Functions in the source that were not checked: those that a function defines from its own
variables, those behind a condition that is false here, and those without a backward. A function
that defines and returns a Function is called if it needs no arguments, or if the file shows which
ones to pass. A Function that uses nothing of the function around it is checked in any case.

Lists the halves of an operation, too. Communication that overlaps with computation is often split
into a Function that starts it and one that waits for the result. They pass the gradient on in an
object, past autograd, so neither computes a derivative of its own inputs.

Why it matters
--------------

A green gate says that every gradient in the file is right. That must not include a Function that
was never checked.

Wrong example
-------------

    from gradtool import Function


    def scale_by(x, table):
        class Scale(Function):
            @staticmethod
            def forward(ctx, x):
                return x * table["factor"]

            @staticmethod
            def backward(ctx, grad_output):
                return grad_output * table["factor"]

        return Scale.apply(x)

Right example
-------------

    from gradtool import Function


    def make_scale(factor):
        class Scale(Function):
            @staticmethod
            def forward(ctx, x):
                return x * factor

            @staticmethod
            def backward(ctx, grad_output):
                return grad_output * factor

        return Scale.apply


    double = make_scale(2.0)

How to fix
----------

Move the class to the top level of the file and pass it what it needs, or, at module level, call the
function that defines it, as above. For halves of an operation, check a callable that calls both:
``gradtool check FILE.py::CALLABLE``. With ``--strict``, the finding fails the run.

Reference
---------

https://docs.pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Rule, Scope

RULE = Rule(
    code="GT011",
    name="function-not-reached",
    summary="A Function is in code that did not run, has no backward, or is half of an operation.",
    severity=Severity.WARNING,
    page=__doc__,
    scopes=(Scope.FUNCTION,),
)
