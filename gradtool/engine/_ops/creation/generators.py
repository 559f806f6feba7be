"""Generators of random numbers: PyTorch's stream on the CPU, number for number."""

from __future__ import annotations

import ctypes
import math
import secrets
from operator import index
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._device import device as device_type
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.creation.literals import as_device
from gradtool.engine._tensor import Tensor, wrap

# ---- the stream of numbers that a seed starts ------------------------------------------------
#
# A published script prints what it computes of ``torch.manual_seed(0)`` and ``torch.randn``, so
# the engine draws as PyTorch does. The words are those of the Mersenne twister MT19937 (Matsumoto
# and Nishimura, 1998), which NumPy has. What is made of them is simple: a fraction is the low bits
# of a word, a normal number comes from two fractions by Box and Muller's transform (1958), in
# blocks of sixteen where there are so many. Normal numbers of single precision agree to rounding.


_BLOCK = 16
"""Normal numbers made at once: eight pairs."""
_WORDS = 624
_LONG_RANGE = 2**28
"""From this many integers on, each takes two words."""
STATE = np.dtype(
    [("seed", "<u8"), ("words", "<u4", _WORDS), ("position", "<u4"), ("has_spare", "<u4"),
     ("spare", "<f8"), ("", "V2536")]
)  # fmt: skip
"""A state laid out in memory, as long as PyTorch's."""


class Stream:
    """Draws one after another, each going on where the last one ended."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.MT19937()
        # Its words and then the position, where NumPy keeps them: its `state` copies them thrice.
        span = ctypes.c_uint32 * (_WORDS + 1)
        address: int = self._bits.ctypes.state_address
        self._memory = np.frombuffer(memoryview(span.from_address(address)), np.uint32)
        self.start(seed)

    def start(self, seed: int) -> None:
        """Restart from the low 32 bits of a seed."""
        self._seed = seed
        self._bits._legacy_seeding(seed & 0xFFFFFFFF)
        self._spare: float | None = None
        self._read: tuple[Any, Any] | None = None
        """What the state was read from last, and the state."""

    # ---- words and fractions ----------------------------------------------------------------

    def words(self, count: int) -> Any:
        """Integers of 32 random bits."""
        return self._bits.random_raw(count)

    def long_words(self, count: int) -> Any:
        """Integers of 64 random bits, the first word above the second."""
        halves = self.words(2 * count)
        return halves[0::2] << np.uint64(32) | halves[1::2]

    def fractions(self, count: int, dtype: Any = np.float64) -> Any:
        """Uniform numbers of [0, 1) with as many bits as the dtype holds."""
        if dtype == np.float64:
            return (self.long_words(count) & np.uint64(2**53 - 1)) * 2.0**-53
        whole = (self.words(count) & np.uint64(2**24 - 1)).astype(np.float32)
        return whole * np.float32(2.0**-24)

    def integers(self, low: int, high: int, count: int) -> Any:
        """Integers of [low, high)."""
        span = high - low
        drawn = self.words(count) if span < _LONG_RANGE else self.long_words(count)
        return (drawn % np.uint64(span)).astype(np.int64) + low

    def permutation(self, count: int) -> Any:
        """The numbers from 0 on in random order: each place takes one of those still left."""
        order = list(range(count))
        steps = self.words(max(count - 1, 0)).tolist()
        for place, step in enumerate(steps):
            other = place + step % (count - place)
            order[place], order[other] = order[other], order[place]
        return np.array(order, np.int64)

    # ---- numbers with a distribution --------------------------------------------------------

    def normals(self, count: int, dtype: Any = np.float64) -> Any:
        """Standard normal numbers, in blocks where that many are asked for at once."""
        if count < _BLOCK:
            return self.separate_normals(count).astype(dtype)
        numbers = self.fractions(count, dtype)
        whole = count - count % _BLOCK
        numbers[:whole] = _box_muller(numbers[:whole])
        if whole < count:  # The last block overlaps the one before it, and is drawn again.
            numbers[-_BLOCK:] = _box_muller(self.fractions(_BLOCK, dtype))
        return numbers

    def separate_normals(self, count: int) -> Any:
        """Standard normal numbers drawn in pairs, of which a spare one is kept for later."""
        kept = [] if self._spare is None or not count else [self._spare]
        pairs = (count - len(kept) + 1) // 2
        fractions = self.fractions(2 * pairs)
        radius = np.sqrt(-2 * np.log1p(-fractions[1::2]))
        angle = 2 * math.pi * fractions[0::2]
        made = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)
        numbers = np.concatenate([kept, made])
        if count:
            self._spare = float(numbers[count]) if len(numbers) > count else None
        return numbers[:count]

    def exponentials(self, count: int) -> Any:
        """Exponential numbers of rate 1."""
        return -np.log1p(-self.fractions(count))

    def poisson(self, mean: float) -> int:
        """A Poisson count."""
        return self._poisson_by_rejection(mean) if mean >= 10 else self._poisson_by_product(mean)

    def _poisson_by_product(self, mean: float) -> int:
        least, product, count = math.exp(-mean), 1.0, 0
        while mean > 0:
            product *= self.fractions(1)[0]
            if product <= least:
                break
            count += 1
        return count

    def _poisson_by_rejection(self, mean: float) -> int:
        """The transformed rejection PTRS (Hörmann, 1993)."""
        b = 0.931 + 2.53 * math.sqrt(mean)
        a = -0.059 + 0.02483 * b
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        while True:
            u, v = (float(each) for each in self.fractions(2) - np.array([0.5, 0.0]))
            distance = 0.5 - abs(u)
            count = math.floor((2 * a / distance + b) * u + mean + 0.43) if distance else -1
            if distance >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
                return count
            if count < 0 or (distance < 0.013 and v > distance):
                continue
            accepted = math.log(v * inverse_alpha / (a / distance**2 + b))
            if accepted <= count * math.log(mean) - mean - math.lgamma(count + 1):
                return count

    # ---- its state --------------------------------------------------------------------------

    def state(self) -> Any:
        """The state that the next numbers depend on, as bytes."""
        # Asked for around every call to a function that may draw, of which few do.
        read = self._seed, self._memory.tobytes(), self._spare
        if self._read is None or self._read[0] != read:
            self._read = read, self._new_state()
        return self._read[1].copy()

    def _new_state(self) -> Any:
        held = np.zeros((), STATE)
        held["seed"], held["words"] = self._seed, self._memory[:_WORDS]
        held["position"] = self._memory[_WORDS]
        if self._spare is not None:
            held["has_spare"], held["spare"] = 1, self._spare
        return np.frombuffer(held.tobytes(), np.uint8)

    def go_on(self, state: Any) -> int:
        """Go on from a state; the seed that it was started from."""
        held = np.frombuffer(state.tobytes(), STATE)[0]
        self._seed = int(held["seed"])
        self._bits.state = {
            "bit_generator": "MT19937",
            "state": {"key": held["words"].copy(), "pos": int(held["position"])},
        }
        self._spare = float(held["spare"]) if held["has_spare"] else None
        return self._seed


def _box_muller(fractions: Any) -> Any:
    """Normal numbers of whole blocks of fractions: cosines in the first half, sines after."""
    blocks = fractions.reshape(-1, 2, _BLOCK // 2)
    radius = np.sqrt(-2 * np.log(1 - blocks[:, 0]))
    angle = blocks[:, 1] * blocks.dtype.type(2 * math.pi)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)


# ---- generators ------------------------------------------------------------------------------
#
# Numbers are drawn on the host for any device, so a seed gives the same numbers on every
# device. They are those that torch draws on the CPU from the seed.


@op
class Generator:
    """A stream of random numbers."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device: device_type = as_device(device)
        self._seed = 67280421310721
        self._source = Stream(self._seed)

    def manual_seed(self, seed: int) -> Generator:
        """Restart from a seed.

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
        """Restart from an unpredictable seed, and return it."""
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


default_generator = op(Generator(), name="default_generator")
"""What functions draw from unless they are given another."""

cuda_generator = Generator("cuda")
"""The same for tensors on CUDA, so that what is drawn for one kind of device moves no other."""


def default_for(place: device_type) -> Generator:
    """Return the default generator of a device."""
    return default_generator if place.type == "cpu" else cuda_generator


@op
def manual_seed(seed: int) -> Generator:
    """Restart the default generators of all devices from a seed."""
    cuda_generator.manual_seed(seed)
    return default_generator.manual_seed(seed)


@op
def initial_seed() -> int:
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


@op
def seed() -> int:
    """Restart the default generators of all devices from an unpredictable seed."""
    return manual_seed(secrets.randbits(64)).initial_seed()


@op
def get_rng_state() -> Tensor:
    """The state of the default generator."""
    return default_generator.get_state()


@op
def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator go on from a state."""
    default_generator.set_state(new_state)
