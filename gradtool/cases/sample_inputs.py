"""Cases that a Function brings along in its static method ``sample_inputs``."""

from __future__ import annotations

import itertools
from typing import Any

from gradtool.adapters.library import library
from gradtool.cases.case import Case
from gradtool.collect.subject import Subject
from gradtool.findings.terminations import NoCase
from gradtool.sandbox.user_errors import describe

_MOST = 1000
"""Cases beyond which ``sample_inputs`` is taken to be endless."""


def has_samples(subject: Subject) -> bool:
    """Whether the Function has ``sample_inputs``."""
    return hasattr(subject.target, "sample_inputs")


def read_samples(subject: Subject) -> list[Case]:
    """Everything that ``sample_inputs`` yields, as cases.

    Raises:
        NoCase: It raises, yields nothing, does not end, or yields what is no case.
    """
    try:
        yielded = list(itertools.islice(iter(subject.target.sample_inputs()), _MOST + 1))
    except MemoryError:
        raise
    except Exception as error:
        told = describe(error, subject.folder)
        hint = "make it a @staticmethod without parameters that yields tuples of arguments"
        raise NoCase(
            f"sample_inputs raised {told.summary}",
            hint=hint if isinstance(error, TypeError) else None,
            detail=told.detail,
            location=told.location,
        ) from None
    if not yielded:
        raise NoCase("sample_inputs yields no case")
    if len(yielded) > _MOST:
        raise NoCase(f"sample_inputs yields more than {_MOST} cases")
    return [as_case(value, "sample_inputs yields") for value in yielded]


def as_case(value: Any, origin: str) -> Case:
    """A case made of what a user gives for one; `origin` begins the sentence if it is none.

    Raises:
        NoCase: It is neither a `Case`, nor a tuple or list of arguments, nor a tensor.
    """
    if isinstance(value, Case):
        return value
    if isinstance(value, tuple | list):
        return Case(tuple(value))
    if isinstance(value, library().Tensor):
        return Case((value,))
    raise NoCase(
        f"{origin} {type(value).__name__} in place of arguments",
        hint="give a tuple of arguments, or a gradtool.Case",
    )
