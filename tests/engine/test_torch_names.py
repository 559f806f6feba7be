"""The list of PyTorch's names is right, and the engine has no name that PyTorch has not."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from importlib.util import find_spec
from types import ModuleType

import pytest

import gradtool.engine
from gradtool.engine import _torch_names

BEYOND_TORCH = {"GradcheckError", "traceable"}
"""One that torch has in a module below only, and one that older versions had."""


def mirrors() -> Iterator[ModuleType]:
    yield gradtool.engine
    path, prefix = gradtool.engine.__path__, "gradtool.engine."
    for found in pkgutil.walk_packages(path, prefix):
        if "._" not in found.name:
            yield importlib.import_module(found.name)


def torch_name(module: ModuleType) -> str:
    return "torch" + module.__name__.removeprefix("gradtool.engine")


@pytest.mark.parametrize("module", list(mirrors()), ids=torch_name)
def test_every_public_module_of_the_engine_mirrors_one_of_torchs(module: ModuleType) -> None:
    assert _torch_names.is_module(torch_name(module))
    names = _torch_names.names_of(torch_name(module))
    public = (name for name in getattr(module, "__all__", ()) if not name.startswith("__"))
    assert {name for name in public if not names.has(name)} <= BEYOND_TORCH


@pytest.mark.parametrize("module", list(mirrors()), ids=torch_name)
def test_no_function_of_the_engine_stands_where_torch_has_a_module(module: ModuleType) -> None:
    """Importing the module would hide the function."""
    modules = _torch_names.names_of(torch_name(module)).modules
    hidden = [
        name
        for name, value in vars(module).items()
        if name in modules and not inspect.ismodule(value)
    ]
    assert [name for name in hidden if find_spec(f"{module.__name__}.{name}") is None] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch", True),
        ("torch.nn.modules.conv", True),
        ("torch._inductor.anything.at.all", True),
        ("torch.nope", False),
        ("torch._nope", False),
        ("torch.nn.modules.nope", False),
        ("torch.Tensor", False),
        ("numpy", False),
    ],
)
def test_is_module(name: str, expected: bool) -> None:
    assert _torch_names.is_module(name) is expected


def test_names_are_told_apart_by_kind() -> None:
    names = _torch_names.names_of("torch.cuda")
    assert names.complete
    assert "FloatTensor" in names.plain
    assert "amp" in names.modules
    assert "OutOfMemoryError" in names.exceptions
    assert not names.has("nope")
    assert _torch_names.names_of("torch._C").has("whatever")


@pytest.mark.torch
@pytest.mark.parametrize(
    "name", ["torch", "torch.Tensor", "torch.autograd", "torch.cuda", "torch.linalg", "torch.nn"]
)
def test_the_list_agrees_with_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="reads PyTorch's names; it is not installed")
    owner = functools.reduce(getattr, name.split(".")[1:], torch)
    names = _torch_names.names_of(name)
    assert names.complete
    assert [each for each in names.plain if not hasattr(owner, each)] == []
    exported = getattr(owner, "__all__", ()) or [each for each in dir(owner) if each[0] != "_"]
    assert [each for each in exported if not names.has(each)] == []
