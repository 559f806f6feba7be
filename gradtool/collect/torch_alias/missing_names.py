"""Placeholders for the names of torch that the engine's modules lack.

In a process that is a script's own, the engine's classes also name torch as their module, so
that what the script prints of them looks as it does with PyTorch: ``<class 'torch.Tensor'>``.
Pickles name the class there, and ``import torch`` finds it.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_ENGINE = "gradtool.engine"
shown_as_torch = False
"""True in a process that is a script's own: the engine's classes name torch as their module."""

_lacking: dict[str, ModuleType] = {}
"""The modules that hold placeholders only, by torch's name."""

_are_answering = False
"""True while the engine's modules stand for torch's. What completes them stays in them: to take it
out and put it back around each call would copy pages of memory that a worker shares."""

_asked: list[_Answer] = []
"""Those of the engine's modules that have found a name since."""

_completed: set[type] = set()
"""Classes of tensors that have placeholders for the methods that they lack."""


def home_of(name: str) -> str:
    """Name of the engine's module that answers for a module of torch."""
    return _ENGINE + name.removeprefix("torch")


def is_private(name: str) -> bool:
    """Return True for a module that is private, or in a private package."""
    return name.startswith("_") or "._" in name


def exists(name: str) -> bool:
    """Return True if there is a module of that name."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # Its parent does not exist.
        return False


def complete_lacking(name: str, module: ModuleType) -> None:
    """Give an empty module placeholders for every name of torch's module `name`."""
    vars(module)["__getattr__"] = _Answer(name, module)
    _lacking[name] = module


def complete_engine(loaded: Iterable[str]) -> None:
    """Give modules of the engine placeholders for the names that they lack.

    Args:
        loaded: Names of the modules that were loaded since the last time.
    """
    global _are_answering
    _are_answering = True
    for name in [name for name in loaded if name.startswith((_ENGINE, "torch."))]:
        module = sys.modules[name]
        # A private module answers once it was imported under torch's name, or if torch loads it.
        imported = name.startswith("torch.") and _is_engine(module.__name__)
        if imported or is_mirror(name) or _is_bound_in_torch(name):
            complete(module)


def complete(module: ModuleType) -> None:
    """Give one module of the engine placeholders for the names that it lacks."""
    own = vars(module).get("__getattr__")
    if not isinstance(own, _Answer):
        name = "torch" + module.__name__.removeprefix(_ENGINE)
        vars(module)["__getattr__"] = _Answer(name, module, own)
        if "__path__" not in vars(module) and torch_names().names_of(name).modules:
            vars(module)["__path__"] = []  # A package in PyTorch: its modules are lacking ones.
        # Found there, it is not bound in its parent anew, where a function may have its name.
        sys.modules.setdefault(name, module)
        if shown_as_torch:
            show_as_torch(module)
        if name == "torch":
            _complete_tensor(module.Tensor)
            if shown_as_torch:
                show_private_as_torch()


def restore_engine() -> None:
    """Let the engine's modules lack again what they lack."""
    global _are_answering
    _are_answering = False
    while _asked:
        _asked.pop().forget()
    for name, module in _lacking.items():
        parent, _, attribute = name.rpartition(".")
        above = sys.modules.get(home_of(parent))
        if above is not None and vars(above).get(attribute) is module:
            delattr(above, attribute)


def _is_engine(name: str) -> bool:
    return name == _ENGINE or name.startswith(f"{_ENGINE}.")


def is_mirror(name: str) -> bool:
    """Return True for a public module of the engine, which mirrors one of torch's."""
    return _is_engine(name) and not is_private(name)


def _is_bound_in_torch(name: str) -> bool:
    """Return True for a private module such as ``_ops``, which torch has as an attribute too."""
    parent, _, own = name.rpartition(".")
    return parent == _ENGINE and own in torch_names().names_of("torch").modules


def _complete_tensor(tensor: type) -> None:
    """Give Tensor placeholders for the methods that it lacks; `restore_engine` leaves them."""
    from gradtool.engine._placeholder import LackingMethod

    if tensor in _completed:
        return
    _completed.add(tensor)
    for name in (*torch_names().names_of("torch.Tensor").plain, *_OF_EARLIER_VERSIONS):
        if not hasattr(tensor, name):
            setattr(tensor, name, LackingMethod(f"torch.Tensor.{name}"))


_OF_EARLIER_VERSIONS = (
    "align_as", "align_to", "has_names", "refine_names", "rename", "rename_"
)  # fmt: skip
"""Methods of Tensor that PyTorch had, and that packages list."""


class _Answer:
    """The ``__getattr__`` of a module of torch, called for names that the module lacks.

    One of the engine's own modules has no others than before, unless it stands for torch's.
    """

    def __init__(
        self, name: str, module: ModuleType, own: Callable[[str], Any] | None = None
    ) -> None:
        self._own = own
        self._name = name
        self._module = module
        self._is_of_engine = _is_engine(module.__name__)
        self._found: dict[str, Any] = {}

    def __call__(self, attribute: str) -> Any:
        """Return a submodule that is not loaded yet, or a placeholder.

        Raises:
            AttributeError: PyTorch has no such name.
        """
        if self._is_of_engine and not _are_answering:
            return self._without_torch(attribute)
        if attribute not in self._found:
            if self._is_of_engine:
                _asked.append(self)
            self._found[attribute] = self._find(attribute)
        return self._found[attribute]

    def _without_torch(self, name: str) -> Any:
        if self._own is not None:
            return self._own(name)
        raise self._lacks(name, self._module.__name__)

    def forget(self) -> None:
        """Look all names up again when next called."""
        self._found.clear()

    def _find(self, name: str) -> Any:
        if not name.startswith("__"):
            submodule = self._submodule(name)
            if submodule is not None:
                return submodule
        if self._own is not None:
            with suppress(AttributeError):
                return self._own(name)
        names = torch_names().names_of(self._name)
        if not name.startswith("__") and names.has(name):
            return _placeholder_for(f"{self._name}.{name}", name in names.exceptions)
        raise self._lacks(name, self._name)

    def _lacks(self, name: str, module: str) -> AttributeError:
        message = f"module {module!r} has no attribute {name!r}"
        return AttributeError(message, name=name, obj=self._module)

    def _submodule(self, name: str) -> ModuleType | None:
        if is_private(name):
            # The engine's own imports of its private modules come here too.
            own = f"{self._module.__name__}.{name}"
            return importlib.import_module(own) if exists(own) else None
        full = f"{self._name}.{name}"
        is_module = exists(home_of(full)) or name in torch_names().names_of(self._name).modules
        return importlib.import_module(full) if is_module else None


def _placeholder_for(name: str, is_exception: bool) -> Any:
    from gradtool.engine import _placeholder

    return _placeholder.exception(name) if is_exception else _placeholder.placeholder(name)


def torch_names() -> ModuleType:
    """The list of torch's names. Importing it loads the engine, so it is imported late."""
    from gradtool.engine import _torch_names

    return _torch_names


_PRIVATE_CLASSES = {
    "Tensor": "torch",
    "Size": "torch",
    "dtype": "torch",
    "device": "torch",
    "Generator": "torch._C",
}
"""Classes of the engine's private modules that users see, and torch's modules for them."""


def show_private_as_torch() -> None:
    """Let the classes of the engine's private modules name torch's."""
    engine = sys.modules[_ENGINE]
    for name, module in _PRIVATE_CLASSES.items():
        getattr(engine, name).__module__ = module


def show_as_torch(module: ModuleType) -> None:
    """Let the classes that a module of the engine defines name torch's module."""
    name = module.__name__
    for value in list(vars(module).values()):
        if isinstance(value, type) and value.__module__ == name:
            with contextlib.suppress(TypeError, AttributeError):  # one that refuses keeps its own
                value.__module__ = "torch" + name.removeprefix(_ENGINE)
