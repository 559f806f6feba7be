"""Cases that a Function provides by ``sample_inputs``."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from gradtool.adapters.library import library
from gradtool.cases.case import Case
from gradtool.cases.module_samples import samples_of
from gradtool.cases.sample_calls import call_samples
from gradtool.collect.checkable import Checkable
from gradtool.collect.discovery import function_location
from gradtool.findings.could_not_run import NoCase
from gradtool.sandbox.user_errors import describe, user_method
from gradtool.spelling import did_you_mean, nearest

_MAX_CASES = 1000
"""Cases beyond which ``sample_inputs`` is assumed not to end."""


def has_samples(checkable: Checkable) -> bool:
    """Return True if the Function has ``sample_inputs``, or its module has them for it."""
    return samples_of(checkable) is not None


def read_samples(checkable: Checkable, device: str) -> list[Case]:
    """List what ``sample_inputs`` yields, as cases; `device` is for one that asks for it.

    Raises:
        NoCase: It raises, yields nothing, does not end, or yields something else.
    """
    try:
        function = samples_of(checkable)
        given = call_samples(function, device) if function is not None else ()
        if _is_one_case(given, checkable.parameters()):
            given = [given]
        yielded = list(itertools.islice(iter(given), _MAX_CASES + 1))
    except MemoryError:
        raise
    except Exception as error:
        raised = describe(error, checkable.folder)
        raise NoCase(
            f"sample_inputs raised {raised.summary}",
            hint=_advice(error, checkable.folder),
            detail=raised.detail,
            location=raised.location,
        ) from None
    if not yielded:
        raise NoCase("sample_inputs yields no case")
    if len(yielded) > _MAX_CASES:
        raise NoCase(f"sample_inputs yields more than {_MAX_CASES} cases")
    return [as_case(value, "sample_inputs yields") for value in yielded]


_UNKNOWN = re.compile(r"\bCase\.__init__\(\) got an unexpected keyword argument '(\w+)'")


def _advice(error: Exception, folder: Path) -> str | None:
    """Say how to correct a call to ``sample_inputs``, or to `Case` in it, that Python refuses."""
    if not isinstance(error, TypeError):
        return None
    unknown = _UNKNOWN.search(str(error))
    if unknown:
        names = [each.name for each in fields(Case)]
        return f"Case takes {', '.join(names)}{did_you_mean(unknown[1], names)}"
    if user_method(error, folder) is not None:
        return None  # Its own code raised, so it could be called.
    return (
        "make it a @staticmethod without required parameters, except `device`, that yields tuples "
        "of arguments"
    )


_SIMILAR = 0.85
"""Similarity to ``sample_inputs`` that the name of a method must have to be taken for it."""


def misspelt_samples(checkable: Checkable) -> Iterator[str]:
    """Yield a notice on a method that looks like ``sample_inputs``, where that is missing."""
    if checkable.obj is None or has_samples(checkable):
        return
    for name, value in vars(checkable.obj).items() if checkable.is_function else ():
        method = getattr(value, "__func__", value)
        if inspect.isfunction(method) and nearest("sample_inputs", [name], _SIMILAR):
            place = function_location(method) or checkable.location
            said = f"`{name}` of {checkable.name} is not used (did you mean `sample_inputs`?)"
            yield f"{place.path}:{place.line}: {said}"


def _is_one_case(given: Any, parameters: Sequence[inspect.Parameter]) -> bool:
    """Return True for the arguments of an only case: a tuple of them, a tensor, or a `Case`."""
    if isinstance(given, Case | library().Tensor):
        return True
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
        f"{origin} an object of type {type(value).__name__} instead of a tuple of arguments",
        hint="give a tuple of arguments, or a gradtool.Case",
    )
