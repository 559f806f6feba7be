"""Importing the module raised an exception.

What it does
------------

Imports the module as Python would, including packages and relative imports, and reports the
exception that stopped it, with the line of your file that raised it. gradtool still checks the
Functions where possible: it imports only their classes and the names they use. A package that is
not installed, or fails to import, does not stop the check: gradtool uses a stand-in, says so in a
note, and only Functions that use it fail. The finding is only a warning if the import fails because
it needs a GPU or takes longer than ``--timeout``, and the Functions can be imported on their own.

Why it matters
--------------

Nothing was checked in a module that does not import. A gate that skipped it would stay green on
the day the file broke.

Wrong example
-------------

    from gradtool import Function

    WORKERS = int("four")


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

Right example
-------------

    from gradtool import Function

    WORKERS = int("4")


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

How to fix
----------

Run ``python path/to/module.py``: it fails in the same way. Install missing packages in the
environment that runs gradtool, or move code that only training needs below ``if __name__ ==
"__main__":``. ``import torch`` does not need PyTorch: gradtool's engine replaces it.

Reference
---------

https://docs.python.org/3/reference/import.html
"""

from __future__ import annotations

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Rule, Scope

RULE = Rule(
    code="GT001",
    name="module-does-not-import",
    summary="Importing the module raised an exception.",
    severity=Severity.ERROR,
    page=__doc__,
    taints_worker=True,
    scopes=(Scope.MODULE,),
)
