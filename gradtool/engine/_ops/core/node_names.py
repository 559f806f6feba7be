"""Names of nodes as PyTorch has them: what ``grad_fn`` is called in the text of a tensor.

A primitive's node has the primitive's name. A function that is made of several would show the
last of them, where PyTorch has one node for the whole: its declaration states the name of that
node. Where PyTorch numbers its overloads, the arguments decide.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from gradtool.engine._modes import modes
from gradtool.engine._ops.core.joined import join
from gradtool.engine._ops.core.parameters import parameter_names
from gradtool.engine._ops.core.primitive_node import PrimitiveNode, save_also
from gradtool.engine._ops.core.saved_names import without_tensors
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import OutputEdge, next_order

Function = Callable[..., Any]
Namer = str | Callable[..., str | None]
"""The name of a node, or a function of the arguments that returns it; None for the default."""
F = TypeVar("F", bound=Function)


class Saving(msgspec.Struct, frozen=True):
    """A name of nodes that save arguments beyond those that the steps need."""

    name: Namer
    needed_by: dict[str, tuple[str, ...]]
    """What is saved -> the arguments, one of which has to require a gradient; none: always."""

    def keeper(self, function: Function) -> Callable[[Tensor, Any, Any], None]:
        """Return what saves them at the node of a result of `function`, from its arguments."""
        names = parameter_names(function)

        def keep(out: Tensor, args: Any, params: Any) -> None:
            node = out._node
            if node.__class__ is not PrimitiveNode or not hasattr(node, "title"):
                return
            given = dict(zip(names, args))
            given.update(params)
            saved = self._saved(out, given, node)
            if saved:
                save_also(out, saved)

        return keep

    def _saved(self, out: Tensor, given: dict[str, Any], node: PrimitiveNode) -> dict[str, Tensor]:
        """Return by name what the node does not keep anyhow, ``out`` for the result."""
        found: dict[str, Tensor] = {}
        for name, users in self.needed_by.items():
            if users and not _is_needed(users, given):
                continue
            if name == "out" and node.plan.out_slot is not None:
                continue
            held = out._bare() if name == "out" else given.get(name)
            if isinstance(held, Tensor) and node.plan.kept(name, node.saved) is not held:
                found[name] = held
        return found


def _is_needed(users: tuple[str, ...], given: dict[str, Any]) -> bool:
    return True in [getattr(given.get(each), "_requires_grad", False) for each in users]


NodeName = Namer | Saving


def saving(name: Namer, *always: str, **needed_by: str) -> Saving:
    """Return a node's name, with the arguments that PyTorch saves there.

    Args:
        name: the node's name.
        always: arguments, ``out`` for the result.
        needed_by: arguments that are saved where another one requires a gradient.
    """
    conditions = {each: tuple(others.split()) for each, others in needed_by.items()}
    return Saving(name, dict.fromkeys(always, ()) | conditions)


def named_node(name: NodeName) -> Callable[[F], F]:
    """Declare a function whose results have nodes of this name wherever it is called."""
    return lambda function: with_node_name(function, name)  # type: ignore[return-value]


_NODE_NAMES: dict[Function, NodeName] = {}


def with_node_name(function: Function, name: NodeName) -> Function:
    """Wrap `function` so that the node of its results has this name."""
    keep = None
    if isinstance(name, Saving):
        keep, name = name.keeper(function), name.name

    @functools.wraps(function)
    def call(*args: Any, **params: Any) -> Any:
        if not modes.grad:
            return function(*args, **params)
        began = next_order()
        out = function(*args, **params)
        if out.__class__ is Tensor:  # the usual result, written out: this is on every call's way
            node = out._node
            if node is None:
                return out
            if node._order < began:
                shown = name if isinstance(name, str) else name(*args, **params)
                if shown is not None:
                    if node.__class__ is not PrimitiveNode:
                        give_name(out, shown, (), (function, args, params))
                    else:
                        node.title = shown
                        node.call = without_tensors(function, args, params)
        else:
            _name_nodes(function, name, out, began, args, params)
        if keep is not None and isinstance(out, Tensor):
            keep(out, args, params)
        return out

    return call


def _name_nodes(
    function: Function, name: Namer, out: Any, began: int, args: Any, params: dict[str, Any]
) -> None:
    """Name the nodes of several results, or of one of another class or below a level."""
    recorded = [each for each in _tensors(out) if each._node is not None]
    if not recorded:
        return
    if len(recorded) == 1 and recorded[0].__class__ is Tensor:
        only = recorded[0]
        shown = name if isinstance(name, str) else name(*args, **params)
        node = only._node
        if shown is not None and node is not None and node._order < began:
            give_name(only, shown, (), (function, args, params))
        return
    # One that was changed in place has the node of the result.
    read = [each for each in args if isinstance(each, Tensor) and each is not out]
    before = [each._node for each in read]
    if isinstance(out, tuple) and isinstance(name, str):
        inner = [each._node for each in out if isinstance(each, Tensor)]
        if join(out, began, name):
            _keep_call(inner, function, args, params)
            return
    for each in out if isinstance(out, tuple) else (out,):
        if isinstance(each, Tensor) and each._node is not None:
            shown = name if isinstance(name, str) else name(*args, **params)
            if shown is not None:
                give_name(each, shown, before, (function, args, params))


def _tensors(out: Any) -> list[Tensor]:
    listed = out if isinstance(out, tuple) else (out,)
    return [each for each in listed if isinstance(each, Tensor)]


def _keep_call(nodes: Sequence[Any], function: Function, args: Any, params: Any) -> None:
    """Let the nodes inside of a joined one know the arguments of the whole."""
    for node in nodes:
        if isinstance(node, PrimitiveNode):
            node.call = without_tensors(function, args, params)


def node_name(name: NodeName) -> Callable[[F], F]:
    """Declare the node's name of a function that a namespace publishes by `published`."""

    def declare(function: F) -> F:
        _NODE_NAMES[function] = name
        return function

    return declare


def published(function: Any) -> Any:
    """Return `function` as a namespace shows it: with the node's name that it declares, if any."""
    name = _NODE_NAMES.get(function)
    return function if name is None else with_node_name(function, name)


def give_name(
    out: Tensor, name: str, before: Sequence[Any] = (), call: tuple[Any, Any, Any] | None = None
) -> None:
    """Name the node of a result, unless it is one of the nodes `before`, those of arguments.

    It keeps the call that it is the result of, without its tensors.
    """
    node: Any = out._node
    if before and any(node is each for each in before):
        return
    if node.__class__ is OutputEdge:
        node = node.node
    if isinstance(node, PrimitiveNode):
        node.title = name
        if call is not None:
            node.call = without_tensors(*call)


def numbered(name: str, overload: Callable[..., int]) -> Callable[..., str]:
    """Return a node's name that ends in the number of the overload which the arguments choose."""
    return lambda *args, **params: f"{name}Backward{int(overload(*args, **params))}"


def along_dimension(_x: Any, dim: Any = None, *_: Any, **params: Any) -> bool:
    """Return True where the arguments name a dimension: neither none nor another tensor."""
    dim = params.get("axis", dim)
    return dim is not None and not isinstance(dim, Tensor)


__all__ = [
    "NodeName", "along_dimension", "give_name", "named_node", "node_name", "numbered", "published",
    "saving", "with_node_name",
]  # fmt: skip
