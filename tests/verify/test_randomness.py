"""Random numbers by seed and purpose."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from gradtool.verify.randomness import generator


def test_numbers_are_those_of_a_seed_sequence_of_seed_and_purpose() -> None:
    sequence = np.random.SeedSequence([7, crc32(b"probes")])
    expected = np.random.Generator(np.random.PCG64(sequence)).uniform(size=5)
    assert np.array_equal(generator(7, "probes").uniform(size=5), expected)


def test_the_words_that_a_generator_starts_from_are_computed_once() -> None:
    one, other = generator(11, "anew"), generator(11, "anew")
    assert one is not other
    words = [each.bit_generator.seed_seq.generate_state(4, np.uint64) for each in (one, other)]  # type: ignore[attr-defined]
    assert words[0] is words[1]
    assert np.array_equal(one.integers(2**62, size=3), other.integers(2**62, size=3))
