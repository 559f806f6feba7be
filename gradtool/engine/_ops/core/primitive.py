"""Primitives: entries of the op table, and how applying one is recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from gradtool.engine import _dtypes
from gradtool.engine._lazy import bits, mark, memory
from gradtool.engine._levels import alive, highest
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.batching import BatchRule, broadcasting
from gradtool.engine._ops.core.dtype_support import EVERY, Dtypes
from gradtool.engine._ops.core.narrow import widened
from gradtool.engine._ops.core.parameters import parameter_names, positional_names
from gradtool.engine._ops.core.primitive_node import (
    OF_OTHER_RULES,
    TITLES_OF_GRADIENTS,
    PrimitiveNode,
)
from gradtool.engine._ops.core.promotion import refuse_apart
from gradtool.engine._tensor import Tensor, wrap
from gradtool.engine._views import (
    INFERENCE,
    NO_GRAD,
    InferenceStorage,
    View,
    counted_version,
    version_of,
)
from gradtool.engine.autograd._node import FREED, next_order

if TYPE_CHECKING:
    from gradtool.engine._tensor import Tensor


# ---- plans: what is saved, and how gradients come of it --------------------------------------


class Vjp(NamedTuple):
    """The gradient with respect to one argument: ``apply(g, *values of needs)``.

    `of_complex` takes its place when ``g`` is complex; elementwise entries conjugate there. In
    those, `forward` takes its place when ``g`` is a tangent. `of_arrays` is the same computed of
    real arrays in one go, where nothing is recorded; it returns memory of its own.
    """

    apply: Callable[..., Any]
    needs: tuple[str, ...]
    of_complex: Callable[..., Any] | None = None
    forward: Callable[..., Any] | None = None
    of_arrays: Callable[..., Any] | None = None


def vjp_of(function: Callable[..., Any], of_arrays: Callable[..., Any] | None = None) -> Vjp:
    """A vjp that names what it needs by its parameters after ``g``.

    One with an underscore in front is not used, and kept since torch keeps it.
    """
    needs = tuple([name.lstrip("_") for name in parameter_names(function)])[1:]
    return Vjp(function, needs, of_arrays=of_arrays)


class Plan:
    """The values to save and the vjps to run, for one choice of arguments that need gradients."""

    __slots__ = (
        "array_gradients", "at_once", "complex_rules", "gradients", "graphed", "keeps_tensors",
        "kinds_beside", "names", "needed", "out_slot", "passed_on", "primitive", "rules", "take",
        "tensor_slots", "title_of_gradient",
    )  # fmt: skip

    def __init__(self, primitive: Primitive, needed: tuple[int, ...]) -> None:
        self.primitive = primitive
        self.needed = needed
        vjps = [primitive.vjps[position] for position in needed]
        needs = (name for vjp in vjps for name in vjp.needs)
        names = list(dict.fromkeys((*needs, *primitive.keeps)))
        self.names = names
        """What is saved, in this order."""
        self.rules = tuple(_rule(vjp.apply, vjp.needs, names) for vjp in vjps)
        self.complex_rules = tuple(
            _rule(vjp.of_complex or vjp.apply, vjp.needs, names) for vjp in vjps
        )
        slots = [[names.index(name) for name in vjp.needs] for vjp in vjps]
        self.gradients = _all_gradients([vjp.apply for vjp in vjps], slots)
        """The gradients of all needed arguments, from (g, saved values)."""
        of_arrays = [vjp.of_arrays for vjp in vjps if vjp.of_arrays is not None]
        self.array_gradients = (
            _all_gradients(of_arrays, slots, "wrap") if len(of_arrays) == len(vjps) else None
        )
        """The same of arrays; None unless all vjps have such a form."""
        self.take = _taker(", ".join([primitive.place(name) for name in names]))
        """Picks the saved values out of (args, params)."""
        self.out_slot = names.index("out") if "out" in names else None
        self.tensor_slots = tuple(
            slot for slot, name in enumerate(names) if name in primitive.arguments
        )
        self.graphed = {
            slot: needed.index(primitive.arguments.index(names[slot]))
            for slot in self.tensor_slots
            if primitive.arguments.index(names[slot]) in needed
        }
        """Slot of a saved tensor that needs a gradient -> the place of its edge."""
        self.title_of_gradient = TITLES_OF_GRADIENTS.get(primitive.name)
        """What the last node of a recorded gradient is called, where that is not its own name."""
        self.keeps_tensors = bool(self.tensor_slots) or self.out_slot is not None
        """Whether any saved value can be changed in place, freed or packed."""
        # Among elementwise operands an integer would promote as NumPy has it.
        self.kinds_beside = "b" if primitive.kind == "elementwise" else "bi"
        """The kinds of dtype that a saved tensor may have beside that of the gradient."""
        is_direct = self.array_gradients is not None and self.out_slot is None
        self.at_once = (
            _all_at_once(of_arrays, slots, len(names), self.tensor_slots, self.kinds_beside)
            if is_direct
            else None
        )
        """The gradients from (array of g, its dtype, saved values); None if a value was changed,
        packed, or promotes by other rules than NumPy's."""
        is_passed_on = not names and all(vjp.apply is passed_on for vjp in vjps)
        self.passed_on = len(vjps) if is_passed_on else 0
        """The number of edges where ``g`` itself is the gradient of each and nothing is saved."""

    def places(self) -> list[int | None]:
        """For each argument that can have a gradient the place of its edge; None if it has none."""
        arguments = self.primitive.arguments[: len(self.primitive.vjps)]
        return [
            self.needed.index(position) if position in self.needed else None
            for position, name in enumerate(arguments)
            if name not in _WITHOUT_GRADIENT
        ]

    def kept(self, name: str, saved: Sequence[Any]) -> Any:
        """One of the saved values by its name; None where it is not there, or was freed."""
        there = name in self.names and len(saved) == len(self.names) and saved is not FREED
        return saved[self.names.index(name)] if there else None


def passed_on(g: Tensor) -> Tensor:
    """The gradient of what is only copied or added."""
    return g


_WITHOUT_GRADIENT = ("condition", "index", "indices", "mask")
"""Names of tensor arguments of which none can have a gradient."""


Rule = Callable[["Tensor", Sequence[Any]], "Tensor | None"]


def _rule(apply: Callable[..., Any], needs: tuple[str, ...], names: list[str]) -> Rule:
    """A vjp as a function of (g, saved values); written out for the short cases, which are hot."""
    slots = [names.index(name) for name in needs]
    if not slots:
        return lambda g, _saved: apply(g)
    first = slots[0]
    if len(slots) == 1:
        return lambda g, saved: apply(g, saved[first])
    if len(slots) == 2:
        second = slots[1]
        return lambda g, saved: apply(g, saved[first], saved[second])
    return lambda g, saved: apply(g, *[saved[slot] for slot in slots])


def _all_gradients(
    functions: Sequence[Callable[..., Any]], slots: Sequence[Sequence[int]], kind: str = ""
) -> Callable[[Any, Sequence[Any]], list[Any]]:
    """All functions as one of (g, saved values), written out: this is the walk's hot path.

    The results are passed to `kind`, a function that is called by this name.
    """
    calls = _calls(slots, kind, "saved[{}]")
    made = _maker(f"lambda {_numbered('f', functions)}: lambda g, saved: [{calls}]")
    gradients: Callable[..., list[Any]] = made(*functions)
    return gradients


def _calls(slots: Sequence[Sequence[int]], kind: str, value: str) -> str:
    """The calls of functions named ``f0``, ``f1`` and so on, of `g` and the values of `slots`."""
    given = [", ".join(["g", *map(value.format, each)]) for each in slots]
    return ", ".join([f"{kind}(f{number}({each}))" for number, each in enumerate(given)])


def _numbered(letter: str, counted: Sequence[Any]) -> str:
    return ", ".join([f"{letter}{number}" for number in range(len(counted))])


def _all_at_once(
    functions: Sequence[Callable[..., Any]],
    slots: Sequence[Sequence[int]],
    count: int,
    tensors: Sequence[int],
    beside: str,
) -> Callable[[Any, Any, Sequence[Any]], list[Any] | None]:
    """All functions of arrays as one, with what has to hold of the saved values written out.

    These are so many, `count`, with tensors in the slots `tensors`, which may be of the dtype of
    the gradient or of the kinds `beside`.
    """
    tests = [
        (_IS_UNCHANGED if slot in tensors else _IS_PLAIN).format(slot, beside)
        for slot in range(count)
    ]
    calls = _calls(slots, "wrap", "a{}")
    made = _maker(
        f"lambda {_numbered('f', functions)}: lambda g, dtype, saved: "
        f"[{calls}] if {' and '.join(tests) or 'True'} else None"
    )
    at_once: Callable[..., list[Any] | None] = made(*functions)
    return at_once


_IS_UNCHANGED = (
    "((s := saved[{0}]).__class__ is Tensor and s._storage is None"
    " and ((a{0} := s._array).dtype is dtype or a{0}.dtype.kind in {1!r})"
    " or (a{0} := s).__class__ in (float, int))"
)
_IS_PLAIN = "not isinstance(a{0} := saved[{0}], unlike_arrays)"


@functools.cache
def _maker(written: str) -> Callable[..., Any]:
    maker: Callable[..., Any] = eval(
        written, {"Tensor": Tensor, "unlike_arrays": OF_OTHER_RULES, "wrap": wrap}
    )
    return maker


@functools.cache
def _taker(places: str) -> Callable[[Sequence[Any], dict[str, Any]], tuple[Any, ...]]:
    """The function of (args, params) that returns what lies at these places, written out.

    Taking the values one by one would be a Python call for each, whenever an operation is recorded.
    """
    values = f"({places},)" if places else "()"
    names = {"Tensor": Tensor, "shape": _shape, "dtype": _dtype}
    taker: Callable[..., tuple[Any, ...]] = eval(f"lambda args, params: {values}", names)
    return taker


# ---- primitives ------------------------------------------------------------------------------
#
# A primitive is one entry of the op table: `compute` works on arrays, each vjp on tensors, so
# that a vjp can itself be recorded and every order of differentiation works.
#
# Conventions. Tensor arguments are positional, everything else is keyword-only. A vjp names
# what it needs by its parameters: ``g`` first, then any of the tensor arguments by the names
# they have in `compute`, ``out``, ``NAME_shape`` and ``NAME_dtype`` of a tensor argument, and
# the keyword parameters. Only what is named is kept for the backward walk.


Compute = Callable[..., Any]

PRIMITIVES: list[Primitive] = []
"""Every entry of the op table, in the order in which they were made.

Those that take any number of tensors are made one for each number, when first asked for.
"""

_new = object.__new__


class Primitive:
    """One entry of the op table."""

    __slots__ = (
        "arguments", "batch", "compute", "dtypes", "is_view", "jvp", "keeps", "kind", "name",
        "operation", "plans", "vjps",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        compute: Compute,
        vjps: Sequence[Vjp] = (),
        *,
        arguments: tuple[str, ...] | None = None,
        kind: str = "general",
        is_view: bool = False,
        dtypes: Dtypes = EVERY,
        batch: BatchRule | None = None,
        jvp: Vjp | None = None,
    ) -> None:
        self.name = name
        self.compute = compute
        self.vjps = tuple(vjps)
        """Empty for a primitive that is not differentiable."""
        self.arguments = positional_names(compute) if arguments is None else arguments
        self.kind = kind
        """``elementwise``, ``linear`` (in all arguments at once), ``multilinear``, ``general``.

        The vjp of an elementwise one is ``g`` times its derivative, so it is also its jvp.
        """
        self.jvp = jvp
        """The tangent of the output, where PyTorch's is not the transpose of the vjp."""
        self.is_view = is_view
        self.dtypes = dtypes
        """The dtypes it works on, with its derivatives where it has any."""
        self.batch = broadcasting if batch is None and kind == "elementwise" else batch
        """How it computes all examples of a batch; None to compute them one by one."""
        self.operation: Callable[..., Tensor] = self
        """What applies it with promotion and broadcasting, where that is more than itself."""
        self.keeps: tuple[str, ...] = ()
        """What torch saves besides what the vjps need, so that changes of it are refused."""
        self.plans: dict[tuple[int, ...], Plan] = {}
        PRIMITIVES.append(self)
        if _meets_narrow:
            self.compute = widened(self)

    def __call__(self, *args: Any, **params: Any) -> Tensor:
        """Compute, and record when an argument requires a gradient."""
        if len(args) == 1 and args[0].__class__ is Tensor:
            # Written out for one tensor below all levels: the hot path.
            (x,) = args
            out = wrap(self.compute(x._array, **params))
            if x._requires_grad and modes.grad and self.vjps:
                if self.kind == "elementwise" and out._array.dtype != x._array.dtype:
                    self.record_over(_FIRST, args, params, out)
                else:
                    self.record(_FIRST, args, params, out)
            if self.is_view:
                self.link_view(out, x, params)
            return out
        arrays, needed = [], []
        for position, arg in enumerate(args):
            if arg.__class__ is Tensor:
                arrays.append(arg._array)
            elif isinstance(arg, Tensor):
                if arg._level is not None:
                    return self._at_level(alive(args), params)
                arrays.append(memory(arg) if self.is_view else arg._array)
            else:
                arrays.append(arg)
                continue
            if arg._requires_grad:
                needed.append(position)
        try:
            out = wrap(self.compute(*arrays, **params))
        except TypeError:
            refuse_apart(arrays)
            raise
        if needed and self.vjps and modes.grad:
            self.record_over(tuple(needed), args, params, out)
        if self.is_view:
            self.link_view(out, args[0], params)
        return out

    def _at_level(self, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        """Hand the operation to the highest level among its arguments."""
        level = highest(args)
        out: Tensor = (
            self.operation(*args, **params) if level is None else level.apply(self, args, params)
        )
        return out

    def record_needed(self, args: Sequence[Any], params: dict[str, Any], out: Tensor) -> None:
        """Record, if an argument of the output's own level requires a gradient."""
        if not self.vjps:
            return
        level = out._level
        needed = [
            position
            for position, arg in enumerate(args)
            if isinstance(arg, Tensor) and arg._requires_grad and arg._level is level
        ]
        if needed:
            self.record_over(tuple(needed), args, params, out)

    def record_over(
        self, needed: tuple[int, ...], args: Sequence[Any], params: dict[str, Any], out: Tensor
    ) -> None:
        """Record with gradients that are brought back to the shapes and dtypes of arguments."""
        fix = _fix_of(needed, args, out._array) if self.kind == "elementwise" else None
        self.record(needed, args, params, out, fix)

    def link_view(self, out: Tensor, source: Tensor, params: dict[str, Any]) -> None:
        """Let `out` share the version counter of what it is a view of."""
        if source.__class__ is not Tensor and source._lazy is not None:
            mark(out, *bits(source))
        storage = out._storage = source._shared_storage()
        if isinstance(storage, InferenceStorage):
            # Changes of it are not followed, and it is in no graph.
            out._node, out._requires_grad = None, False
            return
        storage.add_view(out)
        view: View
        view = out._view = _new(View)
        held = source._view
        if held is None:
            view.base = source
            view.steps = ((self, params),)
            view.made = None
        else:
            view.base = held.base
            view.steps = (*held.steps, (self, params))
            view.made = held.made
        view.version = storage.version
        view.outdated = None
        view.owns_flag = False
        if not modes.grad:
            view.made = INFERENCE if modes.inference else NO_GRAD
            # It is where it would be had the base been looked at outside of the graph.
            out._requires_grad = view.base._requires_grad

    @staticmethod
    def renew_view(tensor: Tensor, view: View) -> None:
        """Derive the place of an outdated view in the graph from its base."""
        from gradtool.engine._ops.core.view_nodes import renew

        renew(tensor, view)

    def record(
        self,
        needed: tuple[int, ...],
        args: Sequence[Any],
        params: dict[str, Any],
        out: Tensor,
        fix: Any = None,
        saved: Sequence[Any] | None = None,
    ) -> PrimitiveNode:
        """Make `out` the output of a new node over the `needed` arguments.

        A caller that has what the vjps name at hand, in their order, passes it as `saved`.
        """
        plan = self.plans.get(needed) or self.plan(needed)
        node: PrimitiveNode = _new(PrimitiveNode)
        if len(needed) == 1:
            x = args[needed[0]]
            node._edges = (x._node or x._accumulator(),)
        else:
            node._edges = tuple([args[at]._node or args[at]._accumulator() for at in needed])
        # After the edges: that of a view may lead to a node made just now.
        node._order = next_order()
        node._hooks = None
        node.plan = plan
        node.params = params
        node.fix = fix
        if saved is None:
            saved = plan.take(args, params)
        node.saved = saved
        node.versions = None
        for slot in plan.tensor_slots:
            if getattr(saved[slot], "_storage", None) is not None:
                if not _keep_versions(node, out, args):
                    return node
                break
        if plan.out_slot is not None:
            node.keep_output(out)
        out._node = node
        out._requires_grad = True
        if modes.watch is not None:
            modes.watch(node)
        return node

    def plan(self, needed: tuple[int, ...]) -> Plan:
        """Return the plan for recording when these arguments need gradients."""
        plan = self.plans.get(needed)
        if plan is None:
            plan = self.plans[needed] = Plan(self, needed)
        return plan

    def record_pair(self, x: Tensor, y: Tensor, out: Tensor) -> None:
        """`record` written out for two tensors of the output's shape and dtype: the hot path."""
        node: PrimitiveNode = _new(PrimitiveNode)
        plans = self.plans
        if not y._requires_grad:
            plan = plans.get(_FIRST) or self.plan(_FIRST)
            node._edges = (x._node or x._accumulator(),)
        elif x._requires_grad:
            plan = plans.get(_BOTH) or self.plan(_BOTH)
            node._edges = (x._node or x._accumulator(), y._node or y._accumulator())
        else:
            plan = plans.get(_SECOND) or self.plan(_SECOND)
            node._edges = (y._node or y._accumulator(),)
        node._order = next_order()
        node._hooks = node.fix = node.versions = None
        node.plan = plan
        pair = (x, y)
        node.saved = plan.take(pair, _NO_PARAMS) if plan.names else ()
        shared = x._storage is not None or y._storage is not None
        if shared and not _keep_versions(node, out, pair):
            return
        if plan.out_slot is not None:
            node.keep_output(out)
        out._node = node
        out._requires_grad = True
        if modes.watch is not None:
            modes.watch(node)

    @staticmethod
    def value_of(name: str, values: dict[str, Any]) -> Any:
        """The value that a vjp names, from those of arguments, parameters and output."""
        if name in values:
            return values[name]
        source, _, aspect = name.rpartition("_")
        return _shape(values[source]) if aspect == "shape" else _dtype(values[source])

    def place(self, name: str) -> str:
        """The expression in ``args`` and ``params`` for a value which a vjp names."""
        if name == "out":
            return "None"
        if name in self.arguments:
            return f"args[{self.arguments.index(name)}]"
        source, _, aspect = name.rpartition("_")
        if aspect in ("shape", "dtype") and source in self.arguments:
            x = f"args[{self.arguments.index(source)}]"
            if aspect == "dtype":
                return f"dtype({x})"
            return f"({x}._array.shape if {x}.__class__ is Tensor else shape({x}))"
        return f"params[{name!r}]"

    def keeping(self, *names: str) -> Self:
        """Save these values too, as torch does."""
        self.keeps = names
        return self

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


_FIRST, _SECOND, _BOTH = (0,), (1,), (0, 1)
_NO_PARAMS: dict[str, Any] = {}


_meets_narrow: list[bool] = []
"""Not empty once arrays may have elements narrower than NumPy's."""


def meet_narrow() -> None:
    """Let every primitive take elements narrower than NumPy's from now on."""
    if not _meets_narrow:
        _meets_narrow.append(True)
        for primitive in PRIMITIVES:
            primitive.compute = widened(primitive)


_dtypes.ON_NARROW.append(meet_narrow)


def _versions(
    saved: Sequence[Any], version: Callable[[Tensor], int] = version_of
) -> tuple[int, ...] | None:
    """Versions of saved values, 0 for what is not a tensor; None if all are 0."""
    versions = tuple([version(value) if isinstance(value, Tensor) else 0 for value in saved])
    return versions if any(versions) else None


def _keep_versions(node: PrimitiveNode, out: Tensor, args: Sequence[Any]) -> bool:
    """Remember the versions of what a node saves; return False if it may not save it.

    Raises:
        RuntimeError: one of several is an inference tensor.
    """
    values = [node.saved[slot] for slot in node.plan.tensor_slots]
    try:
        node.versions = _versions(values)
    except RuntimeError:  # an inference tensor
        if out._level is None or not out._level.by_func:
            _forbid_saving(args)
            return False
        # A transform saves tensors of its own.
        node.versions = _versions(values, counted_version)
    return True


def _forbid_saving(args: Sequence[Any]) -> None:
    """Re-raise, unless inference tensors are alone among themselves, where nothing is recorded."""
    if not all(each.is_inference() for each in args if isinstance(each, Tensor)):
        raise


def _shape(value: Any) -> tuple[int, ...]:
    return value._array.shape if isinstance(value, Tensor) else ()


def _dtype(value: Any) -> _dtypes.dtype:
    return value.dtype if isinstance(value, Tensor) else _dtypes.of_scalar(value)


def _fix_of(needed: tuple[int, ...], args: Sequence[Any], out: Any) -> Any:
    """(shape, dtype) for each needed input that is not as the output is; None if all are."""
    shape, dtype = out.shape, out.dtype
    arrays = [args[position]._array for position in needed]
    for each in arrays:
        if each.shape != shape or each.dtype != dtype:
            break
    else:
        return None
    return tuple(
        [
            None if array.shape == shape and array.dtype == dtype else (array.shape, array.dtype)
            for array in arrays
        ]
    )
