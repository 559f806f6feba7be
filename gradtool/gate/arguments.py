"""Arguments of a case: made from what a configuration says, bound, and shown in one line each."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

import gradtool.engine as torch
from gradtool.gate.seeding import generator
from gradtool.gate.settings import Settings
from gradtool.gate.subject import Subject
from gradtool.gate.tensor_spec import TensorSpec, is_tensor, make_array

_LONGEST = 60
"""Characters of a plain value that are shown."""


def make_value(value: Any, settings: Settings, seed: int, place: str) -> Any:
    """The argument that `value` of a configuration stands for.

    Each tensor draws from a generator of its own `place`, so that changing one argument
    leaves the others as they were.

    Raises:
        MemoryError: A tensor is larger than memory.
        ValueError: A tensor is larger than NumPy can address.
    """
    if is_tensor(value):
        return _make_tensor(msgspec.convert(value, TensorSpec), settings, seed, place)
    if isinstance(value, dict):
        if value.keys() == {"literal"}:
            return value["literal"]
        return {k: make_value(v, settings, seed, f"{place}.{k}") for k, v in value.items()}
    if isinstance(value, list):
        return [make_value(v, settings, seed, f"{place}.{i}") for i, v in enumerate(value)]
    return value


def _make_tensor(spec: TensorSpec, settings: Settings, seed: int, place: str) -> torch.Tensor:
    array = make_array(spec, generator(seed, place), settings.dtype)
    if settings.forced_dtype and array.dtype.kind == "f":
        array = array.astype(settings.forced_dtype)
    wanted = spec.requires_grad is not False
    return place_tensor(array, settings.device, requires_grad=wanted)


def place_tensor(array: NDArray[Any], device: str, *, requires_grad: bool) -> torch.Tensor:
    """A leaf tensor on `device`; only floating and complex ones can require a gradient."""
    tensor: torch.Tensor = torch.from_numpy(np.ascontiguousarray(array).reshape(array.shape))
    if device != "cpu":
        tensor = tensor.to(device)
    return tensor.requires_grad_(requires_grad and array.dtype.kind in "fc")


def adopt(
    args: Sequence[Any], kwargs: Mapping[str, Any], settings: Settings
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments that hold tensors already, on the device and in the dtype of the run.

    When none of the floating tensors requires a gradient, all of them do: whoever left
    the flag away wants them checked.
    """
    tensors = [v for v in (*args, *kwargs.values()) if isinstance(v, torch.Tensor)]
    every = not any(tensor.requires_grad for tensor in tensors)

    def adopted(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        array = value.detach().cpu().numpy()
        if settings.forced_dtype and array.dtype.kind == "f":
            array = array.astype(settings.forced_dtype)
        return place_tensor(array, settings.device, requires_grad=every or value.requires_grad)

    return list(map(adopted, args)), {name: adopted(value) for name, value in kwargs.items()}


def bind(
    subject: Subject, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Turn keyword arguments of a Function into positional ones, defaults filled in between.

    A ``forward`` with ctx is called with positional arguments only. What cannot be bound
    is left as it is: the call itself then says what is wrong with it.
    """
    positional, named = list(args), dict(kwargs)
    if not subject.is_function:
        return tuple(positional), named
    for parameter in _fillable(subject)[len(positional) :]:
        if parameter.name in named:
            positional.append(named.pop(parameter.name))
        elif named and parameter.default is not parameter.empty:
            positional.append(parameter.default)
        else:
            break
    return tuple(positional), named


def _fillable(subject: Subject) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter for parameter in subject.parameters() if parameter.kind in kinds]


def show_arguments(
    subject: Subject, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, ...]:
    """One line for each argument, as ``weight: float64[30, 20]``."""
    names = _names(subject, len(args))
    lines = [f"{name}: {_shown(value)}" for name, value in zip(names, args, strict=True)]
    return (*lines, *(f"{name}: {_shown(value)}" for name, value in kwargs.items()))


def _names(subject: Subject, count: int) -> list[str]:
    """Names of `count` positional arguments; those of ``*args`` are numbered."""
    names = [parameter.name for parameter in _fillable(subject)][:count]
    starred = [p.name for p in subject.parameters() if p.kind is p.VAR_POSITIONAL]
    more = starred[0] if starred else "argument"
    return names + [f"{more}[{i}]" for i in range(count - len(names))]


def _shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return _shown_tensor(value)
    if isinstance(value, list | tuple) and any(isinstance(v, torch.Tensor) for v in value):
        return f"[{', '.join(map(_shown, value))}]"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _shown_tensor(tensor: torch.Tensor) -> str:
    dtype = str(tensor.dtype).rpartition(".")[2]
    differentiable = tensor.requires_grad or not tensor.is_floating_point()
    note = "" if differentiable else " (no gradient)"
    return f"{dtype}{list(tensor.shape)}{note}"
