"""`Seal`: notice when checked code replaces something that the checker stands on.

A fingerprint is the identity of every function, class and constant that the checker runs: of
gradtool's own modules, of the entry points of NumPy and the standard library that they name, and of
the code inside those functions. It is taken before any foreign code runs, and compared afterwards.
What code merely adds, such as a method of its own, is not a difference, unless it hides something
that was found elsewhere before. Libraries may replace whatever the checker does not use.
"""

from __future__ import annotations

import builtins
import dataclasses
import dis
import functools
import sys
from collections.abc import Iterable, Iterator, Mapping
from operator import eq, is_
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

from gradtool.sandbox.sealed_names import Entries, Space

_ROOMS = ("adapters", "cases", "checking", "collect", "device", "explore", "findings")
_CORE = (
    "verify",
    "config",
    "results",
    "sandbox",
    "workers.channel",
    "workers.worker",
    "workers.messages",
)
_ENGINE_CORE = ("autograd", "func")
"""Parts of the engine that the checker stands on, beside the private ones."""

_NUMPY = (
    "_core._methods",
    "_core.fromnumeric",
    "_core.numeric",
    "_core.shape_base",
    "linalg._linalg",
)
"""Modules of NumPy in Python, to which its compiled functions and the public ones turn."""

_STANDARD = frozenset(
    {
        "builtins", "contextlib", "copy", "functools", "gc", "itertools", "math", "msgspec",
        "numbers", "operator", "os", "random", "signal", "sys", "threading", "time", "warnings",
    }
)  # fmt: skip
"""Modules beside NumPy's whose entry points a verdict can rest on, msgspec among them."""

_DISPLAY = frozenset({"__repr__", "__str__", "__format__", "__dir__"})
"""Methods of a tensor that libraries replace to print it, which no verdict rests on."""

_INPUT_OUTPUT = frozenset({"print", "open", "input", "load", "save"})
"""Entry points that libraries like to replace, which read and write but decide nothing."""

_BUILTINS_ALONE = frozenset({"compile"})
"""Names that the checker uses as builtins, and that ``torch`` has for something else."""

# Held here, since the checked code may replace the builtins that a comparison is made with.
_all, _eq, _id, _len, _map = all, eq, id, len, map
_gettrace, _getprofile = sys.gettrace, sys.getprofile

_CONSTANT = (int, float, complex, str, bytes, frozenset, tuple)
_PARTS = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
"""Attributes that make a function do something else."""


class Seal:
    """The fingerprint of this process, taken when it is made."""

    def __init__(self) -> None:
        found = _Found()
        self._spaces = tuple(found.spaces)
        self._tables = self._of_spaces()
        self._names = tuple(space.names for space in self._spaces)
        self._sizes = tuple(map(len, self._names))
        self._functions = frozenset(map(id, found.functions))
        self._held_functions = found.functions  # So that no other has the id of one of them.
        self._rewritten = _rewritten_functions()
        self._known = len(self._rewritten)
        self._cells = tuple(found.cells)
        self._held = tuple(cell.cell_contents for cell in self._cells)
        self._hooks = sys.gettrace(), sys.getprofile()

    def difference(self) -> str | None:
        """The name of something that is not what it was; None if everything is."""
        name = self._replaced() or self._added()
        if name is not None:
            return name
        for function in self._rewritten[self._known :]:
            if _id(function) in self._functions:
                return _name_of(function)
        if not _all(_map(is_, _map(_contents, self._cells), self._held)):
            return "a function within a function of gradtool"
        if (_gettrace(), _getprofile()) != self._hooks:
            return (
                "sys.settrace or sys.setprofile, which give code access to the checker's variables"
            )
        return None

    def _replaced(self) -> str | None:
        if not _all(table.is_same() for table in self._tables):
            for space in self._spaces:
                name = space.replaced()
                if name is not None:
                    return name
            self._tables = self._of_spaces()
        return None

    def _added(self) -> str | None:
        sizes = _map(_len, self._names)
        if not _all(_map(_eq, sizes, self._sizes)):
            for space in self._spaces:
                name = space.added()
                if name is not None:
                    return name
        return None

    def _of_spaces(self) -> tuple[Entries, ...]:
        by_kind = ((dict, dict.get), (MappingProxyType, MappingProxyType.get))
        return tuple(
            Entries([s for s in self._spaces if type(s.names) is kind], get)
            for kind, get in by_kind
        )


@functools.cache
def _rewritten_functions() -> list[FunctionType]:
    """Return the functions whose code or defaults were set since the first call, as it grows.

    An audit hook writes the list. To compare thousands of functions instead would take longer, and
    copy every page of memory that holds one, which a worker shares with the fork server.
    """
    rewritten: list[FunctionType] = []

    def hear(event: str, details: tuple[Any, ...]) -> None:
        if event in _CHANGES and details[1] in _PARTS:
            rewritten.append(details[0])

    sys.addaudithook(hear)
    return rewritten


_CHANGES = frozenset({"object.__setattr__", "object.__delattr__"})


def _contents(cell: Any) -> object:
    return cell.cell_contents


def _name_of(function: FunctionType) -> str:
    return f"{function.__module__}.{function.__qualname__}"


class _Found:
    """Everything that the checker stands on."""

    def __init__(self) -> None:
        self.spaces: list[Space] = []
        self.functions: list[FunctionType] = []
        self.cells: list[Any] = []
        self._seen: set[int] = set()
        own = {name: sys.modules[name] for name in sorted(sys.modules) if _is_ours(name)}
        for name, module in own.items():
            for key, value in vars(module).items():
                if not key.startswith("__"):
                    self._value(f"{name}.{key}", value)
        rebound = _rebound(self.functions)
        for name, module in own.items():
            self._module(name, module, rebound.get(name, frozenset()))
        self._foreign(own.values(), _names_in(self.functions))
        self._facade(f for f in self.functions if f.__module__.startswith("gradtool.adapters"))
        self._space("sys.modules", sys.modules, [*own, "numpy"])

    def _space(
        self,
        label: str,
        names: Mapping[Any, object],
        keys: Iterable[Any],
        hides: frozenset[str] = frozenset(),
        *,
        is_closed: bool = False,
    ) -> None:
        self.spaces.append(Space(label, names, keys, hides, is_closed=is_closed))

    def _module(self, label: str, module: ModuleType, rebound: frozenset[str]) -> None:
        names = vars(module)
        keys = [
            key
            for key, value in names.items()
            if key not in rebound and not key.startswith("__") and _is_fixed(value)
        ]
        is_closed = not label.startswith("gradtool.engine")
        self._space(label, names, keys, _BUILTINS - names.keys(), is_closed=is_closed)

    def _value(self, label: str, value: Any) -> None:
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, FunctionType):
            self._function(label, value)
        elif isinstance(value, type):
            self._class(label, value)
        elif type(value) is dict:
            self._table(label, value)
        elif isinstance(value, tuple | list | frozenset):
            for each in value:
                self._value(label, each)
        elif type(value).__module__.startswith("gradtool"):
            self._object(label, value)
        else:
            for name in ("__wrapped__", "__func__", "fget", "func", "_implementation"):
                inner = getattr(type(value), name, None) and getattr(value, name, None)
                if isinstance(inner, FunctionType):
                    self._value(label, inner)

    def _function(self, label: str, function: FunctionType) -> None:
        self.functions.append(function)
        for cell in function.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:  # An empty cell.
                continue
            if isinstance(held, FunctionType):
                self.cells.append(cell)
                self._value(label, held)
        inner = function.__dict__.get("__wrapped__")
        if inner is not None:
            self._value(label, inner)

    def _class(self, label: str, cls: type) -> None:
        is_own = cls.__module__.startswith("gradtool")
        # A class in C cannot be changed, and has more entries than all others.
        if not is_own and not any(isinstance(v, FunctionType) for v in vars(cls).values()):
            return
        skipped = _DISPLAY if is_own else frozenset({"__doc__"})
        keys = [k for k, v in vars(cls).items() if k not in skipped and _is_fixed(v)]
        inherited = frozenset(name for base in cls.__mro__[1:] for name in vars(base))
        hides = (inherited | {"__getattr__"}) - vars(cls).keys() - _DISPLAY
        is_closed = is_own and not cls.__module__.startswith("gradtool.engine")
        self._space(label, vars(cls), keys, hides if is_own else frozenset(), is_closed=is_closed)
        for key in keys:
            self._value(f"{label}.{key}", vars(cls)[key])

    def _table(self, label: str, table: dict[Any, Any]) -> None:
        keys = [key for key, value in table.items() if _is_code(value)]
        if keys:
            self._space(label, table, keys)
        for key in keys:
            self._value(f"{label}[{key!r}]", table[key])

    def _object(self, label: str, value: Any) -> None:
        held = getattr(value, "__dict__", None)
        if type(held) is not dict:
            return
        parameters = getattr(type(value), "__dataclass_params__", None)
        is_frozen = parameters is not None and parameters.frozen
        keys = [key for key, each in held.items() if (_is_fixed if is_frozen else _is_code)(each)]
        if keys:
            self._space(label, held, keys)
        for key, each in list(held.items()):
            if key in keys or type(each) is dict:
                self._value(f"{label}.{key}", each)

    def _foreign(self, own: Iterable[ModuleType], used: frozenset[str]) -> None:
        """The entry points of other libraries that the checker names."""
        modules = {v for m in own for v in vars(m).values() if type(v) is ModuleType}
        modules |= {v for m in tuple(modules) for v in vars(m).values() if _is_numpy_part(m, v)}
        names = (f"numpy.{name}" for name in _NUMPY)
        private = [sys.modules[name] for name in names if name in sys.modules]
        for module in sorted({*modules, builtins}, key=lambda each: each.__name__):
            if module.__name__ in _STANDARD or module.__name__.partition(".")[0] == "numpy":
                self._entries(module, used & vars(module).keys())
        for module in private:
            self._entries(module, [key for key in vars(module) if not key.startswith("__")])

    def _facade(self, callers: Iterable[FunctionType]) -> None:
        """The names of ``torch`` that the checker calls itself."""
        module = sys.modules.get("gradtool.engine")
        if module is not None:
            self._entries(module, (_names_in(callers) - _BUILTINS_ALONE) & vars(module).keys())

    def _entries(self, module: ModuleType, names: Iterable[str]) -> None:
        entries = vars(module)
        keys = [name for name in names if name not in _INPUT_OUTPUT and _is_code(entries[name])]
        self._space(module.__name__, entries, keys)
        for key in keys:
            self._value(f"{module.__name__}.{key}", entries[key])


_BUILTINS = frozenset(vars(builtins))


def _is_ours(name: str) -> bool:
    """Return True for a module of gradtool's that the checker stands on."""
    first, _, rest = name.partition(".")
    if first != "gradtool" or not rest:
        return False
    room, _, within = rest.partition(".")
    if room != "engine":
        return room in _ROOMS or rest.startswith(_CORE)
    parts = within.split(".")
    return bool(within) and (parts[0] in _ENGINE_CORE or parts[0].startswith("_"))


def _is_numpy_part(module: ModuleType, value: object) -> bool:
    name = getattr(value, "__name__", "")
    return module.__name__ == "numpy" and type(value) is ModuleType and name.startswith("numpy.")


def _is_code(value: object) -> bool:
    """Return True for what can be called, and for what computes an attribute."""
    own = type(value).__module__.startswith("gradtool") and dataclasses.is_dataclass(value)
    return callable(value) or own or isinstance(value, property | functools.cached_property)


def _is_fixed(value: object) -> bool:
    """Return True for what no code of gradtool's rebinds: code, and constants."""
    is_method = isinstance(value, staticmethod | classmethod)
    return is_method or _is_code(value) or type(value) in _CONSTANT


def _rebound(functions: Iterable[FunctionType]) -> dict[str, frozenset[str]]:
    """By module, the names that its functions declare `global`: its own state."""
    store = dis.opmap["STORE_GLOBAL"]
    found: dict[str, frozenset[str]] = {}
    for function in functions:
        for code in _all_code(function.__code__):
            if store in code.co_code[::2]:
                steps = (s for s in dis.get_instructions(code) if s.opcode == store)
                names = frozenset(str(step.argval) for step in steps)
                found[function.__module__] = found.get(function.__module__, frozenset()) | names
    return found


def _names_in(functions: Iterable[FunctionType]) -> frozenset[str]:
    """Names of globals and attributes that the code of functions mentions."""
    codes = (code for function in functions for code in _all_code(function.__code__))
    return frozenset(name for code in codes for name in code.co_names)


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)
