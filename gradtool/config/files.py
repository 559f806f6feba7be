"""The configuration of each file of a run: the one that was named, or the nearest above it.

Values that options or the environment give hold in each of them, and where there is none.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path

from gradtool.config.file import (
    FILE_NAME,
    Config,
    config_without_file,
    find_config,
    load_config,
)
from gradtool.config.options import CheckOptions
from gradtool.config.overrides import parse_override, parse_variable
from gradtool.errors import UsageError
from gradtool.results.paths import real_path, shown_path


def config_of(options: CheckOptions) -> Config:
    """The configuration for the one path, a file or a folder, of `options`.

    Raises:
        UsageError: There is no such path, or something in the configuration is wrong.
    """
    (path,) = options.paths
    place = Path(path)
    if not path or not place.exists():
        raise UsageError(f"{path or repr(path)} does not exist")
    file = place / FILE_NAME if place.is_dir() else place
    return Configs(options).nearest(file)


class Configs:
    """Finds configurations and reads each once.

    Raises:
        UsageError: Something in what the options name or give is wrong.
    """

    def __init__(self, options: CheckOptions) -> None:
        self._options = options
        self._overrides = [
            *map(parse_variable, options.variables),
            *map(parse_override, options.overrides),
        ]
        self._without_file = config_without_file(self._overrides)
        self._named = self._for_all()
        self._by_folder: dict[Path, Config] = {}
        self._by_path: dict[Path, Config] = {}

    def nearest(self, file: Path) -> Config:
        """The configuration for `file`; an empty one where there is none.

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
        """The configuration of all files, where options say that there is one."""
        name = self._options.config
        if self._options.no_config:
            if name is not None:
                raise UsageError(f"--isolated reads no file: leave --config {name} away")
            return self._without_file
        return None if name is None else load_config(name, self._overrides)

    def _load(self, path: Path | None) -> Config:
        if path is None:
            return self._without_file
        if path not in self._by_path:
            self._by_path[path] = load_config(path, self._overrides)
        return self._by_path[path]

    def excludes(self, entry: Path) -> bool:
        """Whether a walk leaves out `entry`, a file or a folder."""
        if self._options.exclude:
            return matches(entry, Path.cwd(), self._options.exclude)
        config = self.nearest(entry)
        return matches(real_path(entry), config.folder, config.check.exclude)

    def read(self) -> tuple[str, ...]:
        """The files that were read, and what gave other values, as reports show them."""
        found = [self._named.path] if self._named is not None else list(self._by_path)
        files = [shown_path(path) for path in found if path is not None]
        isolated = ["no file (--isolated)"] if self._options.no_config else []
        return (*files, *isolated, *(override.origin for override in self._overrides))


def matches(path: Path, folder: Path, patterns: tuple[str, ...]) -> bool:
    """Whether a pattern leaves `path` out.

    A pattern without a slash is a name, at whatever depth; one with a slash is a path
    relative to `folder`. ``*`` and ``?`` stand for what they stand for in a shell.
    """
    relative = os.path.relpath(path, folder).replace(os.sep, "/")
    return any(
        fnmatchcase(relative if "/" in pattern.rstrip("/") else path.name, pattern.strip("/"))
        for pattern in patterns
    )
