"""Seeds of the random numbers that are drawn for CUDA.

They come from one generator on the host for all CUDA devices, apart from that of the CPU.
"""

from __future__ import annotations

from gradtool.engine._ops.creation.generators import cuda_generator


def manual_seed(seed: int) -> None:
    """Start the generator anew from a seed."""
    cuda_generator.manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Start the generator anew from a seed."""
    cuda_generator.manual_seed(seed)


def seed() -> None:
    """Start the generator anew from a seed that cannot be foreseen."""
    cuda_generator.seed()


def seed_all() -> None:
    """Start the generator anew from a seed that cannot be foreseen."""
    cuda_generator.seed()


def initial_seed() -> int:
    """The seed that the generator started from."""
    return cuda_generator.initial_seed()
