"""Statements about the values that arguments may have: signs, sizes, bounds, complex ones."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property

from gradtool.explore.reading.wording.texts import Texts

_ANY_SIZE = re.compile(
    r"\bany (real|finite)\b|\ball (reals|real numbers)\b"
    r"|(\bof |0\)? \(?)any (size|magnitude|scale)\b"
    r"|\b(overflow|underflow)|\bnumerically (stable|robust)|\b(may|can) be (very )?large\b",
    re.I,
)

_WRITTEN_OUT = re.compile(r"log1p\([^)]*exp\(\s*-")
"""Matches what is written out to compute the logarithm of exponentials of any size."""

_STABLE = re.compile(r"\b(softplus|logsigmoid|logaddexp|log_ndtr)\(")
"""Matches what computes it for any size."""

_POSITIVE = re.compile(
    r"positive|non-?negative|probabilit|\bbetween 0\b|\[0, ?1|\(0, ?1|> ?0\b|>= ?0\b|simplex", re.I
)

_DOMAIN = re.compile(
    r"\b(needs?|requires?|must|assum\w*|only|valid|where|for|with|if)\b[^.;]{0,40}"
    r"(\)\s*[<>\u2264\u2265]|[<>\u2264\u2265]=?\s*\w*\(|\w\s*[-+*/^]\s*\w+\s*[<>\u2264\u2265])",
    re.I,
)
"""Matches a condition on what is computed from arguments, as ``needs 1 - exp(k) < c``."""

_NEVER_LIMITED = re.compile(
    r"\b(clamp|clip|limit|bound|saturat)\w*\b[^.;]{0,24}\b(not|never|in)[- ]?(active|reached|hit)"
    r"|\bwell (inside|within)\b",
    re.I,
)

_MODERATE = re.compile(
    r"\bmoderate(ly)?\b|\b(un|not |never |non-?)saturat"
    r"|\b(not|never) (too |very )?(large|big|huge|extreme)"
    r"|\b\w+ < 1\)|\bsmall enough\b|\bwell[- ](scaled|conditioned)\b",
    re.I,
)

_SIGNED_UNIT_RANGE = re.compile(
    r"-1(\.0)?(,| and| to|\.\.) ?\+?1\b|-1 ?(<|\u2264)=? ?\w+ ?(<|\u2264)=? ?1\b"
)

_UNIT_VECTORS = re.compile(
    r"\b(unit|normalized|normalised) (quaternion|vector|direction|axis|axes)"
)

_REAL_OR_COMPLEX = re.compile(
    r"\breal\b[^.;]{0,24}\bor\b[^.;]{0,12}\bcomplex\b|\breal( \([^)]*\))? and complex\b"
    r"|\bcomplex\b[^.;]{0,24}\bor\b[^.;]{0,12}\breal\b|\bcomplex and real\b"
    r"|\bcomplex (also )?(allowed|supported)"
    r"|\b(unitary|hermitian) or (orthogonal|symmetric)\b"
    r"|\b(orthogonal|symmetric) or (unitary|hermitian)\b",
    re.I,
)


class OnRanges(Texts):
    """Statements about the values of arguments."""

    @cached_property
    def has_domain(self) -> bool:
        """A docstring states a condition on what is computed from the arguments."""
        return bool(_DOMAIN.search(self.docstrings))

    @cached_property
    def is_never_limited(self) -> bool:
        """A docstring says that no value reaches a limit."""
        return bool(_NEVER_LIMITED.search(self.docstrings))

    @cached_property
    def is_moderate(self) -> bool:
        """A docstring says that no number is so large that something saturates."""
        return bool(_MODERATE.search(self.docstrings))

    @cached_property
    def needs_positive(self) -> bool:
        """A docstring speaks of positive numbers or of probabilities."""
        return bool(_POSITIVE.search(self.docstrings))

    @cached_property
    def speaks_of_signed_unit_range(self) -> bool:
        """A docstring speaks of the range from -1 to 1."""
        return bool(_SIGNED_UNIT_RANGE.search(self.docstrings))

    @cached_property
    def speaks_of_unit_vectors(self) -> bool:
        """A docstring speaks of directions, which have any sign."""
        return bool(_UNIT_VECTORS.search(self.docstrings))

    @cached_property
    def is_of_any_size(self) -> bool:
        """A docstring says that numbers may be as large as they like."""
        return bool(_ANY_SIZE.search(self.docstrings))

    @cached_property
    def cannot_overflow(self) -> bool:
        """The source takes care that large numbers do not overflow."""
        return bool(_WRITTEN_OUT.search(self._code))

    @cached_property
    def is_stable(self) -> bool:
        """The source computes with what is finite for numbers of any size."""
        return self.cannot_overflow or bool(_STABLE.search(self._forward))

    # To compile a pattern with the name of an argument takes longer than to look for a word.

    @cached_property
    def _speaks_of_any(self) -> bool:
        return "any" in self.docstrings or "arbitrary" in self.docstrings

    def may_be_negative(self, name: str) -> bool:
        """Return True if a docstring speaks of any value of an argument, without a bound."""
        if not self._speaks_of_any:
            return False
        word, free = re.escape(name), r"(?! *(>|\u2265|in |between))"
        text = (
            rf"\bany (\S+ )?`*{word}\b`*{free}"
            rf"|\b{word}`*:? (may be |is |can be )?(any|an arbitrary) "
            rf"(float|real|number|sign){free}"
        )
        return bool(re.search(text, self.docstrings))

    def is_nonzero(self, name: str) -> bool:
        """Return True if a docstring asks no more of an argument than not to be zero."""
        text = rf"\b{re.escape(name)}\b`*[^.;,]{{0,16}}\bnon-?zero\b"
        return bool(re.search(text, self.docstrings, re.I))

    def may_be_zero(self, name: str) -> bool:
        """Return True if a docstring says that an argument may be zero."""
        text = (
            rf"\b{re.escape(name)}\b[^.;]{{0,48}}\bzeros? (is |are )?(allowed|possible|permitted)"
        )
        may = rf"\b{re.escape(name)}\b[^.;]{{0,24}}\b(may|can) (be|contain|have) (zero|0)"
        return bool(re.search(f"{text}|{may}", self.docstrings, re.I))

    def may_vanish(self, name: str) -> bool:
        """Return True if a docstring calls the numbers of an argument non-negative."""
        word, sign = re.escape(name), r"(>=|\u2265) *0(?![.\d])"
        text = (
            rf"\b{word}\b[^.;<>\u2265]{{0,16}}{sign}|\b{word}\b[^.;]{{0,24}}\bnon-?negative"
            rf"|\bnon-?negative\b[^.;]{{0,24}}\b{word}\b"
        )
        return bool(re.search(text, self.docstrings, re.I))

    @cached_property
    def _speaks_of_complex(self) -> bool:
        return "complex" in self.docstrings.lower() or "is_complex(" in self._code

    def may_be_complex(self, name: str) -> bool:
        """Return True if a docstring or a test in the source speaks of complex values of it."""
        if not self._speaks_of_complex:
            return False
        word = re.escape(name)
        text = (
            rf"\bcomplex([- ]valued)? (\w+ )?`*{word}\b"
            rf"|\b{word}`*:?( \([^)]*\))?:? ([^\W\d]+ )?((is|are|be|of) )?complex\b"
        )
        code = rf"\b{word}\.is_complex\(|is_complex\({word}\b"
        return bool(re.search(text, self.docstrings, re.I) or re.search(code, self._code))

    def is_conjugated(self, name: str) -> bool:
        """Return True if forward conjugates an argument, which changes no real number."""
        if "conj(" not in self._forward:
            return False
        word = re.escape(name)
        return bool(re.search(rf"\b{word}\.conj\(|\bconj\({word}\b", self._forward))

    def real_or_complex(self, names: Collection[str]) -> set[str]:
        """The arguments that a docstring says to be real or complex: the ones in that clause.

        All `names` if it names none.
        """
        found = _REAL_OR_COMPLEX.search(self.docstrings)
        if found is None:
            return set()
        clause = re.split(r"[.;:,]", self.docstrings[: found.start()])[-1]
        named = set(re.findall(r"\w+", clause)) & set(names)
        return named or {each for each in names if not self._is_called_real(each)}

    def _is_called_real(self, name: str) -> bool:
        return bool(re.search(rf"\b{re.escape(name)}`*:? (is |a )?real\b(?! or)", self.docstrings))
