"""Calls that have to come before a Function, as the message of a refusal says.

``cache not found - call prepare_plan first`` names a function of the package, such as one that
fills a cache for the sizes at hand. ``call the preparation function first`` names none, and may
mean any whose name begins with that word.
"""

from __future__ import annotations

import inspect
import itertools
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gradtool.adapters.common.parsed_source import forward_of
from gradtool.adapters.library import library
from gradtool.cases.inference.calls.call_sites import module_source
from gradtool.cases.inference.documentation import source

_NAMES_CALL = re.compile(
    r"\b(?:call|run|use) `?(?:\w+\.)*(?P<name>\w+)`?(?:\(\))?`? (?:first|before|beforehand)\b",
    re.IGNORECASE,
)

_ASKS_FOR_PREPARATION = re.compile(r"\b(?:prepared|preparation|preparing|prepare)\b", re.IGNORECASE)

_PREPARES = re.compile(r"prepare(_|$)")
"""Matches the name of a function that prepares something."""

_STATED = re.compile(r"\b(\w+) ?= ?(\d+|True|False)\b")
"""Matches what a text gives by its name: ``plan not found (order=3)``."""

_SMALL = (1, 2, 3)
"""Integers in place of one that nothing gives."""

_MOST_WAYS = 6
"""Choices of such integers for one function."""

_LARGEST = 5
"""Integer beyond which a call may take long: that of a table with so many levels."""


class Call(msgspec.Struct, frozen=True, eq=False):
    """A call to a function of the package, with arguments by name."""

    function: Callable[..., Any]
    given: Mapping[str, Any]

    def __call__(self) -> None:
        """Make the call, to the function of this name of the module as it is imported now."""
        module = sys.modules.get(self.function.__module__)
        getattr(module, self.function.__name__, self.function)(**self.given)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.given.items())
        return f"{self.function.__name__}({given})"

    def fits(self, values: Mapping[str, Any]) -> bool:
        """Return True unless the Function is called with another value of the same name."""
        shared = self.given.keys() & values.keys()
        return all(_is_equal(self.given[name], values[name]) for name in shared)


def calls_before(function: Any, objection: str, values: Mapping[str, Any]) -> Iterator[Call]:
    """Yield the calls that may be what an objection asks for.

    Args:
        function: The Function that objects.
        objection: Its message.
        values: The arguments that it objects to, by name, which a call shares.
    """
    said = {**_stated(source(function)), **_stated(objection), **values}
    on = {name for name, value in _STATED.findall(module_source(function)[1]) if value == "True"}
    for named in prepared_by(function, objection):
        for flags in ((), *((flag,) for flag in _flags(named, on - said.keys()))):
            yield from _ways(named, {**said, **dict.fromkeys(flags, True)}, _extents(values))


def _stated(text: str) -> dict[str, Any]:
    """The numbers and flags that a text gives by name."""
    found = dict(_STATED.findall(text))
    return {
        name: int(value) if value.isdecimal() else value == "True" for name, value in found.items()
    }


def _flags(function: Callable[..., Any], among: Collection[str]) -> Iterator[str]:
    """Yield the parameters of a function that are off by default, of those `among`."""
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is False and name in among:
            yield name


def prepared_by(function: Any, objection: str) -> list[Callable[..., Any]]:
    """List the functions that an objection may mean, those first that it speaks of."""
    found = _NAMES_CALL.search(objection)
    if found:
        return list(_of_package(function, re.compile(re.escape(found["name"]))))[:1]
    if not _ASKS_FOR_PREPARATION.search(objection):
        return []
    spoken = _words(f"{objection} {getattr(function, '__name__', '')}")
    every = _of_package(function, _PREPARES, whole=False)
    return sorted(every, key=lambda each: len(_words(each.__name__) - spoken))


def required(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the names of the parameters that have no default."""
    for name, parameter in inspect.signature(function).parameters.items():
        single = parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if single and parameter.default is parameter.empty:
            yield name


def integers(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the names of the parameters that are annotated as integers."""
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.annotation in (int, "int"):
            yield name


def _of_package(
    function: Any, name: re.Pattern[str], *, whole: bool = True
) -> Iterator[Callable[..., Any]]:
    """Yield the functions with such a name in the package of a Function, its own module first."""
    own = inspect.unwrap(forward_of(function)).__module__
    package = own.partition(".")[0]
    inside = (each for each in list(sys.modules) if each.partition(".")[0] == package)
    matches = name.fullmatch if whole else name.match
    found = (
        value
        for module in (own, *inside)
        for key, value in list(vars(sys.modules.get(module, object)).items())
        if matches(key) and inspect.isfunction(value)
    )
    yield from dict.fromkeys(found)


def _ways(
    function: Callable[..., Any], known: Mapping[str, Any], extents: Sequence[int]
) -> Iterator[Call]:
    """Yield calls of a function, with each choice for the integers that nothing gives."""
    needed, whole = list(required(function)), set(integers(function))
    unknown = [name for name in needed if name not in known]
    if not whole.issuperset(unknown):
        return
    names = inspect.signature(function).parameters
    shared = {name: known[name] for name in names if name in known and known[name] is not None}
    numbers = list(dict.fromkeys([*extents, *_SMALL]))
    choices = itertools.product(numbers, repeat=len(unknown))
    for chosen in itertools.islice(choices, _MOST_WAYS):
        given = {**shared, **dict(zip(unknown, chosen, strict=True))}
        if not any(type(value) is int and value > _LARGEST for value in given.values()):
            yield Call(function, given)


def _extents(values: Mapping[str, Any]) -> list[int]:
    """The last extents of the tensors."""
    tensors = [each for each in values.values() if isinstance(each, library().Tensor)]
    return [int(each.shape[-1]) for each in tensors if each.ndim]


def _words(name: str) -> set[str]:
    """The words of a text, and those of the names in it: ``log`` and ``sig`` of ``LogSig``."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)}


def _is_equal(one: Any, other: Any) -> bool:
    try:
        return one is other or bool(one == other)
    except Exception:  # An `__eq__` of the package may raise whatever it likes.
        return False
