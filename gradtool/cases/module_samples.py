"""A function ``sample_inputs`` of a module, in place of a static method of its main Function.

That is its only Function, or the only one that no other calls: a backward may be a Function of its
own, which is differentiated in turn.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

from gradtool.cases.sample_calls import is_callable
from gradtool.collect.checkable import Checkable, is_function
from gradtool.collect.discovery import function_location

_NAME = "sample_inputs"


def samples_of(checkable: Checkable) -> Callable[..., Any] | None:
    """Return the ``sample_inputs`` of a Function: its own, or its module's if it is the main one.

    Returns None if there is neither.
    """
    own: Callable[..., Any] | None = getattr(checkable.obj, _NAME, None)
    if own is not None:
        return own
    found = _of_module(checkable)
    is_main = found is not None and _uncalled(_functions(checkable)) == [checkable.obj]
    return found if found is not None and is_main and is_callable(found) else None


def unused_samples(checkables: Sequence[Checkable]) -> Iterator[str]:
    """Yield a notice on a function ``sample_inputs`` of a module that no Function gets."""
    samples = [(each, samples_of(each)) for each in checkables if each.is_function]
    left = [_of_module(each) for each, own in samples if own is None]
    used = [own for _, own in samples]
    found = next((each for each in left if each is not None and each not in used), None)
    place = function_location(found) if found is not None else None
    if found is not None and place is not None:
        advice = (
            "make it a static method of the Function it is for"
            if is_callable(found)
            else "it may have no required parameter but `device`"
        )
        yield f"{place.path}:{place.line}: the function `{_NAME}` is not used: {advice}"


def _of_module(checkable: Checkable) -> Callable[..., Any] | None:
    """The function of that name that the module of a Function defines."""
    space = _namespace(checkable)
    found = space.get(_NAME)
    # One that is imported is of another module's Functions.
    return found if inspect.isfunction(found) and found.__globals__ is space else None


def _namespace(checkable: Checkable) -> Mapping[str, Any]:
    forward = getattr(checkable.obj, "forward", None) if checkable.is_function else None
    return getattr(inspect.unwrap(forward), "__globals__", {}) if callable(forward) else {}


def _functions(checkable: Checkable) -> list[Any]:
    """The Functions that the module of a Function defines, each once."""
    space = _namespace(checkable)
    found = {id(each): each for each in space.values() if is_function(each)}
    return [each for each in found.values() if each.__module__ == space.get("__name__")]


def _uncalled(functions: Sequence[Any]) -> list[Any]:
    """The Functions that no method of another one names."""
    called = {each: _named_by(each) for each in functions}
    return [
        each
        for each in functions
        if not any(each.__name__ in names for other, names in called.items() if other is not each)
    ]


def _named_by(function: type) -> set[str]:
    """The names that the methods of a Function use, those of functions inside them included."""
    methods = (inspect.unwrap(getattr(each, "__func__", each)) for each in vars(function).values())
    codes = [code for each in methods if (code := getattr(each, "__code__", None))]
    names = set[str]()
    while codes:
        code = codes.pop()
        names |= {*code.co_names}
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
    return names
