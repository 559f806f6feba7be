"""The Function did not come to an end in its time.

What it does
------------

Gives each Function ``--timeout`` seconds, 60 by default, for all its cases together, and as
long to find its arguments. Then it is interrupted; and if it does not even react to that, as
a loop in compiled code does not, its process is killed. The finding names your line that it
was at. Cases that were finished before are kept, those that were not are left out.

Why it matters
--------------

A gate that hangs holds up everybody, and tells nobody why.

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
            LOCK.acquire()  # held by forward, and released by nobody
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

Mend the loop or the lock at the line that the finding names. If the Function is only slow,
choose smaller arguments, or raise ``--timeout`` or ``timeout`` in ``gradtool.yaml``.

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
    summary="The Function did not come to an end in its time.",
    severity=Severity.ERROR,
    page=__doc__,
    taints_worker=True,
)
