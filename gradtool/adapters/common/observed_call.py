"""One call of a Function in steps, observed: forward, and later backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.adapters.common.bound import BoundFunction, Outputs
from gradtool.adapters.common.failures import failure_of
from gradtool.adapters.common.observing import Observer
from gradtool.adapters.common.recording import Record
from gradtool.adapters.common.vjp import cotangent_tensors, vjp
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import (
    Cotangents,
    Failure,
    MemoryLayout,
    Observation,
    Primals,
)


class ObservedCall:
    """A call that is under way, with tensors of its own.

    Args:
        bound: The function and its arguments.
        function: What to call: `bound`'s own, or one that is recorded in its place.
        record: Filled by `function`; stays empty where it is not recorded.
        primals: Values of the tensors.
        needs: Which of them require a gradient; None: those that do in the case.
        layout: How they lie in memory; None: as the case's do.
    """

    def __init__(
        self,
        bound: BoundFunction,
        function: Callable[..., Any],
        record: Record,
        primals: Primals,
        needs: Sequence[bool] | None = None,
        layout: MemoryLayout | None = None,
    ) -> None:
        self._bound = bound
        self._function = function
        with library().torch.enable_grad():
            self._leaves, self.tensors = bound.arguments.tracked(primals, needs, layout)
        self._observer = Observer(bound, self.tensors, record)
        self.outputs: Outputs = ()
        self._failure: Failure | None = None

    def forward(self) -> ObservedCall:
        """Call the function."""
        with library().torch.enable_grad():
            try:
                self.outputs = self._bound.through(self._function, self.tensors)
            except MemoryError:
                raise  # No call after it would find any.
            except Exception as error:
                self._failure = failure_of(error, "forward", self._bound.home)
            self._observer.end_forward(self.outputs)
        return self

    def backward(self, cotangents: Cotangents, layout: MemoryLayout = "contiguous") -> ObservedCall:
        """Send cotangents back, unless forward failed."""
        if self._failure is not None:
            return self
        with library().torch.enable_grad():
            sent = cotangent_tensors(self.outputs, cotangents, layout)
            self._observer.begin_backward(sent)
            try:
                gradients = vjp(self.outputs, sent, self._leaves)
                self._observer.see_gradients(gradients)
            except MemoryError:
                raise
            except Exception as error:
                self._failure = failure_of(error, "backward", self._bound.home)
            self._observer.end_backward()
        return self

    def observation(self) -> Observation:
        """Everything seen so far."""
        return self._observer.observation(self._failure)


def change_in_place(tensor: Any) -> None:
    """Give a tensor other values, counted as a new version but not recorded.

    They change places, so that indices stay indices and a mask becomes another one. Floating
    values also shrink, so that they keep their sign.
    """
    array = library().array(tensor)
    moved = array.ravel()[::-1].reshape(array.shape).copy()
    if array.dtype.kind in "fc":
        moved = np.asarray(moved * 0.75 + 0.25 * (moved == 0), dtype=array.dtype)
    tensor.data.copy_(library().tensor(moved))
    library().torch.autograd.graph.increment_version(tensor)
