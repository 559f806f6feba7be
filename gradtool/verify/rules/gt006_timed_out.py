"""The Function did not finish in time.

What it does
------------

Gives each Function ``--timeout`` seconds, 60 by default, for all its cases together, and the same
again to find its arguments. A Function that takes longer is interrupted. If it does not respond,
for example in a loop inside compiled code, its process is killed. The finding names the line of
your code that was running. Cases that finished are kept; the others are skipped.

Why it matters
--------------

A gate that hangs blocks everyone, and no one can see why.

Wrong example
-------------

    from gradtool import Function
    import threading

    LOCK = threading.Lock()


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            LOCK.acquire()
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            LOCK.acquire()  # forward holds it and never releases it
            (x,) = ctx.saved_tensors
            return 2 * x * grad_output

Right example
-------------

    from gradtool import Function
    import threading

    LOCK = threading.Lock()


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            with LOCK:
                ctx.save_for_backward(x)
                return x * x

        @staticmethod
        def backward(ctx, grad_output):
            with LOCK:
                (x,) = ctx.saved_tensors
                return 2 * x * grad_output

How to fix
----------

Fix the loop or the lock at the line that the finding names. If the Function is only slow, choose
smaller arguments, or raise ``--timeout``, or ``timeout`` in ``gradtool.yaml``.

Reference
---------

https://docs.python.org/3/library/signal.html#execution-of-python-signal-handlers
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Rule

RULE = Rule(
    code="GT006",
    name="timed-out",
    summary="The Function did not finish in time.",
    severity=Severity.ERROR,
    page=__doc__,
    taints_worker=True,
)
