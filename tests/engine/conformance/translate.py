"""Carries arguments and callables of PyTorch over to the engine.

A sample of the database holds tensors, dtypes and other objects of PyTorch, and its operator may
be a small function whose globals name PyTorch. `to_engine` maps both to their counterparts.
"""

from __future__ import annotations

import types
from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np
import torch
from torch.testing._utils import freeze_rng_state

import gradtool.engine as engine

NAMESPACES = (
    "", "nn.functional", "linalg", "special", "fft", "_C._nn", "nn.utils.rnn", "masked",
    "ops.aten", "autograd", "nn.init", "functional",
)  # fmt: skip


class Missing(Exception):
    """The engine has no counterpart of an object of PyTorch; the message is its name."""


class Translator:
    """Maps objects of PyTorch to the engine; a tensor met twice becomes one tensor."""

    def __init__(self) -> None:
        self.tensors: dict[int, tuple[torch.Tensor, Any]] = {}
        self.storages: dict[int, Any] = {}
        self.functions: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return lookup(engine, str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return engine.device(str(value))
        if isinstance(value, torch.Size):
            return engine.Size(value)
        if isinstance(value, (tuple, list)):
            parts = [self(each) for each in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        if isinstance(value, dict):
            return {key: self(each) for key, each in value.items()}
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, torch.Generator):
            return engine.Generator().manual_seed(value.initial_seed())
        return self.function(value) if callable(value) else value

    def tensor(self, value: torch.Tensor) -> Any:
        """A leaf of the engine with the tensor's values, strides and `requires_grad`."""
        if value.layout != torch.strided:
            raise Missing(f"layout {value.layout}")
        known = self.tensors.get(id(value))
        if known is None:
            made = self.memory(value)
            made = (
                getattr(made, str(value.dtype).removeprefix("torch."), lambda: made)()
                if (value.dtype == torch.bfloat16)
                else made
            )
            made.requires_grad_(value.requires_grad)
            known = self.tensors[id(value)] = (value, made)
        return known[1]

    def memory(self, value: torch.Tensor) -> Any:
        """The tensor as part of a copy of all the memory that it is part of."""
        storage = value.untyped_storage()
        if value.is_conj() or value.is_neg() or storage.nbytes() == value.nbytes:
            return engine.from_numpy(strided_copy(value))
        whole = torch.empty(0, dtype=value.dtype).set_(storage).detach()
        known = self.storages.get(storage.data_ptr())
        if known is None:
            known = self.storages[storage.data_ptr()] = engine.from_numpy(strided_copy(whole))
        place = value.storage_offset()
        return known.as_strided(tuple(value.shape), value.stride(), place).detach()

    def function(self, value: Any) -> Any:
        """The engine's function of the same name, or the function with its globals translated."""
        if value is freeze_rng_state:  # the comparison sets the seed before each call
            return nullcontext
        path = names_of_torch().get(id(value))
        if path is None and getattr(value, "__module__", None) == "torch._C._nn":
            path = f"_C._nn.{value.__name__}"
        if path is not None:
            return lookup(engine, path)
        if isinstance(value, torch.nn.Module):
            return module(value)
        if isinstance(value, torch._ops.OpOverloadPacket | torch._ops.OpOverload):
            return lookup(engine, f"ops.{str(value).replace('.default', '')}")
        if isinstance(value, types.FunctionType):
            return self.functions.get(id(value)) or self.rebind(value)
        if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "torch._C._linalg":
            raise Missing(value.__name__)
        return value

    def rebind(self, function: types.FunctionType) -> Any:
        """The function over the engine: its globals, closure and defaults translated."""
        code = function.__code__
        scope = dict(function.__globals__)
        made = self.functions[id(function)] = types.FunctionType(
            code, scope, function.__name__, None,
            tuple(types.CellType() for _ in function.__closure__ or ()),
        )  # fmt: skip
        for cell, source in zip(made.__closure__ or (), function.__closure__ or (), strict=True):
            cell.cell_contents = self.whole(source.cell_contents)
        made.__defaults__ = self.whole(function.__defaults__)
        made.__kwdefaults__ = self.whole(function.__kwdefaults__)
        for name in names_used(code):
            if name in scope:
                scope[name] = self.whole(scope[name])
        return made

    def whole(self, value: Any) -> Any:
        if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] == "torch":
            return engine if value is torch else lookup(engine, value.__name__[6:])
        if isinstance(value, type):
            return engine.Tensor if value is torch.Tensor else value
        return self(value)


def module(value: torch.nn.Module) -> Any:
    """The engine's module without parameters of the same class and options."""
    made = lookup(engine, f"nn.{type(value).__name__}")()
    made.__dict__.update({k: v for k, v in vars(value).items() if not k.startswith("_")})
    return made


def names_used(code: types.CodeType) -> set[str]:
    """Global names in the code of a function and of those nested in it."""
    nested = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return set(code.co_names).union(*map(names_used, nested))


def strided_copy(value: torch.Tensor) -> np.ndarray[Any, Any]:
    """A fresh array with the tensor's values and strides."""
    value = value.detach().resolve_conj().resolve_neg()
    if value.dtype == torch.bfloat16:
        value = value.float()
    source = value.numpy()
    if value.is_contiguous() or 0 in source.shape:
        return source.copy()
    extent = sum((n - 1) * s for n, s in zip(value.shape, value.stride(), strict=True)) + 1
    made = torch.empty(extent, dtype=value.dtype).as_strided(value.shape, value.stride())
    made.copy_(value) if 0 not in value.stride() else made.as_strided(
        [1 if s == 0 else n for n, s in zip(value.shape, value.stride(), strict=True)],
        value.stride(),
    ).copy_(value[tuple(slice(0, 1) if s == 0 else slice(None) for s in value.stride())])
    return made.numpy()


@cache
def names_of_torch() -> dict[int, str]:
    """Paths below `torch` by the identity of the function found there."""
    found: dict[int, str] = {}
    for space in NAMESPACES:
        holder = resolve(torch, space)
        for name in sorted(dir(holder), key=is_private) if holder is not None else ():
            value = getattr(holder, name, None)
            if callable(value) and not isinstance(value, type):
                found.setdefault(id(value), f"{space}.{name}".lstrip("."))
    for name in dir(torch.Tensor):
        found.setdefault(id(getattr(torch.Tensor, name)), f"Tensor.{name}")
    return found


def is_private(name: str) -> bool:
    """Return True for a name that comes second where a function has several."""
    return name.startswith("_")


def resolve(root: Any, path: str) -> Any:
    for part in filter(None, path.split(".")):
        root = getattr(root, part, None)
    return root


def lookup(root: Any, path: str) -> Any:
    """The engine's object at `path`; raises `Missing` with the path where there is none."""
    try:
        for part in path.split("."):
            root = getattr(root, part)
    except AttributeError as error:
        raise Missing(path) from error
    return root
