"""Arguments of a case: made from what a configuration says, bound, and shown in one line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gradtool.adapters.common.binding import bind, names_of
from gradtool.adapters.common.seeding import generator
from gradtool.adapters.library import library
from gradtool.cases.tensor_array import cast, make_array
from gradtool.collect.subject import Subject
from gradtool.config.settings import Settings
from gradtool.config.tensor_spec import TensorSpec, is_tensor
from gradtool.findings.no_case import NoCase

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


def _make_tensor(spec: TensorSpec, settings: Settings, seed: int, place: str) -> Any:
    array = make_array(spec, generator(seed, place), settings.dtype)
    if settings.forced_dtype and array.dtype.kind == "f":
        array = cast(array, settings.forced_dtype)
    wanted = spec.requires_grad is not False
    return placed(library().tensor(array), settings.device, requires_grad=wanted)


def placed(tensor: Any, device: str, *, requires_grad: bool) -> Any:
    """The tensor on `device`; only floating and complex ones can require a gradient."""
    if device != "cpu":
        tensor = tensor.to(device)
    differentiable = tensor.is_floating_point() or tensor.is_complex()
    return tensor.requires_grad_(requires_grad and differentiable)


def on_host(value: Any) -> Any:
    """A tensor on the CPU that requires a gradient as `value` does; other values as they are."""
    if type(value) in {list, tuple}:
        return type(value)([on_host(each) for each in value])
    if not isinstance(value, library().Tensor):
        return value
    return value.detach().cpu().requires_grad_(value.requires_grad)


def adopt(
    args: Sequence[Any], kwargs: Mapping[str, Any], settings: Settings
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments that hold tensors already, on the device and in the dtype of the run.

    When none of the floating tensors requires a gradient, all of them do: whoever left
    the flag away wants them checked.
    """
    tensors = [v for v in (*args, *kwargs.values()) if isinstance(v, library().Tensor)]
    every = not any(tensor.requires_grad for tensor in tensors)

    def adopted(value: Any) -> Any:
        if not isinstance(value, library().Tensor):
            return value
        tensor = value.detach()
        if settings.forced_dtype and tensor.is_floating_point():
            tensor = tensor.to(getattr(library().torch, settings.forced_dtype))
        return placed(tensor, settings.device, requires_grad=every or value.requires_grad)

    return list(map(adopted, args)), {name: adopted(value) for name, value in kwargs.items()}


def bind_arguments(
    subject: Subject, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a Function with the keyword ones moved to their positions.

    Raises:
        NoCase: ``forward`` has no parameter of that name.
    """
    if not subject.is_function:
        return tuple(args), dict(kwargs)
    try:
        return bind(subject.target, args, kwargs)
    except TypeError as error:
        raise NoCase(f"forward cannot be called with these arguments: {error}") from None


def show_arguments(
    subject: Subject, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, ...]:
    """One line for each argument, as ``weight: float64[30, 20]``."""
    names = names_of(subject.target, len(args))
    lines = [f"{name}: {shown_value(value)}" for name, value in zip(names, args, strict=True)]
    made = [subject.made] if subject.made else []
    return (*made, *lines, *(f"{name}: {shown_value(value)}" for name, value in kwargs.items()))


def shown_value(value: Any) -> str:
    """A tensor by its dtype and shape, another value as Python writes it."""
    if isinstance(value, library().Tensor):
        return _shown_tensor(value)
    if isinstance(value, list | tuple) and any(isinstance(v, library().Tensor) for v in value):
        return f"[{', '.join(map(shown_value, value))}]"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _shown_tensor(tensor: Any) -> str:
    dtype = str(tensor.dtype).rpartition(".")[2]
    differentiable = tensor.requires_grad or not tensor.is_floating_point()
    note = "" if differentiable else " (no gradient)"
    return f"{dtype}{list(tensor.shape)}{note}"
