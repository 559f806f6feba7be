"""Names and what they stand for, compared with what they stood for once.

Identities are compared, in loops of C: no object can pass for another by its `__eq__`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from operator import is_
from types import FunctionType, ModuleType
from typing import Any

# Held here, since the checked code may replace the builtins that a comparison is made with.
_all, _filter, _len, _map, _next = all, filter, len, map, next


class Space:
    """Names with what they stand for: of a module, a class, an object or a table.

    All are held, since a copy of a dict costs next to nothing; which of them are covered is asked
    of those that stand for something else.
    """

    def __init__(
        self,
        label: str,
        names: Mapping[Any, object],
        covers: Callable[[Any, object], bool],
        hides: frozenset[str] = frozenset(),
        *,
        is_closed: bool = False,
        held: Mapping[Any, object] | None = None,
    ) -> None:
        self._label = label
        self.names = names
        # A copy of the whole, which takes no step for each entry.
        self._held: dict[Any, object] = names.copy() if held is None else dict(held)  # type: ignore[attr-defined]
        self._covers = covers
        """Return True for a name, with what it stood for, that must go on to do so."""
        self._hides = hides
        """Names that are found elsewhere as long as they are not here."""
        self._is_closed = is_closed
        """No code may add a name."""
        self._open: frozenset[Any] = frozenset()
        """Names that turned out not to be covered."""

    def difference(self) -> str | None:
        """The name of an entry that was replaced, removed, or added where it has no place."""
        return self._replaced() or self._added()

    def _replaced(self) -> str | None:
        get, held = self.names.get, self._held
        if _all(_map(is_, _map(get, held), held.values())):
            return None
        changed = [(key, value) for key, value in held.items() if get(key) is not value]
        for key, value in changed:
            if key not in self._open and not _is_same(get(key), value):
                if self._covers(key, value):
                    return self._named(key)
                self._open |= {key}
            held[key] = get(key)
        return None

    def _added(self) -> str | None:
        """The name of an entry that hides something, or has no place here."""
        held = self._held
        if _len(self.names) == _len(held):
            return None
        added = _filter(self._is_forbidden, [key for key in self.names if key not in held])
        first = _next(added, None)
        return None if first is None else self._named(first)

    def _is_forbidden(self, name: Any) -> bool:
        """Return True for a name that must not be added."""
        if name in self._hides:
            return True
        # Caches, such as those of msgspec, are of that form.
        if not self._is_closed or (name.startswith("__") and name.endswith("__")):
            return False
        # A module of a package is an attribute of it once it is imported.
        return type(self.names[name]) is not ModuleType

    def _named(self, key: object) -> str:
        return f"{self._label}.{key}" if isinstance(key, str) else f"an entry of {self._label}"


def _is_same(now: object, was: object) -> bool:
    """Return True for the same object, and for the engine's function that looks at classes first.

    With the first class that derives from Tensor, the engine puts such a function in front of each
    public one.
    """
    overrides = sys.modules.get("gradtool.engine._overrides")
    if now is was or type(now) is not FunctionType or overrides is None:
        return now is was
    code, cells = now.__code__, now.__closure__ or ()
    made_there = code in overrides._overridable.__code__.co_consts
    if not made_there or now.__globals__ is not vars(overrides):
        return False
    return cells[code.co_freevars.index("function")].cell_contents is was
