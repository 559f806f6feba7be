"""``gradtool.yaml``: how it is found and read.

A `Config` is a file that has been read and found right. Every mistake in it is one line
that names the file, the line and the key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gradtool.config.checks import refuse_mistakes
from gradtool.config.overrides import Override, overridden
from gradtool.config.schema import Defaults, File, FunctionConfig
from gradtool.config.validation import decode
from gradtool.config.yaml import Document, read_document
from gradtool.results.paths import real_path

FILE_NAME = "gradtool.yaml"

_NOTHING = Document(FILE_NAME, {"version": 1}, {})
"""What is read where there is no file."""


@dataclass(frozen=True)
class Config:
    """A configuration file that is right, or the empty one where there is none."""

    check: Defaults = field(default_factory=Defaults)
    functions: Mapping[str, FunctionConfig] = field(default_factory=dict)
    path: Path | None = None
    document: Document = _NOTHING
    """What it was read from."""

    @property
    def folder(self) -> Path:
        """The folder that paths and patterns of the file are relative to."""
        return self.path.parent if self.path else Path.cwd()

    def function(self, module: Path, name: str) -> FunctionConfig:
        """What the file says about Function `name` of `module`; the longest key decides."""
        keys = [key for key in self.functions if self._names(key, module, name)]
        return self.functions[max(keys, key=len)] if keys else FunctionConfig()

    def described(self, module: Path) -> tuple[str, ...]:
        """Names that the file describes as those of `module`, or of an ``nn.Module`` anywhere."""
        found = []
        for key, said in self.functions.items():
            path, _, name = key.rpartition("::")
            if self._names(key, module, name) and (path or said.module is not None):
                found.append(name)
        return tuple(dict.fromkeys(found))

    def _names(self, key: str, module: Path, name: str) -> bool:
        path, _, function = key.rpartition("::")
        if function != name:
            return False
        return not path or real_path(self.folder / path) == real_path(module)


def load_config(path: str | os.PathLike[str], overrides: Sequence[Override] = ()) -> Config:
    """Read and check the configuration file at `path`.

    Args:
        path: Where it is.
        overrides: Values that hold in place of its own.

    Raises:
        UsageError: The file cannot be read, or something in it or in `overrides` is wrong.
    """
    place = Path(path)
    document = read_document(place, _shown(place))
    if document.value is None:
        raise document.error((), "the file is empty: its first line should be 'version: 1'")
    return _read(document, real_path(place), overrides)


def config_without_file(overrides: Sequence[Override] = ()) -> Config:
    """The configuration where there is no file.

    Raises:
        UsageError: Something in `overrides` is wrong.
    """
    return _read(_NOTHING, None, overrides) if overrides else Config()


def _read(document: Document, path: Path | None, overrides: Sequence[Override]) -> Config:
    """The configuration of a document, which must be right without overrides too."""
    file = _checked(document)
    if overrides:
        document = overridden(document, overrides)
        file = _checked(document)
    return Config(file.check, file.functions, path, document)


def _checked(document: Document) -> File:
    _require_version(document)
    file = decode(document, File)
    refuse_mistakes(document, file)
    return file


def find_config(folder: Path) -> Path | None:
    """The nearest ``gradtool.yaml`` in `folder` or above it, within its repository."""
    for place in (folder, *folder.parents):
        file = place / FILE_NAME
        if file.is_file() or file.is_symlink():  # Wherever it leads: reading it will tell.
            return file
        if (place / ".git").exists():
            return None
    return None


def _shown(path: Path) -> str:
    """The path as messages name it: relative where that is shorter to read."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def _require_version(document: Document) -> None:
    """Say first, and plainly, when the file is of another version or of no version."""
    if not isinstance(document.value, dict):
        return
    version = document.value.get("version")
    if version is None:
        raise document.error(("version",), "'version' is missing: begin the file with 'version: 1'")
    if version != 1 or isinstance(version, bool):
        message = f"version {version!r} is not known here: this gradtool reads version 1"
        raise document.error(("version",), message)
