"""The Function ran out of memory.

What it does
------------

Limits each Function to ``--memory-limit`` of additional memory, 4 GiB by default, and reports the
``MemoryError`` when it needs more. A process that the system kills for using too much memory is
reported in the same way. Runs on a GPU have no limit, since it would not cover the GPU's memory.

Why it matters
--------------

A Function that needs gigabytes for the small arguments of a check will not fit into memory with
real ones. On a shared machine it also takes down other jobs.

Wrong example
-------------

    from gradtool import Function, zeros


    class Sum(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sum()

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            table = zeros(1 << 20, 1 << 20)  # 8 TiB
            return grad_output * (x * 0 + 1) + table[0, 0]

Right example
-------------

    from gradtool import Function, ones_like


    class Sum(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sum()

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * ones_like(x)

How to fix
----------

Look for a buffer of the wrong size, or a list that grows with every call, at the line that the
finding names. If the Function really needs that much, choose smaller arguments or raise
``--memory-limit``; ``none`` removes the limit.

Reference
---------

https://man7.org/linux/man-pages/man2/getrlimit.2.html (RLIMIT_DATA)
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Rule

RULE = Rule(
    code="GT007",
    name="out-of-memory",
    summary="The Function ran out of memory.",
    severity=Severity.ERROR,
    page=__doc__,
    taints_worker=True,
)
