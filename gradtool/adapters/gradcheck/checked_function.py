"""The user's function and its inputs, as gradcheck calls them.

The function gets the caller's own tensors, not copies: it may hold them in a closure, as a module
holds its parameters. They are changed in place for one call, and restored even if it raises.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from gradtool.adapters.common.binding import function_class
from gradtool.adapters.common.buffers import roots_of
from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.engine import Tensor
from gradtool.engine._tensor import to_numpy, wrap
from gradtool.engine._views import version_of
from gradtool.engine.autograd._node import Node
from gradtool.engine.autograd.gradcheck import MisuseError
from gradtool.verify.protocol.observation import Array

_STACKLEVEL = 5
"""Frames from the warning to the code that called gradcheck."""


class OutputTypeError(MisuseError, TypeError):
    """The function returns something that cannot be differentiated."""


class CotangentCountError(MisuseError, ValueError):
    """The number of cotangents is not that of the outputs."""


def check_inputs(inputs: Sequence[Any]) -> None:
    """Reject inputs that cannot be checked; warn about those that make a check meaningless.

    Raises:
        ValueError: No input requires a gradient.
        RuntimeError: Elements of an input that requires one share memory.
    """
    if not any(isinstance(value, Tensor) and value.requires_grad for value in inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            f"have requires_grad=True.{_hidden(inputs)}"
        )
    for position, value in enumerate(inputs):
        if isinstance(value, Tensor) and value.requires_grad:
            _check_precision(position, value)
            _check_overlap(position, value._array)


def _check_precision(position: int, tensor: Tensor) -> None:
    if tensor._array.dtype.char not in "dD":
        warnings.warn(
            f"Input #{position} requires gradient and is not a double precision floating point or "
            f"complex. This check will likely fail if all the inputs are not of double precision "
            f"floating point or complex: the default step and tolerances are below the precision "
            f"of {tensor.dtype}.",
            UserWarning,
            stacklevel=_STACKLEVEL,
        )


def _check_overlap(position: int, array: Any) -> None:
    extents = zip(array.strides, array.shape, strict=True)
    if array.size and any(step == 0 and extent > 1 for step, extent in extents):
        raise RuntimeError(
            f"The {position}th input has a dimension with stride 0. gradcheck only supports inputs "
            "that are non-overlapping to be able to compute the numerical gradients correctly. You "
            "should call .contiguous on the input before passing it to gradcheck."
        )


def _hidden(inputs: Sequence[Any]) -> str:
    """Explain that tensors inside containers are not differentiated, if there are any."""
    for position, value in enumerate(inputs):
        if not isinstance(value, list | tuple | dict):
            continue
        entries = value.values() if isinstance(value, dict) else value
        if any(isinstance(entry, Tensor) and entry.requires_grad for entry in entries):
            return (
                f" Those inside the {type(value).__name__} at input #{position} are not "
                "checked: pass them as separate inputs."
            )
    return ""


class CheckedFunction:
    """A function at its inputs.

    Args:
        func: Takes `inputs`, returns a tensor or a flat sequence of them.
        inputs: Its arguments.
        written: The user's own code in it, if that is not `func` itself.
    """

    def __init__(
        self, func: Callable[..., Any], inputs: Sequence[Any], written: Any = None
    ) -> None:
        self._func = func
        self._written = written or func
        self._inputs = tuple(inputs)
        self._tensors = _distinct(inputs)
        self.targets = [tensor for tensor in self._tensors if tensor.requires_grad]
        """The inputs to differentiate with respect to, each once."""
        self.positions = [_position(inputs, target) for target in self.targets]
        self.primals = [copied(target) for target in self.targets]
        self._changes = itertools.count(1)
        self._graphed: tuple[Tensor, ...] | None = None
        """The outputs of a call that left its inputs as they are, with their graph."""

    @contextmanager
    def graphed(self) -> Iterator[tuple[Tensor, ...]]:
        """The outputs at the inputs, for walks that retain their graph.

        As in PyTorch, all walk that of one call. Where the function changes an input, it is called
        for each block, since the graph is good only as long as the input is as it was left.
        """
        if self._graphed is not None:
            yield self._graphed
            return
        states = self._states()
        with self.called() as outputs:
            if all(each.is_current for each in states):
                self._graphed = outputs
            yield outputs

    @contextmanager
    def called(
        self, primals: Sequence[Array] | None = None, *, instead: Sequence[Tensor] | None = None
    ) -> Iterator[tuple[Tensor, ...]]:
        """Call the function, at `primals` if given, and restore the inputs when the block ends.

        With `instead`, other tensors are passed in place of the targets.

        Raises:
            OutputTypeError: The function returns something other than tensors.
        """
        states = self._states()
        try:
            if primals is not None:
                self._place(primals)
            yield self.outputs(instead)
        finally:
            for each in states:
                each.restore()

    def _states(self) -> list[_TensorState]:
        return [_TensorState.of(tensor) for tensor in self._tensors]

    def outputs(self, instead: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
        """Call the function, without restoring the inputs."""
        if instead is None:
            return _outputs(self._func(*self._inputs))
        others = dict(zip(map(id, self.targets), instead, strict=True))
        return _outputs(self._func(*[others.get(id(each), each) for each in self._inputs]))

    def roots(self) -> list[tuple[str, Any]]:
        """Return the inputs, and the variables that the user's code captured."""
        return [*roots_of(function_class(self._written) or self._written), ("inputs", self._inputs)]

    def gradient_dtypes(self) -> Iterator[tuple[str, np.dtype[Any], np.dtype[Any]]]:
        """Yield the name, the gradient's dtype and the dtype of each input with a gradient.

        The engine casts gradients to the dtypes of their inputs. The dtypes before that are seen
        only if the function is the ``apply`` of a custom Function.
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
        """Give the targets other values, and each changed tensor a new version."""
        for target, own, primal in zip(self.targets, self.primals, primals, strict=True):
            if not _same_bytes(own, primal):
                _write(target, primal)
                target._shared_storage().version += next(self._changes)


class _TensorState(NamedTuple):
    """The state of a tensor that a call may change."""

    tensor: Tensor
    values: bytes
    version: int
    node: Node | None

    @classmethod
    def of(cls, tensor: Tensor) -> _TensorState:
        return cls(tensor, _values(tensor), version_of(tensor), tensor._node)

    @property
    def is_current(self) -> bool:
        """The tensor is still in this state."""
        return self == _TensorState.of(self.tensor)

    def restore(self) -> None:
        """Restore it."""
        tensor = self.tensor
        if _values(tensor) != self.values:
            array = tensor._array
            _write(tensor, np.frombuffer(self.values, array.dtype).reshape(array.shape))
        if version_of(tensor) != self.version:
            tensor._shared_storage().version = self.version
        tensor._node = self.node


def _values(tensor: Tensor) -> bytes:
    content: bytes = to_numpy(tensor._array).tobytes()
    return content


def copied(tensor: Tensor) -> Array:
    """Return a copy of the values in host memory."""
    return np.array(to_numpy(tensor._array), order="C")


def _write(tensor: Tensor, values: Array) -> None:
    tensor._put(..., beside(tensor, values)._array)


def beside(tensor: Tensor, values: Array) -> Tensor:
    """Return a tensor of these values on the device of another."""
    made = wrap(values)
    return made if isinstance(tensor._array, np.ndarray) else made.to(tensor.device)


def _same_bytes(one: Array, other: Array) -> bool:
    """Return True if two arrays hold the same values; NaN equals NaN."""
    return one is other or one.tobytes() == other.tobytes()


def _distinct(inputs: Sequence[Any]) -> list[Tensor]:
    """Return the tensors among `inputs`, each once."""
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
