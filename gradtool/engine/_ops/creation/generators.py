"""Generators of random numbers.

Numbers are drawn on the host, whatever the device, so a seed gives the same numbers on every
device. They are those that torch draws on the CPU from the seed.
"""

from __future__ import annotations

import secrets
from operator import index
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._device import device as device_type
from gradtool.engine._ops.creation.making import as_device
from gradtool.engine._ops.creation.mersenne import STATE, Stream
from gradtool.engine._tensor import Tensor, wrap


class Generator:
    """A stream of random numbers."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device: device_type = as_device(device)
        self._seed = 67280421310721
        self._source = Stream(self._seed)

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from a seed.

        Raises:
            ValueError: the seed does not fit in 64 bits.
        """
        seed = index(seed)
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._seed = seed % 2**64
        self._source.start(self._seed)
        return self

    def initial_seed(self) -> int:
        """The seed that it started from."""
        return self._seed

    def seed(self) -> int:
        """Start anew from a seed that cannot be foreseen, and return that."""
        return self.manual_seed(secrets.randbits(64)).initial_seed()

    def get_state(self) -> Tensor:
        """The state, as a tensor of bytes."""
        return wrap(self._source.state())

    def set_state(self, new_state: Tensor) -> None:
        """Go on from a state that `get_state` returned.

        Raises:
            RuntimeError: it is no such state.
        """
        if new_state.dtype is not _dtypes.uint8 or new_state.numel() != STATE.itemsize:
            raise RuntimeError("RNG state must be a tensor of bytes from Generator.get_state()")
        self._seed = self._source.go_on(new_state.numpy())


default_generator = Generator()
"""What functions draw from unless they are given another."""

cuda_generator = Generator("cuda")
"""The same for tensors on CUDA, so that what is drawn for one kind of device moves no other."""


def default_for(place: device_type) -> Generator:
    """What is drawn from for tensors on a device."""
    return default_generator if place.type == "cpu" else cuda_generator


def manual_seed(seed: int) -> Generator:
    """Start the default generators of all devices anew from a seed."""
    cuda_generator.manual_seed(seed)
    return default_generator.manual_seed(seed)


def initial_seed() -> int:
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


def seed() -> int:
    """Start the default generators of all devices anew from a seed that cannot be foreseen."""
    return manual_seed(secrets.randbits(64)).initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator go on from a state."""
    default_generator.set_state(new_state)


__all__ = [
    "Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]  # fmt: skip
