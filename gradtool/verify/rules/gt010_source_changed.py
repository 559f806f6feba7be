"""The file of the module changed during the run.

What it does
------------

Reads the source of each module once and compiles exactly that text, never a cached ``.pyc``. The
SHA-256 of the source is in the JSON report. A worker that finds different source refuses to check
it. After the run, gradtool reads the file again. If it differs, the run fails, and no setting,
comment or baseline can suppress this.

Why it matters
--------------

A report describes the code that was checked. If a generator, an editor or another module rewrites
the file during the run, different code may be merged.

Wrong example
-------------

    from pathlib import Path

    from gradtool import Function

    with Path(__file__).open("a") as file:
        file.write("# generated")


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * x * grad_output

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

Generate code before gradtool runs, into a separate file, and check that file.

Reference
---------

https://docs.python.org/3/reference/import.html#cached-bytecode-invalidation
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Rule, Scope

RULE = Rule(
    code="GT010",
    name="source-changed",
    summary="The file of the module changed during the run.",
    severity=Severity.ERROR,
    page=__doc__,
    scopes=(Scope.MODULE, Scope.FUNCTION),
)
