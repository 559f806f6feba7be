"""Cases that a Function provides by its static method ``sample_inputs``."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Sequence
from typing import Any

from gradtool.adapters.library import library
from gradtool.cases.case import Case
from gradtool.collect.checkable import Checkable
from gradtool.findings.could_not_run import NoCase
from gradtool.sandbox.user_errors import describe

_MAX_CASES = 1000
"""Cases beyond which ``sample_inputs`` is assumed not to end."""


def has_samples(checkable: Checkable) -> bool:
    """Return True if the Function has ``sample_inputs``."""
    return hasattr(checkable.obj, "sample_inputs")


def read_samples(checkable: Checkable) -> list[Case]:
    """List what ``sample_inputs`` yields, as cases.

    Raises:
        NoCase: It raises, yields nothing, does not end, or yields something else.
    """
    try:
        given = checkable.obj.sample_inputs()
        if _is_one_case(given, checkable.parameters()):
            given = [given]
        yielded = list(itertools.islice(iter(given), _MAX_CASES + 1))
    except MemoryError:
        raise
    except Exception as error:
        raised = describe(error, checkable.folder)
        hint = "make it a @staticmethod without parameters that yields tuples of arguments"
        raise NoCase(
            f"sample_inputs raised {raised.summary}",
            hint=hint if isinstance(error, TypeError) else None,
            detail=raised.detail,
            location=raised.location,
        ) from None
    if not yielded:
        raise NoCase("sample_inputs yields no case")
    if len(yielded) > _MAX_CASES:
        raise NoCase(f"sample_inputs yields more than {_MAX_CASES} cases")
    return [as_case(value, "sample_inputs yields") for value in yielded]


def _is_one_case(given: Any, parameters: Sequence[inspect.Parameter]) -> bool:
    """Return True for a tuple of arguments, which people return for their only case."""
    if not isinstance(given, tuple) or all(isinstance(e, Case | tuple | list) for e in given):
        return False
    kinds = {each.kind for each in parameters}
    placed = [each for each in parameters if each.kind in _PLACED]
    least = sum(each.default is inspect.Parameter.empty for each in placed)
    most = math.inf if inspect.Parameter.VAR_POSITIONAL in kinds else len(placed)
    return least <= len(given) <= most


_PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def as_case(value: Any, origin: str) -> Case:
    """Convert what a user gives for a case; `origin` begins the message of an error.

    Raises:
        NoCase: It is neither a `Case`, nor a tuple or list of arguments, nor a tensor.
    """
    if isinstance(value, Case):
        return value
    if isinstance(value, tuple | list):
        # Not `tuple(value)`: a subclass may iterate in a way of its own.
        return Case(
            tuple(list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value))
        )
    if isinstance(value, library().Tensor):
        return Case((value,))
    raise NoCase(
        f"{origin} {type(value).__name__} instead of arguments",
        hint="give a tuple of arguments, or a gradtool.Case",
    )
