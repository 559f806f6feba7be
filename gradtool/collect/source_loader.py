"""Import of local modules from their source alone.

Python runs a ``.pyc`` in place of the source that it claims to belong to, and its header may say
that nobody need compare the two. So what a person reads would not be what is judged.
"""

from __future__ import annotations

import site
import sys
import sysconfig
from collections.abc import Mapping
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from gradtool.package import OWN_CODE

_imported: set[str] = set()


def imported_files() -> tuple[str, ...]:
    """The local files that this process has imported, in whatever way they were named."""
    return tuple(sorted(_imported))


class SourceOnlyLoader(SourceFileLoader):
    """Compiles a module from its source, reads no ``.pyc`` and writes none.

    Args:
        name: The module's name.
        path: Its file.
        read: Files that were read already, with the bytes that were found; those are compiled.
    """

    def __init__(self, name: str, path: str, read: Mapping[str, bytes]) -> None:
        super().__init__(name, path)
        self._read = read

    def get_data(self, path: str) -> bytes:
        """The bytes of the file, which is read once."""
        _imported.add(path)
        known = self._read.get(path)
        return super().get_data(path) if known is None else known

    def get_code(self, fullname: str) -> CodeType:
        """The code of the source."""
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, which as a package has what a failed import of it left behind.

        Python binds a module in its package only once, when the module is imported.
        """
        for name in _left_below(module.__name__) if hasattr(module, "__path__") else ():
            setattr(module, name.rpartition(".")[2], sys.modules[name])
        super().exec_module(module)


def _left_below(package: str) -> list[str]:
    """Names of the modules right below a package that were imported already."""
    start = f"{package}."
    return [
        name for name in sys.modules if name.startswith(start) and "." not in name[len(start) :]
    ]


def from_source(spec: ModuleSpec | None, read: Mapping[str, bytes]) -> ModuleSpec | None:
    """The spec with a `SourceOnlyLoader`, where that is needed; else None.

    It is for local files, those in `read`, and packages that are imported again.
    """
    if spec is None or spec.origin is None or type(spec.loader) is not SourceFileLoader:
        return None
    is_again = spec.submodule_search_locations is not None and bool(_left_below(spec.name))
    if not (is_local(spec.origin) or spec.origin in read or is_again):
        return None
    spec.loader = SourceOnlyLoader(spec.name, spec.origin, read)
    spec.cached = None
    return spec


def is_local(file: str) -> bool:
    """Return True for a file that is not installed: not Python's, a package's or gradtool's."""
    # One environment may see the packages of another, which no function lists.
    parts = Path(file).parts
    return not file.startswith(_installed()) and not any(name in parts for name in _OF_PACKAGES)


_OF_PACKAGES = ("site-packages", "dist-packages")


@cache
def _installed() -> tuple[str, ...]:
    """Folders of the standard library and of installed packages, and gradtool's own code."""
    paths = sysconfig.get_paths()
    folders = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    # A link may be part of one spelling and not of the other.
    spelt = {*folders, *(str(Path(folder).resolve()) for folder in folders)}
    return (OWN_CODE, *(f"{folder.rstrip('/')}/" for folder in sorted(spelt)))
