"""Tensors in containers and modules, which autograd does not see as arguments."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.common.vjp import copied, cotangent_tensors, vjp
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import LostGradient, Primals

_MOST = 4
"""Tensors of one call that are looked at: one is enough to say so."""

_STEP = 2.0**-10
"""Change of a tensor, as a part of its values and in absolute terms."""

_Change = Callable[[Any], Any]


def lost_gradients(bound: BoundFunction, primals: Primals) -> list[LostGradient] | None:
    """Name the contained tensors that require a gradient, move the outputs and receive none.

    Names are such as ``xs[1]``, ``batch.x`` and ``layer.weight``; None if no such tensor requires a
    gradient. A parameter that is an argument too gets its gradient as one. A backward that runs
    another one inside may reach a tensor, so each is looked at after a backward. Raises what the
    user's code raises.
    """
    calls = {
        label: _Call(bound, at, value, tensor)
        for at, name, value in bound.arguments.others()
        for label, tensor in itertools.islice(_unseen(name, value, primals), _MOST)
    }
    if not calls:
        return None
    return [
        LostGradient(label, of_module=call.of_module)
        for label, call in calls.items()
        if call.moves_outputs(primals) and not call.reaches(primals)
    ]


class _Call:
    """Calls in which one contained tensor is replaced, and all others are copies."""

    def __init__(self, bound: BoundFunction, at: int, value: Any, tensor: Any) -> None:
        self._bound, self._at, self._value, self._tensor = bound, at, value, tensor
        self.of_module = _is_module(value)

    def moves_outputs(self, primals: Primals) -> bool:
        """Return True if a change of the tensor changes an output."""
        same, moved = (self._outputs(primals, change) for change in (_same, _moved))
        pairs = zip(same, moved, strict=True)
        return len(same) == len(moved) and not all(
            one is None or other is None or np.array_equal(one, other, equal_nan=True)
            for one, other in pairs
        )

    def reaches(self, primals: Primals) -> bool:
        """Return True if backward leaves a gradient on the tensor by itself."""
        leaf = self._tensor.detach().clone().requires_grad_()
        bound = self._with(lambda _tensor: leaf)
        with library().torch.enable_grad():
            leaves, tensors = bound.arguments.tracked(primals)
            outputs = bound(tensors)
            ones = [None if each is None else np.ones_like(copied(each)) for each in outputs]
            vjp(outputs, cotangent_tensors(outputs, ones), leaves)
        return leaf.grad is not None

    def _outputs(self, primals: Primals, change: _Change) -> list[Any]:
        bound = self._with(change)
        with library().torch.no_grad():
            return [copied(each) for each in bound(bound.arguments.fresh(primals))]

    def _with(self, change: _Change) -> BoundFunction:
        def replaced(tensor: Any) -> Any:
            return change(tensor) if tensor is self._tensor else tensor.detach().clone()

        copied_with = _module_with if self.of_module else mapped
        return self._bound.with_value(self._at, copied_with(self._value, replaced))


def _same(tensor: Any) -> Any:
    return tensor.detach().clone()


def _moved(tensor: Any) -> Any:
    return tensor.detach() * (1 + _STEP) + _STEP


def _unseen(name: str, value: Any, primals: Primals) -> Iterator[tuple[str, Any]]:
    if not _is_module(value):
        yield from _contained(name, value)
        return
    for path, parameter in value.named_parameters():
        if parameter.requires_grad and not _is_among(primals, copied(parameter)):
            yield f"{name}.{path}", parameter


def _is_among(primals: Primals, array: Any) -> bool:
    return any(np.array_equal(array, each) for each in primals)


def _is_module(value: Any) -> bool:
    # Loading the Modules takes longer than a case, and nothing is one before they are loaded.
    loaded = sys.modules.get(f"{library().torch.__name__}.nn")
    return loaded is not None and isinstance(value, loaded.Module)


def _module_with(module: Any, change: _Change) -> Any:
    """Copy a module, with each parameter changed."""
    changed = {name: change(each) for name, each in module.named_parameters()}
    other = copy.deepcopy(module)
    for name, parameter in changed.items():
        path, _, last = name.rpartition(".")
        # Assigned to the dict, as a module takes nothing but a Parameter for its attribute.
        other.get_submodule(path)._parameters[last] = parameter
    return other


def _contained(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tensors in a container that require a gradient, with the names to reach them."""
    if isinstance(value, library().Tensor):
        if value.requires_grad:
            yield name, value
    else:
        for step, each in _entries(value):
            yield from _contained(f"{name}{step}", each)


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        yield from ((f"[{at}]", each) for at, each in enumerate(value))
    elif isinstance(value, dict):
        yield from ((f"[{key!r}]", each) for key, each in value.items())
    elif _is_dataclass(value):
        yield from ((f".{f.name}", getattr(value, f.name)) for f in dataclasses.fields(value))


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Copy nested lists, tuples, dicts and dataclasses, with each tensor changed."""
    if isinstance(value, library().Tensor):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(each, change) for each in value))
    if type(value) in {list, tuple}:
        return type(value)(mapped(each, change) for each in value)
    if type(value) is dict:
        return {key: mapped(each, change) for key, each in value.items()}
    if _is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        values = {name: mapped(getattr(value, name), change) for name in names}
        return dataclasses.replace(value, **values)
    return value


def _is_dataclass(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)
