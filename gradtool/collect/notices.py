"""Lines about the run itself: files without a Function, words that matched nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.collect.targets import Target
from gradtool.config.files import Config
from gradtool.results.paths import real_path
from gradtool.spelling import nearest

_LISTED = 3
"""Files without a Function that are named before they are only counted."""


class Notices:
    """Collects what is worth a line while a run is planned."""

    def __init__(self, keyword: str | None) -> None:
        self._keyword = keyword
        self._walked: list[str] = []
        self._named: list[str] = []
        self._configured: dict[str, None] = {}

    def passed_over(self, target: Target, private: Sequence[str] = ()) -> None:
        """A file has no Function but `private` ones."""
        if private:
            told = f"{target.shown} defines Functions for its own use only: {', '.join(private)}"
            self._named.append(f"{told}; to check one, name it: {target.shown}::{private[0]}")
        elif target.named:
            self._named.append(f"{target.shown} defines no Function")
        else:
            self._walked.append(target.shown)

    def discovered(self, target: Target, config: Config, names: Sequence[str]) -> None:
        """A file has Functions: a key of the configuration may have meant one of them."""
        for key in config.functions:
            path, _, name = key.rpartition("::")
            here = not path or real_path(config.folder / path) == real_path(target.path)
            meant = nearest(name, names)
            if here and name not in names and meant and meant not in config.functions:
                place = config.document.place(("functions", key))
                self._configured[
                    f"{place}: no Function {name!r} in {target.shown} (did you mean {meant!r}?)"
                ] = None

    def lines(self, modules: Sequence[Any]) -> tuple[str, ...]:
        """All notices; `modules` are those that have something to check."""
        found = [*self._named, *self._of_walk(), *self._configured]
        if self._keyword is not None and not any(module.functions for module in modules):
            found.append(f"-k {self._keyword!r} matched no case")
        return tuple(found)

    def _of_walk(self) -> list[str]:
        if len(self._walked) > _LISTED:
            return [f"{len(self._walked)} modules define no Function and were passed over"]
        return [f"{shown} defines no Function and was passed over" for shown in self._walked]
