"""The declaration of an op: its names, its forms as a method, and the name of its node.

``@op(in_place=True)`` above ``def abs(x)`` is all it takes for ``torch.abs(x)``, ``x.abs()`` and
``x.abs_()``. What is declared is called as it is: the only wrapper is the one that names a node,
for the functions whose node PyTorch names differently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, TypeVar, overload

from gradtool.engine._ops.core.inplace import in_place as in_place_form
from gradtool.engine._ops.core.node_names import NodeName, with_node_name

Function = Callable[..., Any]
T = TypeVar("T")
F = TypeVar("F", bound=Function)

FUNCTIONS: Final[dict[str, Any]] = {}
"""The functions of the public namespace."""
METHODS: Final[dict[str, Function]] = {}
"""The methods of Tensor that are attached to it."""
ATTRIBUTES: Final[dict[str, Function]] = {}
"""The attributes of Tensor that a function computes."""


@overload
def op(
    function: T,
    /,
    *,
    name: str = "",
    aliases: Sequence[str] = (),
    method: bool = False,
    in_place: bool | Function = False,
    node: NodeName | None = None,
) -> T: ...


@overload
def op(
    *,
    name: str = "",
    aliases: Sequence[str] = (),
    method: bool = False,
    in_place: bool | Function = False,
    node: NodeName | None = None,
) -> Callable[[T], T]: ...


def op(
    function: Any = None,
    /,
    *,
    name: str = "",
    aliases: Sequence[str] = (),
    method: bool = False,
    in_place: bool | Function = False,
    node: NodeName | None = None,
) -> Any:
    """Declare a function of the public namespace; as a decorator, or of a function at hand.

    Args:
        function: what is declared, and returned unchanged.
        name: its public name, by default ``function.__name__``.
        aliases: other public names for the same.
        method: whether it is a method of Tensor too.
        in_place: whether it is a method, and has an in-place form of its name with an underscore;
            a function if that form writes the result of another one.
        node: what ``grad_fn`` of a result is called, where that is not the primitive's name.
    """
    if function is None:
        return lambda made: op(
            made, name=name, aliases=aliases, method=method, in_place=in_place, node=node
        )
    public = function if node is None else with_node_name(function, node)
    for each in (name or function.__name__, *aliases):
        FUNCTIONS[each] = namesake(public, each) if each in aliases else public
        if method or in_place:
            METHODS[each] = namesake(public, each)
        if in_place:
            written = in_place if callable(in_place) else public
            METHODS[f"{each}_"] = in_place_form(written, f"{each}_")
    return function


def namesake(function: Any, name: str) -> Any:
    """Another function that does the same, as PyTorch has one for each name that users know.

    ``torch.abs``, ``torch.absolute`` and ``Tensor.abs`` can then be keys of one table.
    """
    if not isinstance(function, FunctionType):
        return function
    made = FunctionType(
        function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
    made.__annotations__, made.__module__ = function.__annotations__, function.__module__
    made.__qualname__ = name
    made.__dict__.update({"__wrapped__": function, **function.__dict__})
    return made


def method(*names: str, node: NodeName | None = None) -> Callable[[F], F]:
    """Declare a method of Tensor that PyTorch has no such function for."""

    def declare(function: F) -> F:
        public = function if node is None else with_node_name(function, node)
        for name in names or (function.__name__,):
            METHODS[name] = public if name == function.__name__ else namesake(public, name)
        return function

    return declare


def attribute(*names: str) -> Callable[[F], F]:
    """Declare a function of a tensor that computes an attribute of it."""

    def declare(function: F) -> F:
        for name in names or (function.__name__,):
            ATTRIBUTES[name] = function
        return function

    return declare


__all__ = ["ATTRIBUTES", "FUNCTIONS", "METHODS", "attribute", "method", "namesake", "op"]
