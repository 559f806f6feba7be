"""One application of a primitive in the graph: what it keeps, and how it is walked."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.overlap import has_repeats
from gradtool.engine._ops.core.saved_names import (
    ABSENT,
    Call,
    argument,
    aspect,
    is_saved_for_others,
    parameter,
    slot_of,
    slots_of_indices,
    told_by,
)
from gradtool.engine._tensor import Tensor, wrap
from gradtool.engine._views import (
    OF_TORCH_ITSELF,
    counted_version,
    new_storage,
    short_name,
    version_of,
)
from gradtool.engine.autograd._new_nodes import Packed, Packer, cloning
from gradtool.engine.autograd._node import (
    DETACHED_MESSAGE,
    FREED,
    FREED_MESSAGE,
    AccumulateGrad,
    Gradients,
    Node,
    Nowhere,
    OutputEdge,
    OutputInfo,
    class_named,
)
from gradtool.engine.autograd._saved import SavedTensor

if TYPE_CHECKING:
    from gradtool.engine._ops.core.primitive import Plan


class Beside(NamedTuple):
    """A tensor that a node saves beside those that its formula needs."""

    name: str
    tensor: Tensor | None
    """None once the graph was freed."""
    version: int | None
    """None where a hook packs what is saved: torch then compares no versions."""

    def held(self) -> Tensor:
        """The tensor.

        Raises:
            RuntimeError: it was freed, or changed in place since.
        """
        if self.tensor is None:
            raise RuntimeError(FREED_MESSAGE)
        if self.version is not None and counted_version(self.tensor) != self.version:
            raise modified_in_place(self.tensor, self.version, self.tensor)
        return self.tensor


_beside = functools.partial(tuple.__new__, Beside)
"""``Beside(*values)`` of a tuple of values, without a call of Python's."""


class PrimitiveNode(Node):
    """One application of a primitive in the graph."""

    __slots__ = (
        "also_saved", "call", "fix", "info", "outer", "params", "plan", "saved", "title",
        "versions",
    )  # fmt: skip

    plan: Plan
    saved: Sequence[Any]
    versions: tuple[int, ...] | None
    """Versions of the saved tensors: of `plan.tensor_slots`, then of the output if saved.

    None stands for all zeros: nothing had been changed in place yet.
    """
    fix: tuple[tuple[tuple[int, ...], Any] | None, ...] | None
    """For each edge (shape, dtype) that its gradient is to be brought back to."""
    params: dict[str, Any]
    """The parameters of the primitive; unset where they were not at hand."""
    also_saved: Sequence[Beside]
    """What a `SavingNode` saves; unset by default."""
    call: Call
    """The call of the function that it is the last node of; unset by default."""
    title: str
    """Its name, where that is not the primitive's; unset by default."""
    info: OutputInfo
    """Properties of its output, known once a tensor was asked for its node; unset until then."""
    outer: tuple[weakref.ref[Node], int]
    """The node that it is a step of, and its output that stands for this step's; unset by default.

    Gradients of this step's output have to arrive there along with those of the results: a formula
    may be right for their sum only.
    """

    def _vjp(self, grad: Tensor | None, wanted: set[int] | None) -> Gradients:
        """The vjp of each needed argument."""
        plan = self.plan
        if plan.passed_on and self.fix is None:
            return (grad,) * plan.passed_on
        is_whole = wanted is None or self._all_are(wanted)
        if plan.at_once is not None and is_whole and grad.__class__ is Tensor:
            at_once = self._at_once(grad)
            if at_once is not None:
                return at_once if self.fix is None else self._fixed(at_once)
        saved = self._unpack() if plan.keeps_tensors else self.saved
        if grad is None:
            return [None] * len(plan.rules)
        kind = grad._array.dtype.kind
        if kind == "V" and plan.keeps_tensors:
            return self._vjp_in_single(grad, saved, wanted)
        results: Gradients
        if kind != "c" and is_whole:
            at_once = self._of_arrays(grad, saved) if plan.array_gradients else None
            results = plan.gradients(grad, saved) if at_once is None else at_once
        else:
            rules = plan.complex_rules if kind == "c" else plan.rules
            results = [
                rule(grad, saved) if wanted is None or edge._order in wanted else None
                for rule, edge in zip(rules, self._edges)
            ]
            if wanted is not None and plan.primitive.name in _WITHOUT_FORMULA:
                rules[0](grad, saved)
        if plan.title_of_gradient is not None and modes.grad:
            self._name_gradients(results, [grad, *saved], plan.title_of_gradient)
        return results if self.fix is None else self._fixed(results)

    def _fixed(self, results: Gradients) -> Gradients:
        """The gradients, brought back to the shapes and dtypes of the arguments."""
        return [
            result if result is None or fix is None else bring_back(result, *fix)
            for result, fix in zip(results, self.fix or ())
        ]

    def _at_once(self, grad: Tensor) -> Gradients | None:
        """`_of_arrays` for saved values that nobody can have changed: the hot path."""
        array, saved = grad._array, self.saved
        dtype = array.dtype
        if dtype.kind != "f" or saved is FREED or modes.grad:
            return None
        try:
            return self.plan.at_once(array, dtype, saved)  # type: ignore[misc]  # it is there
        except RuntimeWarning:  # made an error by the user's filter
            return None

    def _of_arrays(self, grad: Tensor, saved: Sequence[Any]) -> Gradients | None:
        """The gradients computed of arrays at once; None where operations have to do it.

        They do where they are recorded, belong to a level, or promote dtypes by torch's rules.
        """
        compute = self.plan.array_gradients
        array = grad._array
        dtype, values = array.dtype, []
        if compute is None or dtype.kind != "f" or modes.grad or grad.__class__ is not Tensor:
            return None
        beside = self.plan.kinds_beside
        for each in saved:
            if each.__class__ is Tensor:
                each = each._array
                if each.dtype is not dtype and each.dtype.kind not in beside:
                    return None
            elif isinstance(each, OF_OTHER_RULES):
                return None
            values.append(each)
        try:
            return compute(array, values)
        except RuntimeWarning:  # made an error by the user's filter
            return None

    def _all_are(self, wanted: set[int]) -> bool:
        """Return True if the gradients of all edges are wanted."""
        for edge in self._edges:  # noqa: SIM110 - a generator takes longer
            if edge._order not in wanted:
                return False
        return True

    def _name_gradients(self, results: Gradients, given: Sequence[Any], title: str) -> None:
        """Name the last step of each gradient as torch names its one node."""
        before = [each._node for each in given if isinstance(each, Tensor)]
        for result in results:
            node = None if result is None else result._node
            if isinstance(node, PrimitiveNode) and not any(node is each for each in before):
                node.title = title

    def _vjp_in_single(
        self, grad: Tensor, saved: Sequence[Any], wanted: set[int] | None
    ) -> Gradients:
        """The vjp for a cotangent of narrow elements, of which only the results are rounded."""
        narrow, wide = grad.dtype, _wide(grad)
        saved = [_wide(each) if isinstance(each, Tensor) else each for each in saved]
        results: list[Tensor | None] = []
        for position, (rule, edge) in enumerate(zip(self.plan.rules, self._edges)):
            found = rule(wide, saved) if wanted is None or edge._order in wanted else None
            fix = None if self.fix is None else self.fix[position]
            if found is not None:
                found = found.to(narrow) if fix is None else bring_back(found, *fix)
            results.append(found)
        return results

    def _unpack(self) -> Sequence[Any]:
        """The saved values, once it is sure that none was changed in place since."""
        saved = self.saved
        if saved is FREED:
            raise RuntimeError(FREED_MESSAGE)
        plan = self.plan
        versions = self.versions
        for position, slot in enumerate(plan.tensor_slots):
            value = saved[slot]
            if value.__class__ is Tensor and value._storage is None:
                continue  # the usual one: never changed
            storage = value._storage if isinstance(value, Tensor) else None
            if (
                storage is not None
                and storage.version != (versions[position] if versions else 0)
                and not self._serves_nobody(plan.names[slot])
            ):
                raise modified_in_place(value, versions[position] if versions else 0, value)
            if value.__class__ is Packed:
                saved = [*saved[:slot], value.restore(), *saved[slot + 1 :]]
            elif storage is not None and slot in plan.graphed and not value._requires_grad:
                self._check_attached(plan.graphed[slot])
        if plan.out_slot is not None:
            saved = self._unpack_output(saved, plan.out_slot)
        return saved

    def _serves_nobody(self, name: str) -> bool:
        """Return True for what only the gradient of a view made outside of the graph needs.

        torch does not save it, unless the operation has a gradient of one argument only.
        """
        plan = self.plan
        vjps = plan.primitive.vjps
        users = [position for position, vjp in enumerate(vjps) if name in vjp.needs]
        if len(vjps) < 2 or len(users) != 1 or users[0] not in plan.needed:
            return False
        return isinstance(self._edges[plan.needed.index(users[0])], Nowhere)

    def _check_attached(self, edge: int) -> None:
        """Refuse a saved tensor that required a gradient once, unless it is a leaf."""
        if not isinstance(self._edges[edge], AccumulateGrad):
            raise RuntimeError(DETACHED_MESSAGE)

    def _unpack_output(self, saved: Sequence[Any], slot: int) -> Sequence[Any]:
        kept = saved[slot]
        if isinstance(kept, Packed):
            # What a hook returns may be a copy, which later changes of the original do not reach.
            kept = kept.restore()
            saved = [*saved[:slot], kept, *saved[slot + 1 :]]
        else:
            expected = self.versions[-1] if self.versions else 0
            if version_of(kept) != expected:
                raise modified_in_place(kept, expected, self)
        if not modes.grad:
            return saved
        return [*saved[:slot], self._as_output(kept), *saved[slot + 1 :]]

    def _as_output(self, kept: Tensor) -> Tensor:
        output = kept._bare()
        refer, number = getattr(self, "outer", (None, 0))
        outer = None if refer is None else refer()
        output._node = self if outer is None else OutputEdge(outer, number)
        output._requires_grad = True
        return output

    def keep_output(self, output: Tensor) -> None:
        """Remember `output` as the node's own, without a reference cycle."""
        slot = self.plan.out_slot
        if slot is None:
            return
        held = self.saved[slot]
        if held is not None and self._is_kept(held, output):
            return
        saved = self.saved = list(self.saved)
        if output.__class__ is Tensor and output._storage is None:
            # Written out for new memory, which was never changed: this is on the hot path.
            bare = saved[slot] = wrap(output._array)
            bare._storage = output._storage = new_storage()
            version = 0
        else:
            saved[slot] = output._bare()
            version = version_of(output)
        versions = self.versions
        if version or versions is not None:
            count = len(self.plan.tensor_slots)
            self.versions = (*(versions or (0,) * count)[:count], version)

    def _is_kept(self, held: Any, output: Tensor) -> bool:
        """Return True for the output that a hook or a recording keeps, now written elsewhere."""
        if isinstance(held, Packed):
            held.follow(output)
            return True
        return bool(modes.saved_tensor_hooks)

    def _pack_saved(self, pack: Packer) -> None:
        """Keep what `pack` makes of each saved tensor in its place."""
        if pack is cloning:
            self._copy_saved()
            return
        saved = list(self.saved)
        for slot in self.plan.tensor_slots:
            if isinstance(saved[slot], Tensor):
                saved[slot] = pack(saved[slot])
        last = self.plan.out_slot
        if last is not None and isinstance(saved[last], Tensor):
            saved[last] = pack(saved[last], self._as_output(saved[last]))
        self.saved = saved

    def _copy_saved(self) -> None:
        """Keep a copy of each saved tensor in its place: nothing can change it later."""
        plan = self.plan
        if not plan.keeps_tensors:
            return
        saved = self.saved = list(self.saved)
        for slot in plan.tensor_slots:
            held = saved[slot]
            if held.__class__ is Tensor:
                saved[slot] = _copy_in_graph(held)
            elif isinstance(held, Tensor):
                saved[slot] = cloning(held)
        last = plan.out_slot
        if last is not None and isinstance(saved[last], Tensor):
            held = saved[last]
            is_usual = held.__class__ is Tensor
            saved[last] = _copy(held) if is_usual else cloning(held, self._as_output(held))
        self.versions = None

    def _saved_at(self, slot: int) -> Any:
        """The content of one place: a value, what a hook made of it, or `FREED`."""
        if slot < 0:
            return None
        return FREED if self.saved is FREED else self.saved[slot]

    def _pack_at(self, slot: int, pack: Packer) -> None:
        """Keep what `pack` makes of one saved tensor in its place."""
        held = self.saved[slot]
        packed = pack(held, self._as_output(held) if slot == self.plan.out_slot else None)
        self.saved = [*self.saved[:slot], packed, *self.saved[slot + 1 :]]

    def _release(self) -> None:
        """Drop saved values. A node that saved no tensor can be walked again."""
        if self.plan.keeps_tensors:
            self.saved = FREED

    def __getattr__(self, name: str) -> Any:
        """``_saved_self``, ``_raw_saved_result`` and so on: what the backward walk needs."""
        if name in PrimitiveNode.__slots__:  # unset
            raise AttributeError(name)
        if name.startswith("_saved_"):
            value = self._value_named(name.removeprefix("_saved_"))
        elif name.startswith("_raw_saved_"):
            value = self._raw_value_named(name.removeprefix("_raw_saved_"))
        else:
            value = ABSENT
        if value is ABSENT:
            raise AttributeError(f"{self._name()!r} object has no attribute {name!r}")
        return value

    def _value_named(self, name: str) -> Any:
        params = getattr(self, "params", {})
        slots = slots_of_indices(self.plan, params) if name == "indices" else None
        if slots is not None:
            saved = self._unpack()
            return tuple(None if slot is None else saved[slot] for slot in slots)
        slot = slot_of(self.plan, name)
        if slot is not None:
            return _as_saved(self._unpack()[slot], slot in self.plan.tensor_slots)
        call = getattr(self, "call", None)
        found = parameter(name, params, self.plan.primitive.name)
        stated = ABSENT if call is None else argument(name, call)
        told = ABSENT if call is None else told_by(self._name(), name, call, self._facts)
        if told is not ABSENT:
            return told
        # Another primitive's parameters are those of a step.
        of_a_step = self._name() != self._own_name()
        found = stated if found is ABSENT or (of_a_step and stated is not ABSENT) else found
        if found is ABSENT and is_saved_for_others(self.plan, name):
            return None
        return aspect(name, self._value_named) if found is ABSENT else found

    def _facts(self, name: str) -> Any:
        """Return what a value may follow from: the ``out_shape``, or another value."""
        return tuple(self.info.shape) if name == "out_shape" else self._value_named(name)

    def _raw_value_named(self, name: str) -> Any:
        params = getattr(self, "params", {})
        slots = slots_of_indices(self.plan, params) if name == "indices" else None
        if slots is not None:
            return tuple(SavedTensor.of(self, -1 if slot is None else slot) for slot in slots)
        slot = slot_of(self.plan, name)
        if slot is None:
            absent = is_saved_for_others(self.plan, name)
            return SavedTensor.of(self, -1) if absent else ABSENT
        kept = slot in self.plan.tensor_slots or slot == self.plan.out_slot
        return SavedTensor.of(self, slot) if kept else ABSENT

    def shown(self, output: Tensor | None = None) -> Node:
        """The node as users get it: of a class that has its name, as each of torch's nodes is."""
        kind: Any = self.__class__
        if kind is PrimitiveNode or kind is SavingNode:
            self.__class__ = class_named(kind, self._name())
        if output is not None and not hasattr(self, "info"):
            self.info = OutputInfo.of(output)
        return self

    @property
    def _input_metadata(self) -> tuple[OutputInfo, ...]:
        # A node reached through another one, of which no tensor was asked for it, knows none.
        return (self.info,) if hasattr(self, "info") else ()

    def _shown_edges(self) -> Sequence[Node | None]:
        if self.plan.primitive.name == "clone" and self._name() == "CopyBackwards":
            # A leaf's first gradient: torch has an edge for the memory that it is copied into.
            return (None, *self._edges)
        if self.plan.primitive.name == "to_copy" and self._name() != "ToCopyBackward0":
            # A cast that torch has within the node before.
            inner: Node = _node_of(self._edges[0])
            return inner._shown_edges()
        shown = [None if place is None else self._edges[place] for place in self.plan.places()]
        if self._name() in _OF_NUMBERS:
            return shown[:-1]
        if self._name() in _OF_A_NUMBER_FIRST or self.plan.primitive.name == "remainder_of_number":
            return shown[1:]
        if self._name() == "ClampBackward0" and len(shown) == 2:
            # torch has an edge for the bound that was not given.
            shown.insert(1 if self.plan.primitive.name == "clamp_max" else 2, None)
        return shown

    def name(self) -> str:
        """The name that ``repr(tensor)`` shows as ``grad_fn``, or that of torch's class in C++."""
        name = self._name()
        return f"torch::autograd::{name}" if name in OF_TORCH_ITSELF else name

    def _name(self) -> str:
        """As torch names it: ``MulBackward0``."""
        title: str | None = getattr(self, "title", None)
        return self._own_name() if title is None else title

    def _own_name(self) -> str:
        """The name that the primitive's node has by itself."""
        name = self.plan.primitive.name.strip("_")
        if name in _WITHOUT_FORMULA:
            return "NotImplemented"
        kept = functools.partial(self.plan.kept, saved=self.saved)
        if name == "slice":
            name = _indexing(kept("key"), kept("x_shape"))
        words = _SPELLED.get(name) or name.title().replace("_", "")
        number = 0
        if name == "pow":
            number = int(len(self.plan.primitive.arguments) > 1)
        elif name == "lerp":
            number = 1  # one by a number is named when it is called
        elif name in _REDUCTIONS:
            dims = kept("dims")
            number = int(dims is not None and len(dims) < len(kept("x_shape") or ()))
        return f"{words}Backward{number}"


def _copy(tensor: Tensor) -> Tensor:
    """Return a copy outside of the graph. Each step of a recording makes some, so no op does."""
    array = tensor._array
    return wrap(array.copy(order="C" if has_repeats(array) else "K"))


def _copy_in_graph(tensor: Tensor) -> Tensor:
    """Return a copy that has the place of the tensor in the graph."""
    copy = _copy(tensor)
    if tensor._requires_grad:
        copy._requires_grad = True
        edge = tensor._node or tensor._accumulator()
        if isinstance(edge, AccumulateGrad):
            copy._leaf_node = weakref.ref(edge)
        else:
            copy._node = edge
    return copy


OF_OTHER_RULES = (Tensor, Packed, np.generic, complex)
"""Saved values that promote otherwise than their arrays would, belong to a level, or are packed."""


def _as_saved(value: Any, is_tensor: bool) -> Any:
    """A saved value as torch has it: a number in the place of a tensor is a tensor there."""
    if is_tensor and isinstance(value, int | float | complex):
        return wrap(np.asarray(value))
    return value


class SavingNode(PrimitiveNode):
    """The last node of a function for which PyTorch saves tensors that this formula does without.

    As there, it refuses to be walked twice, or after one of them changed in place.
    """

    __slots__ = ()

    def _vjp(self, grad: Tensor | None, wanted: set[int] | None) -> Gradients:
        """The vjp of each needed argument, once it is sure that nothing saved was changed."""
        for each in self.also_saved:
            each.held()
        return super()._vjp(grad, wanted)

    def _value_named(self, name: str) -> Any:
        for each in self.also_saved:
            if name in (each.name, _IN_TORCH.get(each.name)):
                return each.held()
        return super()._value_named(name)

    def _release(self) -> None:
        """Drop what is saved."""
        super()._release()
        self.also_saved = [each._replace(tensor=None) for each in self.also_saved]


_IN_TORCH = {"input": "self", "out": "result"}
"""What torch may call what is saved beside."""


def save_also(out: Tensor, tensors: Mapping[str, Tensor]) -> None:
    """Let the node of a result, if it was recorded just now, save these tensors by name too."""
    node = out._node
    if not modes.grad or type(node) is not PrimitiveNode:
        return
    version = version_of
    for each in tensors.values():
        if each._level is not None and each._level.by_func:
            version = counted_version
    is_packed = bool(modes.saved_tensor_hooks)
    node.also_saved = [
        _beside((name, each, None if is_packed else version(each)))
        for name, each in tensors.items()
    ]
    node.__class__ = SavingNode


_OF_NUMBERS = ("LerpBackward0", "MaskedFillBackward0")
"""Nodes of overloads whose last argument is a number, and has no edge."""
_OF_A_NUMBER_FIRST = ("PowBackward2", "RsubBackward1")
"""Nodes of overloads whose first argument is a number, and has no edge."""


_WITHOUT_FORMULA = ("floor_divide", "remainder_of_number")
"""What has a node that raises whenever it runs."""


def _wide(value: Tensor) -> Tensor:
    out: Tensor = value.to(_dtypes.float32) if value.dtype in _dtypes.NARROW else value
    return out


def _indexing(key: tuple[Any, ...], shape: Sequence[int]) -> str:
    """The last step of those that torch takes for a key."""
    if len(key) == 1 and isinstance(key[0], slice):
        return "slice"
    last, axis = "alias", 0
    for part in key:
        if part is None:
            last = "unsqueeze"
            continue
        if not isinstance(part, slice):
            last = "select"
        elif not picks_all(part, shape[axis]):
            last = "slice"
        axis += 1
    return last


def picks_all(part: slice, extent: int) -> bool:
    """Return True for a slice that torch takes for the whole of a dimension: `x` for ``x[:]``.

    One with a step, as functions such as `narrow` make, is always a slice.
    """
    whole = part.stop is None or part.stop >= extent
    return part.start in (None, 0) and whole and part.step is None


TITLES_OF_GRADIENTS = {
    "elu": "EluBackwardBackward0", "gather": "ScatterAddBackward0",
    "gelu": "GeluBackwardBackward0", "hardswish": "HardswishBackwardBackward0",
    "leaky_relu": "LeakyReluBackwardBackward0", "log_sigmoid": "LogSigmoidBackwardBackward0",
    "log_softmax": "LogSoftmaxBackwardDataBackward0", "mean": "DivBackward1",
    "prelu_kernel": "PreluKernelBackwardBackward0", "select": "SelectBackwardBackward0",
    "sigmoid": "SigmoidBackwardBackward0", "softmax": "SoftmaxBackwardDataBackward0",
    "softplus": "SoftplusBackwardBackward0", "softshrink": "SoftshrinkBackwardBackward0",
    "sort": "ScatterBackward0", "sum": "ExpandBackward0", "tanh": "TanhBackwardBackward0",
}  # fmt: skip
"""Primitive -> the node that torch has for its gradient, where one is made."""
_REDUCTIONS = ("sum", "mean", "prod")
_SPELLED = {
    "i0e": "SpecialI0E", "i1e": "SpecialI1E", "imag": "Select",
    "matmul": "UnsafeView", "real": "Select", "square": "Pow", "xlog1py": "SpecialXlog1Py",
}  # fmt: skip
"""Names that torch spells otherwise."""


def modified_in_place(tensor: Tensor, version: int, maker: Tensor | Node) -> RuntimeError:
    """The error for a tensor that was changed between forward and backward.

    `maker` is the node that it is the output of, or a tensor that has it.
    """
    node: Any = _maker_of(maker) if isinstance(maker, Tensor) else maker
    number = node.number if isinstance(node, OutputEdge) else 0
    name = "" if node is None else short_name(_node_of(node))
    which = f", which is output {number} of {name}," if name else ""
    hint = (
        "the backtrace further above shows the operation that failed to compute its gradient. The "
        "variable in question was changed in there or anywhere later. Good luck!"
        if modes.anomaly
        else "enable anomaly detection to find the operation that failed to compute its gradient, "
        "with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{tensor.type()} {list(tensor.shape)}]{which} is at version "
        f"{tensor._version}; expected version {version} instead. Hint: {hint}"
    )


def _maker_of(tensor: Tensor) -> Node | None:
    """The node of a tensor; for a view whose base was changed, the one that it has since."""
    try:
        return tensor._current_node()
    except RuntimeError:  # autograd cannot follow the change to this view
        return tensor._node


def _node_of(node: Any) -> Any:
    return node.node if isinstance(node, OutputEdge) else node


def bring_back(grad: Tensor, shape: tuple[int, ...], numpy_dtype: Any) -> Tensor:
    """Sum a gradient over broadcast axes and cast it, to the shape and dtype of its input."""
    if grad._array.shape != shape:
        grad = grad.sum_to_size(shape)
    have = grad._array.dtype
    if have == numpy_dtype:
        return grad
    if have.kind == "c" and numpy_dtype.kind != "c":
        grad = grad.real
    cast_back: Tensor = grad.to(_dtypes.from_numpy_dtype(numpy_dtype))
    return cast_back
