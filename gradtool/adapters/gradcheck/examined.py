"""A user's function and its inputs, as gradcheck calls them.

The function gets the very tensors that the caller passed, not copies: it may hold them in a
closure, as a module holds its parameters. They are changed where they lie for the time of
one call, and put back whatever happens in it.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from gradtool.adapters.common.binding import function_class
from gradtool.adapters.common.captured import roots_of
from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.engine import Tensor
from gradtool.engine._tensor import to_numpy, wrap
from gradtool.engine.autograd._node import Node
from gradtool.verify.protocol.differentiable import Array

_CALLER = 5
"""Frames from the warning to the code that called gradcheck."""


class Misuse(Exception):  # noqa: N818 - what it is, beside the error that it is raised as
    """gradcheck was asked for something impossible; that says nothing of any gradient."""


class OutputTypeError(Misuse, TypeError):
    """The function returns what cannot be differentiated."""


class CotangentCountError(Misuse, ValueError):
    """There is not one cotangent for each output."""


def check_inputs(inputs: Sequence[Any]) -> None:
    """Refuse inputs that cannot be checked; warn of those that make a check meaningless.

    Raises:
        ValueError: No input requires a gradient.
        RuntimeError: Elements of an input that requires one share memory.
    """
    if not any(isinstance(value, Tensor) and value.requires_grad for value in inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the "
            f"top-level inputs has requires_grad=True.{_hidden(inputs)}"
        )
    for position, value in enumerate(inputs):
        if isinstance(value, Tensor) and value.requires_grad:
            _check_precision(position, value)
            _check_overlap(position, value._array)


def _check_precision(position: int, tensor: Tensor) -> None:
    if tensor._array.dtype.char not in "dD":
        warnings.warn(
            f"Input #{position} requires gradient and is not a double precision floating point or "
            f"complex, but {tensor.dtype}. The check will likely fail: the default step and "
            "tolerances are below its precision.",
            UserWarning,
            stacklevel=_CALLER,
        )


def _check_overlap(position: int, array: Any) -> None:
    extents = zip(array.strides, array.shape, strict=True)
    if any(step == 0 and extent > 1 for step, extent in extents):
        raise RuntimeError(
            f"Input #{position} has a dimension with stride 0: several of its elements share "
            "memory, so none can be perturbed alone. Call contiguous() or clone() on it before "
            "passing it to gradcheck."
        )


def _hidden(inputs: Sequence[Any]) -> str:
    """What to add when the tensors are where nobody looks for them."""
    for position, value in enumerate(inputs):
        if not isinstance(value, list | tuple | dict):
            continue
        entries = value.values() if isinstance(value, dict) else value
        if any(isinstance(entry, Tensor) and entry.requires_grad for entry in entries):
            return (
                f" Those inside the {type(value).__name__} at input #{position} are not looked "
                "at: pass them as inputs of their own."
            )
    return ""


class Examined:
    """A function at its inputs.

    Args:
        func: Takes `inputs`, returns a tensor or a flat sequence of them.
        inputs: What it is called with.
        written: What the user wrote of it, if that is something else than `func`.
    """

    def __init__(
        self, func: Callable[..., Any], inputs: Sequence[Any], written: Any = None
    ) -> None:
        self._func = func
        self._written = written or func
        self._inputs = tuple(inputs)
        self._tensors = _distinct(inputs)
        self.targets = [tensor for tensor in self._tensors if tensor.requires_grad]
        """The inputs that are differentiated with respect to, each once."""
        self.positions = [_position(inputs, target) for target in self.targets]
        self.primals = [copied(target) for target in self.targets]
        self._changes = itertools.count(1)

    @contextmanager
    def called(
        self, primals: Sequence[Array] | None = None, *, instead: Sequence[Tensor] | None = None
    ) -> Iterator[tuple[Tensor, ...]]:
        """The outputs, at `primals` in the place of the targets' own values.

        With `instead`, other tensors are passed in the places of the targets. The inputs have
        their values again when the block ends.

        Raises:
            OutputTypeError: The function returns something other than tensors.
        """
        kept = [_Kept.of(tensor) for tensor in self._tensors]
        try:
            if primals is not None:
                self._place(primals)
            yield self.outputs(instead)
        finally:
            for each in kept:
                each.restore()

    def outputs(self, instead: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
        """As `called`, but whatever the function does to its inputs stays."""
        if instead is None:
            return _outputs(self._func(*self._inputs))
        others = dict(zip(map(id, self.targets), instead, strict=True))
        return _outputs(self._func(*[others.get(id(each), each) for each in self._inputs]))

    def roots(self) -> list[tuple[str, Any]]:
        """From where to find what the user's code can change: inputs, and what it captured."""
        return [*roots_of(function_class(self._written) or self._written), ("inputs", self._inputs)]

    def gradient_dtypes(self) -> Iterator[tuple[str, np.dtype[Any], np.dtype[Any]]]:
        """Name, dtype of the gradient and dtype of each input that backward gives a gradient.

        The engine casts gradients to the dtypes of their inputs. What ``backward`` itself
        returned is seen only where the function is the ``apply`` of a custom Function.
        """
        if function_class(self._func) is None:
            return
        it = FunctionDifferentiable(self._func, self._inputs, {}, name="func")
        outputs = it.call(it.primals).outputs
        seen = it.call(it.primals, [None if o is None else np.zeros_like(o) for o in outputs])
        returned = dict(enumerate(seen.raw or ()))
        for argument in it.arguments:
            gradient = returned.get(argument.position)
            if argument.differentiable and gradient is not None and gradient.dtype is not None:
                yield argument.name, gradient.dtype, argument.dtype

    def _place(self, primals: Sequence[Array]) -> None:
        """Give the targets other values. Each change counts as a new version of the tensor."""
        for target, own, primal in zip(self.targets, self.primals, primals, strict=True):
            if not _same_bytes(own, primal):
                _write(target, primal)
                target._shared_storage().version += next(self._changes)


class _Kept(NamedTuple):
    """What a call may change of a tensor, as it was before."""

    tensor: Tensor
    values: bytes
    version: int
    node: Node | None

    @classmethod
    def of(cls, tensor: Tensor) -> _Kept:
        return cls(tensor, _values(tensor), tensor._version, tensor._node)

    def restore(self) -> None:
        """Put it back."""
        tensor = self.tensor
        if _values(tensor) != self.values:
            array = tensor._array
            _write(tensor, np.frombuffer(self.values, array.dtype).reshape(array.shape))
        if tensor._version != self.version:
            tensor._shared_storage().version = self.version
        tensor._node = self.node


def _values(tensor: Tensor) -> bytes:
    return to_numpy(tensor._array).tobytes()


def copied(tensor: Tensor) -> Array:
    """The values in host memory that nothing else holds."""
    return np.array(to_numpy(tensor._array), order="C")


def _write(tensor: Tensor, values: Array) -> None:
    tensor._array[...] = wrap(values).to(tensor.device)._array


def _same_bytes(one: Array, other: Array) -> bool:
    """Whether two arrays hold the same values, NaN the same as NaN."""
    return one is other or one.tobytes() == other.tobytes()


def _distinct(inputs: Sequence[Any]) -> list[Tensor]:
    """The tensors among `inputs`, each once."""
    return list({id(each): each for each in inputs if isinstance(each, Tensor)}.values())


def _position(inputs: Sequence[Any], tensor: Tensor) -> int:
    return next(position for position, each in enumerate(inputs) if each is tensor)


def _outputs(returned: Any) -> tuple[Tensor, ...]:
    outputs = tuple(returned) if isinstance(returned, tuple | list) else (returned,)
    for position, output in enumerate(outputs):
        if not isinstance(output, Tensor):
            raise OutputTypeError(
                "gradcheck expects func to return a tensor or a flat tuple of tensors, but output "
                f"{position} is of type {type(output).__name__}. Wrap func so that it returns "
                "only the tensors."
            )
    return outputs
