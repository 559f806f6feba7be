"""Archives that PyTorch's ``torch.save`` writes: a pickle, and a file for each storage.

Format: https://pytorch.org/docs/stable/notes/serialization.html
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np

STORAGES = {
    "BFloat16Storage": "bfloat16",
    "BoolStorage": "bool",
    "ByteStorage": "uint8",
    "CharStorage": "int8",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "ShortStorage": "int16",
}
"""Names of dtypes by the class of storage that the pickle names."""


class Archive:
    """An open archive."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file)
        names = (name for name in self._zip.namelist() if name.endswith("data.pkl"))
        self._folder = next(names, "data.pkl").removesuffix("data.pkl")

    def pickle(self) -> BinaryIO:
        """Open the pickle, which holds everything but the entries of tensors."""
        return self._zip.open(f"{self._folder}data.pkl")  # type: ignore[return-value] # IO[bytes]

    def storage(self, key: str, dtype: np.dtype[Any]) -> np.ndarray:
        """The entries of a storage."""
        order = dtype.newbyteorder(">" if self._byte_order() == "big" else "<")
        return np.frombuffer(self._zip.read(f"{self._folder}data/{key}"), order).astype(dtype)

    def _byte_order(self) -> str:
        """The byte order of the machine that wrote it, which older files do not tell."""
        name = f"{self._folder}byteorder"
        return self._zip.read(name).decode() if name in self._zip.namelist() else sys.byteorder


def strided(
    entries: np.ndarray, offset: int, size: Sequence[int], stride: Sequence[int]
) -> np.ndarray:
    """Copy the entries of a tensor from those of its storage."""
    steps = [each * entries.itemsize for each in stride]
    return np.lib.stride_tricks.as_strided(entries[offset:], size, steps).copy()
