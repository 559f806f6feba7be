"""Seeds of random numbers on CUDA.

One generator on the host serves all CUDA devices; the CPU has another.
"""

from __future__ import annotations

from gradtool.engine._ops.creation.generators import cuda_generator


def manual_seed(seed: int) -> None:
    """Restart the generator from a seed."""
    cuda_generator.manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Restart the generator from a seed."""
    cuda_generator.manual_seed(seed)


def seed() -> None:
    """Restart the generator from an unpredictable seed."""
    cuda_generator.seed()


def seed_all() -> None:
    """Restart the generator from an unpredictable seed."""
    cuda_generator.seed()


def initial_seed() -> int:
    """Return the generator's seed."""
    return cuda_generator.initial_seed()
