"""Statements about the entries of tensors: their order, ties, zeros and groups."""

from __future__ import annotations

import re
from functools import cached_property

from gradtool.explore.reading.wording.texts import Texts

_SORTED = re.compile(
    r"(?<!un)sorted|contiguous|consecutive|\bcsr\b|packed|ascending"
    r"|non-?decreasing(?!( \w+)? (fit|function|output|result|regression|solution|curve)\b)",
    re.I,
)

_EVENLY = re.compile(
    r"(?<!non-)\b(uniform|regular|even)(ly)?\b|equi-?distant|equally spaced|\blinspace"
    r"|\bsame (spacing|distance)|\b(constant|fixed) (step|spacing)",
    re.I,
)

_ONE = re.compile(
    r"\b[A-Z]\w?\b *(>=|\u2265) *1\b|\b(a single|only one|length one|length 1|one) "
    r"(observation|sample|element|entry|item|step|row|point|token|value)\b"
)

_DISTINCT = re.compile(
    r"\b(distinct|pairwise different|no ties|without ties|untied|no (two )?equal|no duplicates?"
    r"|no repeat|unique (ind|entr|val|max|min|label))",
    re.I,
)

_TIES_KEPT = re.compile(
    r"\bties?\b[^.;]{0,40}\b(all|both|every)\b|\b(all|both|every)\b[^.;]{0,24}\b(ties?|tied)\b"
    r"|\b(all|every)\b[^.;]{0,40}\bequal(s|ling)? (to )?the\b|\bat least as large as the\b",
    re.I,
)
"""Matches ``ties with the k-th are all kept``."""

_DISTINCT_ENDS = (
    r"\bend ?-?points?\b[^.;,]{0,30}\b(distinct|different)\b"
    r"|\b(distinct|different) end ?-?points?\b"
)

_APART = re.compile(
    r"\b(must|do|may|should|can) ?not (share|coincide|touch)\b|\bno (shared|common|coinciding)\b"
    r"|\b(not|never|non|no)\b[^.;]{0,24}\bcoincid|\bnone of them\b|\bdisjoint\b|\bin common\b"
    r"|\bpositive (distance|length)s?\b|\b(never|not) (touch|meet|share)|" + _DISTINCT_ENDS,
    re.I,
)

_EXCLUDES = re.compile(
    r"\b(no|not|never|non|none|neither|without)\b(?! ?-?(negative|positive|grad|bias|mask|need|"
    r"necessar|requir|chang|modif|differenti|contiguous|sum|normali[sz]|learn|be none))",
    re.I,
)
"""Matches what a clause says is not so, but for what is not asked of an argument."""

_VARIED = re.compile(
    r"\bat least two (distinct|different)\b|\bnot all (of them )?(equal|alike|identical|the same)\b"
    r"|\bnon-?constant\b|\bnever (all )?(constant|equal)\b|\bnot constant\b"
    r"|\b(positive|non-?zero) (variance|std|standard deviation|spread)\b",
    re.I,
)

_REPEATED = re.compile(
    r"\b(later|last|latest|final)\b[^.;]{0,40}\b(replace|overwrit|win)|\bduplicates?\b|"
    r"\brepeated (ind|slot|entr|key|row)|\bsame (slot|index|row|bin|cell)",
    re.I,
)

_EQUAL = re.compile(
    r"\b(may|can) (also )?(be )?(equal|coincide|identical)\b"
    r"|\bwhere (they|both|the two) are equal\b",
    re.I,
)

_PERMUTATION = re.compile(
    r"\bperm(utation|uted?|utes|uting)?s?\b(?!\()|argsort|\binvers|\binverted|bijecti|shuffl|reorder",
    re.I,
)

_NEVER_EMPTY = re.compile(
    r"(?<!that have )(?<!that has )(?<!which have )(?<!with )\bat least one\b"
    r"|\bnon-?empty\b|\bnever empty\b|\bno (row|group|segment|sequence)s? is\b"
    r"|\b(every|each) (row|group|segment|sequence|sample)\b[^.;]{0,12}\b(has|keeps|contains)\b"
    r"|\bnot all\b|\bnever all\b",
    re.I,
)

_PADDING = re.compile(r"\bpad(s|ded|ding)?\b|stored as zeros?\b", re.I)

_NEVER_ZERO = re.compile(
    r"\b(must|should|assum\w*|requires?|all|every|each)\b[^.;]{0,24}\b(non-?zero|not (be )?zero)\b"
    r"|\bnon-?zero (\w+ )?(rows?|vectors?|norms?|entries|inputs?|values|numbers)\b"
    r"|\bnever (be )?zero\b"
    r"|\b(numbers|rows|vectors|entries|inputs|values) (that|which) are not (zero|0)\b"
    r"|\baway from (zero|0|the origin)\b"
    r"|\boff (the|its) (\w+ )?(axis|axes|poles?|origin)\b"
    r"|(!=|\u2260) ?0\b|\boff\b[^.;]{0,32}\b(zero|0|origin)\b"
    r"|\b(no (derivative|gradient)|not (differentiable|defined)|undefined|singular)\b"
    r"[^.;]{0,32}\b(zero|0|origin)\b",
    re.I,
)

_ZERO_ROWS = re.compile(
    r"\b((all[- ])?(zero|null)[- ](rows?|columns?|vectors?|inputs?|norms?)"
    r"|(rows?|vectors?) of zeros)\b(?![^.;]{0,24}\bnot\b)"
    r"[^.;]{0,24}\b(stay|map|give|get|return|yield|become|remain|keep|have|are (safe|handled))",
    re.I,
)
"""Matches what says that rows of zeros have a result."""

_PART = r"\b(incomplete|partial|last|trailing|remain\w*|left.?over|extra|rest)\b"

_DROPPED = r"\b(drop|ignor|discard|skip|truncat|left out|unused|no gradient)\w*"

_DROPS_REST = re.compile(
    rf"{_PART}[^.;]{{0,40}}{_DROPPED}|{_DROPPED}[^.;]{{0,40}}{_PART}",
    re.I,
)
"""Matches what is left of an axis after all whole parts, and plays no role."""

_PARITY = re.compile(r"(\b|_)odd(\b|_)|\beven (number|integer)|% 2\b")


def speaks_of_ties_kept(text: str) -> bool:
    """Return True for a text that says that several equal entries count all."""
    return bool(_TIES_KEPT.search(text))


def speaks_of_distinct(text: str) -> bool:
    """Return True for a text that says that no two entries are the same."""
    # The ends of each of some pairs are distinct, and one may be the end of several.
    return bool(_DISTINCT.search(re.sub(_DISTINCT_ENDS, "", text, flags=re.I)))


def speaks_of_apart(text: str) -> bool:
    """Return True for a text that says that two tensors have no number in common."""
    return bool(_APART.search(text))


def speaks_of_one(text: str) -> bool:
    """Return True for a text that says that an extent may be one, or what comes of it then."""
    return bool(_ONE.search(text))


def speaks_of_varied(text: str) -> bool:
    """Return True for a text that says that entries which belong together are not all the same."""
    return bool(_VARIED.search(text))


def speaks_of_parity(text: str) -> bool:
    """Return True for a text about odd or even numbers."""
    return bool(_PARITY.search(text))


class OnEntries(Texts):
    """Statements about entries, in relation to each other."""

    @cached_property
    def needs_order(self) -> bool:
        """Forward or a docstring speaks of what is sorted or lies together.

        A backward that relies on it may do so by mistake.
        """
        return bool(_SORTED.search(f"{self._forward}\n{self.docstrings}"))

    @cached_property
    def needs_even_spacing(self) -> bool:
        """A docstring says that the distances of a grid are all the same."""
        return bool(_EVENLY.search(self.docstrings))

    @cached_property
    def speaks_of_order(self) -> bool:
        """The source or a docstring speaks of permutations, or of an order that is undone."""
        return bool(_PERMUTATION.search(f"{self._code}\n{self.docstrings}"))

    @cached_property
    def needs_distinct(self) -> bool:
        """A docstring says that no two entries are the same."""
        return speaks_of_distinct(self.docstrings)

    def excludes_some(self, name: str) -> bool:
        """Return True if a docstring says what an argument is not, or what is not in it.

        Of numbers that are equal or zero, that may be any.
        """
        stem = name.removesuffix("s") or name
        own = re.compile(rf"\b{re.escape(stem)}(s|es)?\b")
        clauses = re.split(r"[.;:,()]", self.docstrings)
        return any(own.search(each) and _EXCLUDES.search(each) for each in clauses)

    @cached_property
    def may_be_equal(self) -> bool:
        """A docstring says that two tensors may have the same entries."""
        return bool(_EQUAL.search(self.docstrings))

    @cached_property
    def may_repeat(self) -> bool:
        """A docstring speaks of indices that occur twice."""
        return bool(_REPEATED.search(self.docstrings)) and not self.needs_distinct

    @cached_property
    def allows_one(self) -> bool:
        """A docstring says that an extent may be one, or what comes of it then."""
        return speaks_of_one(self.docstrings)

    @cached_property
    def needs_some(self) -> bool:
        """A docstring says that no row, group or segment is empty."""
        return bool(_NEVER_EMPTY.search(self.docstrings))

    @cached_property
    def speaks_of_padding(self) -> bool:
        """A docstring speaks of padding, or of something that is stored as zeros."""
        return bool(_PADDING.search(self.docstrings))

    @cached_property
    def drops_rest(self) -> bool:
        """A docstring says that what does not fill a whole part plays no role."""
        return bool(_DROPS_REST.search(self.docstrings))

    @cached_property
    def speaks_of_parity(self) -> bool:
        """The source speaks of odd or even numbers."""
        return speaks_of_parity(self._code)

    @cached_property
    def needs_nonzero(self) -> bool:
        """A docstring says that something is not zero."""
        return bool(_NEVER_ZERO.search(self.docstrings))

    @cached_property
    def allows_zero_rows(self) -> bool:
        """A docstring says what becomes of rows of zeros."""
        return bool(_ZERO_ROWS.search(self.docstrings)) and not self.needs_nonzero
