"""Recording of a custom Function: its node, the saved tensors, and the outputs for its caller."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradtool.engine._errors import ContractError, SavedTypeError
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.inplace import check_in_place, overwrite_history
from gradtool.engine._ops.core.primitive_node import modified_in_place
from gradtool.engine._placeholder import EngineLacksError
from gradtool.engine._tensor import Tensor
from gradtool.engine._views import CUSTOM, SEVERAL, version_of
from gradtool.engine.autograd._gradient_checks import TensorInfo
from gradtool.engine.autograd._node import next_order

_new = object.__new__

if TYPE_CHECKING:
    from gradtool.engine.autograd._new_nodes import Packed, Packer
    from gradtool.engine.autograd._node import Node
    from gradtool.engine.autograd.function import BackwardCFunction


def finish(ctx: BackwardCFunction, args: tuple[Any, ...], output: Any, record: bool) -> Any:
    """Connect the outputs to the graph and store the saved tensors.

    Raises:
        ContractError: a tensor marked dirty is not returned, or may not be changed in place.
    """
    if output.__class__ is Tensor and _is_plain(ctx, args, output):
        return _finish_plain(ctx, args, output, record)
    single = not isinstance(output, tuple)
    raw = (output,) if single else output
    if record and ctx.to_save:
        _check_are_tensors(ctx.to_save)
    if not all(isinstance(tensor, Tensor) for tensor in ctx.non_differentiable):
        raise RuntimeError("mark_non_differentiable only accepts variable arguments, but got ")
    inputs = {id(arg) for arg in args if isinstance(arg, Tensor)}
    if ctx.dirty_tensors:
        _check_dirty(ctx, inputs, raw)
    dirty = inputs & {id(tensor) for tensor in ctx.dirty_tensors}
    if record:
        _connect(ctx, args, len(raw))
    if ctx.to_save or ctx.saved_for_forward:
        _check_saved(ctx, {id(each) for each in raw} & inputs - dirty)
    fixed = {id(tensor) for tensor in ctx.non_differentiable}
    outputs = [
        _place(ctx, tensor, number, inputs, dirty, record and id(tensor) not in fixed)
        if isinstance(tensor, Tensor)
        else tensor
        for number, tensor in enumerate(raw)
    ]
    _forbid_changes(outputs, dirty, record and len(outputs) - len(fixed) > 1)
    if record:
        # Not the outputs themselves, whose graph would refer back to the ctx.
        ctx._output_infos = tuple(
            [
                TensorInfo.of(each)
                if isinstance(each, Tensor)
                and (each._requires_grad or ctx._materialize_non_diff_grads)
                else None
                for each in outputs
            ]
        )
        _save(ctx, raw, outputs)
        # After saving: hooks pack what was saved.
        if modes.watch is not None:
            modes.watch(ctx)
    _forget(ctx)
    return outputs[0] if single else tuple(outputs)


def _is_plain(ctx: BackwardCFunction, args: tuple[Any, ...], output: Tensor) -> bool:
    """Return True if a single output is a new tensor without any mark on ctx."""
    if ctx.dirty_tensors or ctx.non_differentiable or output._requires_grad or output._view:
        return False
    # Not `in`, which compares tensors by element.
    for arg in args:
        if arg is output:
            return False
    return output._array.dtype.kind in "fcV"


def _finish_plain(
    ctx: BackwardCFunction, args: tuple[Any, ...], output: Tensor, record: bool
) -> Tensor:
    """`finish` written out for the usual output: the hot path."""
    if record:
        _connect(ctx, args, 1)
        ctx._output_infos = (TensorInfo.of(output),)
        output._node = ctx
        output._requires_grad = True
        if ctx.to_save:
            ctx._saved = tuple([_kept(each, ctx, output) for each in ctx.to_save])
        if modes.watch is not None:
            modes.watch(ctx)
    _forget(ctx)
    return output


def _kept(tensor: Any, ctx: BackwardCFunction, output: Tensor) -> Kept | None:
    """The tensor as it is saved by the node of the only output."""
    if tensor.__class__ is not Tensor or tensor is output:
        _check_are_tensors(ctx.to_save)
        return None if tensor is None else Kept(tensor, 0 if tensor is output else None)
    # `Kept` written out for an input: the hot path.
    kept = _new(Kept)
    kept.number = kept.packed = None
    kept.tensor = tensor
    storage = tensor._storage
    kept.version = 0 if storage is None else storage.saved_version()
    return kept


def _forget(ctx: BackwardCFunction) -> None:
    """Drop what only `finish` needs; an output in it would refer to itself."""
    # Tested first: what was never set is the class's, and cannot be deleted.
    if ctx.to_save:
        del ctx.to_save
    if ctx.saved_for_forward:
        del ctx.saved_for_forward
    if ctx.non_differentiable:
        del ctx.non_differentiable
    if ctx.dirty_tensors:
        del ctx.dirty_tensors


def _check_dirty(ctx: BackwardCFunction, inputs: set[int], raw: tuple[Any, ...]) -> None:
    for tensor in ctx.dirty_tensors:
        if not isinstance(tensor, Tensor):
            # torch's message ends there too.
            raise RuntimeError("mark_dirty can only accept variables, but argument ")
        if not any(tensor is each for each in raw):
            raise dirty_not_returned()
        if id(tensor) not in inputs:
            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors "
                "that have been mutated should be passed to ctx.mark_dirty().",
                stacklevel=4,
            )
            tensor._bump()
            continue
        if any(tensor is each for each in ctx.non_differentiable):
            continue  # It gets no history that a leaf, or what its views share, would lose.
        try:
            check_in_place(tensor, was="has been" if tensor._view is None else "is being")
        except RuntimeError:
            tensor._bump()  # as in torch, the change is counted before it is refused
            raise


def dirty_not_returned() -> ContractError:
    """Return the error for an input that was changed in place and is no output."""
    return ContractError(
        "dirty-not-returned",
        "Some elements marked as dirty during the forward method were not returned as output. The "
        "inputs that are modified inplace must all be outputs of the Function.",
    )


def _check_are_tensors(to_save: Sequence[Any]) -> None:
    for position, tensor in enumerate(to_save):
        if not (tensor is None or isinstance(tensor, Tensor)):
            raise SavedTypeError(
                "saved-type",
                "save_for_backward can only save variables, but argument "
                f"{position} is of type {type(tensor).__name__}",
            )


def _check_saved(ctx: BackwardCFunction, returned: set[int]) -> None:
    """Refuse to save an input that was returned as it is, apart from forward.

    The output is a tensor of its own then, and it is not sure which of the two was meant.
    """
    from gradtool.engine.autograd.function import Function

    if ctx._forward_cls.setup_context is Function.setup_context:
        return
    if any(id(each) in returned for each in (*ctx.to_save, *ctx.saved_for_forward)):
        raise RuntimeError(
            "An input that has been returned as-is as output is being saved for backward. This is "
            "not supported if you override setup_context. You should return and save a view of the "
            "input instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
        )


def _connect(ctx: BackwardCFunction, args: tuple[Any, ...], outputs: int) -> None:
    """Connect the node to those that the gradients of its arguments go to."""
    if len(args) == 1 and args[0].__class__ is Tensor and args[0]._view is None:
        # Written out for one tensor, which needs a gradient: the hot path.
        (only,) = args
        ctx._edges = ctx._input_edges = (only._node or only._accumulator(),)
        ctx._input_infos = (TensorInfo.of(only),)
        if outputs != 1:
            ctx._outputs = outputs
        return
    input_edges: list[Node | None] = []
    edges: list[Node] = []
    infos: list[TensorInfo | None] = []
    for arg, needed in zip(args, ctx.needs_input_grad):
        edge = None
        if needed:
            edge = arg._node or arg._accumulator()
            edges.append(edge)
            if arg._view is not None:
                ctx._order = next_order()  # the edge of a view may lead to a node made just now
        input_edges.append(edge)
        infos.append(_info(arg, needed) if isinstance(arg, Tensor) else None)
    ctx._input_edges = tuple(input_edges)
    ctx._input_infos = tuple(infos)
    ctx._edges = tuple(edges)
    # 1 is the class's value; the usual ctx needs no attribute of its own for it.
    if outputs != 1:
        ctx._outputs = outputs


def _info(arg: Tensor, needed: bool) -> TensorInfo:
    try:
        return TensorInfo.of(arg)
    except EngineLacksError:  # It is sparse, which needs a gradient nowhere.
        if needed:
            raise
        return TensorInfo.of(arg._sparse.values)


def _place(
    ctx: BackwardCFunction,
    tensor: Tensor,
    number: int,
    inputs: set[int],
    dirty: set[int],
    record: bool,
) -> Tensor:
    """Return one output for the caller, connected to the graph."""
    is_input, changed = id(tensor) in inputs, id(tensor) in dirty
    if not (record and tensor._array.dtype.kind in "fcV"):
        if changed:
            tensor._bump()
        return _outside_of_graph(tensor, is_input=is_input, changed=changed)
    edge = ctx._output_edge(number)
    if changed:
        _overwrite(ctx, tensor, edge)
        return tensor
    if is_input:
        # A new tensor over its memory, so that it can have a node.
        tensor = _as_view(tensor)
    tensor._node = edge
    tensor._requires_grad = True
    return tensor


def _outside_of_graph(tensor: Tensor, *, is_input: bool, changed: bool) -> Tensor:
    """Return an output that has no gradient."""
    if not tensor._requires_grad:
        return _as_view(tensor) if is_input and not changed else tensor
    # A view made in forward stays one, as it would in any block that does not record.
    return tensor if tensor._view is not None and not is_input else tensor.detach()


def _as_view(tensor: Tensor) -> Tensor:
    recording = modes.grad
    modes.grad = False
    try:
        view: Tensor = tensor.view_as(tensor)
    finally:
        modes.grad = recording
    return view


def _overwrite(ctx: BackwardCFunction, tensor: Tensor, edge: Node) -> None:
    """Give an input that was changed in place the place of an output in the graph."""
    if tensor._view is not None and ctx._outputs > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your "
            "Function cannot return more than one Tensor. This is not supported by the current "
            "autograd engine. You should either make sure the input is not a view (using .clone() "
            "for example) or make your Function only return one Tensor (potentially splitting it "
            "into two Functions: one doing the inplace that returns a single Tensor and a second "
            "one that does the other operations). You can ask on the forum "
            "https://discuss.pytorch.org/ if you need help to do this change."
        )
    tensor._bump()
    overwrite_history(tensor, edge)


def _forbid_changes(outputs: Sequence[Any], changed: set[int], several: bool) -> None:
    """Mark the views among the outputs, which autograd can no more follow changes of."""
    for output in outputs:
        view = output._view if isinstance(output, Tensor) else None
        if view is None:
            continue
        if several:
            view.made = SEVERAL
        elif id(output) not in changed:
            view.made = CUSTOM


def _save(ctx: BackwardCFunction, raw: Sequence[Any], outputs: Sequence[Any]) -> None:
    if not ctx.to_save:
        ctx._saved = ()
        return
    saved: list[Kept | None] = []
    for tensor in ctx.to_save:
        number = None if tensor is None else _number_of(tensor, raw, outputs)
        saved.append(None if tensor is None else Kept(tensor, number))
    ctx._saved = tuple(saved)


def _number_of(tensor: Tensor, raw: Sequence[Any], outputs: Sequence[Any]) -> int | None:
    """Return the number of the output that a saved tensor is; None for an input."""
    found = None
    for number, output in enumerate(raw):
        if output is tensor:
            # An input returned as it is was replaced in `outputs`: the saved tensor is the input.
            found = number if outputs[number] is tensor else None
    return found


class Kept:
    """A tensor as it was when saved.

    An output of the node that saves it is kept without its place in the graph, which would
    be a reference cycle, and gets that place back when it is unpacked.
    """

    __slots__ = ("number", "packed", "tensor", "version")

    def __init__(self, tensor: Tensor, output_number: int | None) -> None:
        self.number = output_number
        if output_number is None:
            self.tensor = tensor
        else:
            self.tensor = tensor._bare()
            # `_bare` drops it, and `unpack` decides by it.
            self.tensor._requires_grad = tensor._requires_grad
        self.version = version_of(tensor)
        self.packed: Packed | None = None

    def pack(self, pack: Packer, node: BackwardCFunction | None) -> None:
        """Replace the tensor by the result of the pack hook."""
        shown = None if node is None or self.number is None else self._placed(node, self.tensor)
        self.packed = pack(self.tensor, shown)
        if self.number is not None:
            # The edge leads to the node that holds this: a reference cycle.
            self.packed.edge = None
        del self.tensor

    def unpack(self, node: BackwardCFunction | None) -> Tensor:
        """Return the tensor; an output of `node`, which saved it, connected to the graph.

        What is no node's is an input.

        Raises:
            RuntimeError: it was changed in place since.
        """
        tensor = self.tensor if self.packed is None else self.packed.restore()
        storage = tensor._storage
        # A pack hook may have made a copy, which later changes of the original do not reach.
        if self.packed is None and storage is not None and storage.version != self.version:
            made_by = node if node is not None and self.number is not None else tensor
            raise modified_in_place(tensor, self.version, made_by)
        if node is None or self.number is None:
            return tensor
        return self._placed(node, tensor)

    def _placed(self, node: BackwardCFunction, tensor: Tensor) -> Tensor:
        """The output that was saved, connected to the graph."""
        output = tensor._bare()
        if tensor._requires_grad and self.number is not None:
            output._node = node._output_edge(self.number)
            output._requires_grad = True
        return output
