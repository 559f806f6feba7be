"""The process that ran the Function was killed by a signal.

What it does
------------

Runs Functions in worker processes, separate from the process that writes the report. When a signal
such as SIGSEGV kills a worker, the finding names the Function that was running and, if it is known,
the innermost line of your Python code. Finished cases are kept, and all other Functions are still
checked. ``--no-isolation`` runs everything in one process; a crash then ends the entire run.

Why it matters
--------------

A training job would end the same way, without a traceback.

Wrong example
-------------

    from gradtool import Function
    import ctypes


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            ctypes.string_at(0)  # reads an invalid address
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

Look for a call into compiled code on the line that the finding names: a wrong pointer, an index out
of bounds, wrong ``argtypes`` in ctypes. If the signal is SIGKILL, something outside gradtool killed
the process; often the machine ran out of memory.

Reference
---------

https://docs.python.org/3/library/faulthandler.html
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Rule

RULE = Rule(
    code="GT005",
    name="worker-crashed",
    summary="The process that ran the Function was killed by a signal.",
    severity=Severity.ERROR,
    page=__doc__,
)
