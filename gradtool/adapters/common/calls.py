"""Observed calls to a function, with forwards and backwards in any order."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.common.observation import Observer
from gradtool.adapters.common.recording import Record, Recorder
from gradtool.adapters.common.vjp import copied, cotangent_tensors, vjp
from gradtool.adapters.library import Outputs, library
from gradtool.sandbox.user_errors import describe
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import (
    ChooseCotangents,
    Cotangents,
    Failure,
    Leak,
    MemoryLayout,
    Observation,
    Primals,
    Stage,
)


class Calls:
    """Makes observed calls to one function at one case."""

    def __init__(self, bound: BoundFunction) -> None:
        self._bound = bound
        self._recorder: Recorder | None = None

    def call(
        self,
        primals: Primals,
        cotangents: Cotangents | ChooseCotangents | None,
        needs: Sequence[bool] | None,
        layouts: tuple[MemoryLayout | None, MemoryLayout],
    ) -> Observation:
        """Run forward, then backward if there are cotangents, or some are chosen."""
        with self._prepared(primals, needs, layouts[0]) as call:
            call.forward()
            if callable(cotangents):
                cotangents = cotangents(call.observation())
            if cotangents is not None:
                call.backward(cotangents, layouts[1])
            return call.observation()

    def interleaved(
        self,
        primals: Sequence[Primals],
        cotangents: Sequence[Cotangents],
        others: Sequence[Calls | None] = (),
    ) -> list[Observation]:
        """Run all forwards, then their backwards in the same order; `others` may make the later."""
        makers = [self, *(each or self for each in others)]
        makers += [self] * (len(primals) - len(makers))
        with ExitStack() as stack:
            calls = [
                stack.enter_context(it._prepared(each)).forward()
                for it, each in zip(makers, primals, strict=True)
            ]
            for call, each in zip(calls, cotangents, strict=True):
                call.backward(each)
            return [call.observation() for call in calls]

    def changed_between(
        self,
        primals: Primals,
        cotangents: Cotangents,
        *,
        argument: int | None = None,
        output: int | None = None,
    ) -> Observation:
        """Run forward, change one argument or output in place, then run backward."""
        with self._prepared(primals) as call:
            call.forward()
            chosen: list[Any] = [] if argument is None else [call.tensors[argument]]
            chosen += [] if output is None else call.outputs[output : output + 1]
            for tensor in chosen:
                if tensor is not None:
                    change_in_place(tensor)
            return call.backward(cotangents).observation()

    def again_after_change(
        self, primals: Primals, cotangents: Cotangents
    ) -> tuple[Primals, Observation]:
        """Call twice with the same tensors, whose values change in place between the calls.

        Returns the values of the second call, and its outputs and gradients. Raises what the
        user's code raises.
        """
        with library().torch.enable_grad():
            leaves, tensors = self._bound.arguments.tracked(primals)
            outputs = self._bound(tensors)
            vjp(outputs, cotangent_tensors(outputs, cotangents), leaves)
            for tensor, needed in zip(tensors, self._bound.arguments.differentiable, strict=True):
                if needed:
                    change_in_place(tensor)
            point = [np.array(library().array(tensor.detach())) for tensor in tensors]
            outputs = self._bound(tensors)
            shown = tuple([copied(each) for each in outputs])
            gradients = vjp(outputs, cotangent_tensors(outputs, cotangents), leaves)
            found = tuple([copied(each) for each in gradients])
        return point, Observation(outputs=shown, gradients=found)

    @contextmanager
    def _prepared(
        self,
        primals: Primals,
        needs: Sequence[bool] | None = None,
        layout: MemoryLayout | None = None,
    ) -> Iterator[ObservedCall]:
        """Prepare a call to be made in the block; a Function's is recorded."""
        bound = self._bound
        if bound.cls is None:
            yield ObservedCall(bound, bound.callable, Record(), primals, needs, layout)
            return
        if self._recorder is None:
            self._recorder = Recorder(bound.cls)
        function = self._recorder.function.apply
        with self._recorder.recording() as record:
            yield ObservedCall(bound, function, record, primals, needs, layout)


class ObservedCall:
    """One call in steps, with its own tensors: forward, and later backward.

    Args:
        bound: The function and its arguments.
        function: The callable: `bound`'s own, or the recorded one in its place.
        record: Filled by `function`; stays empty if that is not recorded.
        primals: Values of the tensors.
        needs: True for those that require a gradient; None: as in the case.
        layout: Their layout in memory; None: that of the case's.
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
                raise  # A later call would run out of memory too.
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
        """Return everything seen so far."""
        return self._observer.observation(self._failure)


def change_in_place(tensor: Any) -> None:
    """Give a tensor other values, counted as a new version but not recorded.

    The values are reversed, so that indices stay valid and a mask stays a mask. Floating values
    also shrink, and so keep their sign.
    """
    array = library().array(tensor)
    moved = array.ravel()[::-1].reshape(array.shape).copy()
    if is_continuous(array.dtype):
        moved = np.asarray(moved * 0.75 + 0.25 * (moved == 0), dtype=array.dtype)
    # Through `data`, which autograd does not record; so the version has to be raised by hand.
    tensor.data.copy_(library().tensor(moved))
    library().torch.autograd.graph.increment_version(tensor)


def failure_of(error: Exception, stage: Stage, home: Path) -> Failure:
    """Describe an error as a `Failure`; `home` is the folder of the user's module.

    The location is the user's innermost line: for an error raised by an operation of the engine,
    the line that called it. Errors about the gradients that ``backward`` returned have none.
    """
    described = describe(error, home)
    return Failure(
        stage=stage,
        kind=library().contract(error),
        message=_with_builtin_name(described.summary, error),
        traceback=described.detail,
        path=described.location.path if described.location else None,
        line=described.location.line if described.location else None,
    )


def _with_builtin_name(summary: str, error: Exception) -> str:
    """Replace the name of an engine's error by that of its built-in base, which torch raises."""
    own = type(error)
    if not own.__module__.startswith("gradtool."):
        return summary
    builtin = next(base for base in own.__mro__ if base.__module__ == "builtins")
    return summary.replace(own.__name__, builtin.__name__, 1)


def find_leak(bound: BoundFunction, primals: Primals) -> Leak | None:
    """Find why the nodes of the outputs, a Function's ctx among them, outlive a call's outputs.

    None if they do not, or there are none. The garbage collector is off meanwhile.
    """
    was_enabled = gc.isenabled()
    # A collection that happens to run meanwhile would hide a cycle.
    gc.disable()
    try:
        nodes = _nodes_of_a_call(bound, primals)
        if all(node() is None for node in nodes):
            return None
        gc.collect()
        return "cycle" if all(node() is None for node in nodes) else "held"
    finally:
        if was_enabled:
            gc.enable()


def _nodes_of_a_call(bound: BoundFunction, primals: Primals) -> list[weakref.ref[Any]]:
    """Return weak references to the graph's nodes; everything else of the call is dropped."""
    with library().torch.enable_grad():
        _, tensors = bound.arguments.tracked(primals)
        outputs = bound(tensors)
    # The list goes with this frame; only weak references leave it.
    nodes = [each.grad_fn for each in outputs if each is not None]
    return [weakref.ref(node) for node in nodes if _is_weakly_referable(node)]


def _is_weakly_referable(node: Any) -> bool:
    """Return False for PyTorch's own nodes, in C++, which allow no weak references."""
    return getattr(type(node), "__weakrefoffset__", 0) > 0
