"""The mistakes that are made on purpose, by name.

An operator takes a place in a right Function and yields what to put there instead. The names
are those of the table in ``docs/mutation.md``.
"""

from __future__ import annotations

from tests.mutation.operators import arithmetic, calls, control, names
from tests.mutation.operators._operator import Operator

OPERATORS: dict[str, Operator] = {
    **arithmetic.OPERATORS,
    **calls.OPERATORS,
    **names.OPERATORS,
    **control.OPERATORS,
}
