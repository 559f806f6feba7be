"""Forward raised an exception on the arguments of its case.

What it does
------------

Calls the Function with the arguments of the case, as training code would, and reports an exception
with the line of your code that raised it.

Why it matters
--------------

Without an output there is no gradient to check.

Wrong example
-------------

    from gradtool import Function, randn


    class Scale(Function):
        @staticmethod
        def forward(ctx, x, factor):
            if factor <= 0:
                raise ValueError("factor must be positive")
            ctx.factor = factor
            return factor * x

        @staticmethod
        def backward(ctx, grad_output):
            return ctx.factor * grad_output, None

        @staticmethod
        def sample_inputs():
            yield randn(3, requires_grad=True), -1.0

Right example
-------------

    from gradtool import Function, randn


    class Scale(Function):
        @staticmethod
        def forward(ctx, x, factor):
            if factor <= 0:
                raise ValueError("factor must be positive")
            ctx.factor = factor
            return factor * x

        @staticmethod
        def backward(ctx, grad_output):
            return ctx.factor * grad_output, None

        @staticmethod
        def sample_inputs():
            yield randn(3, requires_grad=True), 2.0

How to fix
----------

If ``forward`` is right to reject these arguments, correct the case in ``gradtool.yaml`` or
``sample_inputs``. Otherwise fix ``forward``. ``-v`` shows the whole traceback.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.demanded_dtype import asks_for_single
from gradtool.verify.rules._contract import reporter_of
from gradtool.verify.rules._rule import Answer, Rule, passed, raised, reported_by

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    failure = subject.first.forward.failure
    if failure is None:
        return passed()
    reporter = reporter_of(failure.kind)
    if reporter:
        return reported_by(reporter)
    is_of_dtypes = asks_for_single(failure.message)
    return raised(failure, f"forward raised {failure.message}", _DOUBLE if is_of_dtypes else None)


_DOUBLE = (
    "if a module is float32, create it with `.double()`; gradtool checks in float64, unless the "
    "tensors of the case say `dtype: float32`"
)


RULE = Rule(
    code="GT003",
    name="forward-raised",
    summary="Forward raised an exception on the arguments of its case.",
    severity=Severity.ERROR,
    page=__doc__,
    blames=("forward",),
    check=_check,
)
