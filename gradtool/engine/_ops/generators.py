"""Generators of random numbers.

Numbers come from NumPy's PCG64 on the host, whatever the device, so a seed gives the same
numbers on every device. They are not the numbers that torch gives for the seed.
"""

from __future__ import annotations

import secrets
import struct
from operator import index
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._device import device as device_type
from gradtool.engine._ops._making import as_device
from gradtool.engine._tensor import Tensor, wrap

_STATE = struct.Struct("<Q16s16sBI")
"""Seed; state and increment of PCG64; whether half a word is left over, and which."""


class Generator:
    """A stream of random numbers. Its methods are those of torch's, its numbers are not."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device: device_type = as_device(device)
        self.manual_seed(67280421310721)

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from a seed.

        Raises:
            ValueError: the seed does not fit in 64 bits.
        """
        seed = index(seed)
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._seed = seed % 2**64
        self._source = np.random.Generator(np.random.PCG64(self._seed))
        return self

    def initial_seed(self) -> int:
        """The seed that it started from."""
        return self._seed

    def seed(self) -> int:
        """Start anew from a seed that cannot be foreseen, and return that."""
        return self.manual_seed(secrets.randbits(64)).initial_seed()

    def get_state(self) -> Tensor:
        """The state, as a tensor of bytes."""
        state: Any = self._source.bit_generator.state
        packed = _STATE.pack(
            self._seed,
            state["state"]["state"].to_bytes(16, "little"),
            state["state"]["inc"].to_bytes(16, "little"),
            state["has_uint32"],
            state["uinteger"],
        )
        return wrap(np.frombuffer(packed, np.uint8).copy())

    def set_state(self, new_state: Tensor) -> None:
        """Go on from a state that `get_state` returned.

        Raises:
            RuntimeError: it is no such state.
        """
        if new_state.dtype is not _dtypes.uint8 or new_state.numel() != _STATE.size:
            raise RuntimeError("RNG state must be a tensor of bytes from Generator.get_state()")
        seed, state, increment, has_word, word = _STATE.unpack(new_state.numpy().tobytes())
        self._seed = seed
        self._source.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {
                "state": int.from_bytes(state, "little"),
                "inc": int.from_bytes(increment, "little"),
            },
            "has_uint32": has_word,
            "uinteger": word,
        }


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
