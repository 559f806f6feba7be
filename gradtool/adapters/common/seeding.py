"""Where random numbers come from: of a case's own name, and of nothing else.

The numbers of a case depend on its node id and the seed of the run. They do not depend on
which other cases there are, on their order, or on the folder that gradtool is started in.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
from collections.abc import Iterator

import numpy as np

from gradtool.adapters.common.generators import drawn, go_to
from gradtool.adapters.library import library


def stable_seed(*parts: object) -> int:
    """A 63-bit number made of `parts`, the same in every process."""
    text = "\0".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1


def generator(*parts: object) -> np.random.Generator:
    """A generator seeded with `parts`."""
    return np.random.Generator(np.random.PCG64(stable_seed(*parts)))


@contextlib.contextmanager
def global_generators(seed: int) -> Iterator[None]:
    """Seed the global generators of Python, NumPy and the library; restore them at the end.

    The user's code may draw from them, and must draw the same numbers in every run.
    """
    torch = library().torch
    before, of_library = drawn(), torch.get_rng_state()
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
    try:
        yield
    finally:
        go_to(before)
        torch.set_rng_state(of_library)
