"""Importing the module raised an exception.

What it does
------------

Loads the module the way Python would, package and relative imports included, and reports the
exception that ended it, with the line of your file that raised.

Why it matters
--------------

A module that does not import is a module in which nothing was checked. A gate that passed it
over would be green on the day the file was broken.

Wrong example
-------------

    from gradtool import Function
    from a_package_that_is_not_installed import table


    class Lookup(Function):
        @staticmethod
        def forward(ctx, x):
            return x * table

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * table

Right example
-------------

    from gradtool import Function

    TABLE = 2.5


    class Lookup(Function):
        @staticmethod
        def forward(ctx, x):
            return x * TABLE

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * TABLE

How to fix
----------

Run ``python path/to/module.py``: it fails in the same way. Install what is missing in the
environment that runs gradtool, or move what only training needs below
``if __name__ == "__main__":``. An ``import torch`` needs no torch: gradtool answers it.

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
