"""Statements about axes: batches, further axes, broadcasting, shapes that are written out."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property

from gradtool.cases.inference.documentation import stated
from gradtool.explore.reading.wording.texts import Texts

_SUMMED = re.compile(r"\.sum_to_size\(\*?(\w+)\.(?:shape|size\(\))")
"""Matches the reduction of a gradient to the shape of an argument."""

_NAMES_LAST_AXIS = re.compile(r"(\(|dim=|, )-1\b|\bi?[rh]?fft\(")

_LEADING = re.compile(
    r"\b(\w+)`*:?(?: (?:is|has|of|with))?(?: (?:a |the )?shape)?\s*\(\s*(?:\.\.\.|\*)\s*,"
)
"""Matches ``x (..., n)`` and ``x of shape (*, n)``, with any number of leading axes."""

_ANY_SHAPE = re.compile(
    r"\b(any|arbitrary|whatever) (\w+ )?(shape|rank|number of (axes|dims|dimensions))\b", re.I
)

_TRAILING = re.compile(r"\b(\w+)`*:?\s*\([\w\s,]+,\s*(?:\.\.\.|\*\w*)\s*\)")
"""Matches ``x (n, c, ...)`` and ``x: (n, c, *spatial)``, a shape with any number of last axes."""

_COUNTS_FURTHER_AXES = re.compile(
    r"\*\s*\(\s*(?P<of>\w+)\.(?:dim\(\)|ndim)\s*-\s*[12]\s*\)"
    r"|\brange\(\s*[12]\s*,\s*(?P<to>\w+)\.(?:dim\(\)|ndim)\s*\)"
)
"""Matches ``[1] * (x.dim() - 2)`` and ``range(2, x.dim())``, which stand for all last axes of x."""

_ANY_TRAILING = re.compile(
    r"\([\w\s,]+,\s*(?:\.\.\.|\*\w*)\s*\)`*[- ](?:shaped )?(?:input|tensor|argument|array)s?\b"
)
"""Matches ``(n, c, *spatial) inputs``, the same of an argument without its name."""

_ANY_LEADING = re.compile(
    r"\b(any|arbitrary)\b[^.;]{0,24}\b(leading|batch)\b|\bleading dim"
    r"|\bor (of )?(a )?batch(es)? of\b",
    re.I,
)

_STACKED = re.compile(
    r"\b(one|a single) or (several|more|many|multiple) |\b(one|single) or (a )?(batched|stacked)\b"
    r"|\b(optionally|possibly|may be) (batched|stacked)\b|\bunbatched\b|\b(un)?stacked or\b",
    re.I,
)
"""Matches what there may be one or several of: several are stacked along a new axis."""

_LAST_AXIS = re.compile(r"\b(along|over|across) (the|its) (last|final|trailing) (dim|axis)", re.I)
"""Matches what goes along the last axis, however many come before."""

_BROADCAST = re.compile(
    r"((?:[^.;,()]*[;,])?\s*(?:any\w*|whatever|it)\b[^.;,()]*|[^.;,()]*)"
    r"\(?\b(?:broadcastable|(?:may |can |are )?broadcasts?)\b"
    r"|\bbroadcasting of ([^.;()]*)",
    re.I,
)
"""Matches what a clause says beside that word: which arguments may have such a shape."""

_ALL = re.compile(r"\b(arguments|inputs|tensors|all (of them|two|three|four))\b", re.I)


class OnAxes(Texts):
    """Statements about the axes of arguments."""

    def states_shape_of(self, name: str) -> bool:
        """Return True if a docstring states the shape of an argument."""
        return bool(stated(self.docstrings, {name}))

    @property
    def goes_along_last_axis(self) -> bool:
        """The source names the last axis, along which broadcasting changes what is computed."""
        return bool(_NAMES_LAST_AXIS.search(self._code))

    def with_any_last_axes(self, names: Collection[str]) -> set[str]:
        """The arguments that may have more last axes: the first, if it is any."""
        counted = _COUNTS_FURTHER_AXES.finditer(self._code)
        found = (*_TRAILING.findall(self.docstrings), *(m["of"] or m["to"] for m in counted))
        named = set(found) & set(names)
        is_any = not named and names and _ANY_TRAILING.search(self.docstrings)
        return {next(iter(names))} if is_any else named

    def with_any_leading_axes(self, names: Collection[str]) -> set[str] | None:
        """The arguments that may have more leading axes; None if it may be any of them."""
        named = set(_LEADING.findall(self.docstrings)) & set(names)
        is_any = _ANY_LEADING.search(self.docstrings) or _LAST_AXIS.search(self.docstrings)
        return None if not named and is_any else named

    def of_any_shape(self, names: Collection[str]) -> set[str]:
        """The arguments that a docstring says to have any shape; all `names` if it names none."""
        found = _ANY_SHAPE.search(self.docstrings)
        if found is None:
            return set()
        clause = re.split(r"[.;\n]", self.docstrings[: found.start()])[-1]
        return set(re.findall(r"\w+", clause)) & set(names) or set(names)

    @property
    def speaks_of_batches(self) -> bool:
        """A docstring calls something batched."""
        return "batched" in self.docstrings.lower()

    @property
    def may_be_stacked(self) -> bool:
        """A docstring says that there may be one or several of what forward takes."""
        return bool(_STACKED.search(self.docstrings))

    def may_broadcast(self, name: str) -> bool:
        """Return True if a docstring calls an argument, or all of them, broadcastable."""
        clauses = self._about_broadcasting
        is_any = _ALL.search(clauses) or "with broadcasting" in self.docstrings
        word = re.escape(name)
        follows = rf"\b{word}\b`*,? (which|that) (may |can )?broadcast"
        is_named = re.search(rf"\b{word}\b", clauses) or re.search(follows, self.docstrings)
        return bool(is_any or is_named)

    @cached_property
    def _about_broadcasting(self) -> str:
        # To look for clauses that end in a word takes the square of their length.
        is_said = "broadcast" in self.docstrings.lower()
        return " ".join(map(" ".join, _BROADCAST.findall(self.docstrings))) if is_said else ""

    def is_summed_to(self, name: str) -> bool:
        """Return True if the source sums a gradient to the shape of an argument."""
        return name in _SUMMED.findall(self._code)
