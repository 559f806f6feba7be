"""Callers of a Function: functions and methods of its package that lead to its ``apply``.

Where nothing shows what forward takes, what its callers take may: a module that is constructed, or
a wrapper with documented arguments, makes the objects, the buffers and the matching sizes itself.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeGuard

import msgspec
from msgspec.structs import replace

from gradtool.adapters.common.binding import parameters_of
from gradtool.adapters.common.parsed_source import docstring_of, forward_of
from gradtool.adapters.library import library
from gradtool.cases.inference.balls import curvatures, within_ball
from gradtool.cases.inference.calls.call_sites import Site, module_source
from gradtool.cases.inference.calls.importers import importers
from gradtool.cases.inference.calls.shown import shown_arguments
from gradtool.cases.inference.candidates import Parameters
from gradtool.cases.inference.clues import Clues
from gradtool.cases.inference.constructors import likely_arguments
from gradtool.cases.inference.documentation import extents_for, integers
from gradtool.cases.inference.drafts import Draft
from gradtool.cases.inference.plain_uses import FunctionNode, PlainUses, plain_uses
from gradtool.cases.inference.reading import Reading
from gradtool.cases.inference.roles import is_callable
from gradtool.cases.inference.shapes.annotated import in_annotations
from gradtool.cases.inference.shapes.reading import read_shapes
from gradtool.cases.inference.uses import Use, merge_uses, read_uses

MOST_CALLERS = 4
"""Callers that are tried."""

_MOST_READ = 12
"""Callers of which these are chosen."""

_LEVELS = 3
"""Calls between a caller and the Function."""

_MOST_PARAMETERS = 12
"""Parameters beyond which those with a default keep it."""

_DOES_MORE = re.compile(
    r"\b((open|input|exit|system|popen|run_main|save|savefig|load|dump|download\w*|urlopen|subprocess|"
    r"unlink|remove|rmtree|rename|write\w*|mkdir|makedirs|Path|DataLoader|init_process_group)\(|"
    r"(os|shutil|sys|subprocess|socket|requests|urllib|sqlite3|wandb)\.)"
)
"""Matches what reaches out of the process, in the body of what is then no caller."""

_NOT_CALLERS = re.compile(r"(test|bench|train|fit|main|demo|plot|run|profile)(_.*)?|__(?!call__).*")
"""Names of functions that do more than compute."""

_STARRED = (2, 1)
"""Numbers of arguments that ``*args`` of a caller may stand for."""

_SINGLE = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Caller(msgspec.Struct, frozen=True):
    """A function or a method, with the constructor of its object."""

    name: str
    reading: Reading
    made_by: int = 0
    """The number of leading parameters that belong to the constructor."""
    owner: type[Any] | None = None
    method: str = ""
    function: Any = None
    """What is called if there is no object."""

    def make(self, values: Mapping[int, Any]) -> Any:
        """Construct its object from the values of the leading parameters, if it has one."""
        if self.owner is None:
            return self.function
        names = [each.name for each in self.reading.parameters[: self.made_by]]
        made = self.owner(**{name: values[at] for at, name in enumerate(names)})
        return made if self.method in ("forward", "__call__") else getattr(made, self.method)

    def call(self, function: Callable[..., Any], values: Mapping[int, Any]) -> Any:
        """Call what `make` returned with the other values."""
        own = list(enumerate(self.reading.parameters))[self.made_by :]
        # What stands before one that has no name cannot be given by name beside it.
        before = max((at for at, each in own if each.kind not in _SINGLE), default=0)
        args = [values[at] for at, each in own if at < before or each.kind not in _SINGLE]
        named = {each.name: values[at] for at, each in own if at >= before and each.kind in _SINGLE}
        return function(*args, **named)


def callers(function: Any) -> list[Caller]:
    """The callers of a Function that are tried: those that take no functions, the nearest first.

    Other Functions, whose arguments are no better known, come last.
    """
    found = list(itertools.islice(_callers(function), _MOST_READ))
    found.sort(key=lambda each: (_is_of_function(each), _takes_functions(each)))
    return found[:MOST_CALLERS]


def shown_to(function: Any) -> Iterator[tuple[int, Draft]]:
    """Yield the arguments that examples in docstrings lead to, with the lines of the examples."""
    module, _ = module_source(function)
    namespace = _globals(function)
    if module is not None and "." not in function.__qualname__:
        found = _leading_to(function.__qualname__, module)
        names = {owner.name if owner else node.name for owner, node in found}
        yield from shown_arguments(function, module, {*names, function.__qualname__}, namespace)


def _is_of_function(caller: Caller) -> bool:
    owner = getattr(caller.function, "__self__", None)
    return isinstance(owner, type) and issubclass(owner, library().Function)


def _takes_functions(caller: Caller) -> bool:
    return any(caller.reading.uses[each.name].is_called for each in caller.reading.parameters)


def _callers(function: Any) -> Iterator[Caller]:
    module, _ = module_source(function)
    if module is None or "." in function.__qualname__:
        return
    for tree, names in itertools.chain([(module, _globals(function))], importers(function)):
        yield from _callers_in(tree, function.__qualname__, names)


def _globals(function: Any) -> Mapping[str, Any]:
    forward = inspect.unwrap(forward_of(function))
    return getattr(forward, "__globals__", {})


def _callers_in(module: ast.Module, name: str, namespace: Mapping[str, Any]) -> Iterator[Caller]:
    """Yield the callers of a Function in a module."""
    for owner, node in _leading_to(name, module):
        made = _caller(owner, node, namespace)
        if made is not None:
            # What refuses arguments there says which ones are accepted, as in forward.
            reading = replace(made.reading, module=module)
            yield from _with_counts(replace(made, reading=reading))


def _with_counts(caller: Caller) -> Iterator[Caller]:
    """Yield a caller with each number of arguments in place of ``*args``, if it has them."""
    own = caller.reading.parameters
    at = next((i for i, each in enumerate(own) if each.kind is each.VAR_POSITIONAL), None)
    if at is None:
        yield caller
        return
    for count in _STARRED:
        kind = inspect.Parameter.POSITIONAL_ONLY
        names = [f"{own[at].name}_{number}" for number in range(count)]
        single = [own[at].replace(name=name, kind=kind) for name in names]
        uses = {**caller.reading.uses, **dict.fromkeys(names, Use())}
        reading = replace(
            caller.reading, parameters=(*own[:at], *single, *own[at + 1 :]), uses=uses
        )
        yield replace(caller, reading=reading)


def _leading_to(
    name: str, module: ast.Module
) -> Iterator[tuple[ast.ClassDef | None, FunctionNode]]:
    """Yield functions and methods whose bodies name the Function, then those that name these."""
    known = {name}
    seen: set[ast.AST] = set()
    for _ in range(_LEVELS):
        found = []
        for owner, node in _defined(module):
            outer = owner.name if owner else node.name
            if node in seen or outer == name or not _mentions(node, known):
                continue
            seen.add(node)
            found.append((outer, node))
            if not _NOT_CALLERS.fullmatch(node.name) and not _DOES_MORE.search(ast.unparse(node)):
                yield owner, node
        known = {outer for outer, _ in found} | {node.name for _, node in found}
        known |= _aliases(module, known | {name})
        known -= {"forward", "__init__", "__call__"}


def _defined(module: ast.Module) -> Iterator[tuple[ast.ClassDef | None, FunctionNode]]:
    for statement in module.body:
        if isinstance(statement, FunctionNode):
            yield None, statement
        elif isinstance(statement, ast.ClassDef):
            yield from ((statement, e) for e in statement.body if isinstance(e, FunctionNode))


def _aliases(module: ast.Module, known: set[str]) -> set[str]:
    """The names of the module that ``f = Cls.apply`` and the like assign."""
    return {
        target.id
        for statement in module.body
        if isinstance(statement, ast.Assign) and _mentions(statement.value, known)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(
        (isinstance(each, ast.Name) and each.id in names)
        or (isinstance(each, ast.Attribute) and each.attr in names)
        for each in ast.walk(node)
    )


def _caller(
    owner: ast.ClassDef | None, node: FunctionNode, namespace: Mapping[str, Any]
) -> Caller | None:
    found: Any = namespace.get(owner.name if owner else node.name)
    if owner is None:
        return _of_function(node.name, found, node, namespace) if callable(found) else None
    if not isinstance(found, type):
        return None
    cls: Any = found
    if issubclass(cls, library().Function):
        forward = _method(owner, "forward")
        return _of_function(owner.name, cls.apply, forward, namespace) if forward else None
    name = f"{owner.name}.{node.name}"
    plain = inspect.getattr_static(cls, node.name, None)
    if isinstance(plain, staticmethod | classmethod):
        return _of_function(name, getattr(cls, node.name), node, namespace)
    return _of_object(name, cls, owner, node, namespace)


def _of_function(
    name: str, function: Any, node: FunctionNode, namespace: Mapping[str, Any]
) -> Caller | None:
    """The caller that can be called as it is."""
    parameters = _chosen(parameters_of(function))
    reading = _read([node], parameters, namespace)
    return Caller(name, reading, function=function) if parameters else None


def _of_object(
    name: str, cls: Any, owner: ast.ClassDef, node: FunctionNode, namespace: Mapping[str, Any]
) -> Caller | None:
    """The caller that is a method of an object, which has to be constructed."""
    try:
        made = _chosen(tuple(inspect.signature(cls).parameters.values()))
    except (TypeError, ValueError):
        return None
    made = tuple(each for each in made if each.kind in _SINGLE)
    own = _chosen(parameters_of(getattr(cls, node.name, None))[1:])
    if not (own or made):
        return None
    constructor = _method(owner, "__init__")
    nodes = [node, *([constructor] if constructor else [])]
    reading = _read(nodes, (*made, *own), namespace, _of_helpers(cls, node))
    likely = likely_arguments(cls)
    values = {each.name: likely[each.name] for each in made if each.name in likely}
    sites = [Site(values, "its constructor")] if values else []
    return Caller(name, replace(reading, sites=sites, constructs=True), len(made), cls, node.name)


def _of_helpers(cls: Any, node: FunctionNode) -> str:
    """The docstrings and annotated shapes of the methods that a method calls."""
    names = [e.func.attr for e in ast.walk(node) if isinstance(e, ast.Call) and _is_own(e.func)]
    own = (inspect.getattr_static(cls, name, None) for name in dict.fromkeys(names))
    methods = [each for each in own if inspect.isfunction(each)]
    return "\n".join(f"{docstring_of(each)}\n{in_annotations(each)}" for each in methods)


def _is_own(called: ast.expr) -> TypeGuard[ast.Attribute]:
    """Return True for ``self.solve``."""
    return isinstance(called, ast.Attribute) and ast.unparse(called.value) == "self"


def _method(owner: ast.ClassDef, name: str) -> FunctionNode | None:
    own = (e for e in owner.body if isinstance(e, FunctionNode) and e.name == name)
    return next(own, None)


def _chosen(parameters: Parameters) -> Parameters:
    """The parameters that get a value: all, or of many those without a default, and dtypes.

    A dtype that is float32 by default becomes float64, in which derivatives are compared.
    """
    own = tuple(map(_in_double, (e for e in parameters if e.kind is not e.VAR_KEYWORD)))
    if len(own) <= _MOST_PARAMETERS:
        return own
    kept = (inspect.Parameter.empty, library().torch.float64)
    return tuple(each for each in own if each.default in kept)


def _in_double(parameter: inspect.Parameter) -> inspect.Parameter:
    torch = library().torch
    is_single = parameter.default is torch.float32
    return parameter.replace(default=torch.float64) if is_single else parameter


def _read(
    nodes: list[FunctionNode],
    parameters: Parameters,
    namespace: Mapping[str, Any],
    beside: str = "",
) -> Reading:
    """Read what a caller says of its parameters, as `reading.read` does for a Function.

    Args:
        nodes: The caller, and the constructor of its object.
        parameters: The parameters of both.
        namespace: The globals of the caller.
        beside: What methods that it calls say of them.
    """
    names = tuple(each.name for each in parameters)
    text = "\n".join([*(ast.get_docstring(each) or "" for each in nodes), beside])
    uses = _uses(nodes, names, text)
    plain = plain_uses(names, nodes, None)
    _add_plain(uses, parameters, plain)
    about = f"{namespace.get('__name__')} {text}"
    for name in curvatures(about, names):
        uses[name].is_scalar = True
    clues = Clues(
        tensors=frozenset(_with_attributes(nodes[0], names)),
        documented=extents_for(text, names),
        integers=integers(text, names),
        uses=plain,
        within=within_ball(about, names),
    )
    return Reading(
        parameters=parameters,
        clues=clues,
        shapes=read_shapes(nodes[0], names, text),
        uses=uses,
        namespace=namespace,
        sites=[],
        differentiates=False,
        text=text,
    )


def _add_plain(uses: Mapping[str, Use], parameters: Parameters, plain: PlainUses) -> None:
    """Add plain uses of the parameters, all of which a caller is taken to use."""
    for parameter in parameters:
        use = uses[parameter.name]
        use.is_called |= is_callable(parameter) or parameter.name in plain.called
        use.is_count |= parameter.name in plain.counts
        use.is_unused = False


def _uses(nodes: list[FunctionNode], names: tuple[str, ...], text: str) -> dict[str, Use]:
    """Read the uses of each parameter in the functions that have it.

    A method may give the name of a parameter of the constructor to something else.
    """
    uses: dict[str, Use] = {}
    for node in nodes:
        own = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        found = read_uses(node, tuple(name for name in names if name in own), text)
        merge_uses(uses, {name: use for name, use in found.items() if name in uses})
        uses = {**found, **uses}
    return {name: uses.get(name) or Use() for name in names}


def _with_attributes(node: FunctionNode, names: tuple[str, ...]) -> Iterator[str]:
    for found in ast.walk(node):
        match found:
            case ast.Attribute(value=ast.Name(id=name)) if name in names:
                yield name
