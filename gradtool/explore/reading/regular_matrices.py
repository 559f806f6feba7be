"""Matrices of a decomposition, which has no derivative where they lose rank.

The factors of a QR decomposition and the singular vectors of a matrix jump there, and so does a
pseudo-inverse. Near such a matrix, their derivative is too large to be compared.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from gradtool.adapters.common.parsed_source import walked
from gradtool.explore.point import Point
from gradtool.verify.protocol.observation import Array

_DECOMPOSES = re.compile(r"(?:linalg_)?(?:qr|geqrf|svd|svdvals|svd_lowrank|pinv|pinverse|lstsq)")
"""Matches the functions whose derivative exists for matrices of full rank alone."""

_LEAST_RATIO = 1e-5
"""Smallest singular value, in proportion to the largest, of a matrix that counts as of full rank.

The derivative grows with its inverse, and the error of a difference quotient with the square.
"""


def kept_regular(case: Point, methods: Iterable[ast.AST]) -> Iterator[Callable[[Point], bool]]:
    """Yield the constraints that matrices of full rank stay so where one is decomposed."""
    if any(map(_decomposes, methods)):
        for at, array in case.arrays():
            if _is_matrix(array):
                yield partial(_stays_regular, case.names[at])


def _decomposes(method: ast.AST) -> bool:
    called = (node.func for node in walked(method) if isinstance(node, ast.Call))
    return any(_DECOMPOSES.fullmatch(getattr(each, "attr", "")) for each in called)


def _is_matrix(array: Array) -> bool:
    return array.dtype.kind in "fc" and array.ndim > 1 and array.size > 0


def _stays_regular(name: str, point: Point) -> bool:
    """Return True if an argument has matrices of full rank, or none at all."""
    array = dict(zip(point.names, point.values, strict=True)).get(name)
    if not isinstance(array, np.ndarray) or not _is_matrix(array) or not np.isfinite(array).all():
        return True
    values = np.linalg.svd(array.astype(np.complex128), compute_uv=False)
    return bool((values[..., -1] > _LEAST_RATIO * values[..., 0]).all())
