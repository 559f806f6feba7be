"""Forward, backward and double backward of a Function at a case, each ready to run.

Backward runs on a graph that is kept, and double backward on one that a differentiable
backward has built, so that each phase is timed without those before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradtool.adapters.library import library
from gradtool.cases.sources import ResolvedCase
from gradtool.collect.checkable import Checkable
from gradtool.results.profile import PhaseName


class NoPhaseError(Exception):
    """A Function has no such phase; the text gives the reason."""


@dataclass
class Runnable:
    """A phase: `run` is timed; its argument comes from `prepare`, which is not."""

    name: PhaseName
    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = tuple
    reusable: bool = True
    """The result of `prepare` serves any number of runs."""


class Arguments:
    """The arguments of a case: leaves that stay, and copies for calls that change them."""

    def __init__(self, checkable: Checkable, case: ResolvedCase) -> None:
        """Copy the arguments; one call shows whether the Function changes them in place."""
        self._call = checkable.call
        self._args = [_leaf(value) for value in case.args]
        self._kwargs = {name: _leaf(value) for name, value in case.kwargs.items()}
        tried = self.copies()
        before = [_version(value) for value in tried]
        self.call(tried)
        self.changed = before != [_version(value) for value in tried]

    @property
    def leaves(self) -> list[Any]:
        """The tensors that require a gradient."""
        values = [*self._args, *self._kwargs.values()]
        return [value for value in values if _is_tensor(value) and value.requires_grad]

    def call(self, values: list[Any]) -> Any:
        """Call the Function with values in the places of its arguments."""
        count = len(self._args)
        return self._call(*values[:count], **dict(zip(self._kwargs, values[count:], strict=True)))

    def fresh(self) -> list[Any]:
        """Arguments for a call: copies, where the Function changes them in place."""
        return self.copies() if self.changed else [*self._args, *self._kwargs.values()]

    def copies(self) -> list[Any]:
        """Copies that are connected to the leaves in the graph."""
        values = [*self._args, *self._kwargs.values()]
        return [value.clone() if _is_tensor(value) else value for value in values]


def forward(arguments: Arguments) -> Runnable:
    """The call to the Function, with its graph recorded."""
    return Runnable("forward", arguments.call, arguments.fresh, not arguments.changed)


def backward(arguments: Arguments) -> Runnable:
    """The gradients of all outputs for random cotangents.

    Raises:
        NoPhaseError: there is no gradient.
    """
    outputs, leaves = _outputs(arguments), arguments.leaves
    cotangents = _cotangents(outputs)

    def run(_prepared: Any) -> Any:
        return _grad(outputs, leaves, cotangents)

    run(())
    return Runnable("backward", run)


def double_backward(arguments: Arguments) -> Runnable:
    """The gradients of those gradients, by the arguments and by the cotangents.

    Raises:
        NoPhaseError: the gradients cannot be differentiated.
    """
    outputs, leaves = _outputs(arguments), arguments.leaves
    cotangents = [each.requires_grad_() for each in _cotangents(outputs)]
    first = _grad(outputs, leaves, cotangents, create_graph=True)
    gradients = [each for each in first if each is not None and each.requires_grad]
    if not gradients:
        raise NoPhaseError("its gradients do not depend on anything that requires a gradient")
    ends, seconds = [*leaves, *cotangents], _cotangents(gradients)

    def run(_prepared: Any) -> Any:
        return _grad(gradients, ends, seconds)

    if all(each is None for each in run(())):
        raise NoPhaseError("backward is once_differentiable, or is not recorded by autograd")
    return Runnable("double backward", run)


def _outputs(arguments: Arguments) -> list[Any]:
    """The outputs that have a gradient."""
    returned = arguments.call(arguments.fresh())
    outputs = returned if isinstance(returned, tuple | list) else [returned]
    found = [each for each in outputs if _is_tensor(each) and each.requires_grad]
    if not found:
        raise NoPhaseError("no output requires a gradient")
    return found


def _cotangents(outputs: list[Any]) -> list[Any]:
    return [library().torch.randn_like(each) for each in outputs]


def _grad(outputs: list[Any], ends: list[Any], cotangents: list[Any], **options: Any) -> Any:
    return library().torch.autograd.grad(
        outputs, ends, cotangents, retain_graph=True, allow_unused=True, **options
    )


def _leaf(value: Any) -> Any:
    if not _is_tensor(value):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, library().torch.Tensor)


def _version(value: Any) -> int:
    return value._version if _is_tensor(value) else 0
