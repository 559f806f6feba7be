"""The rules: one file each, whose docstring is the page that ``gradtool explain`` prints.

To add one, write its file: every module named ``gt*`` in this folder is found. Codes are never
reused.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cached_property

from gradtool.verify.rules._rule import Answer, Flaw, Rule, Scope, skipped

__all__ = ["NAMES", "RULES", "Answer", "Flaw", "Rule", "Scope", "skipped"]


def _files() -> list[str]:
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return [name for name in names if name.startswith("gt")]


class _Rules(Mapping[str, Rule]):
    """Rules by code, each imported when it is first looked up.

    Most of them need NumPy, and a process that only reports must be able to list the codes
    without it.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, Rule] = {}

    @cached_property
    def _by_code(self) -> dict[str, str]:
        return {file[:5].upper(): f"{__name__}.{file}" for file in _files()}

    def __getitem__(self, code: str) -> Rule:
        if code not in self._loaded:
            self._loaded[code] = importlib.import_module(self._by_code[code]).RULE
        return self._loaded[code]

    def __contains__(self, code: object) -> bool:
        return code in self._by_code

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_code)

    def __len__(self) -> int:
        return len(self._by_code)


RULES: Mapping[str, Rule] = _Rules()
"""All rules by code."""

NAMES: Mapping[str, str] = {file[:5].upper(): file[6:].replace("_", "-") for file in _files()}
"""The name of each rule by its code, which needs none of them imported."""
