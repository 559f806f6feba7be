"""The orders in which a Function's forward and backward can run, each call observed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from gradtool.adapters.common.bound import BoundFunction
from gradtool.adapters.common.observed_call import ObservedCall, change_in_place
from gradtool.adapters.common.recording import Record, Recorder
from gradtool.verify.protocol.observation import Cotangents, MemoryLayout, Observation, Primals


class Orders:
    """Observed calls of one function at one case."""

    def __init__(self, bound: BoundFunction) -> None:
        self._bound = bound
        self._recorder: Recorder | None = None

    def straight(
        self,
        primals: Primals,
        cotangents: Cotangents | None,
        needs: Sequence[bool] | None,
        layouts: tuple[MemoryLayout | None, MemoryLayout],
    ) -> Observation:
        """Forward, then backward if there are cotangents."""
        with self._call(primals, needs, layouts[0]) as call:
            call.forward()
            if cotangents is not None:
                call.backward(cotangents, layouts[1])
            return call.observation()

    def interleaved(
        self,
        primals: tuple[Primals, Primals],
        cotangents: tuple[Cotangents, Cotangents],
        second: Orders | None = None,
    ) -> tuple[Observation, Observation]:
        """Two forwards, then their backwards in the same order; the `second` may be another's."""
        both = zip((self, second or self), primals, strict=True)
        with ExitStack() as stack:
            calls = [stack.enter_context(it._call(each)).forward() for it, each in both]
            one, other = (call.backward(each) for call, each in zip(calls, cotangents, strict=True))
            return one.observation(), other.observation()

    def changed_between(
        self,
        primals: Primals,
        cotangents: Cotangents,
        *,
        argument: int | None = None,
        output: int | None = None,
    ) -> Observation:
        """Forward, a change of one argument or output in place, then backward."""
        with self._call(primals) as call:
            call.forward()
            chosen: list[Any] = [] if argument is None else [call.tensors[argument]]
            chosen += [] if output is None else call.outputs[output : output + 1]
            for tensor in chosen:
                if tensor is not None:
                    change_in_place(tensor)
            return call.backward(cotangents).observation()

    @contextmanager
    def _call(
        self,
        primals: Primals,
        needs: Sequence[bool] | None = None,
        layout: MemoryLayout | None = None,
    ) -> Iterator[ObservedCall]:
        """A call to be made in the block; a Function's is recorded."""
        bound = self._bound
        if bound.cls is None:
            yield ObservedCall(bound, bound.callable, Record(), primals, needs, layout)
            return
        if self._recorder is None:
            self._recorder = Recorder(bound.cls)
        function = self._recorder.function.apply
        with self._recorder.recording() as record:
            yield ObservedCall(bound, function, record, primals, needs, layout)
