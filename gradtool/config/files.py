"""``gradtool.yaml``: finding it, reading it, and choosing the one for each file of a run.

A `Config` is a file that has been read and found valid. Every mistake in it is one line that
names the file, the line and the key. A file of Functions is checked by the configuration that
was named, or else by the nearest one above it.

Values given by options or the environment override those of each file, and are used without
a file too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from gradtool.config.decoding import decode
from gradtool.config.document import Document, Where
from gradtool.config.options import ConfigOptions
from gradtool.config.overrides import Override, overridden, parse_override, parse_variable
from gradtool.config.schema import Defaults, File, FunctionConfig
from gradtool.config.validation import refuse_mistakes
from gradtool.config.yaml import read_document
from gradtool.errors import UsageError
from gradtool.results.paths import real_path, shown_path
from gradtool.results.report import Location

FILE_NAME = "gradtool.yaml"

_NOTHING = Document(FILE_NAME, {"version": 1}, {})
"""Read if there is no file."""


class Config(msgspec.Struct, frozen=True):
    """A valid configuration file, or an empty one if there is no file."""

    check: Defaults = msgspec.field(default_factory=Defaults)
    functions: Mapping[str, FunctionConfig] = {}
    path: Path | None = None
    document: Document = _NOTHING
    """The document it was read from."""

    @property
    def folder(self) -> Path:
        """The folder that paths and patterns of the file are relative to."""
        return self.path.parent if self.path else Path.cwd()

    def function(self, module: Path, name: str) -> FunctionConfig:
        """Configuration of the Function `name` of `module`, by the longest key that matches."""
        key = self.key_of(module, name)
        return FunctionConfig() if key is None else self.functions[key]

    def key_of(self, module: Path, name: str) -> str | None:
        """The longest key that matches the Function `name` of `module`; None if none does."""
        keys = [key for key in self.functions if self._names(key, module, name)]
        return max(keys, key=len, default=None)

    def place(self, where: Where) -> Location:
        """The line of the file, or the option, that gave `where`, as reports show it."""
        origin = self.document.origin(where)
        if origin is not None or self.path is None:
            return Location(path=origin or self.document.name)
        return Location(path=shown_path(self.path), line=self.document.line(where))

    def described(self, module: Path) -> tuple[str, ...]:
        """Names that the file configures for `module`, or for an ``nn.Module`` in any file."""
        found = []
        for key, config in self.functions.items():
            path, _, name = key.rpartition("::")
            if self._names(key, module, name) and (path or config.module is not None):
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
        path: Its path.
        overrides: Values that replace its own.

    Raises:
        UsageError: The file cannot be read, or something in it or in `overrides` is wrong.
    """
    place = Path(path)
    document = read_document(place, _named_path(place))
    if document.value is None:
        raise document.error((), "the file is empty: its first line should be 'version: 1'")
    return _read(document, real_path(place), overrides)


def config_without_file(overrides: Sequence[Override] = ()) -> Config:
    """Return the configuration if there is no file.

    Raises:
        UsageError: Something in `overrides` is wrong.
    """
    return _read(_NOTHING, None, overrides) if overrides else Config()


def _read(document: Document, path: Path | None, overrides: Sequence[Override]) -> Config:
    """Read a document, which must be valid without overrides too."""
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
    """Find the nearest ``gradtool.yaml`` in `folder` or above it, within its repository."""
    for place in (folder, *folder.parents):
        file = place / FILE_NAME
        if file.is_file() or file.is_symlink():  # A broken link fails when it is read.
            return file
        # In a worktree or submodule it is a file.
        if (place / ".git").exists():
            return None
    return None


def _named_path(path: Path) -> str:
    """The path as messages name it, relative to the current folder if it lies below."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def _require_version(document: Document) -> None:
    """Report a missing or unknown version before any other mistake."""
    if not isinstance(document.value, dict):
        return
    version = document.value.get("version")
    if version is None:
        raise document.error(("version",), "'version' is missing: begin the file with 'version: 1'")
    # True equals 1.
    if version != 1 or isinstance(version, bool):
        message = f"version {version!r} is unknown: this gradtool reads version 1"
        raise document.error(("version",), message)


def config_of(path: str, options: ConfigOptions) -> Config:
    """Find the configuration for `path`, a file or a folder.

    Raises:
        UsageError: There is no such path, or something in the configuration is wrong.
    """
    place = Path(path)
    if not path or not _exists(place):
        raise UsageError(f"{path or repr(path)} does not exist")
    file = place / FILE_NAME if place.is_dir() else place
    return Configs(options).nearest(file)


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # Its name is too long, for one.
        return False


class Configs:
    """Finds configurations and reads each once.

    Raises:
        UsageError: A file or a value that the options name is wrong.
    """

    def __init__(self, options: ConfigOptions, exclude: tuple[str, ...] = ()) -> None:
        """Find configurations as `options` say.

        Patterns to `exclude` replace those of the configurations.
        """
        self._options = options
        self._exclude = exclude
        self.unmatched = list(exclude)
        """Patterns of `exclude` that have matched nothing so far."""
        self._overrides = [
            *map(parse_variable, options.variables),
            *map(parse_override, options.overrides),
        ]
        self._without_file = config_without_file(self._overrides)
        self._named = self._for_all()
        self._by_folder: dict[Path, Config] = {}
        self._by_path: dict[Path, Config] = {}

    def nearest(self, file: Path) -> Config:
        """Return the configuration for `file`, an empty one if there is none.

        Raises:
            UsageError: Something in the configuration is wrong.
        """
        if self._named is not None:
            return self._named
        folder = real_path(file).parent
        if folder not in self._by_folder:
            self._by_folder[folder] = self._load(find_config(folder))
        return self._by_folder[folder]

    def _for_all(self) -> Config | None:
        """The configuration for all files, if the options choose one."""
        name = self._options.file
        if self._options.isolated:
            if name is not None:
                raise UsageError(f"--isolated ignores all files: omit --config {name}")
            return self._without_file
        return None if name is None else load_config(name, self._overrides)

    def _load(self, path: Path | None) -> Config:
        if path is None:
            return self._without_file
        if path not in self._by_path:
            self._by_path[path] = load_config(path, self._overrides)
        return self._by_path[path]

    def excludes(self, entry: Path) -> bool:
        """Return True if a walk skips `entry`, a file or a folder."""
        if self._exclude:
            hit = [each for each in self._exclude if matches(entry, Path.cwd(), (each,))]
            self.unmatched = [each for each in self.unmatched if each not in hit]
            return bool(hit)
        config = self.nearest(entry)
        return matches(real_path(entry), config.folder, config.check.exclude)

    def read(self) -> tuple[str, ...]:
        """The files that were read, and the origins of other values, as reports show them."""
        found = [self._named.path] if self._named is not None else list(self._by_path)
        files = [shown_path(path) for path in found if path is not None]
        isolated = ["no file (--isolated)"] if self._options.isolated else []
        return (*files, *isolated, *(override.origin for override in self._overrides))


def matches(path: Path, folder: Path, patterns: tuple[str, ...]) -> bool:
    """Return True if a pattern matches `path`.

    A pattern without a slash is a name at any depth; one with a slash is a path relative to
    `folder`. ``*`` and ``?`` are wildcards, as in a shell.
    """
    relative = os.path.relpath(path, folder).replace(os.sep, "/")
    return any(
        fnmatchcase(relative if "/" in pattern.rstrip("/") else path.name, pattern.strip("/"))
        for pattern in patterns
    )
