"""Writes gradtool/engine/_tensor_methods.pyi: the methods of Tensor that are attached at run time.

``python tests/engine/write_tensor_stub.py`` reads them from the declarations of the ops. A type
checker takes the class in the stub for a base of Tensor; at run time there is no such base.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import gradtool.engine  # noqa: E402 - of this repository, from wherever it is run
from gradtool.engine._ops.core import methods, return_types  # noqa: E402
from gradtool.engine._ops.core.op import ATTRIBUTES, METHODS  # noqa: E402
from gradtool.engine._tensor import Tensor  # noqa: E402

STUB = ROOT / "gradtool" / "engine" / "_tensor_methods.pyi"

HEADER = '''\
"""The methods of Tensor that are attached at run time, for type checkers.

Written by ``python tests/engine/write_tensor_stub.py``.
"""
# ruff: noqa: E501, I001, N802, N803 - one line for each method, under torch's names.
# fmt: off

'''

Signature = tuple[list[str], str]
"""The parameters after self, and what is returned."""


ITEMS: dict[str, Signature] = {
    "__getitem__": (["key: Any"], "Tensor"),
    "__setitem__": (["key: Any", "value: Any"], "None"),
}


class Types:
    """Types as the stub writes them, and the imports that they need."""

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = {}
        self.results: dict[str, tuple[str, ...]] = {}

    def text(self, kind: Any, function: Callable[..., Any]) -> str:
        """Write a type that `function` is annotated with."""
        if kind is None or kind is types.NoneType:
            return "None"
        if kind is Any:
            return self._imported("typing", "Any")
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return " | ".join(self.text(each, function) for each in args)
        if origin is Callable:
            self._imported("typing", "Any")
            return self._imported("collections.abc", "Callable") + "[..., Any]"
        if origin is not None:
            inner = ", ".join("..." if each is ... else self.text(each, function) for each in args)
            return f"{self.text(origin, function)}[{inner}]"
        return self._class(kind, function)

    def _class(self, kind: type, function: Callable[..., Any]) -> str:
        if kind.__module__ == "builtins":
            # Methods such as `float` hide the types of that name within the class.
            return f"builtins.{kind.__name__}"
        if kind.__module__ == return_types.__name__:
            self.results[kind.__name__] = kind._fields
            return f"_{kind.__name__}"
        if kind.__module__.startswith("gradtool.engine._ops."):
            # The ops import Tensor: a checker would have to take all of them at once.
            return self._imported("typing", "Any")
        if kind.__name__ in vars(Tensor):
            return self._imported(kind.__module__, kind.__name__, f"_{kind.__name__}")
        return self._imported(kind.__module__, kind.__name__)

    def _imported(self, module: str, name: str, alias: str = "") -> str:
        self.imports.setdefault(module, set()).add(f"{name} as {alias}" if alias else name)
        return alias or name

    def lines(self) -> Iterator[str]:
        """The imports, and the named tuples of results."""
        if self.results:
            self._imported("typing", "NamedTuple")
        yield "import builtins"
        for module, names in sorted(self.imports.items()):
            yield f"from {module} import {', '.join(sorted(names))}"
        for name, fields in sorted(self.results.items()):
            yield f"\nclass _{name}(NamedTuple):"
            yield from (f"    {field}: Tensor" for field in fields)


def page() -> str:
    """The stub."""
    kinds = Types()
    body: list[str] = []
    for name in sorted(ATTRIBUTES):
        parameters, returned = signature(ATTRIBUTES[name], kinds)
        body.append("    @property")
        body.append(line(name, parameters, returned))
    body.extend(line(name, *signature(METHODS[name], kinds)) for name in sorted(METHODS))
    body.extend(operators())
    imports = "\n".join(kinds.lines())
    return f"{HEADER}{imports}\n\nclass TensorMethods:\n" + "\n".join(body) + "\n"


def operators() -> Iterator[str]:
    """Declare the operators: all take anything, and return a tensor."""
    for name, _ in sorted(methods._operators()):
        if name in ITEMS:
            yield line(name, *ITEMS[name])
            continue
        one = name in ("__neg__", "__abs__", "__invert__", "__pos__")
        other = "object" if name in ("__eq__", "__ne__") else "Any"
        unlike = "  # type: ignore[override]  # elementwise" if other == "object" else ""
        yield line(name, [] if one else [f"other: {other}"], "Tensor") + unlike


def line(name: str, parameters: list[str], returned: str) -> str:
    return f"    def {name}({', '.join(['self', *parameters])}) -> {returned}: ..."


def signature(function: Callable[..., Any], kinds: Types) -> Signature:
    """The signature of the function that a method is, behind what wraps it."""
    changed = function.__name__.endswith("_") and hasattr(function, "__wrapped__")
    seen = function
    while hasattr(seen, "__wrapped__") and seen.__code__.co_name != "spread":
        seen = seen.__wrapped__
    hints = typing.get_type_hints(inspect.unwrap(seen))
    returned = "Tensor" if changed else kinds.text(hints.get("return", Any), function)
    parameters = [*inspect.signature(seen, follow_wrapped=False).parameters.values()][1:]
    if seen.__code__.co_name == "spread":
        kinds.text(Any, function)
        return [f"*{parameters[0].name}: Any", f"**{parameters[1].name}: Any"], returned
    return list(_written(parameters, hints, function, kinds)), returned


def _written(
    parameters: list[inspect.Parameter],
    hints: dict[str, Any],
    function: Callable[..., Any],
    kinds: Types,
) -> Iterator[str]:
    starred = False
    for each in parameters:
        kind = kinds.text(hints.get(each.name, Any), function)
        if each.kind is inspect.Parameter.VAR_POSITIONAL:
            starred = True
            yield f"*{each.name}: {kind}"
        elif each.kind is inspect.Parameter.VAR_KEYWORD:
            yield f"**{each.name}: {kind}"
        else:
            if each.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
                starred = True
                yield "*"
            yield f"{each.name}: {kind}" + _default(each.default)


def _default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return ""
    plain = value is None or isinstance(value, bool | int | float | str)
    return f" = {value!r}" if plain else " = ..."


if __name__ == "__main__":
    del gradtool
    STUB.write_text(page(), encoding="utf-8")
