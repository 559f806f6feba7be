"""The checked code replaced something that the checker relies on.

What it does
------------

Records, before a module is imported, the identity of every function, class and constant that the
checker uses: its own, the engine's, and the entry points of NumPy and the standard library that the
two call. Compares them after the import, after each case and before a result is accepted. In the
same process gradtool also checks two Functions of its own, one right and one wrong. If anything was
replaced, or one of the two gets the wrong verdict, every result of the Function is rejected. No
setting, comment or baseline can suppress this. Code may replace anything that the checker does not
use.

Why it matters
--------------

A patch made for another purpose, such as a NumPy function that accepts more types, can let a wrong
gradient pass.

Wrong example
-------------

    import numpy as np

    from gradtool import Function

    _abs = np.abs
    np.abs = lambda x, *args, **kwargs: _abs(np.nan_to_num(x), *args, **kwargs)


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

    import numpy as np

    from gradtool import Function


    def finite_abs(x):
        return np.abs(np.nan_to_num(x))


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

Write a wrapper with its own name and call that. If the module imports a library that makes such
replacements, import that library only in the code that needs it.

Reference
---------

https://en.wikipedia.org/wiki/Monkey_patch#Pitfalls
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Rule, Scope

RULE = Rule(
    code="GT009",
    name="checker-replaced",
    summary="The checked code replaced something that the checker relies on.",
    severity=Severity.ERROR,
    page=__doc__,
    scopes=(Scope.MODULE, Scope.FUNCTION),
    taints_worker=True,
)
