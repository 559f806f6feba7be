"""Answering ``import torch`` with the bundled engine, whether PyTorch is installed or not.

``torch.x.y`` is the module ``gradtool.engine.x.y`` itself. A module or a name that the engine
lacks is a placeholder that raises when it is used; one that PyTorch does not have either
raises what Python would.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from itertools import takewhile
from types import ModuleType
from typing import TYPE_CHECKING

from gradtool.collect.torch_alias import missing_names

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:  # Importing them takes longer than the rest of this module.
    Loader = MetaPathFinder = object

_ANSWERED = ("torch", "triton")
"""The top-level packages whose imports are answered. There is no Triton without PyTorch."""

_COMPILED_AGAINST_TORCH = re.compile(r"\blib(?:torch|c10)|_ZNK?(?:2at|3c10|5torch)")
"""In the text of an ImportError: a library of PyTorch's, or a mangled name of its C++ code."""


@contextmanager
def answer_torch_imports() -> Iterator[None]:
    """Let ``import torch`` give the engine inside the block, and what it gave before after it.

    May be entered again, nested or later, and gives the same modules then. Functions that
    import torch when they are called must be called inside too.
    """
    _alias.enter()
    try:
        yield
    finally:
        _alias.leave()


def install() -> None:
    """Let ``import torch`` give the engine for the rest of the process, under torch's names."""
    missing_names.shown_as_torch = True
    _alias.enter()


COMPILED_EXTENSION = (
    "the library is compiled against PyTorch and needs it: gradtool's engine runs on NumPy and CuPy"
)
"""Explanation of an error for which `needs_real_torch` is True."""


def needs_real_torch(error: BaseException) -> bool:
    """Return True if an import failed because it loads C++ code compiled against PyTorch."""
    return isinstance(error, ImportError) and bool(_COMPILED_AGAINST_TORCH.search(str(error)))


class _Alias:
    """The modules that answer, and those that they hide in the meantime."""

    def __init__(self) -> None:
        self._depth = 0
        self._finder = _Finder()
        self._answers: dict[str, ModuleType] = {}
        self._hidden: dict[str, ModuleType] = {}
        self._last_before = ""
        """The newest name in ``sys.modules`` when it was last entered."""

    def enter(self) -> None:
        """Begin to answer."""
        self._depth += 1
        if self._depth == 1:
            # To look at every name would copy the pages of memory that a worker shares.
            is_there = any(top in sys.modules for top in _ANSWERED)
            self._hidden = _take_out(sys.modules) if is_there else {}
            previous, self._last_before = self._last_before, next(reversed(sys.modules))
            loaded = list(_names_since(previous))
            sys.modules.update(self._answers)
            sys.meta_path.insert(0, self._finder)
            importlib.util.find_spec = _find_spec
            missing_names.complete_engine(loaded)

    def leave(self) -> None:
        """Stop answering, once left as often as entered."""
        self._depth -= 1
        if self._depth == 0:
            sys.meta_path.remove(self._finder)
            importlib.util.find_spec = _find_any_spec
            self._answers = _take_out(_names_since(self._last_before))
            sys.modules.update(self._hidden)
            missing_names.restore_engine()


def _names_since(last: str) -> Iterator[str]:
    """Return the names that `sys.modules` was given after that one, the newest first."""
    return takewhile(lambda name: name != last, reversed(sys.modules))


def _take_out(candidates: Iterable[str]) -> dict[str, ModuleType]:
    """Remove the answered packages among them from ``sys.modules`` and return them."""
    near = [name for name in candidates if name.startswith(_ANSWERED)]
    names = [name for name in near if name.partition(".")[0] in _ANSWERED]
    return {name: sys.modules.pop(name) for name in names}


class _Finder(MetaPathFinder):
    """Finds ``torch`` and its submodules, and completes modules of the engine as they load."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,  # noqa: ARG002 - the import system's signature
    ) -> ModuleSpec | None:
        """Answer the import system."""
        if missing_names.is_mirror(fullname):
            return _found_in_engine(fullname, path)
        top = fullname.partition(".")[0]
        if top == "triton":
            raise ModuleNotFoundError(_NO_TRITON, name=fullname)
        if top != "torch":
            return None
        loader = _loader(fullname)
        if loader is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return ModuleSpec(fullname, loader, is_package=True)


_find_any_spec = importlib.util.find_spec


def _find_spec(name: str, package: str | None = None) -> ModuleSpec | None:
    """Find the spec of a module; None for an answered package that there is not.

    The finder has to raise for it: an import would go on to the finders of installed packages.
    """
    try:
        return _find_any_spec(name, package)
    except ModuleNotFoundError as error:
        if error.name == name and name.partition(".")[0] in _ANSWERED:
            return None
        raise


_NO_TRITON = (
    "Triton kernels need PyTorch: gradtool's engine runs on NumPy and CuPy, and cannot launch "
    "PyTorch's kernels"
)


def _found_in_engine(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    spec = PathFinder.find_spec(name, path)
    if spec is not None and isinstance(spec.loader, SourceFileLoader):
        spec.loader = _CompletingLoader(name, spec.loader.path)
    return spec


class _CompletingLoader(SourceFileLoader):
    """Loads a module of the engine and gives it placeholders for the names that it lacks."""

    def exec_module(self, module: ModuleType) -> None:
        """Run its code, then complete it."""
        super().exec_module(module)
        missing_names.complete(module)


def _loader(name: str) -> Loader | None:
    """Choose the loader of torch's module `name`; None where PyTorch has no such module."""
    home = missing_names.home_of(name)
    if not missing_names.is_private(name) and missing_names.exists(home):
        return _EngineModule(home)
    if not missing_names.torch_names().is_module(name):
        return None
    return _EngineModule(home) if missing_names.exists(home) else _LackingModule()


class _EngineModule(Loader):
    """Loads a module of the engine under torch's name for it."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002 - Loader's signature
        """The engine's own module."""
        module = importlib.import_module(self._home)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore what the import system changed: the module is not a new one."""
        module.__spec__ = self._spec
        missing_names.complete(module)


class _LackingModule(Loader):
    """Loads a module of placeholders in place of one that the engine lacks."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002 - Loader's signature
        """Let the import system create a plain module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Give it placeholders for every name of the real one."""
        missing_names.complete_lacking(module.__name__, module)


_alias = _Alias()
