"""Branches of a Function's methods by values: comparisons, masks, limits, roundings of tensors.

Each has the sides that its entries can take. The operations that have such sides are replaced in
the library by ones that look at their arguments while a block is watched.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from types import CodeType
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.adapters.common.branches import OTHERS, Branch, Side
from gradtool.adapters.common.executable_lines import codes_with_helpers
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Array

Sides = dict[str, Any]
"""For each side its mask, or True or False."""


class Compared(msgspec.Struct, frozen=True, eq=False):
    """Values that a branch compares: an array, and what it is compared with."""

    value: Array
    limit: Array
    for_equality: bool = False
    """Nothing is said about which one is larger."""


class ValueBranches(msgspec.Struct, eq=False):
    """The sides that were there, those that were taken, and what was compared last."""

    known: set[Side] = msgspec.field(default_factory=set)
    seen: set[Side] = msgspec.field(default_factory=set)
    compared: dict[Branch, Compared] = msgspec.field(default_factory=dict)

    def add(self, branch: Branch, sides: Sides, compared: Compared | None) -> None:
        """Add one pass through a branch."""
        for name, mask in sides.items():
            self.known.add(Side(branch, name))
            if np.any(mask):
                self.seen.add(Side(branch, name))
        if compared is not None:
            self.compared[branch] = compared


class Watch:
    """The methods of one Function, watched now and then, and the masks that its comparisons made.

    The library keeps the replaced operations from the first watched block until `end`: replacing
    them takes as long as a call to a small Function.
    """

    def __init__(self, function: type[Any] | None) -> None:
        codes: Mapping[CodeType, str] = codes_with_helpers(function)
        self._codes = {code: method for code, method in codes.items() if method not in OTHERS}
        self._found: ValueBranches | None = None
        self._masks: list[Any] = []
        self._before: list[tuple[Any, str, Any]] = []

    @contextmanager
    def watching(self, found: ValueBranches) -> Iterator[None]:
        """Add to `found` the branches by value that this thread goes through in the block."""
        if not self._codes:
            yield
            return
        self._begin()
        self._found = found
        try:
            yield
        finally:
            self._found, self._masks = None, []

    def _begin(self) -> None:
        if self._before:
            return
        torch = library().torch
        functional = sys.modules.get(f"{torch.__name__}.nn.functional")
        owners = filter(None, (library().Tensor, torch, functional))
        places = [(owner, name) for owner in owners for name in _names_in(owner)]
        looking = [self._looking(getattr(owner, name), _LOOKS[name]) for owner, name in places]
        self._before = [(owner, name, vars(owner).get(name, _INHERITED)) for owner, name in places]
        for (owner, name), made in zip(places, looking, strict=True):
            setattr(owner, name, made)

    def end(self) -> None:
        """Give the library its own operations back."""
        for owner, name, held in self._before:
            if held is not _INHERITED:
                setattr(owner, name, held)
            elif name in vars(owner):
                delattr(owner, name)
        self._before = []

    def _looking(self, original: Callable[..., Any], look: Callable[..., Any]) -> Any:
        """An operation that reports its sides where a method of the Function calls it."""

        def operation(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if self._found is None:
                return result
            frame = sys._getframe(1)
            method = self._codes.get(frame.f_code)
            if method is not None:
                # What cannot be read, such as a batched tensor, has no sides here.
                with suppress(Exception):
                    looked = look(args, kwargs, result)
                    self._see(method, frame, looked, args, result, self._found)
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
        found: ValueBranches,
    ) -> None:
        if looked is None or any(arg is mask for arg in args for mask in self._masks):
            return  # The sides of a comparison are counted where it is made.
        first, last, start, end = _positions(frame.f_code)[frame.f_lasti // 2]
        if first is None or last is None or start is None or end is None:
            return
        branch = Branch(method, frame.f_code.co_filename, (first, last, start, end))
        if getattr(result, "ndim", 0):
            if getattr(result, "dtype", None) is library().torch.bool:
                self._masks.append(result)
            found.add(branch, *looked)
        elif looked[1] is not None:
            # A test of Python on one number is a branch of its own.
            found.compared[branch] = looked[1]


@lru_cache(maxsize=64)
def _positions(code: CodeType) -> list[tuple[int | None, int | None, int | None, int | None]]:
    """The place in the source of each instruction."""
    return list(code.co_positions())


_INHERITED = object()
"""In place of an attribute that its owner has not of its own."""


@cache
def _names_in(owner: Any) -> list[str]:
    """The operations that a class or module has; one may look long for a name that it lacks."""
    return [name for name in dir(owner) if name in _LOOKS]


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
    **dict.fromkeys(("relu", "relu_", "abs", "abs_", "floor", "ceil", "round", "trunc"), _sign),
}
