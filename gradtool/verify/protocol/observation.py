"""Data that an adapter hands to `verify`: arrays, arguments, and what a call showed.

Arrays that cross this seam are NumPy arrays; the adapter moves them to the engine's tensors, device
and layout and back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

Array = NDArray[Any]

Primals = Sequence[Array]
"""One array for each tensor argument, in the order of `Differentiable.arguments`."""

Cotangents = Sequence[Array | None]
"""One array, or None for an undefined one, for each output."""

Tangents = Sequence[Array | None]
"""One array, or None for an undefined one, for each of `Differentiable.arguments`."""


class Argument(msgspec.Struct, frozen=True):
    """One tensor argument of the Function.

    `position` counts all arguments of ``forward`` (without ctx), tensors or not.
    """

    name: str
    position: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    differentiable: bool
    """The case asks for its gradient, and its dtype is floating or complex."""


class LostGradient(NamedTuple):
    """A tensor inside another argument that no backward reaches."""

    name: str
    """The expression for it, such as ``xs[1]``."""
    of_module: bool
    """It is a parameter of a module."""


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
    "saved-type",
]
"""Why the engine refused: ``raised`` is the user's own exception, the others are contracts."""


class Failure(msgspec.Struct, frozen=True):
    """The user's code raised, or the engine refused what it did."""

    stage: Stage
    kind: FailureKind
    message: str
    """One line: the exception's type and text."""
    traceback: str = ""
    path: str | None = None
    """The user's file and line that raised, innermost first."""
    line: int | None = None


class Gradient(msgspec.Struct, frozen=True):
    """One entry of what ``backward`` returned, before the engine casts or reduces it.

    `value` is None for ``None``. `type_name` says what it was when it is no tensor.
    """

    value: Array | None
    dtype: np.dtype[Any] | None = None
    device: str = "cpu"
    type_name: str = "Tensor"


MemoryLayout = Literal["contiguous", "transposed", "gapped", "expanded"]
"""How the elements of a tensor lie in memory; its shape and values are the same in each.

``transposed`` has the strides of the transpose, ``gapped`` is every other element of a bigger
buffer along each dimension, and ``expanded`` has stride 0 along each dimension that all entries
are equal along, as the cotangent of a sum has. What one dimension cannot show stays contiguous.
"""


class Observation(msgspec.Struct, frozen=True):
    """Everything one call to the Function showed.

    `gradients` has one entry for each of `Differentiable.arguments`, as a caller receives
    them; it is None when no backward was asked for or it failed. `raw` has what ``backward``
    itself returned, for all arguments of ``forward`` and anything beyond them,
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
    """What was saved, one each: ``input:weight``, ``output:0``, ``intermediate``, ``constant`` for
    masks and integers, or ``none``."""
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


Evaluate = Callable[[Primals], tuple[Array | None, ...]]
"""Runs a forward."""

ChooseCotangents = Callable[[Observation], Cotangents | None]
"""The cotangents for what forward showed, its failure included; None for no backward."""


class Stacked(msgspec.Struct, frozen=True):
    """The results of many calls, each array stacked along a new first dimension.

    `batched` says whether one batched call computed them. Where it is False each was computed
    by a call of its own, or there are none, and `reason` says in one line why.
    """

    arrays: tuple[Array | None, ...]
    batched: bool
    reason: str | None = None


Leak = Literal["cycle", "held"]
"""Why what a call made outlives its outputs: a reference cycle, or somebody holds it."""


class SourceLine(NamedTuple):
    """A line of one of the Function's own methods."""

    method: str
    """``forward``, ``setup_context``, ``backward``, ``vjp``, ``jvp`` or ``vmap``."""
    path: str
    line: int


class Cut(NamedTuple):
    """A place where a recorded forward turns a differentiated tensor into plain numbers."""

    conversion: str
    """The call that does, such as ``item()``."""
    path: str
    line: int


class Step(msgspec.Struct, frozen=True):
    """An expression in ``forward``, or in code that it calls, that a derivative passes through.

    With an `operand` it is only what passes from the expression to that variable.
    """

    path: str
    line: int
    operation: str
    """The engine's name of what was computed last."""
    code: str | None = None
    """The source of the expression, where it is known and on one line."""
    name: str | None = None
    """The variable that it is assigned to."""
    operand: str | None = None

    @property
    def shown(self) -> str:
        """The variable, or the expression."""
        return self.name or self.code or self.operation

    @property
    def is_of_source(self) -> bool:
        """Return True if it is shown as the user wrote it."""
        return bool(self.name or self.code)

    def by(self, operand: str) -> Step:
        """Return what passes from this to one of its operands."""
        return replace(self, operand=operand)


AlterationKind = Literal[
    "branch",
    "turns",
    "held",
    "negated",
    "kept",
    "other",
    "first",
    "unscaled",
    "by_input",
    "transposed",
    "twice",
    "at",
    "times",
    "over",
    "exchanged",
    "by",
    "saved",
    "weighed",
    "swapped",
]
"""Ways in which a derivative may be that of an altered forward:

* ``branch``: the other branch of a condition is taken
* ``turns``: only the last turns of a loop are differentiated
* ``held``: a part of an operation is held constant
* ``negated``: a part of an operation has the wrong sign
* ``kept``: another expression is differentiated, with the values that forward has
* ``other``: another expression is computed
* ``first``: the first entries of a tensor are taken in the place of others
* ``unscaled``: the gradient passes to a factor without the other one
* ``by_input``: a formula in terms of the output has the input in it
* ``transposed``: the gradient passes by the derivative itself, not by its transpose
* ``twice``: one use of a variable is counted twice, and another one not at all
* ``at``: the derivative of an expression is taken at another variable
* ``times``, ``over``: the derivative is multiplied or divided by a variable
* ``exchanged``: the two branches of a condition are in each other's place
* ``by``: the derivative by one operand has another variable in the place of the other operand
* ``saved``: all that follows has another variable in the place of one
* ``swapped``: two numbers or two variables of an expression change places
* ``weighed``: the terms of a sum of exponentials are weighed over another of their dims
"""


class Alteration(msgspec.Struct, frozen=True):
    """An expression of ``forward`` that is altered, or only differentiated otherwise."""

    path: str
    line: int
    kind: AlterationKind
    code: str
    """The source of the expression; empty for a loop."""
    other: str
    """What stands in its place; see the kinds."""
    number: int
    """Its place among all, which distinguishes those that read alike."""


class Repair(msgspec.Struct, frozen=True):
    """An expression of ``backward`` or ``jvp`` that is replaced by another one."""

    path: str
    lines: tuple[int, ...]
    """The places at which it is replaced."""
    code: str
    """The source of the expression, or of the one around it."""
    other: str
    """What stands in its place; empty if it is left out."""
    number: int
    """Its place among all, which distinguishes those that read alike."""
    is_factor: bool
    """It multiplies or divides by something."""
    line_of_forward: int | None = None
    """The line of forward whose value stands in its place; None for an expression of its own."""
    scale: float | None = None
    """How many times as large a number is made; None for another edit."""
    nudged: float | None = None
    """The number that it makes a little larger, to see what another one would do."""
    words: str = ""
    """What makes the method right, where `other` in the place of `code` does not say it."""
    opens: bool | None = None
    """All of a mask is true, or false, with it; None for another edit."""


class NotANumber(msgspec.Struct, frozen=True):
    """The expression of ``backward`` that is NaN first."""

    path: str
    line: int
    code: str
    infinite: str
    """The source of the operand that is infinite, or of what makes it so; empty if none is."""


class ChangedByJvp(NamedTuple):
    """Tensors that a call in forward mode changes in place, by index."""

    tangents: tuple[int, ...] = ()
    """Indices into `Differentiable.arguments`."""
    arguments: tuple[int, ...] = ()
    """The same. What ``forward`` alone changes is not meant."""
    outputs: tuple[int, ...] = ()
