"""A function that is differentiated by the steps of its forward, its backward left aside."""

from __future__ import annotations

from typing import Any

from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.library import Outputs, library
from gradtool.verify.protocol.observation import Cut


class RecordedForward:
    """A user's function as plain code: the library differentiates every step of ``forward``.

    What other Functions compute in it is differentiated step by step as well.
    """

    def __init__(self, bound: BoundFunction) -> None:
        self.apply = bound
        """The function that is recorded."""
        self.cuts: list[Cut] = []
        """Places where the last call turned differentiated tensors into plain numbers."""

    def __call__(self, *tensors: Any) -> Outputs:
        """Return the outputs, with the graph of all that led to them."""
        self.cuts = []
        return library().record(self.apply, tensors, self.cuts)
