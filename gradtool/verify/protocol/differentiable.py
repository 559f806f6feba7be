"""What `verify` sees of an autograd engine: nothing but this protocol.

A `Differentiable` is one Function at one case. An adapter in `gradtool.adapters`
implements it for an engine. Arrays that cross this seam are NumPy arrays; the adapter
moves them to the engine's tensors, device and layout and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

Primals = Sequence[Array]
"""One array for each tensor argument, in the order of `Differentiable.arguments`."""

Cotangents = Sequence[Array | None]
"""One array, or None for an undefined one, for each output."""


@dataclass(frozen=True)
class Argument:
    """One tensor argument of the Function.

    `position` counts all arguments of ``forward`` (without ctx), tensors or not.
    """

    name: str
    position: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    differentiable: bool
    """The case asks for its gradient, and its dtype is floating or complex."""


Stage = Literal["forward", "backward"]

FailureKind = Literal[
    "raised",
    "gradient-count",
    "gradient-shape",
    "gradient-type",
    "gradient-device",
    "undeclared-in-place",
    "dirty-not-returned",
    "both-backward-and-vjp",
    "no-backward",
    "once-differentiable",
    "no-graph",
]
"""Why the engine refused: ``raised`` is the user's own exception, the others are contracts."""


@dataclass(frozen=True)
class Failure:
    """The user's code raised, or the engine refused what it did."""

    stage: Stage
    kind: FailureKind
    message: str
    """One line: the exception's type and text."""
    traceback: str = ""
    path: str | None = None
    """The user's file and line that raised, innermost first."""
    line: int | None = None


@dataclass(frozen=True)
class Gradient:
    """One entry of what ``backward`` returned, before the engine casts or reduces it.

    `value` is None for ``None``. `type_name` says what it was when it is no tensor.
    """

    value: Array | None
    dtype: np.dtype[Any] | None = None
    device: str = "cpu"
    type_name: str = "Tensor"


@dataclass(frozen=True)
class Observation:
    """Everything one call of the Function showed.

    `gradients` has one entry for each of `Differentiable.arguments`, as a caller receives
    them; it is None when no backward was asked for or it failed. `raw` has what ``backward``
    itself returned, for all arguments of ``forward`` and whatever it returned beyond them,
    even when the engine then refused it; it is None when ``backward`` was not run or raised.
    """

    outputs: tuple[Array | None, ...] = ()
    """One for each output; None where an output is not a tensor."""
    output_requires_grad: tuple[bool, ...] = ()
    gradients: tuple[Array | None, ...] | None = None
    raw: tuple[Gradient, ...] | None = None
    failure: Failure | None = None
    mutated_arguments: tuple[int, ...] = ()
    """Indices into `arguments` whose values ``forward`` changed."""
    mutated_in_backward: tuple[int, ...] = ()
    """Indices into `arguments` whose values ``backward`` changed."""
    mutated_cotangents: tuple[int, ...] = ()
    """Indices of outputs whose cotangent ``backward`` changed."""
    mutated_saved: tuple[int, ...] = ()
    """Indices of saved tensors that ``backward`` changed."""
    declared_dirty: tuple[int, ...] = ()
    """Indices into `arguments` that ``forward`` marked dirty."""
    dirty_not_returned: tuple[int, ...] = ()
    """Those of `declared_dirty` that are not among the outputs."""
    non_differentiable: tuple[int, ...] = ()
    """Indices of outputs marked non-differentiable."""
    aliases: tuple[tuple[int, int], ...] = ()
    """(argument, output) pairs that share memory."""
    hidden_aliases: tuple[tuple[int, int], ...] = ()
    """Those of `aliases` where a change in place of one is not counted as one of the other."""
    saved: tuple[str, ...] = ()
    """What was saved, one each: ``input:weight``, ``output:0``, ``intermediate`` or ``none``."""
    ctx_attributes: dict[str, str] = field(default_factory=dict)
    """Names and kinds of the attributes set on ctx."""
    kept_on_ctx: tuple[tuple[str, str], ...] = ()
    """Attributes of ctx that hold an input or output, each with which: ``input:x``, ``output:0``.

    Also one in a list, tuple or dict, and a view of one.
    """
    materializes: bool = True
    """Undefined cotangents are to reach ``backward`` as zeros."""
    received: tuple[bool, ...] | None = None
    """Of each cotangent whether ``backward`` got a tensor; None when it was not run."""
    mutated_outputs: tuple[int, ...] = ()
    """Indices of outputs whose values changed after ``forward`` had returned."""
    mutated_gradients: tuple[int, ...] = ()
    """Indices into `arguments` whose gradient changed after ``backward`` had returned it."""
    buffers_changed_in_forward: tuple[str, ...] = ()
    """Tensors and arrays that the call did not pass and ``forward`` changed, by their names.

    ``Scale.cache`` is an attribute of the Function's class, ``counts`` a variable that a method
    captured or finds in its module, ``counts['seen']`` an entry of one.
    """
    buffers_changed_in_backward: tuple[str, ...] = ()
    """The same for ``backward``, with attributes of ctx among them: ``ctx.mask``."""


@dataclass(frozen=True)
class Stacked:
    """The results of many calls, each array stacked along a new first dimension.

    `batched` says whether one batched call computed them. Where it is False each was computed
    by a call of its own, or there are none, and `reason` says in one line why.
    """

    arrays: tuple[Array | None, ...]
    batched: bool
    reason: str | None = None


class Differentiable(Protocol):
    """One Function at one case."""

    @property
    def name(self) -> str:
        """The Function's name as the user wrote it."""

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The tensor arguments. Others are fixed by the case."""

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
        cotangents: Cotangents | None = None,
        *,
        needs: Sequence[bool] | None = None,
    ) -> Observation:
        """One fully observed call: forward, and backward when `cotangents` are given.

        `needs` overrides which arguments require a gradient. Never raises for what the
        user's code does: that is `Observation.failure`.
        """

    def vjps(self, primals: Primals, rows: Sequence[Cotangents]) -> list[tuple[Array | None, ...]]:
        """One forward, then one backward for each row; gradients as in `Observation.gradients`.

        Raises what the user's code or the engine raises.
        """

    def evaluate_many(
        self, primals: Primals, stacked: Sequence[bool], *, or_loop: bool = True
    ) -> Stacked:
        """The outputs at many points, in one call of ``forward`` where its code allows that.

        Args:
            primals: The points, along the first dimension of each argument that is `stacked`.
            stacked: Which arguments differ from point to point.
            or_loop: Where it cannot be batched make calls one by one; False returns no arrays.

        A batched call runs ``forward`` itself on batched tensors, not the Function's ``vmap``.
        It may be wrong where a Function does not declare batching: whoever relies on it redoes
        what matters with `evaluate`. Raises what the user's code raises in calls one by one.
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

    def backward_map(self, cotangents: Cotangents) -> Differentiable:
        """The map (primals, cotangents) -> gradients, as a Differentiable of its own.

        Its arguments are all of this one's followed by one named ``grad_output`` (or
        ``grad_output[i]``) for each output that has a cotangent, which are differentiable.
        Its outputs are the gradients of this one's differentiable arguments; an output
        without a graph shows in `Observation.output_requires_grad`. Checking its first
        derivative checks the Function's second.
        """
