"""A user's backward as a function of its own, of which nothing hides a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.adapters.common.vjp import Apply, BackwardMap
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Cut


class RecordedBackward(BackwardMap):
    """The map (primals, cotangents) -> gradients, differentiated by the steps of ``backward``.

    ``detach`` and ``no_grad`` keep their place in the graph, and other Functions that backward
    calls are differentiated step by step. An intermediate that forward saved remains a constant.
    """

    def __init__(self, apply: Apply, differentiable: Sequence[bool], given: Sequence[int]) -> None:
        super().__init__(apply, differentiable, given)
        self.cuts: list[Cut] = []
        """Places where the last call turned differentiated tensors into plain numbers."""

    def gradients(
        self, pairs: Sequence[tuple[Any, Any]], targets: Sequence[Any], recording: bool
    ) -> tuple[Any, ...]:
        """Return the gradients, with the graph of all that led to them."""
        self.cuts = []
        with library().recording(self.cuts):
            return super().gradients(pairs, targets, recording)
