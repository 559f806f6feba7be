"""Words of docstrings and sources that say what a Function is made for: the one place for them."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Any

from gradtool.cases.inference.documentation import documentation, source
from gradtool.explore.reading.letter_case import parameter_names, with_names_as_given
from gradtool.explore.reading.wording.axes import OnAxes
from gradtool.explore.reading.wording.matrices import OnMatrices
from gradtool.explore.reading.wording.ranges import OnRanges
from gradtool.explore.reading.wording.roles import OnRoles

_SINGLE = re.compile(r"(?<!upcast to )\b(float32|single precision|fp32)\b", re.I)

_HALF = re.compile(r"\b(half|fp16|float16)\b(?! of| an? )", re.I)

_APPROXIMATE = re.compile(
    r"\b(b?f(loat)?16|fp16|half|int8|int4|fp8|float8\w*|quanti[sz]\w*|low(er)?[- ]precision"
    r"|approximat\w*|compress\w*)\b",
    re.I,
)

_QUOTED = re.compile(r"(['\"`])(\w+)\1")

_OR_NONE = re.compile(r"(['\"`])\w+\1,? or `*None\b")

_SMALL = re.compile(r"\b(small|tiny|near (0|zero))\b", re.I)

_RECOMPUTED = re.compile(r"recompu|re-?comput|rematerial|checkpoint|\bremat\b", re.I)
"""Words for what is not stored, and done once more in backward."""

_DETERMINISTIC = re.compile(
    r"\bdeterministic|\bpure\b|\bno (randomness|dropout)\b|\beval mode", re.I
)


@lru_cache(maxsize=8)
def wording(function: Any) -> Wording:
    """The texts of a Function."""
    docstrings = with_names_as_given(documentation(function), parameter_names(function))
    return Wording(docstrings, source(function))


class Wording(OnAxes, OnMatrices, OnRanges, OnRoles):
    """Statements of the texts of a Function about its arguments."""

    @cached_property
    def quoted(self) -> list[str]:
        """The words that docstrings quote."""
        return [word for _, word in _QUOTED.findall(self.docstrings)]

    @cached_property
    def may_quote_none(self) -> bool:
        """A docstring says that None may stand for a word."""
        return bool(_OR_NONE.search(self.docstrings))

    @cached_property
    def speaks_of_small_numbers(self) -> bool:
        """A docstring speaks of numbers near zero."""
        return bool(_SMALL.search(self.docstrings))

    @cached_property
    def speaks_of_single_precision(self) -> bool:
        """A docstring says that numbers may be of float32."""
        return bool(_SINGLE.search(self.docstrings))

    @cached_property
    def speaks_of_half_precision(self) -> bool:
        """A docstring says that numbers may be of float16."""
        return bool(_HALF.search(self.docstrings))

    @cached_property
    def approximates(self) -> bool:
        """A docstring speaks of fewer digits than the arguments have."""
        return bool(_APPROXIMATE.search(self.docstrings))

    @cached_property
    def is_unrolled(self) -> bool:
        """A docstring calls backward the derivative of all rounds of an iteration."""
        return "unroll" in self.docstrings.lower()

    @property
    def speaks_of_integer_or_none(self) -> bool:
        """A docstring says that something is an integer or None."""
        return bool(re.search(r"\bint(eger)? or None\b", self.docstrings))

    @property
    def needs_same_results(self) -> bool:
        """A docstring says that something gives the same results at every call."""
        return bool(_DETERMINISTIC.search(self.docstrings))

    @property
    def recomputes(self) -> bool:
        """The source or a docstring says that backward runs once more what it needs."""
        return bool(_RECOMPUTED.search(f"{self._code}\n{self.docstrings}"))
