"""States of the random number generators, for computing again with the same numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from gradtool.device import CUDA
from gradtool.engine import _pytree
from gradtool.engine._ops.creation.generators import cuda_generator, default_generator
from gradtool.engine._tensor import Tensor

_GENERATORS = (default_generator, cuda_generator)


def replaying(enabled: bool) -> Callable[[], AbstractContextManager[None]]:
    """Return a context that draws the random numbers from here on again, unless disabled."""
    then = _states() if enabled else None

    @contextlib.contextmanager
    def context() -> Iterator[None]:
        if then is None:
            yield
            return
        before = _states()
        _set_states(then)
        try:
            yield
        finally:
            _set_states(before)

    return context


def _states() -> list[Tensor]:
    return [generator.get_state() for generator in _GENERATORS]


def _set_states(states: Sequence[Tensor]) -> None:
    for generator, state in zip(_GENERATORS, states, strict=True):
        generator.set_state(state)


class DefaultDeviceType:
    """The type of device that is meant where no tensor is on one."""

    _default_device_type: str | None = None

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the type."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        """Return the type: ``cuda`` if there is a device and no other was set."""
        return DefaultDeviceType._default_device_type or ("cuda" if CUDA.count() else "cpu")


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Return the devices of the tensors among the arguments, and the states of their generators."""
    leaves = _pytree.tree_flatten(args)[0]
    devices = [each.get_device() for each in leaves if isinstance(each, Tensor) and each.is_cuda]
    return devices, [cuda_generator.get_state() for _ in devices]


def set_device_states(
    devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None
) -> None:
    """Set the states of the generators of devices; all CUDA devices share one."""
    for state in states:
        cuda_generator.set_state(state)
