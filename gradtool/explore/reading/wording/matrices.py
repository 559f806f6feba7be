"""Statements about matrices and sets of points: symmetry, extents, position."""

from __future__ import annotations

import re
from functools import cached_property

from gradtool.explore.reading.wording.entries import OnEntries, speaks_of_apart

_SYMMETRIC = re.compile(
    r"(?<!a)symmetr|hermitian|\b(spd|psd|eigh)\b|positive.?(semi.?)?definite|covariance|cholesky"
    r"|laplacian|undirected|\bgram\b|(precision|kernel|metric|stiffness|mass|inertia).?(matrix|tensor)"
    r"|pairwise distances",
    re.I,
)
"""Words for matrices that are symmetric by what they are."""

_ANY_MATRIX = re.compile(
    r"\b(any|arbitrary|general|transition)\b[^.;]{0,20}\bmatri|\basymmetric|\bany square\b"
    r"|\b(un|non-?)symmetric|\bnot (be |necessarily |assumed |required |to be )*symmetric",
    re.I,
)

_WIDE = re.compile(
    r"\bwide\b|minimum.norm|under-?determined|any shape|moore-penrose|pseudo-?inverse", re.I
)

_TALL = re.compile(
    r"full[- ]column[- ]rank|\bm *(>=|\u2265) *n\b|least.squares|over-?determined|\btall\b|residual"
    r"|moore-penrose|pseudo-?inverse",
    re.I,
)

_GENERAL_POSITION = re.compile(
    r"non-?degenerate|general position|not proportional"
    r"|(not|non-?|no three) ?(collinear|coplanar|parallel)"
    r"|\b(no|not|none|never|without)\b[^.;]{0,24}\b(degenerate|collapsed|zero[- ](area|length))"
    r"|linearly independent",
    re.I,
)


_NORM = re.compile(
    r"\b(?:norm|radius|contraction|lipschitz)\b[^.;]{0,32}?"
    r"(?:below|under|at most|less than|smaller than|<=?|\u2264) *(0?\.\d+)",
    re.I,
)
"""Matches a bound below one for a norm or a spectral radius."""


class OnMatrices(OnEntries):
    """Statements about matrices and points."""

    @cached_property
    def needs_symmetry(self) -> bool:
        """The source above the samples, or a docstring, speaks of symmetric matrices."""
        methods = self._code.partition("def sample_inputs")[0]
        speaks = _SYMMETRIC.search(f"{methods}\n{self.docstrings}")
        return bool(speaks) and not self.allows_asymmetry

    @cached_property
    def allows_asymmetry(self) -> bool:
        """A docstring says that matrices need not be symmetric."""
        is_square = "square" in self.docstrings and not _SYMMETRIC.search(self.docstrings)
        return is_square or bool(_ANY_MATRIX.search(self.docstrings))

    @cached_property
    def may_be_wide(self) -> bool:
        """A docstring speaks of matrices with more columns than rows."""
        return bool(_WIDE.search(self.docstrings))

    @cached_property
    def may_be_tall(self) -> bool:
        """A docstring speaks of matrices with more rows than columns."""
        return bool(_TALL.search(self.docstrings))

    @cached_property
    def needs_general_position(self) -> bool:
        """A docstring excludes points that coincide or lie on a line, or vectors that do."""
        return bool(_GENERAL_POSITION.search(self.docstrings))

    @cached_property
    def needs_points_apart(self) -> bool:
        """A docstring says that no point of one set is one of another."""
        is_apart = speaks_of_apart(self.docstrings) or self.needs_general_position
        return is_apart or self.needs_distinct or self.needs_nonzero

    @cached_property
    def bound_of_norm(self) -> float:
        """The number below one that a docstring says a norm stays below, or else one."""
        found = _NORM.search(self.docstrings)
        return float(found[1]) if found else 1.0
