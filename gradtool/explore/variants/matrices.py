"""Variants of square matrices: not symmetric, or with equal eigenvalues."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gradtool.explore.point import Point, Variant
from gradtool.explore.traits import restored, traits
from gradtool.verify.protocol.observation import Array

_SKEW = 1e-3
"""Part of a matrix by which its triangles must differ to be two."""


def asymmetric(
    point: Point, is_general: Callable[[int], bool], rng: np.random.Generator
) -> Iterator[Variant]:
    """Yield variants of a symmetric matrix that are not symmetric.

    Args:
        point: The arguments of the case.
        is_general: Whether the gradient of an argument is not one for symmetric matrices alone.
        rng: For the difference between the triangles.
    """
    for at, array in point.continuous():
        found = {trait.name for trait in traits(array)} & {"symmetric", "Hermitian"}
        if found and (at not in point.tracked or is_general(at)):
            skew = np.triu(rng.uniform(0.1, 0.3, array.shape), 1) * np.abs(array).max()
            change = f"`{point.names[at]}` is not {found.pop()}"
            yield Variant(point.having({at: array + skew}), change)


def has_two_triangles(gradient: Array) -> bool:
    """Return True unless a gradient is that of a function of symmetric matrices."""
    difference = np.abs(gradient - gradient.swapaxes(-1, -2)).max()
    return bool(difference > _SKEW * np.abs(gradient).max())


def degenerate(point: Point, *, are_symmetrized: bool = False) -> Iterator[Variant]:
    """Yield variants of symmetric matrices of which two eigenvalues are the same.

    Square matrices that `are_symmetrized` count as symmetric ones.
    """
    for at, array in point.continuous():
        is_symmetric = any(trait.name == "symmetric" for trait in traits(array))
        is_square = array.ndim > 1 and 1 < array.shape[-1] == array.shape[-2]
        if (is_symmetric or (are_symmetrized and is_square)) and at in point.tracked:
            values, vectors = np.linalg.eigh(0.5 * (array + array.swapaxes(-1, -2).conj()))
            values[..., 0] = values[..., 1]
            made = (vectors * values[..., None, :]) @ vectors.swapaxes(-1, -2)
            change = f"two eigenvalues of `{point.names[at]}` are equal"
            equal = point.having({at: restored(array, made.astype(array.dtype))})
            yield Variant(equal, change, is_measured=True)
            # Roundings keep those apart, unlike these.
            unit = np.eye(array.shape[-1]) * values[..., :1, None]
            change = f"`{point.names[at]}` is a multiple of the identity"
            scaled = point.having({at: unit.astype(array.dtype)})
            yield Variant(scaled, change, is_measured=True)
