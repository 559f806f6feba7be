"""The configuration of each file of a run: the one that was named, or the nearest above it."""

from __future__ import annotations

from pathlib import Path

from gradtool.gate.config import FILE_NAME, Config, find_config, load_config
from gradtool.gate.options import CheckOptions, UsageError
from gradtool.gate.targets import matches, shown_path


def config_of(path: str, named: str | None = None) -> Config:
    """The configuration for a file or a folder: `named`, or the nearest.

    Raises:
        UsageError: There is no such path, or something in the configuration is wrong.
    """
    place = Path(path)
    if not path or not place.exists():
        raise UsageError(f"{path or repr(path)} does not exist")
    file = place / FILE_NAME if place.is_dir() else place
    return Configs(CheckOptions(paths=(path,), config=named)).nearest(file)


class Configs:
    """Finds configurations and reads each once."""

    def __init__(self, options: CheckOptions) -> None:
        self._options = options
        self._named = load_config(options.config) if options.config is not None else None
        self._by_folder: dict[Path, Config] = {}
        self._by_path: dict[Path, Config] = {}

    def nearest(self, file: Path) -> Config:
        """The configuration for `file`; an empty one where there is none.

        Raises:
            UsageError: Something in the configuration is wrong.
        """
        if self._named is not None:
            return self._named
        folder = file.resolve().parent
        if folder not in self._by_folder:
            self._by_folder[folder] = self._load(find_config(folder))
        return self._by_folder[folder]

    def _load(self, path: Path | None) -> Config:
        if path is None:
            return Config()
        if path not in self._by_path:
            self._by_path[path] = load_config(path)
        return self._by_path[path]

    def excludes(self, entry: Path) -> bool:
        """Whether a walk leaves out `entry`, a file or a folder."""
        if self._options.exclude:
            return matches(entry, Path.cwd(), self._options.exclude)
        config = self.nearest(entry)
        return matches(entry.resolve(), config.folder, config.check.exclude)

    def read(self) -> tuple[str, ...]:
        """The files that were read, as reports show them."""
        found = [self._named.path] if self._named is not None else list(self._by_path)
        return tuple(shown_path(path) for path in found if path is not None)
