"""A function that is differentiated by the steps of its forward, its backward left aside."""

from __future__ import annotations

from typing import Any

from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.library import Outputs, library


class RecordedForward:
    """A user's function as plain code: the library differentiates every step of ``forward``.

    What other Functions compute in it is differentiated step by step as well.
    """

    def __init__(self, bound: BoundFunction) -> None:
        self.apply = bound
        """The function that is recorded."""

    def __call__(self, *tensors: Any) -> Outputs:
        """Return the outputs, with the graph of all that led to them."""
        return library().record(self.apply, tensors)
