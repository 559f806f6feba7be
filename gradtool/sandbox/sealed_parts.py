"""Everything that the checker stands on: the names, functions and objects that a `Seal` covers.

They are those of gradtool's own modules, and the entry points of NumPy and the standard library
that these name. Libraries may replace whatever the checker does not use.
"""

from __future__ import annotations

import builtins
import dataclasses
import dis
import functools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from operator import attrgetter
from types import CodeType, FunctionType, ModuleType
from typing import Any

from gradtool.sandbox.sealed_names import Space

_OWN_PACKAGES = ("adapters", "cases", "checking", "collect", "device", "explore", "findings")
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
        "builtins", "contextlib", "copy", "functools", "gc", "itertools", "math", "numbers",
        "operator", "os", "random", "signal", "sys", "threading", "time", "warnings",
    }
)  # fmt: skip
"""Modules of Python whose entry points a verdict can rest on."""

_PACKAGES = ("numpy", "msgspec")
"""Packages of which the same holds, with all their modules."""

_DISPLAY = frozenset({"__repr__", "__str__", "__format__", "__dir__"})
"""Methods of a tensor that libraries replace to print it, which no verdict rests on."""

_NOTES = frozenset({"__doc__", "__module__"})
"""Attributes of a class that libraries change for their documentation."""

_INPUT_OUTPUT = frozenset({"print", "open", "input", "load", "save"})
"""Entry points that libraries like to replace, which read and write but decide nothing."""

_BUILTINS_ALONE = frozenset({"compile"})
"""Names that the checker uses as builtins, and that ``torch`` has for something else."""

_PLAIN = frozenset({int, float, complex, str, bytes, bool, type(None), ModuleType})
"""Types of values that hold no code."""

_COLLECTIONS = (tuple, list, frozenset)
_CONSTANT = frozenset({int, float, complex, str, bytes, frozenset, tuple})
_WRAPPERS = (staticmethod, classmethod, Enum)
_COMPUTED = (property, functools.cached_property)

_HOLDING = ("__wrapped__", "__func__", "fget", "func", "_implementation")
"""Attributes in which other objects hold a function."""


class Sealed:
    """Names and functions in the modules that are loaded when it is made."""

    def __init__(self) -> None:
        self.spaces: list[Space] = []
        self.functions: list[FunctionType] = []
        self.cells: list[Any] = []
        self.objects: list[Any] = []
        self._seen: set[int] = set()
        self._inherited = functools.cache(_inherited)
        own = {name: sys.modules[name] for name in sorted(sys.modules) if _is_ours(name)}
        for name, module in own.items():
            self._members(name, vars(module), [k for k in vars(module) if not k.startswith("__")])
        codes = {function: _all_code(function) for function in self.functions}
        rebound = _rebound(codes)
        for name, module in own.items():
            self._module(name, module, rebound.get(name, frozenset()))
        self._foreign(own.values(), _names_in(codes.values()))
        callers = (f for f in codes if f.__module__.startswith("gradtool.adapters"))
        self._facade(_names_in(map(codes.__getitem__, callers)))
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
        self._space(label, names, keys, _BUILTINS, is_closed=is_closed)

    def _members(self, label: str, names: Mapping[str, Any], keys: Iterable[str]) -> None:
        """Cover what names of a module, class or object stand for."""
        seen = self._seen
        for key in keys:
            value = names[key]
            # Asked here too, since most need no label.
            if type(value) in _PLAIN or id(value) in seen:
                continue
            if type(value) is FunctionType and value.__closure__ is None and not _wraps(value):
                seen.add(id(value))  # Most are of this kind.
                self.functions.append(value)
            else:
                self._value(f"{label}.{key}", value)

    def _value(self, label: str, value: Any) -> None:
        if type(value) in _PLAIN or id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, FunctionType):
            self._function(label, value)
        elif isinstance(value, type):
            self._class(label, value)
        elif type(value) is dict:
            self._table(label, value)
        elif isinstance(value, _COLLECTIONS):
            for each in value:
                if type(each) not in _PLAIN:  # Most are.
                    self._value(label, each)
        elif isinstance(value, Enum):
            self._space(label, vars(value), vars(value))
        elif type(value).__module__.startswith("gradtool"):
            self._object(label, value)
        else:
            for name in _HOLDING:
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
        if _wraps(function):
            self._value(label, function.__dict__["__wrapped__"])

    def _class(self, label: str, cls: type) -> None:
        is_own = cls.__module__.startswith("gradtool")
        # A class in C cannot be changed, and has more entries than all others.
        if not is_own and not any(isinstance(v, FunctionType) for v in vars(cls).values()):
            return
        is_engine = cls.__module__.startswith("gradtool.engine")
        skipped = (_DISPLAY if is_own else _NOTES) | (_NOTES if is_engine else frozenset())
        keys = [k for k, v in vars(cls).items() if k not in skipped and _is_fixed(v)]
        is_closed = is_own and not is_engine
        hides = self._inherited(cls.__mro__[1:])
        self._space(label, vars(cls), keys, hides, is_closed=is_closed)
        self._members(label, vars(cls), keys)
        for base in cls.__mro__[1:] if is_own else ():
            self._value(f"{base.__module__}.{base.__qualname__}", base)

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
        self.objects.append(value)
        parameters = getattr(type(value), "__dataclass_params__", None)
        is_frozen = parameters is not None and parameters.frozen
        keys = [key for key, each in held.items() if is_frozen or _is_code(each)]
        if keys:
            self._space(label, held, keys)
        known = frozenset(keys)
        also = [key for key, each in held.items() if key in known or type(each) is dict]
        self._members(label, held, also)

    def _foreign(self, own: Iterable[ModuleType], used: frozenset[str]) -> None:
        """The entry points of other libraries that the checker names."""
        modules = {v for m in own for v in vars(m).values() if type(v) is ModuleType}
        packages = [each for each in modules if each.__name__ in _PACKAGES]
        modules |= {v for each in packages for v in vars(each).values() if _is_part(each, v)}
        names = (f"numpy.{name}" for name in _NUMPY)
        private = [sys.modules[name] for name in names if name in sys.modules]
        for module in sorted({*modules, builtins}, key=lambda each: each.__name__):
            if module.__name__ in _STANDARD or module.__name__.partition(".")[0] in _PACKAGES:
                self._entries(module, [key for key in vars(module) if key in used])
        for module in private:
            self._entries(module, [key for key in vars(module) if not key.startswith("__")])

    def _facade(self, called: frozenset[str]) -> None:
        """The names of ``torch`` that the checker calls itself."""
        module = sys.modules.get("gradtool.engine")
        if module is not None:
            used = called - _BUILTINS_ALONE
            self._entries(module, [key for key in vars(module) if key in used])

    def _entries(self, module: ModuleType, names: Iterable[str]) -> None:
        entries = vars(module)
        keys = [name for name in names if name not in _INPUT_OUTPUT and _is_code(entries[name])]
        self._space(module.__name__, entries, keys)
        self._members(module.__name__, entries, keys)


_BUILTINS = frozenset(vars(builtins))


def _wraps(function: FunctionType) -> bool:
    """Return True for a function that names what it wraps; others need no dict to be asked."""
    return getattr(function, "__wrapped__", None) is not None


def _is_ours(name: str) -> bool:
    """Return True for a module of gradtool's that the checker stands on."""
    first, _, rest = name.partition(".")
    if first != "gradtool" or not rest:
        return False
    package, _, within = rest.partition(".")
    if package != "engine":
        return package in _OWN_PACKAGES or rest.startswith(_CORE)
    parts = within.split(".")
    return bool(within) and (parts[0] in _ENGINE_CORE or parts[0].startswith("_"))


def _is_part(package: ModuleType, value: object) -> bool:
    is_module = type(value) is ModuleType
    return is_module and getattr(value, "__name__", "").startswith(f"{package.__name__}.")


def _inherited(bases: tuple[type, ...]) -> frozenset[str]:
    """Names that a class has from these, or from nobody: one of its own would come before."""
    names = frozenset(name for base in bases for name in vars(base))
    return (names | {"__getattr__"}) - _DISPLAY


def _is_code(value: object) -> bool:
    """Return True for what can be called, and for what computes an attribute."""
    if callable(value) or isinstance(value, _COMPUTED):
        return True
    return type(value).__module__.startswith("gradtool") and dataclasses.is_dataclass(value)


def _is_fixed(value: object) -> bool:
    """Return True for what no code of gradtool's rebinds: code, and constants."""
    # Most can be called, and this is asked of each name there is.
    if callable(value) or type(value) in _CONSTANT:
        return True
    return isinstance(value, _WRAPPERS) or _is_code(value)


def _rebound(codes: Mapping[FunctionType, Sequence[CodeType]]) -> dict[str, frozenset[str]]:
    """By module, the names that its functions declare `global`: its own state."""
    found: dict[str, frozenset[str]] = {}
    for function, parts in codes.items():
        # Few have the byte at all, and to look at each instruction takes long.
        for code in [each for each in parts if _STORE in _instructions(each)]:
            names = found.get(function.__module__, frozenset())
            found[function.__module__] = names.union(_stored_globally(code))
    return found


_STORE = dis.opmap["STORE_GLOBAL"]
# Python would keep a copy of what `co_code` returns, in each code that is asked for it.
_instructions = attrgetter(
    "_co_code_adaptive" if hasattr(CodeType, "_co_code_adaptive") else "co_code"
)


def _stored_globally(code: CodeType) -> Iterator[str]:
    if _STORE in _instructions(code)[::2]:
        yield from (str(s.argval) for s in dis.get_instructions(code) if s.opcode == _STORE)


def _names_in(codes: Iterable[Sequence[CodeType]]) -> frozenset[str]:
    """Names of globals and attributes that the code of functions mentions."""
    return frozenset().union(*(code.co_names for parts in codes for code in parts))


def _all_code(function: FunctionType) -> list[CodeType]:
    """The code of a function, and of those inside it."""
    found = [function.__code__]
    for code in found:  # It grows meanwhile.
        for each in code.co_consts:
            if type(each) is CodeType:
                found.append(each)  # noqa: PERF401 - a list for each code takes longer
    return found
