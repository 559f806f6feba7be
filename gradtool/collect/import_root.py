"""`ImportRoot`: a folder that imports start in, as if it were first on ``sys.path``.

Two folders may both hold a ``helper.py``. Each root therefore keeps the modules that
were imported from it and shows them to Python only while it is active. The standard
library is never hidden by a file of the same name: gradtool itself needs it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.machinery import ModuleSpec, NamespaceLoader, PathFinder
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

from gradtool.collect.source_loader import from_source

RESERVED = frozenset({*sys.stdlib_module_names, "gradtool", "numpy"})
"""Top-level names that a file of the user's cannot shadow while gradtool runs."""


class ImportRoot:
    """A folder from which imports start, and the modules loaded from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read: dict[str, bytes] = {}
        """Source files that were read already, as they were then."""
        self._modules: dict[str, ModuleType] = {}
        # Finders cache folder listings by modification time, too coarse for files that were just
        # written.
        importlib.invalidate_caches()

    def source_of(self, file: str) -> bytes:
        """The source of a file that is compiled: as it was read, with what was replaced since."""
        return self.read[file] if file in self.read else Path(file).read_bytes()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let imports find this folder, and the modules already imported from it."""
        finder = _Finder(self.folder, self.read)
        newest = next(reversed(sys.modules))
        hidden = {name: sys.modules[name] for name in self._modules if name in sys.modules}
        sys.modules.update(self._modules)
        # First, so that a user's module wins over an installed one of the same name.
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)
            self._take_back(hidden, newest)

    def forget(self, kept: Collection[str]) -> None:
        """Have modules of this folder imported anew, except those with names to be kept."""
        for name in sys.modules.keys() - kept:
            module = sys.modules[name]
            if module is not None and self._holds(module):
                del sys.modules[name]

    def forget_orphans(self, kept: Collection[str]) -> None:
        """Forget namespace packages without the package around them, whose import failed.

        Their folders are looked up in it each time, which raises.
        """
        for name in sys.modules.keys() - kept:
            parent = name.rpartition(".")[0]
            loader = _own(sys.modules[name], "__loader__")
            if parent and parent not in sys.modules and isinstance(loader, NamespaceLoader):
                del sys.modules[name]

    def _take_back(self, hidden: Mapping[str, ModuleType], newest: str) -> None:
        """Remember the modules of this folder and remove them from ``sys.modules``.

        Args:
            hidden: What some of them stood in front of.
            newest: The name that came last before they did. To look at those before it would
                take time, and copy the pages of memory that a worker shares.
        """
        imported = takewhile(lambda name: name != newest, reversed(sys.modules))
        for name in [*imported, *hidden]:
            module = sys.modules.get(name)
            if module is None or hidden.get(name) is module or not self._holds(module):
                continue
            self._modules[name] = module
            if name in hidden:
                sys.modules[name] = hidden[name]
            else:
                del sys.modules[name]

    def _holds(self, module: ModuleType) -> bool:
        """Return True if `module`, or the package it belongs to, lies directly in the folder."""
        spec = _own(module, "__spec__")
        top = spec.name.partition(".")[0] if spec else ""
        if top in RESERVED:
            return False
        # A namespace package has no origin, only search paths.
        places = [spec.origin] if spec and spec.origin else _search_path(module)
        return any(self._is_below(place, top) for place in places)

    def _is_below(self, name: str, top: str) -> bool:
        # Most are elsewhere, which the text shows in a fraction of the time.
        if not name.startswith(str(self.folder)):
            return False
        return _is_directly_below(name, self.folder, top)


@lru_cache(maxsize=1024)  # Asked of each module before and after each case.
def _is_directly_below(name: str, folder: Path, top: str) -> bool:
    place = Path(name)
    if not place.is_relative_to(folder):
        return False
    first = place.relative_to(folder).parts[:1]
    return first == (place.name,) or first == (top,)


def _search_path(module: ModuleType) -> list[str]:
    """Folders of a package; empty for a module that has any attribute, as PyTorch's do."""
    path = _own(module, "__path__")
    try:
        return [str(place) for place in path] if isinstance(path, Iterable) else []
    except KeyError:  # The parent of a namespace package was removed.
        return []


def _own(module: ModuleType, name: str) -> Any:
    """An attribute that a module holds; one that it would compute may run code of the user's."""
    return getattr(module, "__dict__", {}).get(name)


class _Finder:  # Not a `MetaPathFinder`: importlib.abc loads modules for archives, too.
    """Finds top-level modules in one folder, and has local modules compiled from their source."""

    def __init__(self, folder: Path, read: Mapping[str, bytes]) -> None:
        self._search = [str(folder)]
        self._read = read

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module; what is not a local one of source is left to the other finders."""
        if fullname.partition(".")[0] in RESERVED:
            return None
        found = None if path is not None else PathFinder.find_spec(fullname, self._search, target)
        if found is None:
            return from_source(PathFinder.find_spec(fullname, path, target), self._read)
        if found.loader is None and PathFinder.find_spec(fullname):
            return None  # A folder without __init__.py gives way to an installed package.
        return from_source(found, self._read) or found
