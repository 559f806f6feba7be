"""Recording of a custom Function: its node, the saved tensors, and the outputs for its caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradtool.engine._errors import ContractError
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.inplace import check_in_place
from gradtool.engine._ops.core.primitive_node import modified_in_place
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._gradient_checks import TensorInfo

if TYPE_CHECKING:
    from gradtool.engine.autograd._new_nodes import Packed
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
    dirty = {id(tensor) for tensor in ctx.dirty_tensors}
    if dirty:
        _check_dirty(ctx, args, raw)
    if record:
        _connect(ctx, args, len(raw))
    inputs = {id(arg) for arg in args if isinstance(arg, Tensor)}
    fixed = {id(tensor) for tensor in ctx.non_differentiable}
    outputs = [
        _place(ctx, tensor, number, inputs, dirty, record and id(tensor) not in fixed)
        if isinstance(tensor, Tensor)
        else tensor
        for number, tensor in enumerate(raw)
    ]
    if record:
        # Not the outputs themselves, whose graph would refer back to the ctx.
        ctx._output_infos = tuple(
            [TensorInfo.of(each) if isinstance(each, Tensor) else None for each in outputs]
        )
        _save(ctx, raw, outputs)
        # After saving: hooks pack what was saved.
        if modes.watch is not None:
            modes.watch(ctx)
    _forget(ctx)
    return outputs[0] if single else tuple(outputs)


def _is_plain(ctx: BackwardCFunction, args: tuple[Any, ...], output: Tensor) -> bool:
    """Return True if a single output is a new tensor without any mark on ctx."""
    if ctx.dirty_tensors or ctx.non_differentiable or output._requires_grad:
        return False
    # Not `in`, which compares tensors by element.
    for arg in args:
        if arg is output:
            return False
    return output._array.dtype.kind in "fc"


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
            _save(ctx, (output,), (output,))
        if modes.watch is not None:
            modes.watch(ctx)
    _forget(ctx)
    return output


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


def _check_dirty(ctx: BackwardCFunction, args: tuple[Any, ...], raw: tuple[Any, ...]) -> None:
    for position, tensor in enumerate(ctx.dirty_tensors):
        if not any(tensor is arg for arg in args):
            raise ContractError(
                "dirty-not-returned",
                f"mark_dirty only accepts input tensors, but argument {position} isn't one",
            )
        if not any(tensor is each for each in raw):
            raise ContractError(
                "dirty-not-returned",
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function.",
            )


def _connect(ctx: BackwardCFunction, args: tuple[Any, ...], outputs: int) -> None:
    """Connect the node to those that the gradients of its arguments go to."""
    input_edges: list[Node | None] = []
    infos: list[TensorInfo | None] = []
    for arg, needed in zip(args, ctx.needs_input_grad):
        input_edges.append((arg._node or arg._accumulator()) if needed else None)
        infos.append(TensorInfo.of(arg) if isinstance(arg, Tensor) else None)
    ctx._input_edges = tuple(input_edges)
    ctx._input_infos = tuple(infos)
    ctx._edges = tuple([edge for edge in input_edges if edge is not None])
    # 1 is the class's value; the usual ctx needs no attribute of its own for it.
    if outputs != 1:
        ctx._outputs = outputs


def _place(
    ctx: BackwardCFunction,
    tensor: Tensor,
    number: int,
    inputs: set[int],
    dirty: set[int],
    record: bool,
) -> Tensor:
    """Return one output for the caller, connected to the graph."""
    differentiable = record and tensor._array.dtype.kind in "fc"
    changed = id(tensor) in dirty
    if changed:
        if record:
            check_in_place(tensor, was="has been")
        tensor._bump()
    elif id(tensor) in inputs:
        # An input returned as it is: a new tensor over its memory, so that it can have a node.
        tensor = tensor._bare()
    elif tensor._requires_grad and not differentiable and record:
        # Not changed itself: it may be in use elsewhere, with its own graph.
        tensor = tensor.detach()
    if differentiable:
        tensor._node = ctx._output_edge(number)
        tensor._requires_grad = True
    return tensor


def _save(ctx: BackwardCFunction, raw: Sequence[Any], outputs: Sequence[Any]) -> None:
    if not ctx.to_save:
        ctx._saved = ()
        return
    saved: list[SavedTensor | None] = []
    for position, tensor in enumerate(ctx.to_save):
        if tensor is None:
            saved.append(None)
        elif not isinstance(tensor, Tensor):
            raise TypeError(
                "save_for_backward can only save variables, but argument "
                f"{position} is of type {type(tensor).__name__}"
            )
        else:
            saved.append(SavedTensor(tensor, _number_of(tensor, raw, outputs)))
    ctx._saved = tuple(saved)


def _number_of(tensor: Tensor, raw: Sequence[Any], outputs: Sequence[Any]) -> int | None:
    """Return the number of the output that a saved tensor is; None for an input."""
    found = None
    for number, output in enumerate(raw):
        if output is tensor:
            # An input returned as it is was replaced in `outputs`: the saved tensor is the input.
            found = number if outputs[number] is tensor else None
    return found


class SavedTensor:
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
        self.version = tensor._version
        self.packed: Packed | None = None

    def pack(self, pack: Callable[[Tensor], Packed]) -> None:
        """Replace the tensor by the result of the pack hook."""
        self.packed = pack(self.tensor)
        if self.number is not None:
            # The edge leads to the node that holds this: a reference cycle.
            self.packed.edge = None
        del self.tensor

    def unpack(self, node: BackwardCFunction) -> Tensor:
        """Return the tensor; an output of `node`, which saved it, connected to the graph.

        Raises:
            RuntimeError: it was changed in place since.
        """
        tensor = self.tensor if self.packed is None else self.packed.restore()
        storage = tensor._storage
        # A pack hook may have made a copy, which later changes of the original do not reach.
        if self.packed is None and storage is not None and storage.version != self.version:
            raise modified_in_place(tensor, self.version, tensor if self.number is None else node)
        if self.number is None:
            return tensor
        output = tensor._bare()
        if tensor._requires_grad:
            output._node = node._output_edge(self.number)
            output._requires_grad = True
        return output
