"""The instructions of a function's code, which tell that a source need not be parsed."""

from __future__ import annotations

import dis
import inspect
from types import CodeType
from typing import Any


def may_raise(function: Any) -> bool:
    """Return True unless a function has no ``raise``."""
    return _may_have(function, "RAISE_VARARGS")


def may_set_attributes(function: Any) -> bool:
    """Return True unless a function assigns no attribute, of its context or anything else."""
    return _may_have(function, "STORE_ATTR")


def _may_have(function: Any, instruction: str) -> bool:
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    # Every other byte is an argument.
    return not isinstance(code, CodeType) or dis.opmap[instruction] in code.co_code[::2]
