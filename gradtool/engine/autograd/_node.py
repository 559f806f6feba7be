"""The graph: nodes that record how tensors were computed.

A node knows how to turn the gradient of its outputs into gradients of its inputs, and the
nodes (`_edges`) that those gradients go to. Nodes are numbered as they are made: an edge
always leads to an older node, so handling nodes from the newest to the oldest handles
every consumer of a tensor before its producer.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

# `_tensor` imports this module.
if TYPE_CHECKING:
    from gradtool.engine._dtypes import dtype
    from gradtool.engine._tensor import Tensor
    from gradtool.engine.autograd._new_nodes import Packer

Gradients = Sequence["Tensor | None"]
Hook = Callable[..., Any]

FREED = ("freed",)
"""Stands in the place of saved values once the graph was walked without ``retain_graph``."""

FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors "
    "after they have already been freed). Saved intermediate values of the graph are freed "
    "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
    "backward through the graph a second time or if you need to access saved tensors after "
    "calling backward."
)

DETACHED_MESSAGE = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is "
    "not supported, please use out-of-place `.detach()` instead"
)

# Downwards, because the walk's heap yields the smallest number first.
_orders = itertools.count(0, -1)
next_order = _orders.__next__
"""Newer nodes have a smaller order."""


def next_sequence_number() -> int:
    """Return the sequence number that the next node will have, without making one."""
    # A counter cannot be looked at otherwise: it is shown as ``count(-5, -1)``.
    return -int(repr(_orders).removeprefix("count(").partition(",")[0])


next_leaf_order = itertools.count(1).__next__
"""Leaves come after every other node: their gradients are complete last."""


_SHOWN = frozenset((
    "_input_metadata", "_register_hook_dict", "_sequence_nr", "_set_sequence_nr", "metadata",
    "name", "next_functions", "register_hook", "register_prehook", "requires_grad", "variable",
))  # fmt: skip
"""The attributes that every node of torch has, and a leaf's."""


class Node:
    """One step of a recorded computation."""

    __slots__ = ("__weakref__", "_edges", "_hooks", "_order")

    _edges: tuple[Node, ...]
    _order: int
    _hooks: NodeHooks | None

    _outputs = 1
    """How many outputs it has; a gradient for each comes in."""

    _hidden = 0
    """How many of these, the last, are of no result: hooks do not see their gradients."""

    def __init__(self) -> None:
        if self.__class__ is Node:
            raise TypeError(
                "Can't instantiate abstract class Node with abstract methods _input_metadata, "
                "_register_hook_dict, _sequence_nr, metadata, name, next_functions, "
                "register_hook, register_prehook"
            )

    def _vjp(self, grad: Any, wanted: set[int] | None) -> Gradients:
        """Gradients for `_edges`, given that of the output (a list where there are several).

        Entries for edges whose order is not in `wanted` (None: all are) may be None.
        """
        raise NotImplementedError

    def _release(self) -> None:
        """Drop saved values: the graph will not be walked again."""

    def _pack_saved(self, pack: Packer) -> None:
        """Replace each saved tensor by the result of `pack`."""

    def name(self) -> str:
        """The name that ``repr(tensor)`` shows as ``grad_fn``."""
        return self._name()

    def _name(self) -> str:
        """Return the same even if the user set ``name`` on a ctx."""
        return type(self).__name__

    def shown(self, output: Tensor | None = None) -> Node:
        """Return the node for users: of a class that has its name."""
        return self

    def _shown_edges(self) -> Sequence[Node | None]:
        """The edge that the gradient of each input goes along; None for one that needs none."""
        return self._edges

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """(node, output number) that each input's gradient goes to."""
        return tuple(
            (None, 0)
            if edge is None or edge.__class__ is Nowhere
            else (edge.shown(), edge.number if isinstance(edge, OutputEdge) else 0)
            for edge in self._shown_edges()
        )

    @property
    def _input_metadata(self) -> tuple[OutputInfo, ...]:
        """Properties of its outputs, which its inputs in the backward walk have too."""
        return ()

    @property
    def metadata(self) -> dict[Any, Any]:
        """Notes on the node: in anomaly mode the traceback and the parent of its making."""
        return _metadata.setdefault(self, {})

    @property
    def requires_grad(self) -> bool:
        """True: without a gradient there is no node."""
        return True

    def __dir__(self) -> list[str]:
        shown = (name for name in object.__dir__(self) if name.startswith("__") or name in _SHOWN)
        return [*shown, *vars(self)] if hasattr(self, "__dict__") else [*shown]

    def _sequence_nr(self) -> int:
        """A number that is greater for newer nodes."""
        return -self._order

    def _set_sequence_nr(self, number: int) -> None:
        """Order the node among others as if it had been made at another time."""
        self._order = -number

    def __call__(self, *grads: Tensor | None, **unknown: Any) -> Any:
        """Gradients of the inputs, given those of the outputs.

        Raises:
            TypeError: there are more or fewer arguments than outputs, or one is no tensor.
        """
        from gradtool.engine._tensor import Tensor

        if unknown:
            raise TypeError("keyword arguments are not supported")
        expected = self._outputs - self._hidden
        if len(grads) != expected:
            raise TypeError(f"expected {expected} arguments, got {len(grads)} instead")
        for position, grad in enumerate(grads):
            if not (grad is None or isinstance(grad, Tensor)):
                raise TypeError(f"argument {position} is not a Variable")
        given = grads[0] if self._outputs == 1 else [*grads, *[None] * self._hidden]
        found = iter(self._vjp(given, None))
        results = tuple([None if edge is None else next(found) for edge in self._shown_edges()])
        return results[0] if len(results) == 1 else results

    def register_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after the run; it may replace the first."""
        return registered(hooks_of(self).after, hook)

    def _register_hook_dict(self, tensor: Tensor) -> None:
        """Do nothing: the hooks of a tensor are those of its node already."""

    def register_prehook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the node runs; it may replace them."""
        return registered(hooks_of(self).before, hook)

    def __repr__(self) -> str:
        return f"<{self._name()} object at {id(self):#x}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle {self._name()!r} object")


# Weak keys, so that the notes are dropped with their node.
_metadata: weakref.WeakKeyDictionary[Node, dict[Any, Any]] = weakref.WeakKeyDictionary()


class OutputInfo(NamedTuple):
    """Properties of an output of a node."""

    shape: Any
    dtype: Any
    device: Any
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False

    @classmethod
    def of(cls, tensor: Tensor) -> OutputInfo:
        """Read the properties of a tensor."""
        return cls(tensor.shape, tensor.dtype, tensor.device)


class GradientEdge(NamedTuple):
    """The output of a node that a tensor's gradient goes to."""

    node: Node
    output_nr: int
    ownership_token: Node | None = None


class OutputEdge(Node):
    """One output of a node that has several; its tensor refers to this in place of the node."""

    __slots__ = ("node", "number")

    def __init__(self, node: Node, number: int) -> None:
        self.node = node
        self.number = number
        # The walk keeps gradients by order: those of all outputs arrive at one place.
        self._order = node._order
        self._edges = ()
        self._hooks = None

    def shown(self, output: Tensor | None = None) -> Node:
        """The node itself."""
        return self.node.shown()


@functools.cache
def class_named(kind: type[Node], name: str) -> Any:
    """Return a class of nodes by the name that torch has for it, for nodes of `kind`."""
    return type(name, (kind,), {"__slots__": (), "__module__": "builtins"})


class AccumulateGrad(Node):
    """The end of the graph: adds to the ``grad`` of a leaf."""

    __slots__ = ("accumulated", "variable")

    def __init__(self, variable: Tensor) -> None:
        self.variable = variable
        self.accumulated: dict[int, Hook] = {}
        """Hooks on the tensor, once its gradient is complete; `hooks_of_accumulated` adds one."""
        self._edges = ()
        self._order = next_leaf_order()
        self._hooks = None

    def name(self) -> str:
        """The name of torch's class in C++."""
        return f"torch::autograd::{self._name()}"

    def _sequence_nr(self) -> int:
        """The greatest number there is."""
        return 2**64 - 1

    @property
    def _input_metadata(self) -> tuple[OutputInfo, ...]:
        return (OutputInfo.of(self.variable),)

    def _vjp(self, grad: Tensor | None, wanted: set[int] | None) -> Gradients:
        """Add to the leaf's ``grad``."""
        variable = self.variable
        if not variable._requires_grad:
            return ()
        if grad is not None:
            if variable._node is not None:
                raise RuntimeError("leaf variable has been moved into the graph interior")
            variable._accumulate(grad)
        # torch calls them after an undefined gradient too.
        if self.accumulated:
            from gradtool.engine.autograd._run_hooks import run_accumulated_hooks

            run_accumulated_hooks(self)
        return ()


class Nowhere(Node):
    """The end of the graph where a gradient is for nobody: a view made outside of the graph."""

    __slots__ = ("accumulated",)

    def __init__(self) -> None:
        self.accumulated: dict[int, Hook] = {}
        """Hooks on the view, which are never called."""
        self._edges = ()
        self._order = next_leaf_order()
        self._hooks = None

    def _vjp(self, grad: Tensor | None, wanted: set[int] | None) -> Gradients:
        """Drop it."""
        return ()


Form = tuple[tuple[int, ...], Any]
"""A shape and a dtype."""


class NodeHooks:
    """Hooks of one node; made only when the first is registered."""

    __slots__ = ("after", "before", "computed", "dtype", "retain", "tensor")

    def __init__(self) -> None:
        self.dtype: dtype | None = None
        """What the gradient of a leaf is cast to, where that is not as it arrives."""
        self.computed: dict[int, Form] = {}
        """Output number -> what it was computed as, where its tensor got other data since."""
        self.tensor: dict[int, dict[int, Hook]] = {}
        """Output number -> hooks on the gradient of that output's tensor."""
        self.retain: dict[int, weakref.ref[Tensor]] = {}
        """Output number -> the tensor that keeps its gradient."""
        self.before: dict[int, Hook] = {}
        self.after: dict[int, Hook] = {}

    def of_tensor(self, number: int) -> dict[int, Hook]:
        """The hooks on one output's gradient."""
        return self.tensor.setdefault(number, {})


def hooks_of(node: Node) -> NodeHooks:
    """The node's hooks, made if it has none."""
    if node._hooks is None:
        node._hooks = NodeHooks()
        if isinstance(node, AccumulateGrad):
            hooked_leaves.add(node)
    return node._hooks


hooked_leaves: weakref.WeakSet[AccumulateGrad] = weakref.WeakSet()
"""Leaves with hooks: with any about, a walk runs leaves at the time when torch does."""


class RemovableHandle:
    """Removes a hook: by ``handle.remove()``, or at the end of its ``with`` block.

    A hook is registered under the handle's `id`.
    """

    # Where torch has it, and where pickles look for it.
    __module__ = "gradtool.engine.utils.hooks"

    _next_id = itertools.count().__next__

    def __init__(self, hooks_dict: dict[int, Hook], *, extra_dict: Any = None) -> None:
        self.id = self._next_id()
        self._hooks = hooks_dict
        self._extra = (
            ()
            if extra_dict is None
            else tuple(extra_dict)
            if isinstance(extra_dict, list)
            else (extra_dict,)
        )

    def hooks_dict_ref(self) -> dict[int, Hook]:
        """Return the hooks that it is one of, by their numbers."""
        return self._hooks

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        for hooks in (self._hooks, *self._extra):
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


def registered(hooks: dict[int, Hook], hook: Hook) -> RemovableHandle:
    """Add a hook; the handle removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def node_and_number(tensor: Tensor) -> tuple[Node, int]:
    """Return the node and output number that the gradient of a tensor goes to."""
    node = tensor._node or tensor._accumulator()
    if isinstance(node, OutputEdge):
        return node.node, node.number
    return node, 0
