"""A stand-in for PyTorch with CUDA: as much of it as copies need, over the stand-in of CuPy."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest


class FakeTensor:
    """Bytes on the host or on the device."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.is_cuda = not isinstance(array, np.ndarray)

    def numpy(self) -> Any:
        assert not self.is_cuda, "can't convert cuda tensor to numpy"
        return self.array

    def to(self, device: str, non_blocking: bool = False) -> FakeTensor:
        import cupy

        if device == "cpu":
            return FakeTensor(self.array.get())
        return FakeTensor(cupy.asarray(self.array, blocking=not non_blocking))


def install(monkeypatch: pytest.MonkeyPatch, cupy: Any) -> Any:
    """Let ``import torch`` find it, and ``cupy.asarray`` take its tensors without a copy."""
    torch = ModuleType("torch")
    torch.__spec__ = ModuleSpec("torch", None)
    streams = [("default", "cuda:0")]

    def empty(size: int, *, dtype: Any, device: str) -> FakeTensor:
        assert dtype is torch.uint8
        return FakeTensor(cupy.empty(size, np.uint8))

    cuda = SimpleNamespace(
        is_available=lambda: True,
        ExternalStream=lambda ptr, device=None: (ptr, device),
        current_stream=lambda device=None: streams[-1],
        set_stream=streams.append,
        streams=streams,
    )
    for name, value in {
        "uint8": object(), "cuda": cuda, "from_numpy": FakeTensor, "empty": empty,
    }.items():  # fmt: skip
        setattr(torch, name, value)
    real = cupy.asarray

    def asarray(a: Any, *args: Any, **params: Any) -> Any:
        return a.array if isinstance(a, FakeTensor) else real(a, *args, **params)

    monkeypatch.setattr(cupy, "asarray", asarray)
    monkeypatch.setitem(sys.modules, "torch", torch)
    return torch
