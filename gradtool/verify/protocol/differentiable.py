"""The two protocols that are all `verify` sees of an autograd engine.

A `Differentiable` is one Function at one case, to evaluate and differentiate. An `Examinable` can
also be run in forward mode and batched, with tensors in other memory layouts, in unusual orders,
and with its lines traced: each method is one experiment that reports what happened, and the rules
judge it. The adapters in `gradtool.adapters` implement them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from gradtool.verify.protocol.observation import (
    Alteration,
    Argument,
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


class Differentiable(Protocol):
    """One Function at one case."""

    @property
    def name(self) -> str:
        """The Function's name as the user wrote it."""

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The tensor arguments. Others are fixed by the case."""

    @property
    def sparse(self) -> Collection[int]:
        """The positions of sparse tensors, which are fixed by the case."""

    @property
    def primals(self) -> tuple[Array, ...]:
        """The case's values for `arguments`. Fresh copies are made for each call."""

    @property
    def declares_once_differentiable(self) -> bool:
        """The Function says that its backward cannot be differentiated."""

    @property
    def defines_both_backward_and_vjp(self) -> bool:
        """The Function overrides both names of the same method."""

    def evaluate(self, primals: Primals) -> tuple[Array | None, ...]:
        """Outputs at `primals`, without building a graph. Exceptions of the user's code pass.

        `primals` may come in a wider dtype than `arguments` say; a function may refuse that.
        """

    def call(
        self,
        primals: Primals,
        cotangents: Cotangents | ChooseCotangents | None = None,
        *,
        needs: Sequence[bool] | None = None,
    ) -> Observation:
        """One fully observed call: forward, and backward when `cotangents` are given.

        They may also be chosen by what forward shows.
        `needs` overrides which arguments require a gradient. Never raises for what the
        user's code does: that is `Observation.failure`.
        """

    def vjps(self, primals: Primals, rows: Sequence[Cotangents]) -> list[tuple[Array | None, ...]]:
        """One forward, then one backward for each row; gradients as in `Observation.gradients`.

        Raises what the user's code or the engine raises.
        """

    def valued_vjps(
        self, primals: Primals, rows: Sequence[Cotangents]
    ) -> tuple[tuple[Array | None, ...], list[tuple[Array | None, ...]]]:
        """As `vjps`, with the outputs of the forward."""

    def evaluate_many(
        self, primals: Primals, stacked: Sequence[bool], *, or_loop: bool = True
    ) -> Stacked:
        """The outputs at many points, in one call to ``forward`` where its code allows that.

        Args:
            primals: The points, along the first dimension of each argument that is `stacked`.
            stacked: Which arguments differ from point to point.
            or_loop: Where it cannot be batched make calls one by one; False returns no arrays.

        A batched call runs ``forward`` itself on batched tensors, not the Function's ``vmap``. It
        may be wrong where a Function does not declare batching: callers that rely on it confirm
        the result with `evaluate`. Raises what the user's code raises in calls one by one.
        """

    def vjps_many(
        self, primals: Primals, cotangents: Cotangents, *, or_loop: bool = True
    ) -> Stacked:
        """The gradients for many cotangents, in one run of ``backward`` where its code allows.

        Args:
            primals: The point.
            cotangents: For each output the cotangents, along the first dimension; None for an
                undefined one.
            or_loop: As for `evaluate_many`.

        The same holds as for `evaluate_many`; the reference is `vjps`.
        """

    def in_double(self) -> AbstractContextManager[None]:
        """Makes float64 the default dtype, which tensors made from Python's numbers have."""

    def backward_map(self, cotangents: Cotangents) -> Differentiable:
        """The map (primals, cotangents) -> gradients, as a Differentiable of its own.

        Its arguments are all of this one's followed by one named ``grad_output`` (or
        ``grad_output[i]``) for each output that has a cotangent, which are differentiable.
        Its outputs are the gradients of this one's differentiable arguments; an output
        without a graph shows in `Observation.output_requires_grad`. Checking its first
        derivative checks the Function's second.
        """


class Examinable(Differentiable, Protocol):
    """One Function at one case, to experiment with.

    As with `Differentiable`, every call gets fresh tensors.
    """

    @property
    def draws_random_numbers(self) -> bool:
        """Calls draw from a global generator, which is reset: each draws the same numbers."""

    # ---- the witness ------------------------------------------------------------------

    def recorded(self) -> Examinable | None:
        """The same function, differentiated by the steps of ``forward`` and not by ``backward``.

        None where the engine does not run the steps.

        Its derivatives are exact to rounding where forward consists of operations that the engine
        differentiates. Where it leaves the engine a part of them is missing, or a call raises.
        """

    def recorded_backward(self, cotangents: Cotangents) -> Examinable:
        """The same function as from `backward_map`, differentiated by the steps of ``backward``.

        Its derivatives are exact where backward is right and consists of operations that the
        engine differentiates; no `detach` and no backward of another Function plays a part.
        """

    @property
    def cuts(self) -> Sequence[Cut]:
        """Of a recorded function: where its last call left the engine."""

    def steps(self, primals: Primals) -> Sequence[Step]:
        """Of a recorded function: the steps of its code, those next to the outputs first.

        Raises what the user's code or the engine raises, as `without` does.
        """

    def without(
        self, primals: Primals, cotangents: Cotangents, constant: Sequence[Sequence[Step]]
    ) -> Iterator[tuple[Array | None, ...]]:
        """Of a recorded function: yield the gradients when some steps are held constant.

        Args:
            primals: The point, where the code has to have all of these steps.
            cotangents: As for `vjps`.
            constant: The steps to hold constant, for each of the results.

        Raises:
            KeyError: The code has no such step at this point.
        """

    def alterations(self, primals: Primals) -> Sequence[Alteration]:
        """Of a function from `recorded`: what may be altered in forward, the plainest first.

        Raises what the user's code or the engine raises.
        """

    def altered(
        self, primals: Primals, cotangents: Cotangents, alterations: Sequence[Alteration]
    ) -> Iterator[tuple[Array | None, ...] | None]:
        """Of a function from `recorded`: yield the gradients with each alteration by itself.

        None for one that forward does not run with.
        """

    def repairs(self, primals: Primals, cotangents: Cotangents, most: int) -> Sequence[Repair]:
        """List what may be replaced in backward, the plainest first, `most` edits at most.

        The values at a point tell which expressions may stand for one another.
        """

    def repaired(
        self, primals: Primals, cotangents: Cotangents, repairs: Sequence[Repair]
    ) -> Iterator[Sequence[Array | None] | None]:
        """Yield the gradients with each repair by itself; None for one that backward fails with."""

    def renumbered(self, made: Repair, number: float) -> Repair:
        """Return the repair that puts another number in the place of one that is nudged."""

    def first_nan(self, primals: Primals, cotangents: Cotangents) -> NotANumber | None:
        """Find the expression of backward that is NaN first; None where it is not known."""

    def jvp_repairs(self, most: int) -> Sequence[Repair]:
        """List what may be replaced in jvp, as `repairs` does for backward."""

    def repaired_jvp(
        self, primals: Primals, tangents: Tangents, repairs: Sequence[Repair]
    ) -> Iterator[Sequence[Array | None] | None]:
        """Yield the tangents of the outputs with each repair by itself; None where jvp fails."""

    @property
    def defines_setup_context(self) -> bool:
        """``setup_context`` saves for backward what is an input or an output of forward."""

    @property
    def takes_functions(self) -> bool:
        """True if an argument is a function or a module, which forward may call."""

    @property
    def docstrings(self) -> str:
        """The docstrings of the Function, of its methods, and of a module that holds it alone."""

    def through_rounding(self, primals: Primals) -> Sequence[Evaluate]:
        """Return forward with the identity in the place of rounding; nothing if it rounds nothing.

        The first is forward without rounding, the second holds the rounding errors constant.
        """

    # ---- layouts ----------------------------------------------------------------------

    def call(
        self,
        primals: Primals,
        cotangents: Cotangents | ChooseCotangents | None = None,
        *,
        needs: Sequence[bool] | None = None,
        input_layout: MemoryLayout | None = None,
        cotangent_layout: MemoryLayout = "contiguous",
    ) -> Observation:
        """As `Differentiable.call`, with tensors that lie in memory as the layouts say.

        An `input_layout` of None stands for the layouts of the case's own tensors.
        """

    def backward_map(self, cotangents: Cotangents) -> Examinable:
        """As `Differentiable.backward_map`, with all methods of this protocol."""

    # ---- forward mode -----------------------------------------------------------------

    @property
    def defines_jvp(self) -> bool:
        """The Function has a ``jvp`` of its own."""

    def jvps(self, primals: Primals, rows: Sequence[Tangents]) -> list[tuple[Array | None, ...]]:
        """The tangent of each output for each row, by the Function's own ``jvp``.

        None where an output has none. Of a plain callable the engine's derivative is returned.
        Raises what the user's code or the engine raises.
        """

    def changed_by_jvp(self, primals: Primals, row: Tangents) -> ChangedByJvp:
        """Report the tensors of others that jvp changes in place. Raises as `jvps` does."""

    def tangent_map(self, tangents: Tangents) -> Examinable:
        """The map (primals, tangents) -> tangents, as a Differentiable of its own.

        Its arguments are all of this one's, then a tangent for each of them that has one in
        `tangents`. Its outputs are the tangents of this one's outputs. Checking its first
        derivative checks the second derivative by reverse over forward.
        """

    # ---- batching ---------------------------------------------------------------------

    @property
    def defines_vmap(self) -> bool:
        """The Function has a ``vmap`` of its own, or asks for a generated one."""

    @property
    def generates_vmap(self) -> bool:
        """The Function says that its methods consist of tensor operations that can be batched."""

    def vmapped(self, primals: Primals, in_dims: Sequence[int | None]) -> tuple[Array | None, ...]:
        """The outputs for a batch, by the Function's own batching, examples first in each.

        Args:
            primals: With the examples along a dimension of their own where `in_dims` has one.
            in_dims: For each argument which dimension that is; None: the same for each example.

        The reference is `evaluate` of one example after another. Raises what the user's code
        or the engine raises.
        """

    def vmapped_vjp(
        self, primals: Primals, in_dims: Sequence[int | None], cotangents: Cotangents
    ) -> tuple[Array | None, ...]:
        """The gradients of the batched `primals`, through what `vmapped` computes.

        Args:
            primals: As for `vmapped`.
            in_dims: As for `vmapped`.
            cotangents: Of the outputs, examples first in each.

        None where no gradient arrives. Raises what the user's code or the engine raises.
        """

    # ---- unusual orders ---------------------------------------------------------------

    def with_defaults(self) -> Examinable | None:
        """This, with the defaults of ``forward`` passed; None if the case passes all arguments.

        Only a ``forward`` that takes ctx has such: with ``setup_context`` they are always passed.
        """

    def siblings(self) -> Sequence[Examinable]:
        """The same Function at cases that differ in every argument that is no tensor.

        They draw other random numbers, and have other numbers among their arguments: first in
        the places of all that are no tensors, then of each alone, at last of none. A function
        may refuse those.
        """

    def interleaved(
        self,
        primals: Sequence[Primals],
        cotangents: Sequence[Cotangents],
        others: Sequence[Examinable] = (),
    ) -> Sequence[Observation]:
        """Some calls: first all forwards, then all backwards in the same order.

        Those after the first are calls to `others`, this or `siblings`, if these are given. A
        Function without hidden state shows what as many calls to `call` show. What the others do
        to what the first returned is in `Observation.mutated_outputs` and `mutated_gradients`.
        """

    def call_with_input_changed_between(
        self, primals: Primals, cotangents: Cotangents, argument: int
    ) -> Observation:
        """One call between whose forward and backward an input is changed in place.

        As by an optimizer: without being recorded, but counted as a new version of the tensor.
        Where the input was saved as it should be, `Observation.failure` reports the change;
        where it was not needed the gradients are those of `call`; others are silently wrong.
        """

    def call_with_output_changed_between(
        self, primals: Primals, cotangents: Cotangents, output: int
    ) -> Observation:
        """The same with an output."""

    def call_again_after_change(
        self, primals: Primals, cotangents: Cotangents
    ) -> tuple[Primals, Observation]:
        """Two calls with the same tensors, whose values an optimizer changes between them.

        Returns the values that the second call had, and what it returned: a Function without
        hidden state shows what `call` shows there. Raises what the user's code raises.
        """

    def lost_gradients(self, primals: Primals) -> list[LostGradient] | None:
        """Name the tensors in containers and modules that autograd does not see.

        They require a gradient, the outputs depend on them, and no backward reaches them. None if
        no tensor in such an argument requires a gradient. Raises what the user's code raises.
        """

    # ---- what lasts -------------------------------------------------------------------

    def leaks(self, primals: Primals) -> Leak | None:
        """Report a ctx that outlives the outputs of its call, without the garbage collector.

        Raises what the user's code raises in forward.
        """

    def seeded(self, seed: int) -> AbstractContextManager[None]:
        """Seeds every global random number generator, and puts them back at the end.

        Two calls in blocks of their own with one seed draw the same numbers.
        """

    def objects_restored(self) -> AbstractContextManager[None]:
        """Restores, after the block, the objects among the arguments that calls may update."""

    # ---- lines ------------------------------------------------------------------------

    @property
    def lines(self) -> frozenset[SourceLine]:
        """The lines of the Function's own methods that can be executed."""

    def traced(self, seen: set[SourceLine]) -> AbstractContextManager[None]:
        """Add to `seen` those of `lines` that are executed in the block."""
