"""Everything that the checker stands on: the names, functions and objects that a `Seal` covers.

They are those of gradtool's own modules, and the entry points of NumPy and the standard library
that these name. Libraries may replace whatever the checker does not use.
"""

from __future__ import annotations

import builtins
import dis
import functools
import itertools
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from operator import attrgetter
from types import CodeType, FunctionType, ModuleType
from typing import Any

import msgspec

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
            self._members(name, _public(module))
        self._own = tuple(self.functions)
        for name, module in own.items():
            self._module(name, module)
        callers = [each for each in self.functions if _is_caller(each)]
        self._foreign(own.values(), _names_in(_code_in(self.functions)))
        self._facade(_names_in(_code_in(callers)))
        held = {**own, "numpy": sys.modules["numpy"]}
        self.spaces.append(Space("sys.modules", sys.modules, _everything, held=held))

    def _space(
        self,
        label: str,
        names: Mapping[Any, object],
        covers: Callable[[Any, object], bool],
        hides: frozenset[str] = frozenset(),
        *,
        is_closed: bool = False,
    ) -> None:
        self.spaces.append(Space(label, names, covers, hides, is_closed=is_closed))

    def _module(self, label: str, module: ModuleType) -> None:
        names = vars(module)

        def covers(key: str, value: object) -> bool:
            is_constant = not key.startswith("__") and _is_fixed(value)
            return is_constant and not self._is_rebound(key, names)

        is_closed = not label.startswith("gradtool.engine")
        self._space(label, names, covers, _BUILTINS, is_closed=is_closed)

    def _is_rebound(self, name: str, names: Mapping[str, object]) -> bool:
        """Return True for a name that a function of the module declares `global`: its own state."""
        of_module = [each for each in self._own if each.__globals__ is names]
        return any(_stores(each, name) for each in _code_in(of_module))

    def _members(self, label: str, names: Iterable[tuple[str, Any]]) -> None:
        """Cover what names of a module, class or object stand for."""
        seen, plain = self._seen, _PLAIN
        for key, value in names:
            # Asked here too, since most need no label.
            if id(value) in seen or type(value) in plain:
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
        visit = _visit_of(type(value))  # type: ignore[arg-type]  # a class can be hashed
        if visit is not None:
            visit(self, label, value)

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
        names = vars(cls)

        def covers(key: str, value: object) -> bool:
            return key not in skipped and _is_fixed(value)

        hides = self._inherited(cls.__mro__[1:])
        self._space(label, names, covers, hides, is_closed=is_own and not is_engine)
        self._members(label, [each for each in names.items() if covers(*each)])
        for base in cls.__mro__[1:] if is_own else ():
            self._value(f"{base.__module__}.{base.__qualname__}", base)

    def _collection(self, label: str, values: Iterable[Any]) -> None:
        for each in values:
            if type(each) not in _PLAIN:  # Most are.
                self._value(label, each)

    def _member_of_enum(self, label: str, value: Enum) -> None:
        self._space(label, vars(value), _everything)

    def _record(self, label: str, value: msgspec.Struct) -> None:
        self._members(label, [(key, getattr(value, key)) for key in value.__struct_fields__])

    def _holder(self, label: str, value: Any) -> None:
        for name in _HOLDING:
            inner = getattr(type(value), name, None) and getattr(value, name, None)
            if isinstance(inner, FunctionType):
                self._value(label, inner)

    def _table(self, label: str, table: dict[Any, Any]) -> None:
        keys = [key for key, value in table.items() if _is_code(value)]
        if keys:
            self._space(label, table, lambda _, value: _is_code(value))
        for key in keys:
            self._value(f"{label}[{key!r}]", table[key])

    def _object(self, label: str, value: Any) -> None:
        held = getattr(value, "__dict__", None)
        if type(held) is not dict:
            return
        self.objects.append(value)
        keys = [key for key, each in held.items() if _is_code(each)]
        if keys:
            self._space(label, held, lambda _, each: _is_code(each))
        known = frozenset(keys)
        also = [(key, v) for key, v in held.items() if key in known or type(v) is dict]
        self._members(label, also)

    def _foreign(self, own: Iterable[ModuleType], used: frozenset[str]) -> None:
        """The entry points of other libraries that the checker names."""
        modules = {v for m in own for v in vars(m).values() if type(v) is ModuleType}
        packages = [each for each in modules if each.__name__ in _PACKAGES]
        modules |= {v for each in packages for v in vars(each).values() if _is_part(each, v)}
        names = (f"numpy.{name}" for name in _NUMPY)
        private = [sys.modules[name] for name in names if name in sys.modules]
        for module in sorted({*modules, builtins}, key=lambda each: each.__name__):
            if module.__name__ in _STANDARD or module.__name__.partition(".")[0] in _PACKAGES:
                self._entries(module, used)
        for module in private:
            self._entries(module, frozenset(key for key, _ in _public(module)))

    def _facade(self, called: frozenset[str]) -> None:
        """The names of ``torch`` that the checker calls itself."""
        module = sys.modules.get("gradtool.engine")
        if module is not None:
            self._entries(module, called - _BUILTINS_ALONE)

    def _entries(self, module: ModuleType, names: frozenset[str]) -> None:
        covered = {
            key: value
            for key, value in vars(module).items()
            if key in names and key not in _INPUT_OUTPUT and _is_code(value)
        }
        self._space(module.__name__, vars(module), lambda key, _: key in covered)
        self._members(module.__name__, covered.items())


Visit = Callable[[Sealed, str, Any], None]


@functools.cache
def _visit_of(kind: type) -> Visit | None:
    """Return what covers an object of that type; None where there is nothing in it to cover."""
    visits: tuple[tuple[Any, Visit], ...] = (
        (FunctionType, Sealed._function),
        (type, Sealed._class),
        (_COLLECTIONS, Sealed._collection),
        (Enum, Sealed._member_of_enum),
        (msgspec.Struct, Sealed._record),
    )
    if kind is dict:
        return Sealed._table
    for kinds, visit in visits:
        if issubclass(kind, kinds):
            return visit
    if kind.__module__.startswith("gradtool"):
        return Sealed._object
    return Sealed._holder if any(hasattr(kind, name) for name in _HOLDING) else None


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


def _public(module: ModuleType) -> list[tuple[str, object]]:
    """Names of a module, with what they stand for."""
    return [each for each in vars(module).items() if each[0][:2] != "__"]


def _is_caller(function: FunctionType) -> bool:
    """Return True for a function that calls ``torch`` itself."""
    return function.__module__.startswith("gradtool.adapters")


def _everything(*_: object) -> bool:
    return True


def _is_code(value: object) -> bool:
    """Return True for what can be called, and for what computes an attribute."""
    if callable(value) or isinstance(value, _COMPUTED):
        return True
    return isinstance(value, msgspec.Struct) and value.__struct_config__.frozen


def _is_fixed(value: object) -> bool:
    """Return True for what no code of gradtool's rebinds: code, and constants."""
    # Most can be called, and this is asked of each name there is.
    if callable(value) or type(value) in _CONSTANT:
        return True
    return isinstance(value, _WRAPPERS) or _is_code(value)


_STORE = dis.opmap["STORE_GLOBAL"]


def _stores(code: CodeType, name: str) -> bool:
    """Return True for code that sets a global name."""
    if name not in code.co_names:
        return False
    argument = code.co_names.index(name) % 256  # The rest comes before, in an `EXTENDED_ARG`.
    instruction = int.from_bytes((_STORE, argument), sys.byteorder)
    return instruction in memoryview(code.co_code).cast("H")


def _names_in(codes: Iterable[CodeType]) -> frozenset[str]:
    """Names of globals and attributes that code mentions."""
    return frozenset(itertools.chain.from_iterable(map(attrgetter("co_names"), codes)))


def _code_in(functions: Iterable[FunctionType]) -> list[CodeType]:
    """The code of functions, and of those inside them."""
    within = found = list(map(attrgetter("__code__"), functions))
    while within:
        constants = itertools.chain.from_iterable(map(attrgetter("co_consts"), within))
        within = [each for each in constants if type(each) is CodeType]
        found += within
    return found
