"""A Function, or a callable of tensors, as the checker sees it, over whichever library computes."""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from functools import cached_property
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.adapters.common import batching, forward_mode
from gradtool.adapters.common.binding import takes_ctx
from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.common.buffers import holds_others
from gradtool.adapters.common.calls import Calls, find_leak
from gradtool.adapters.common.contained_tensors import lost_gradients
from gradtool.adapters.common.executable_lines import Lines, lines_of, traced
from gradtool.adapters.common.forward_mode import TangentMap
from gradtool.adapters.common.met_shapes import Shape, met_shapes
from gradtool.adapters.common.parsed_source import docstring_of
from gradtool.adapters.common.random_state import global_generators
from gradtool.adapters.common.recorded_backward import RecordedBackward
from gradtool.adapters.common.recorded_forward import RecordedForward
from gradtool.adapters.common.recorded_steps import RecordedSteps
from gradtool.adapters.common.side_effects import restored
from gradtool.adapters.common.started_call import StartedCall, exact_gradients
from gradtool.adapters.common.through_rounding import through_rounding
from gradtool.adapters.common.vjp import BackwardMap, copied, cotangent_tensors, vjp
from gradtool.adapters.library import Outputs, library
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import (
    Alteration,
    Array,
    ChangedByJvp,
    ChooseCotangents,
    Cotangents,
    Cut,
    Evaluate,
    Leak,
    LostGradient,
    MemoryLayout,
    NotANumber,
    Observation,
    Primals,
    Repair,
    SourceLine,
    Stacked,
    Step,
    Tangents,
)

if TYPE_CHECKING:
    from gradtool.adapters.common.alterations.backward.repaired_method import RepairedMethod
    from gradtool.adapters.common.alterations.forward.altered_forward import AlteredForward

_Started = tuple[list[Any], Outputs]
"""The leaves of a graph, and the outputs of forward."""


class FunctionDifferentiable:
    """A Function of the library, or a plain callable of its tensors, at one case.

    Implements `gradtool.verify.protocol.differentiable.Examinable`. Every call gets fresh tensors,
    so nothing that the user's code does to them lasts.

    Args:
        function: A `Function` subclass, its ``apply``, or any callable that takes and returns
            tensors. For the last, ``raw`` gradients and everything about ctx are not seen.
        args: The case's positional arguments. A tensor that requires a gradient is
            differentiated with respect to; tensors inside containers are passed as they are.
        kwargs: Its keyword arguments. A Function's are moved to the positions that its
            ``forward`` gives their names, with defaults in the gaps, because gradients
            belong to positions. A plain callable gets them as they are.
        name: The user's name for it.
        names: Names of the positional arguments, if the signature has none.

    Raises:
        TypeError: `kwargs` do not fit the signature of ``forward``.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        *,
        name: str,
        names: Sequence[str] | None = None,
    ) -> None:
        self.name = name
        self._bound = BoundFunction(function, args, kwargs, names)
        self._calls = Calls(self._bound)
        self.arguments = self._bound.arguments.tensors
        self.primals = self._bound.arguments.primals
        self._case_forward: tuple[Primals, AlteredForward] | None = None
        self._altered_at: tuple[Primals, Cotangents] | None = None
        self._altered: dict[Alteration, tuple[Array | None, ...] | None] = {}

    @cached_property
    def defines_both_backward_and_vjp(self) -> bool:
        """True if it overrides both names of the same method."""
        cls = self._bound.cls
        return cls is not None and _has_both(cls)

    @cached_property
    def declares_once_differentiable(self) -> bool:
        """True if it says that its backward cannot be differentiated."""
        cls = self._bound.cls
        return cls is not None and _is_once_differentiable(cls)

    @cached_property
    def defines_jvp(self) -> bool:
        """True if the Function has a ``jvp`` of its own."""
        cls = self._bound.cls
        return cls is not None and cls.jvp is not library().Function.jvp

    @cached_property
    def defines_vmap(self) -> bool:
        """True if it has a ``vmap`` of its own, or asks for a generated one."""
        cls = self._bound.cls
        return cls is not None and batching.declares_batching(cls)

    @cached_property
    def generates_vmap(self) -> bool:
        """True if it asks for a generated ``vmap``."""
        cls = self._bound.cls
        return cls is not None and bool(cls.generate_vmap_rule)

    @cached_property
    def lines(self) -> frozenset[SourceLine]:
        """Lines of the Function's own methods that can be executed."""
        return frozenset(line for lines in self._lines.values() for line in lines.values())

    @cached_property
    def _lines(self) -> Lines:
        return lines_of(self._bound.cls)

    @property
    def defines_setup_context(self) -> bool:
        """``setup_context`` saves for backward what is an input or an output of forward."""
        return self._bound.cls is not None and not takes_ctx(self._bound.cls)

    @property
    def takes_functions(self) -> bool:
        """True if an argument is a function or a module, which forward may call."""
        return any(callable(value) for *_, value in self._bound.arguments.others())

    @property
    def sparse(self) -> frozenset[int]:
        """The positions of sparse tensors, which are fixed by the case."""
        others = self._bound.arguments.others()
        return frozenset(at for at, _, value in others if isinstance(value, library().Tensor))

    @property
    def docstrings(self) -> str:
        """The docstrings of the Function, of its methods, and of a module that holds it alone."""
        cls = self._bound.cls
        methods = (getattr(cls, name, None) for name in ("forward", "backward", "vjp"))
        described = (_module_of_one(cls), cls, *methods)
        return "\n".join(docstring_of(each) for each in described if each)

    @property
    def draws_random_numbers(self) -> bool:
        """True if a call drew from a global generator; every call draws the same numbers."""
        return self._bound.draws.is_needed

    @property
    def cuts(self) -> Sequence[Cut]:
        """Of a recorded function: where its last call left the library."""
        recorded = self._bound.callable
        return recorded.cuts if isinstance(recorded, RecordedForward | RecordedBackward) else ()

    def steps(self, primals: Primals) -> list[Step]:
        """Of a recorded function: return the steps of its code, the last ones first."""
        return list(RecordedSteps(self._bound, primals).steps)

    def without(
        self, primals: Primals, cotangents: Cotangents, constant: Sequence[Sequence[Step]]
    ) -> Iterator[tuple[Array | None, ...]]:
        """Of a recorded function: yield the gradients when steps are held constant."""
        recorded = RecordedSteps(self._bound, primals)
        return (recorded.gradients(cotangents, each) for each in constant)

    def alterations(self, primals: Primals) -> list[Alteration]:
        """Of a function from `recorded`: return what may be altered in forward."""
        return self._altered_forward(primals).alterations()

    def altered(
        self, primals: Primals, cotangents: Cotangents, alterations: Sequence[Alteration]
    ) -> Iterator[tuple[Array | None, ...] | None]:
        """Of a function from `recorded`: yield the gradients with each alteration by itself.

        Those at the first point that is asked about, the case itself, are kept: they serve every
        argument.
        """
        point = primals, cotangents
        self._altered_at = self._altered_at or point
        is_case = all(map(operator.is_, self._altered_at, point))
        known = self._altered if is_case else {}
        missing = [each for each in alterations if each not in known]
        found = self._altered_forward(primals).gradients(cotangents, missing)
        for each in alterations:
            if each not in known:
                known[each] = next(found)
            yield known[each]

    def _altered_forward(self, primals: Primals) -> AlteredForward:
        """Return the forward at a point; that at the first one, the case itself, is kept."""
        if self._case_forward and self._case_forward[0] is primals:
            return self._case_forward[1]
        # Loaded here, since only the explanation of a finding takes it.
        from gradtool.adapters.common.alterations.forward.altered_forward import AlteredForward

        made = AlteredForward(self._bound, primals)
        self._case_forward = self._case_forward or (primals, made)
        return made

    def repairs(self, primals: Primals, cotangents: Cotangents, most: int) -> list[Repair]:
        """Return what may be replaced in backward: the `most` plainest edits at most."""
        halves = [None if each is None else each / 2 for each in cotangents]
        runs = [self._backward(primals, each) for each in (cotangents, halves)]
        return self._repaired.repairs(most, [self._repaired.values(*run) for run in runs])

    def repaired(
        self, primals: Primals, cotangents: Cotangents, repairs: Sequence[Repair]
    ) -> Iterator[Sequence[Array | None] | None]:
        """Yield the gradients with each repair by itself; None for one that backward fails with."""
        yield from self._repaired.returned(repairs, *self._backward(primals, cotangents))

    def renumbered(self, made: Repair, number: float) -> Repair:
        """Return the repair that puts another number in the place of one that is nudged."""
        return self._repaired.renumbered(made, number)

    def first_nan(self, primals: Primals, cotangents: Cotangents) -> NotANumber | None:
        """Find the expression of backward that is NaN first; None where it is not known."""
        return self._repaired.first_nan(*self._backward(primals, cotangents))

    def _backward(
        self, primals: Primals, cotangents: Cotangents
    ) -> tuple[Callable[[], _Started], Callable[[_Started], tuple[Array | None, ...]]]:
        """Return functions that run forward at a point, and then backward."""

        def start() -> _Started:
            with library().torch.enable_grad():
                return self._started(primals)

        def run(started: _Started) -> tuple[Array | None, ...]:
            with library().torch.enable_grad():
                return self._gradients(*started, [cotangents])[0]

        return start, run

    @cached_property
    def _repaired(self) -> RepairedMethod:
        return self._method("backward", "vjp", with_helpers=True)

    def jvp_repairs(self, most: int) -> list[Repair]:
        """Return what may be replaced in jvp: the `most` plainest edits at most."""
        return self._repaired_jvp.repairs(most)

    def repaired_jvp(
        self, primals: Primals, tangents: Tangents, repairs: Sequence[Repair]
    ) -> Iterator[Sequence[Array | None] | None]:
        """Yield the tangents of the outputs with each repair by itself; None where jvp fails."""
        return self._repaired_jvp.returned(
            repairs, lambda: None, lambda _: self.jvps(primals, [tangents])[0]
        )

    @cached_property
    def _repaired_jvp(self) -> RepairedMethod:
        return self._method("jvp")

    def _method(self, *names: str, with_helpers: bool = False) -> RepairedMethod:
        """Return a method whose source can be edited."""
        from gradtool.adapters.common.alterations.backward.repaired_method import RepairedMethod

        return RepairedMethod(self._bound.cls, *names, with_helpers=with_helpers)

    def through_rounding(self, primals: Primals) -> list[Evaluate]:
        """Return forward with the identity in the place of rounding; none if nothing is rounded."""
        return through_rounding(self.evaluate, primals)

    # ---- values -----------------------------------------------------------------------

    def evaluate(self, primals: Primals) -> tuple[Array | None, ...]:
        """Return the outputs at `primals`, without a graph. Exceptions of the user's code pass.

        The arrays may be memory that the function itself holds and writes to again.
        """
        with library().torch.no_grad():
            outputs = self._bound(self._bound.arguments.fresh(primals))
        return tuple([None if out is None else library().array(out) for out in outputs])

    def vjps(self, primals: Primals, rows: Sequence[Cotangents]) -> list[tuple[Array | None, ...]]:
        """Run one forward, then one backward for each row; None if no gradient arrives.

        Raises what the user's code or the engine raises.
        """
        with library().torch.enable_grad():
            return self._gradients(*self._started(primals), rows)

    def valued_vjps(
        self, primals: Primals, rows: Sequence[Cotangents]
    ) -> tuple[tuple[Array | None, ...], list[tuple[Array | None, ...]]]:
        """Return the outputs too."""
        with library().torch.enable_grad():
            leaves, outputs = self._started(primals)
            shown = tuple([copied(each) for each in outputs])
            return shown, self._gradients(leaves, outputs, rows)

    def _started(self, primals: Primals) -> tuple[list[Any], Outputs]:
        """Run forward, and return the leaves of the graph with the outputs."""
        leaves, tensors = self._bound.arguments.tracked(primals)
        return leaves, self._bound(tensors)

    def _gradients(
        self, leaves: Sequence[Any], outputs: Outputs, rows: Sequence[Cotangents]
    ) -> list[tuple[Array | None, ...]]:
        found = (vjp(outputs, cotangent_tensors(outputs, row), leaves) for row in rows)
        return [tuple([copied(each) for each in gradients]) for gradients in found]

    def jvps(self, primals: Primals, rows: Sequence[Tangents]) -> list[tuple[Array | None, ...]]:
        """Return the tangent of each output for each row, by the Function's own ``jvp``."""
        return forward_mode.jvps(self._bound, primals, rows)

    def changed_by_jvp(self, primals: Primals, row: Tangents) -> ChangedByJvp:
        """Find everything that one jvp changes in place, apart from its own tangents."""
        return forward_mode.changed_by_jvp(self._bound, primals, row)

    # ---- many values at once ----------------------------------------------------------

    def evaluate_many(
        self, primals: Primals, stacked: Sequence[bool], *, or_loop: bool = True
    ) -> Stacked:
        """Return the outputs at many points, in one call to ``forward`` if its code allows that."""
        loop = self.evaluate if or_loop else None
        return batching.evaluate_many(self._bound, loop, primals, stacked)

    def vjps_many(
        self, primals: Primals, cotangents: Cotangents, *, or_loop: bool = True
    ) -> Stacked:
        """Return the gradients for many cotangents, in one run of ``backward`` if possible."""
        loop = self.vjps if or_loop else None
        return batching.vjps_many(self._bound, loop, primals, cotangents)

    def vmapped(self, primals: Primals, in_dims: Sequence[int | None]) -> tuple[Array | None, ...]:
        """Return the outputs for a batch by the Function's own batching, examples first in each."""
        return batching.vmapped(self._bound, primals, in_dims)

    def vmapped_vjp(
        self, primals: Primals, in_dims: Sequence[int | None], cotangents: Cotangents
    ) -> tuple[Array | None, ...]:
        """Return the gradients of `primals` through the Function's own batching."""
        return batching.vmapped_vjp(self._bound, primals, in_dims, cotangents)

    # ---- observed calls ---------------------------------------------------------------

    def call(
        self,
        primals: Primals,
        cotangents: Cotangents | ChooseCotangents | None = None,
        *,
        needs: Sequence[bool] | None = None,
        input_layout: MemoryLayout | None = None,
        cotangent_layout: MemoryLayout = "contiguous",
    ) -> Observation:
        """Make one observed call: forward, and backward if `cotangents` are given or chosen.

        A custom Function's backward is run even if all cotangents are None.
        """
        return self._calls.call(primals, cotangents, needs, (input_layout, cotangent_layout))

    def started(self, primals: Primals) -> StartedCall:
        """Run forward, to look at its outputs before backward. What the user's code raises passes.

        Cheaper than `call`, which observes all that can be seen.
        """
        return StartedCall(self._bound, primals)

    def exact_gradients(
        self, primals: Primals, cotangents: Cotangents
    ) -> tuple[Array | None, ...] | None:
        """Return the gradients by the steps of forward; None where it leaves the library.

        Raises what the user's code or the library raises.
        """
        return exact_gradients(self._bound, primals, cotangents)

    def met_shapes(self) -> list[Shape | None]:
        """Return the shape of what each argument is broadcast against, None where it is unknown.

        Raises what the user's code or the library raises.
        """
        return met_shapes(self._bound, self.primals)

    def with_defaults(self) -> FunctionDifferentiable | None:
        """Pass the defaults that the case leaves to ``forward``; None if there are none."""
        bound = self._bound.with_defaults()
        return None if bound is None else self._with(bound)

    def siblings(self) -> list[FunctionDifferentiable]:
        """Return the same Function at cases that differ in all arguments but tensors."""
        return [self._with(bound) for bound in self._bound.variants()]

    def _with(self, bound: BoundFunction) -> FunctionDifferentiable:
        """Copy this with other values for the arguments that are not tensors."""
        other = copy(self)
        other._bound, other._calls = bound, Calls(bound)
        return other

    def interleaved(
        self,
        primals: Sequence[Primals],
        cotangents: Sequence[Cotangents],
        others: Sequence[Examinable] = (),
    ) -> list[Observation]:
        """Make some calls: all forwards, then all backwards in the same order."""
        calls = [it._calls if isinstance(it, FunctionDifferentiable) else None for it in others]
        return self._calls.interleaved(primals, cotangents, calls)

    def call_with_input_changed_between(
        self, primals: Primals, cotangents: Cotangents, argument: int
    ) -> Observation:
        """Make one call, and change an input in place between forward and backward."""
        return self._calls.changed_between(primals, cotangents, argument=argument)

    def call_with_output_changed_between(
        self, primals: Primals, cotangents: Cotangents, output: int
    ) -> Observation:
        """Make one call, and change an output in place between forward and backward."""
        return self._calls.changed_between(primals, cotangents, output=output)

    def call_again_after_change(
        self, primals: Primals, cotangents: Cotangents
    ) -> tuple[Primals, Observation]:
        """Make two calls with the same tensors, whose values change in place between them."""
        return self._calls.again_after_change(primals, cotangents)

    def lost_gradients(self, primals: Primals) -> list[LostGradient] | None:
        """Name the tensors inside other arguments that require a gradient and receive none."""
        return lost_gradients(self._bound, primals)

    # ---- surroundings -----------------------------------------------------------------

    def leaks(self, primals: Primals) -> Leak | None:
        """Find why the ctx of a call outlives its outputs, if it does, without a collection."""
        return find_leak(self._bound, primals)

    @contextmanager
    def seeded(self, seed: int) -> Iterator[None]:
        """Seed every global random number generator, and restore them at the end."""
        with global_generators(seed), self._bound.draws.freed():
            yield

    def objects_restored(self) -> AbstractContextManager[None]:
        """Restore, after the block, the objects among the arguments that calls may update."""
        objects = [
            (name, value)
            for _, name, value in self._bound.arguments.others()
            if holds_others(value) and not isinstance(value, FunctionType | type)
        ]
        return restored(objects) if objects else nullcontext()

    @contextmanager
    def in_double(self) -> Iterator[None]:
        """Make float64 the default dtype, and restore it at the end."""
        torch = library().torch
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            yield
        finally:
            torch.set_default_dtype(before)

    def traced(self, seen: set[SourceLine]) -> AbstractContextManager[None]:
        """Add to `seen` those of `lines` that are executed in the block."""
        return traced(self._lines, seen)

    # ---- the next order ---------------------------------------------------------------

    def backward_map(self, cotangents: Cotangents) -> FunctionDifferentiable:
        """Return the map (primals, cotangents) -> gradients, as a Differentiable of its own."""
        return self._map_of_backward(BackwardMap, cotangents)

    def recorded_backward(self, cotangents: Cotangents) -> FunctionDifferentiable:
        """Return the same map, differentiated by the steps of backward."""
        return self._map_of_backward(RecordedBackward, cotangents)

    def _map_of_backward(
        self, kind: type[BackwardMap], cotangents: Cotangents
    ) -> FunctionDifferentiable:
        given = [(at, array) for at, array in enumerate(cotangents) if array is not None]
        arguments = self._bound.arguments
        function = kind(self._bound, arguments.differentiable, [at for at, _ in given])
        tensors = arguments.fresh(self.primals)
        for _, array in given:
            tensors.append(library().tensor(np.array(array)))
            tensors[-1].requires_grad = True
        names = [argument.name for argument in self.arguments]
        names += _cotangent_names([at for at, _ in given], len(cotangents), names)
        return self._derived(function, tensors, names)

    def recorded(self) -> FunctionDifferentiable:
        """Return the same function, differentiated by the steps of its forward."""
        names = [argument.name for argument in self.arguments]
        tensors = self._bound.arguments.fresh(self.primals)
        return self._derived(RecordedForward(self._bound), tensors, names)

    def tangent_map(self, tangents: Tangents) -> FunctionDifferentiable:
        """Return the map (primals, tangents) -> tangents, as a Differentiable of its own."""
        arguments = self._bound.arguments
        tensors = arguments.fresh(self.primals)
        names = [argument.name for argument in self.arguments]
        for name, array in zip(tuple(names), tangents, strict=True):
            if array is not None:
                tensors.append(library().tensor(np.array(array)))
                tensors[-1].requires_grad = True
                names.append(f"tangent of {name}")
        differentiable = [array is not None for array in tangents]
        return self._derived(TangentMap(self._bound, differentiable), tensors, names)

    def _derived(
        self, function: Callable[..., Any], tensors: Sequence[Any], names: Sequence[str]
    ) -> FunctionDifferentiable:
        """Make a Differentiable of the next order, which has more arguments than this."""
        derived = FunctionDifferentiable(function, tensors, {}, name=self.name, names=names)
        cls = self._bound.cls
        derived.declares_once_differentiable = self.declares_once_differentiable or (
            cls is not None and _calls_once_differentiable(cls)
        )
        derived._bound.home = self._bound.home
        return derived


def _cotangent_names(given: Sequence[int], count: int, taken: Sequence[str]) -> list[str]:
    """Return ``grad_output``, or ``grad_output[i]`` for each of several outputs."""
    stem = "grad_output"
    while any(name.partition("[")[0] == stem for name in taken):
        stem = f"grad_{stem}"
    return [stem if count == 1 else f"{stem}[{at}]" for at in given]


def _has_both(cls: type[Any]) -> bool:
    root = library().Function
    return cls.backward is not root.backward and cls.vjp is not root.vjp


def _is_once_differentiable(cls: type[Any]) -> bool:
    """Return True if the method that computes gradients is marked ``once_differentiable``.

    One that asks whether it may run a backward inside refuses a second derivative as loudly.
    """
    methods = (cls.vjp, cls.backward)
    return any(
        library().is_once_differentiable(method)
        or _ASKS_FOR_BACKWARD & set(getattr(inspect.unwrap(method), "__code__", _NO_CODE).co_names)
        for method in methods
    )


_ASKS_FOR_BACKWARD = {"_is_checkpoint_valid", "is_checkpoint_valid"}
_NO_CODE = (lambda: None).__code__


def _module_of_one(cls: type[Any] | None) -> ModuleType | None:
    """Return the module of a Function if it defines no other, so that its docstring is of that."""
    module = sys.modules.get(getattr(cls, "__module__", ""))
    own = [
        each
        for each in (vars(module).values() if module else ())
        if isinstance(each, type)
        and issubclass(each, library().Function)
        and each.__module__ == getattr(cls, "__module__", "")
    ]
    return module if own == [cls] else None


def _calls_once_differentiable(cls: type[Any]) -> bool:
    """Return True if backward names a Function of its module that is ``once_differentiable``."""
    root, methods = library().Function, map(inspect.unwrap, (cls.vjp, cls.backward))
    named = [
        method.__globals__.get(name)
        for method in methods
        if inspect.isfunction(method)
        for name in method.__code__.co_names
    ]
    return any(
        isinstance(each, type) and issubclass(each, root) and _is_once_differentiable(each)
        for each in named
    )
