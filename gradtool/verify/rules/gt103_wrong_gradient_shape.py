"""A gradient has a different shape from its input.

What it does
------------

Compares the shape of each gradient that backward returns with that of its input. Autograd sums a
gradient that broadcasting has made larger, and refuses any other shape.

Why it matters
--------------

autograd refuses the result: the first training step raises.

Wrong example
-------------

    from gradtool import Function, randn


    class Total(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return (x * x).sum(1)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * (grad_output.unsqueeze(1) * x).t()

        @staticmethod
        def sample_inputs():
            yield (randn(3, 4, requires_grad=True),)

Right example
-------------

    from gradtool import Function, randn


    class Total(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return (x * x).sum(1)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * grad_output.unsqueeze(1) * x

        @staticmethod
        def sample_inputs():
            yield (randn(3, 4, requires_grad=True),)

How to fix
----------

Bring the gradient to the input's shape: transpose it back, undo an ``unsqueeze``, or sum over the
axes that forward broadcast.

Reference
---------

https://pytorch.org/docs/stable/notes/broadcasting.html
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._contract import RUNS, refused
from gradtool.verify.rules._rule import Rule

RULE = Rule(
    code="GT103",
    name="wrong-gradient-shape",
    summary="A gradient has a different shape from its input.",
    severity=Severity.ERROR,
    page=__doc__,
    reports=("gradient-shape",),
    premises=(*RUNS, "GT102"),
    check=refused("gradient-shape", "bring the gradient to the shape of the input"),
)
