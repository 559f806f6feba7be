"""Arguments of a case: made from a configuration, bound, and shown in one line each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import DTypeLike, NDArray

from gradtool.adapters.common.binding import bind, names_of
from gradtool.adapters.common.contained_tensors import mapped
from gradtool.adapters.common.random_state import generator
from gradtool.adapters.library import library
from gradtool.collect.checkable import Checkable
from gradtool.config.settings import Settings
from gradtool.config.tensor_spec import TensorSpec, dtype_of, is_tensor
from gradtool.findings.could_not_run import NoCase
from gradtool.spelling import did_you_mean

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")

_MAX_SHOWN = 60
"""Characters of a plain value that are shown."""


def make_value(value: Any, settings: Settings, seed: int, place: str) -> Any:
    """Make the argument that `value` of a configuration stands for.

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
    requires_grad = spec.requires_grad is not False
    return placed(library().tensor(array), settings.device, requires_grad=requires_grad)


def placed(tensor: Any, device: str, *, requires_grad: bool) -> Any:
    """Move a tensor to `device`; only floating and complex ones can require a gradient."""
    if device != "cpu":
        tensor = tensor.to(device)
    differentiable = tensor.is_floating_point() or tensor.is_complex()
    return tensor.requires_grad_(requires_grad and differentiable)


def on_host(value: Any) -> Any:
    """Copy tensors to the CPU, with their ``requires_grad``; leave other values as they are."""
    return mapped(value, lambda tensor: tensor.detach().cpu().requires_grad_(tensor.requires_grad))


def adopt(
    args: Sequence[Any], kwargs: Mapping[str, Any], settings: Settings
) -> tuple[list[Any], dict[str, Any]]:
    """Move tensors that a user made to the device and the dtype of the run.

    If none of the floating arguments requires a gradient, all of them do: a user who left the
    flag out wants them checked. Tensors in lists and the like keep their flag.
    """
    tensors = [v for v in (*args, *kwargs.values()) if isinstance(v, library().Tensor)]
    every = not any(tensor.requires_grad for tensor in tensors)
    stays = settings.device == "cpu" and not settings.forced_dtype

    def moved(value: Any, *, every: bool = False) -> Any:
        tensor = value.detach()
        if settings.forced_dtype and tensor.is_floating_point():
            tensor = tensor.to(getattr(library().torch, settings.forced_dtype))
        is_asked = every and value.layout is library().torch.strided
        return placed(tensor, settings.device, requires_grad=is_asked or value.requires_grad)

    def adopted(value: Any) -> Any:
        if isinstance(value, library().Tensor):
            return moved(value, every=every)
        return value if stays else mapped(value, moved)

    return list(map(adopted, args)), {name: adopted(value) for name, value in kwargs.items()}


def bind_arguments(
    checkable: Checkable, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Bind the arguments of a Function, keyword ones moved to their positions.

    Raises:
        NoCase: ``forward`` has no parameter of that name.
    """
    if not checkable.is_function:
        return tuple(args), dict(kwargs)
    try:
        return bind(checkable.obj, args, kwargs)
    except TypeError as error:
        near = _suggestion(checkable, kwargs)
        raise NoCase(f"forward cannot be called with these arguments: {error}{near}") from None


def _suggestion(checkable: Checkable, kwargs: Mapping[str, Any]) -> str:
    """The nearest argument of forward for the first name that it does not have."""
    names = [parameter.name for parameter in checkable.parameters()]
    unknown = (name for name in kwargs if name not in names)
    return next((did_you_mean(name, names) for name in unknown), "")


def show_arguments(
    checkable: Checkable, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, ...]:
    """Describe each argument in one line, as ``weight: float64[30, 20]``."""
    names = names_of(checkable.obj, len(args))
    lines = [f"{name}: {shown_value(value)}" for name, value in zip(names, args, strict=True)]
    module = [checkable.constructed_as] if checkable.constructed_as else []
    return (*module, *lines, *(f"{name}: {shown_value(value)}" for name, value in kwargs.items()))


def shown_value(value: Any) -> str:
    """Write a tensor by its dtype and shape, another value by its ``repr``."""
    if isinstance(value, library().Tensor):
        return _shown_tensor(value)
    if isinstance(value, list | tuple) and any(isinstance(v, library().Tensor) for v in value):
        return f"[{', '.join(map(shown_value, value))}]"
    try:
        # The address of an object differs from run to run.
        text = " ".join(_ADDRESS.sub("", repr(value)).split())
    except Exception as error:  # A `repr` of the user's may raise anything.
        text = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."


def _shown_tensor(tensor: Any) -> str:
    dtype = str(tensor.dtype).rpartition(".")[2]
    differentiable = tensor.requires_grad or not tensor.is_floating_point()
    note = "" if differentiable else " (no gradient)"
    return f"{dtype}{list(tensor.shape)}{note}"


NEAREST_TO_ZERO = 0.1
"""Distance of normal values from 0, where many functions have a kink or a pole."""

_INTEGERS = (0, 2)
"""Bounds of random integers without ``low`` and ``high``: valid indices nearly everywhere."""


def make_array(spec: TensorSpec, rng: np.random.Generator, dtype: str) -> NDArray[Any]:
    """Make the array of `spec`, of `dtype` where the spec names none.

    Raises:
        MemoryError: The shape is larger than memory.
        ValueError: The shape is larger than NumPy can address.
    """
    if spec.values is not None:
        array = np.array(spec.values)
        default = dtype if array.dtype.kind == "f" else dtype_of(array.dtype.kind)
        return cast(array, spec.dtype or default)
    kind = np.dtype(spec.dtype or dtype)
    return cast(_random(spec, rng, kind), kind)


def cast(array: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Convert an array to `dtype`; values that are too large for it become infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(array, dtype=dtype)


def _random(spec: TensorSpec, rng: np.random.Generator, dtype: np.dtype[Any]) -> Any:
    shape = spec.shape or ()
    if dtype.kind == "b":
        return rng.integers(0, 2, shape)
    if dtype.kind in "iu":
        low, high = _bounds(spec, _INTEGERS)
        # Equal bounds would leave the half-open interval empty.
        return rng.integers(int(low), int(high), shape, endpoint=low == high)
    if spec.low is None or spec.high is None:
        return _normal(rng, shape) + (1j * _normal(rng, shape) if dtype.kind == "c" else 0)
    return rng.uniform(spec.low, spec.high, shape)


def _bounds(spec: TensorSpec, default: tuple[float, float]) -> tuple[float, float]:
    return default if spec.low is None or spec.high is None else (spec.low, spec.high)


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    drawn = np.asarray(rng.standard_normal(shape))
    # Away from zero on both sides, so that the signs stay as random as they were.
    return np.asarray(drawn + np.copysign(NEAREST_TO_ZERO, drawn))
