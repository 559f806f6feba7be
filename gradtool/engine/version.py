"""Version of PyTorch whose behaviour the engine follows."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["__version__", "cuda", "debug", "hip"]

_PARTS = 3


class TorchVersion(str):
    """A version that compares with tuples and other versions by their numbers."""

    __slots__ = ()

    def __lt__(self, other: str | Iterable[object]) -> bool:
        return _numbers(self) < _numbers(other)

    def __le__(self, other: str | Iterable[object]) -> bool:
        return _numbers(self) <= _numbers(other)

    def __gt__(self, other: str | Iterable[object]) -> bool:
        return _numbers(self) > _numbers(other)

    def __ge__(self, other: str | Iterable[object]) -> bool:
        return _numbers(self) >= _numbers(other)


def _numbers(version: str | Iterable[object]) -> list[int]:
    """The release in full, then 1 for a build, such as ``+cpu``, which is later than none."""
    text = version if isinstance(version, str) else ".".join(map(str, version))
    release = [int(each) for each in re.findall(r"\d+", re.split(r"[^\d.]", text)[0])]
    return [*release, *[0] * (_PARTS - len(release)), int("+" in text)]


__version__ = TorchVersion("2.13.0+gradtool")
debug = False
cuda: str | None = None
hip: str | None = None
