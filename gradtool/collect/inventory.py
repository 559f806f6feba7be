"""All Functions of a loaded module: those that it holds, made, or only declares.

Each that the syntax tree declares has an entry, so that none goes unnoticed: with the class, where
there is one, or with the reason why there is none.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import reduce
from types import MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from gradtool.adapters.common.binding import function_class
from gradtool.adapters.common.recording import is_recording
from gradtool.adapters.library import library
from gradtool.collect.declared import Declared, declared_functions
from gradtool.collect.factories import call_factory, call_to_write
from gradtool.collect.lifted import lift


class Entry(msgspec.Struct, frozen=True):
    """One Function of a module."""

    name: str
    """The name that it is bound to, or the dotted name of its class statement."""
    value: Any
    """The class; None where it was never made."""
    line: int | None
    """The line of its declaration."""
    maker: str | None = None
    """Dotted name of the function that makes the class when it is called."""
    call: str | None = None
    """A statement at module level that makes it, if one can."""


def inventory(module: ModuleType, tree: ast.Module) -> list[Entry]:
    """List the Functions of a module, in the order of the source.

    Functions that make and return one, and that need no arguments or such as the source shows, are
    called for it. One that needs nothing of the functions around it is made without these.
    """
    declared = declared_functions(tree, lambda name: _is_function_in(module, name))
    unmade = [each for each in declared if each.within and not _made_as(each, module)]
    # What holds a class that was made; it would be gone with the next collection of garbage.
    kept = []
    for each in unmade:
        kept.append(call_factory(each, module, tree))
        if not _made_as(each, module):
            lift(each, module)
    names = {each.name for each in declared}
    made = [cls for cls in _made(module) if _is_from(cls, module, names)]
    return sorted(_entries(module, declared, made), key=lambda each: each.line or 0)


def _entries(
    module: ModuleType, declared: list[Declared], made: list[type[Any]]
) -> Iterator[Entry]:
    bound = _bound_names(module, made)
    lines = {each.name: each.line for each in reversed(declared)}
    seen: dict[str, int] = {}
    for cls in made:
        written = written_name(cls)
        name = bound.get(id(cls), written)
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:  # of several classes by one statement, of which none has a name
            name = f"{name}~{seen[name]}"
        yield Entry(name, cls, lines.get(written))
    names = {written_name(cls) for cls in made} | set(bound.values())
    for each in {each.name: each for each in reversed(declared)}.values():
        if each.name not in names and not _is_made_inside(each, made):
            maker = each.name.rpartition(".")[0] if each.within else None
            call = call_to_write(each) if each.within else None
            yield Entry(each.name, None, each.line, maker, call)


def _is_made_inside(declared: Declared, made: list[type[Any]]) -> bool:
    """Return True if the functions around a call of ``type`` made classes of any names there."""
    if not declared.within or not declared.name.endswith("type(...)"):
        return False
    around = declared.within[-1]
    lines = range(around.lineno, (around.end_lineno or around.lineno) + 1)
    methods = (getattr(each, "__func__", each) for cls in made for each in vars(cls).values())
    return any(
        each.__code__.co_firstlineno in lines for each in methods if inspect.isfunction(each)
    )


def written_name(cls: type[Any]) -> str:
    """The dotted name of the statement that made a class: ``make.Inner``."""
    return cls.__qualname__.replace("<locals>.", "")


def _bound_names(module: ModuleType, made: list[type[Any]]) -> dict[int, str]:
    """The names of the module that are bound to its Functions, each class's own preferred."""
    wanted = {id(cls) for cls in made}
    found: dict[int, str] = {}
    for name, value in vars(module).items():
        if id(value) in wanted and (id(value) not in found or name == value.__name__):
            found[id(value)] = name
    return found


def _made(module: ModuleType) -> list[type[Any]]:
    """The Functions that code of the module made, in any scope, in the order of making."""
    own = [cls for cls in _subclasses(library().Function) if _is_of(cls, module)]
    known = {id(cls) for cls in own}
    # One that a helper elsewhere made for this module has its only name here.
    helped = [
        cls
        for value in vars(module).values()
        if isinstance(value, type | MethodType)
        and (cls := function_class(value)) is not None
        and id(cls) not in known
        and "<locals>" in cls.__qualname__
        and not _is_named_at_home(cls)
    ]
    return list({id(cls): cls for cls in [*own, *helped]}.values())


def _is_from(cls: type[Any], module: ModuleType, declared: Collection[str]) -> bool:
    """Return False for a class without code that another module of the same name left behind."""
    is_bound = any(each is cls for each in vars(module).values())
    has_code = any(inspect.isfunction(getattr(v, "__func__", v)) for v in vars(cls).values())
    return has_code or is_bound or written_name(cls) in declared


def _made_as(declared: Declared, module: ModuleType) -> bool:
    return any(written_name(cls) == declared.name for cls in _made(module))


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    """All subclasses that are alive, each once."""
    seen: set[int] = set()
    stack = list(reversed(type.__subclasses__(cls)))
    while stack:
        each = stack.pop()
        if id(each) not in seen and not is_recording(each):
            seen.add(id(each))
            yield each
            stack.extend(reversed(type.__subclasses__(each)))


def _is_of(cls: type[Any], module: ModuleType) -> bool:
    """Return True for a class whose code is the module's, of several modules of one name."""
    methods = (inspect.unwrap(getattr(each, "__func__", each)) for each in vars(cls).values())
    spaces = [each.__globals__ for each in methods if inspect.isfunction(each)]
    if cls.__module__ != module.__name__:
        # Some set `__module__` to the package that exports the class.
        is_bound = any(each is cls for each in vars(module).values())
        return is_bound and any(space is vars(module) for space in spaces)
    own = [space for space in spaces if space.get("__name__") == cls.__module__]
    if own:
        return any(space is vars(module) for space in own)
    # Without code it belongs to the module that was loaded when it first appeared.
    return _OWNERS.setdefault(cls, module) is module


_OWNERS: WeakKeyDictionary[type[Any], ModuleType] = WeakKeyDictionary()


def _is_named_at_home(cls: type[Any]) -> bool:
    home = sys.modules.get(cls.__module__)
    return home is not None and any(each is cls for each in vars(home).values())


def _is_function_in(module: ModuleType, name: str) -> bool:
    """Return True for a dotted name that is a Function in the module's namespace."""
    try:
        value = reduce(getattr, name.split(".")[1:], _look(vars(module), name.split(".")[0]))
    except Exception:  # an attribute may be computed by the user's code
        return False
    return isinstance(value, type) and issubclass(value, library().Function)


def _look(names: Mapping[str, Any], name: str) -> Any:
    return names[name]
