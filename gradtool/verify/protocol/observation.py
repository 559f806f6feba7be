"""What the contract rules do with a Function beyond differentiating it.

An `Examinable` is a `Differentiable` that can also be run in forward mode and batched, with
tensors in other memory layouts, in unusual orders, and with its lines traced. Each method is
one experiment: it says what happened, and the rules say what to make of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple, Protocol

from gradtool.verify.protocol.differentiable import (
    Array,
    Cotangents,
    Differentiable,
    Observation,
    Primals,
    Stacked,
)

__all__ = [
    "ChangedByJvp",
    "Examinable",
    "Leak",
    "MemoryLayout",
    "SourceLine",
    "Stacked",
    "Tangents",
]

MemoryLayout = Literal["contiguous", "transposed", "gapped", "expanded"]
"""How the elements of a tensor lie in memory; its shape and values are the same in each.

``transposed`` has the strides of the transpose, ``gapped`` is every other element of a bigger
buffer along each dimension, and ``expanded`` has stride 0 along each dimension that all entries
are equal along, as the cotangent of a sum has. What one dimension cannot show stays contiguous.
"""

Leak = Literal["cycle", "held"]
"""Why what a call made outlives its outputs: a reference cycle, or somebody holds it."""

Tangents = Sequence[Array | None]
"""One array, or None for an undefined one, for each of `Differentiable.arguments`."""


class SourceLine(NamedTuple):
    """A line of one of the Function's own methods."""

    method: str
    """``forward``, ``setup_context``, ``backward``, ``vjp``, ``jvp`` or ``vmap``."""
    path: str
    line: int


class ChangedByJvp(NamedTuple):
    """What a call in forward mode changes in place, by index."""

    tangents: tuple[int, ...] = ()
    """Indices into `Differentiable.arguments`."""
    arguments: tuple[int, ...] = ()
    """The same. What ``forward`` alone changes is not meant."""
    outputs: tuple[int, ...] = ()


class Examinable(Differentiable, Protocol):
    """One Function at one case, to experiment with.

    As with `Differentiable`, every call gets fresh tensors.
    """

    @property
    def draws_random_numbers(self) -> bool:
        """Calls draw from a global generator. It is put back, so each draws the same numbers."""

    # ---- layouts ----------------------------------------------------------------------

    def call(
        self,
        primals: Primals,
        cotangents: Cotangents | None = None,
        *,
        needs: Sequence[bool] | None = None,
        input_layout: MemoryLayout | None = None,
        cotangent_layout: MemoryLayout = "contiguous",
    ) -> Observation:
        """As `Differentiable.call`, with tensors that lie in memory as the layouts say.

        An `input_layout` of None stands for the layouts of the case's own tensors.
        """

    def backward_map(self, cotangents: Cotangents) -> Examinable:
        """As `Differentiable.backward_map`: all that follows can be asked of it, too."""

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
        """What one push changes in place of what is not its own. Raises as `jvps` does."""

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
        """The same Function at cases unlike this one in all that is no tensor.

        They draw other random numbers, and have other numbers among their arguments: first in
        the places of all that are no tensors, then of each alone, at last of none. A function
        may refuse those.
        """

    def interleaved(
        self,
        primals: tuple[Primals, Primals],
        cotangents: tuple[Cotangents, Cotangents],
        second: Examinable | None = None,
    ) -> tuple[Observation, Observation]:
        """Two calls: first both forwards, then both backwards in the same order.

        The second one is a call of `second`, one of `siblings`, if that is given. A Function
        without hidden state shows what two calls of `call` show. What the second call does to
        what the first returned is in `Observation.mutated_outputs` and `mutated_gradients`.
        """

    def call_with_input_changed_between(
        self, primals: Primals, cotangents: Cotangents, argument: int
    ) -> Observation:
        """One call between whose forward and backward an input is changed in place.

        As by an optimiser: without being recorded, but counted as a new version of the tensor.
        Where the input was saved as it should be, `Observation.failure` tells of the change;
        where it was not needed the gradients are those of `call`; others are silently wrong.
        """

    def call_with_output_changed_between(
        self, primals: Primals, cotangents: Cotangents, output: int
    ) -> Observation:
        """The same with an output."""

    # ---- what lasts -------------------------------------------------------------------

    def leaks(self, primals: Primals) -> Leak | None:
        """Whether the ctx of a call outlives its outputs, without the garbage collector.

        Raises what the user's code raises in forward.
        """

    def seeded(self, seed: int) -> AbstractContextManager[None]:
        """Seeds every global random number generator, and puts them back at the end.

        Two calls in blocks of their own with one seed draw the same numbers.
        """

    # ---- lines ------------------------------------------------------------------------

    @property
    def lines(self) -> frozenset[SourceLine]:
        """The lines of the Function's own methods that can be executed."""

    def traced(self) -> AbstractContextManager[set[SourceLine]]:
        """Collects those of `lines` that are executed in the block, in the set it returns."""
