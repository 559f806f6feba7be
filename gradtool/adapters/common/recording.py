"""Recording of a user's Function, through a subclass of it made at run time.

The subclass wraps the methods that the user overrides, and nothing else: names, class
attributes, and the engine's conclusions from what is overridden, stay the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np

from gradtool.adapters.common.binding import takes_ctx
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Gradient

Method = Callable[..., Any]


_MATERIALIZES = "_materializes"
"""Attribute of ctx with the choice made by `set_materialize_grads`: PyTorch has none to read."""

_LIBRARY_ATTRIBUTES = {
    "dirty_tensors",
    "materialize_grads",
    "needs_input_grad",
    "non_differentiable",
    "saved_for_forward",
    "to_save",
    _MATERIALIZES,
}
"""Attributes of ctx that its own methods set."""


class Record(msgspec.Struct):
    """Record of one call to a Function. Stays empty for a plain callable."""

    ctx: Any = None
    inputs: tuple[Any, ...] = ()
    outputs: tuple[Any, ...] = ()
    """As ``forward`` returned them, before the engine connects them to the graph."""
    saved: tuple[Any, ...] = ()
    dirty: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    attributes: dict[str, Any] = msgspec.field(default_factory=dict)
    """Attributes that the user set on ctx."""
    materializes: bool = True
    """True if undefined cotangents reach ``backward`` as zeros."""
    received: tuple[bool, ...] | None = None
    """For each cotangent, True if ``backward`` got one; None if it was not run."""
    returned: tuple[Gradient, ...] | None = None
    """Gradients that ``backward`` returned; None if it was not run or raised."""

    def see_forward(self, ctx: Any, inputs: tuple[Any, ...], output: Any, before: set[str]) -> None:
        """Record a forward; `before` are the names that ctx had at its start."""
        self.ctx = ctx
        self.inputs = inputs
        self.outputs = output if isinstance(output, tuple) else (output,)
        self.saved = tuple(ctx.to_save or ())
        self.dirty = tuple(ctx.dirty_tensors or ())
        self.non_differentiable = tuple(ctx.non_differentiable or ())
        self.materializes = bool(vars(ctx).get(_MATERIALIZES, True))
        own = before | _LIBRARY_ATTRIBUTES
        self.attributes = {name: value for name, value in vars(ctx).items() if name not in own}

    def see_backward(self, returned: Any) -> None:
        """Record the gradients, before the engine casts or reduces them."""
        gradients = returned if isinstance(returned, tuple) else (returned,)
        self.returned = tuple(_gradient(each) for each in gradients)


def _gradient(value: Any) -> Gradient:
    if value is None:
        return Gradient(None)
    if not isinstance(value, library().Tensor):
        return Gradient(None, type_name=type(value).__name__)
    array = np.array(library().array(value))
    return Gradient(array, array.dtype, str(value.device))


class Recorder:
    """A Function whose calls can be recorded."""

    def __init__(self, function: type[Any]) -> None:
        self._base = function
        self._records: list[Record] = []
        self.function = self._subclass()
        """The subclass to apply in the Function's place."""

    @contextmanager
    def recording(self) -> Iterator[Record]:
        """Record the first call made in the block, and the first run of its backward.

        A block inside a block records another call: the outer one's backward may run in it.
        """
        self._records.append(Record())
        try:
            yield self._records[-1]
        finally:
            self._records.pop()

    def _subclass(self) -> type[Any]:
        base = self._base
        wrap = {"backward": self._backward, "vjp": self._backward}
        root = library().Function
        if takes_ctx(base):
            wrap["forward"] = self._forward
        else:
            wrap["setup_context"] = self._setup_context
        namespace: dict[str, Any] = {
            name: staticmethod(functools.wraps(getattr(base, name))(wrapper(getattr(base, name))))
            for name, wrapper in wrap.items()
            if getattr(base, name) is not getattr(root, name)
        }
        for name in ("__module__", "__qualname__", "__doc__"):
            # Node names and messages are made of these, and must be the user's.
            namespace[name] = getattr(base, name)
        # The user's own metaclass, or Python refuses the subclass as a conflict.
        metaclass: Any = type(base)
        made: Any = metaclass(base.__name__, (_SilentSubclass, base), namespace)
        _record_materializing(made._backward_cls)
        function: type[Any] = made
        return function

    def _forward(self, method: Method) -> Method:
        def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
            before = set(vars(ctx))
            output = method(ctx, *args, **kwargs)
            self._see_forward(ctx, args, output, before)
            return output

        return forward

    def _setup_context(self, method: Method) -> Method:
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            before = set(vars(ctx))
            method(ctx, inputs, output)
            self._see_forward(ctx, inputs, output, before)

        return setup_context

    def _see_forward(
        self, ctx: Any, inputs: tuple[Any, ...], output: Any, before: set[str]
    ) -> None:
        # Only the first call: a forward may apply its own Function again.
        if self._records and self._records[-1].ctx is None:
            self._records[-1].see_forward(ctx, inputs, output, before)

    def _backward(self, method: Method) -> Method:
        def backward(ctx: Any, *cotangents: Any) -> Any:
            # By ctx, since a backward within a backward belongs to another record.
            mine = [each for each in self._records if each.ctx is ctx and each.received is None]
            for record in mine:
                record.received = tuple(cotangent is not None for cotangent in cotangents)
            returned = method(ctx, *cotangents)
            for record in mine:
                record.see_backward(returned)
            return returned

        return backward


def _record_materializing(node: type[Any]) -> None:
    """Let the ctx of a Function keep its choice for undefined cotangents."""
    original = node.set_materialize_grads

    def set_materialize_grads(ctx: Any, value: bool) -> None:
        vars(ctx)[_MATERIALIZES] = value
        original(ctx, value)

    node.set_materialize_grads = set_materialize_grads


def is_recording(cls: type[Any]) -> bool:
    """Return True for a subclass created to record one of the user's Functions."""
    return _SilentSubclass in cls.__bases__


class _SilentSubclass:
    """Hides from a user's ``__init_subclass__`` a subclass that the user did not write."""

    def __init_subclass__(cls) -> None:
        """Call no other ``__init_subclass__``."""
