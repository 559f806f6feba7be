"""Branches of a Function's methods by values: comparisons, masks, limits, roundings of tensors.

Each has the sides that its entries can take. While a block is watched, the operations that have
such sides are replaced in the library by ones that look at their arguments first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from gradtool.adapters.common.branches import OTHERS, Branch, Side
from gradtool.adapters.common.executable_lines import codes_with_helpers
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Array

Sides = dict[str, Any]
"""For each side its mask, or True or False."""


@dataclass(frozen=True, eq=False)
class Compared:
    """Values that a branch compares: an array, and what it is compared with."""

    value: Array
    limit: Array
    for_equality: bool = False
    """Nothing is said about which one is larger."""


@dataclass(eq=False)
class ValueBranches:
    """The sides that were there, those that were taken, and what was compared last."""

    known: set[Side] = field(default_factory=set)
    seen: set[Side] = field(default_factory=set)
    compared: dict[Branch, Compared] = field(default_factory=dict)

    def add(self, branch: Branch, sides: Sides, compared: Compared | None) -> None:
        """Add one pass through a branch."""
        for name, mask in sides.items():
            self.known.add(Side(branch, name))
            if np.any(mask):
                self.seen.add(Side(branch, name))
        if compared is not None:
            self.compared[branch] = compared


@contextmanager
def watched(function: type[Any] | None, found: ValueBranches) -> Iterator[None]:
    """Add to `found` the branches by value that this thread goes through in the block."""
    watch = _Watch(function, found)
    if not watch.codes:
        yield
        return
    torch = library().torch
    functional = sys.modules.get(f"{torch.__name__}.nn.functional")
    owners = filter(None, (library().Tensor, torch, functional))
    places = [(owner, name) for owner in owners for name in _names_in(owner)]
    looking = [watch.looking(getattr(owner, name), _LOOKS[name]) for owner, name in places]
    before = [vars(owner).get(name, _INHERITED) for owner, name in places]
    try:
        for (owner, name), made in zip(places, looking, strict=True):
            setattr(owner, name, made)
        yield
    finally:
        for (owner, name), held in zip(places, before, strict=True):
            if held is not _INHERITED:
                setattr(owner, name, held)
            elif name in vars(owner):
                delattr(owner, name)


_INHERITED = object()
"""In place of an attribute that its owner has not of its own."""


@cache
def _names_in(owner: Any) -> list[str]:
    """The operations that a class or module has; one may look long for a name that it lacks."""
    return [name for name in dir(owner) if name in _LOOKS]


class _Watch:
    """The methods of one Function, and the masks that its comparisons made."""

    def __init__(self, function: type[Any] | None, found: ValueBranches) -> None:
        codes: Mapping[CodeType, str] = codes_with_helpers(function)
        self.codes = {code: method for code, method in codes.items() if method not in OTHERS}
        self._found = found
        self._masks: list[Any] = []

    def looking(self, original: Callable[..., Any], look: Callable[..., Any]) -> Any:
        """An operation that reports its sides where a method of the Function calls it."""

        def operation(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            frame = sys._getframe(1)
            method = self.codes.get(frame.f_code)
            if method is not None:
                # What cannot be read, such as a batched tensor, has no sides here.
                with suppress(Exception):
                    self._see(method, frame, look(args, kwargs, result), args, result)
            return result

        operation.__name__ = getattr(original, "__name__", "operation")
        operation.__doc__ = original.__doc__
        return operation

    def _see(
        self,
        method: str,
        frame: Any,
        looked: tuple[Sides, Compared | None] | None,
        args: Any,
        result: Any,
    ) -> None:
        if looked is None or any(arg is mask for arg in args for mask in self._masks):
            return  # The sides of a comparison are counted where it is made.
        places = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        first, last, start, end = places
        if None in places:
            return
        branch = Branch(method, frame.f_code.co_filename, (first, last, start, end))
        if getattr(result, "ndim", 0):
            if getattr(result, "dtype", None) is library().torch.bool:
                self._masks.append(result)
            self._found.add(branch, *looked)
        elif looked[1] is not None:
            # A test of Python on one number is a branch of its own.
            self._found.compared[branch] = looked[1]


# ---- sides of operations ----------------------------------------------------------------------


def _array(value: Any) -> Array:
    if isinstance(value, library().Tensor):
        return np.array(library().array(value.detach()))
    return np.asarray(value)


def _comparison(args: Any, _: Any, result: Any) -> tuple[Sides, Compared | None] | None:
    mask = _array(result)
    value, limit = (_array(arg) for arg in args[:2])
    if value.dtype.kind == "b":
        return None
    return {"is true": mask, "is false": ~mask}, Compared(value, limit)


def _equality(args: Any, _: Any, result: Any) -> tuple[Sides, Compared | None] | None:
    """The sides of a comparison that is not about which one is larger."""
    found = _comparison(args, _, result)
    return found and (found[0], found[1] and replace(found[1], for_equality=True))


def _choice(args: Any, kwargs: Any, _: Any) -> tuple[Sides, Compared | None] | None:
    """The sides of ``where`` and ``masked_fill``: those of their mask."""
    masks = [arg for arg in (*args, *kwargs.values()) if _is_mask(arg)]
    if not masks:
        return None
    mask = _array(masks[0])
    return {"is true": mask, "is false": ~mask}, None


def _is_mask(value: Any) -> bool:
    return isinstance(value, library().Tensor) and value.dtype is library().torch.bool


def _limits(least: Any, most: Any, value: Any) -> tuple[Sides, Compared | None] | None:
    array = _array(value)
    sides: Sides = {"is within its limits": np.ones(array.shape, dtype=bool)}
    compared = None
    for name, limit, is_beyond in (
        ("is below its limit", least, np.less),
        ("is above its limit", most, np.greater),
    ):
        if limit is not None:
            bound = _array(limit)
            sides[name] = is_beyond(array, bound)
            sides["is within its limits"] = sides["is within its limits"] & ~sides[name]
            if compared is None or not np.any(sides[name]):
                compared = Compared(array, bound)
    return sides, compared


def _clamp(args: Any, kwargs: Any, _: Any) -> tuple[Sides, Compared | None] | None:
    value, *rest = args
    least, most = (*rest, None, None)[:2]
    return _limits(kwargs.get("min", least), kwargs.get("max", most), value)


def _clamp_min(args: Any, kwargs: Any, _: Any) -> tuple[Sides, Compared | None] | None:
    return _limits(kwargs["min"] if "min" in kwargs else args[1], None, args[0])


def _clamp_max(args: Any, kwargs: Any, _: Any) -> tuple[Sides, Compared | None] | None:
    return _limits(None, kwargs["max"] if "max" in kwargs else args[1], args[0])


def _larger(args: Any, kwargs: Any, _: Any) -> tuple[Sides, Compared | None] | None:
    """The sides of the maximum or minimum of two tensors."""
    both = (*args, *(kwargs[name] for name in ("input", "other") if name in kwargs))
    if len(both) != 2 or not all(isinstance(each, library().Tensor) for each in both):
        return None
    one, other = (_array(each) for each in both)
    sides = {
        "finds the first argument larger": one > other,
        "finds the second argument larger": one < other,
    }
    return sides, Compared(one, other)


def _sign(args: Any, _: Any, __: Any) -> tuple[Sides, Compared | None] | None:
    value = _array(args[0])
    return {"has positive entries": value > 0, "has negative entries": value < 0}, Compared(
        value, np.zeros(())
    )


_LOOKS: dict[str, Callable[[Any, Any, Any], tuple[Sides, Compared | None] | None]] = {
    **dict.fromkeys(("gt", "lt", "ge", "le", "greater", "less"), _comparison),
    **dict.fromkeys(("__gt__", "__lt__", "__ge__", "__le__"), _comparison),
    **dict.fromkeys(("eq", "ne", "__eq__", "__ne__"), _equality),
    **dict.fromkeys(("where", "masked_fill", "masked_fill_"), _choice),
    **dict.fromkeys(("clamp", "clamp_", "clip", "clip_", "hardtanh"), _clamp),
    "clamp_min": _clamp_min,
    "clamp_max": _clamp_max,
    **dict.fromkeys(("maximum", "minimum", "max", "min"), _larger),
    **dict.fromkeys(("relu", "relu_", "floor", "ceil", "round", "trunc"), _sign),
}
