"""Constants that a call passes twice, in another order: a kernel and its mirror."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from gradtool.adapters.library import library
from gradtool.cases.inference.calls.call_sites import Site


def is_reordered(name: str, site: Site, constants: Collection[str]) -> bool:
    """Return True for a constant whose entries are those of another constant of the call."""
    own = _entries(site.values[name]) if name in constants else None
    if own is None or own[0] == own[-1]:
        return False
    others = [each for each in constants if each in site.values and each != name]
    return any(np.array_equal(own, _entries(site.values[each])) for each in others)


def _entries(value: Any) -> Any:
    """The entries of a floating tensor without a gradient, sorted; None for anything else."""
    if not isinstance(value, library().Tensor) or value.requires_grad:
        return None
    if not value.is_floating_point() or not value.numel():
        return None
    return np.sort(library().array(value), axis=None)
