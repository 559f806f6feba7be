"""A level of batching: its tensors hold one more, leading dimension than they show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gradtool.engine import _pytree
from gradtool.engine._lazy import memory
from gradtool.engine._levels import (
    BatchLevel,
    NotBatchableError,
    Outline,
    Wrapped,
    wrap_at,
)
from gradtool.engine._levels.mutation import refuse_shared
from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor


class VmapInfo(NamedTuple):
    """The first argument of a Function's ``vmap``."""

    batch_size: int
    randomness: str


class BatchedTensor(Wrapped):
    """A tensor for each example; `_value` has them along its first dimension."""

    __slots__ = ()


class VmapLevel(BatchLevel):
    """Computes an operation for all examples at once, or else example by example."""

    refuses_data = True
    takes_keywords = True

    def __init__(self, size: int, randomness: str = "error") -> None:
        self.size = size
        self.randomness = randomness

    def wrap(self, value: Tensor) -> BatchedTensor:
        """A tensor of this level; the examples lie along the first dimension of `value`."""
        wrapped: BatchedTensor = wrap_at(self, BatchedTensor, value, Outline(memory(value)))
        return wrapped

    def wrap_along(self, value: Tensor, dim: int) -> BatchedTensor:
        """A tensor of this level; the examples lie along `dim` of `value`."""
        if not dim:
            return self.wrap(value)
        wrapped = self.wrap(value.movedim(dim, 0))
        # As the user knows it, for a Function's own vmap and for its text.
        wrapped.__dict__["_given"] = value, dim
        return wrapped

    def apply(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        """Apply the primitive's batch rule or, without one, compute example by example."""
        if primitive.batch is not None:
            value = primitive.batch(self, primitive, args, params)
            # A rule may decline the case by returning None.
            if value is not None:
                return self.wrap(value)
        out = self.wrap(self._by_example(primitive, args, params))
        if primitive.is_view:
            # Stacked examples are a copy: a write to it would not reach the base.
            out.__dict__["_detached_view"] = True
        return out

    def check_function(self, function: Any, kwargs: dict[str, Any]) -> None:
        """Refuse a Function that cannot be batched, as torch does even where nothing is batched.

        Raises:
            RuntimeError: it has no rule for a batch, or two.
        """
        if self.by_func:
            _has_own_rule(function, kwargs)

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the Function's own vmap, or batch its methods if it allows that."""
        if _has_own_rule(function, kwargs):
            return self._by_own_rule(function, args, kwargs)
        # `generated` is built on this module.
        from gradtool.engine._levels.generated import BatchedFunction

        dims = tuple([0 if self.owns(arg) else None for arg in args])
        with self.lowered():
            output, out_dims = BatchedFunction(function, self, dims).call(
                [self.below(arg) for arg in args]
            )
        return self._rewrapped(output, out_dims, {})

    def _by_own_rule(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        leaves, spec = _pytree.tree_flatten(args)
        values, dims = zip(*map(self.physical, leaves))
        info = VmapInfo(self.size, self.randomness)
        with self.lowered():
            returned = function.vmap(
                info,
                _pytree.tree_unflatten(dims, spec),
                *_pytree.tree_unflatten(values, spec),
                **kwargs,
            )
        # An input that is returned is the input, for code that compares by identity.
        inputs = {id(value): leaf for value, leaf in zip(values, leaves)}
        return self._rewrapped(*_two_returns(returned), inputs)

    def _rewrapped(self, output: Any, out_dims: Any, inputs: dict[int, Any]) -> Any:
        leaves, spec = _pytree.tree_flatten(output)
        dims = _pytree.broadcast_to_and_flatten(out_dims, spec)
        if dims is None:
            raise RuntimeError(
                "The autograd.Function's vmap staticmethod returned an incompatible (output, "
                f"out_dims) tuple. Expected out_dims={out_dims} to be compatible with the "
                "structure of `output`. out_dims has structure "
                f"{_pytree.tree_structure(out_dims)} but output has structure {spec}. {_DETAILS}"
            )

        def rewrapped(leaf: Any, dim: int | None) -> Any:
            if id(leaf) in inputs:
                return inputs[id(leaf)]
            if dim is None or not isinstance(leaf, Tensor):
                return leaf
            return self.wrap_along(leaf, dim % leaf.ndim)

        return _pytree.tree_unflatten(map(rewrapped, leaves, dims), spec)

    def physical(self, value: Any) -> tuple[Any, int | None]:
        """Return the tensor below with the examples where the user has them, and that dimension."""
        if not self.owns(value):
            return value, None
        given: tuple[Any, int] | None = value.__dict__.get("_given")
        return (value._value, 0) if given is None else given

    def _by_example(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Tensor:
        from gradtool.engine._ops.shape.joining import stack

        results = [
            primitive.operation(*[self.example(arg, number) for arg in args], **params)
            for number in range(self.size)
        ]
        stacked: Tensor = stack(results)
        return stacked

    def example(self, value: Any, number: int) -> Any:
        """Return one example of a tensor of this level; anything else is the same for each."""
        return value._value[number] if self.owns(value) else value

    def write(self, x: Any, result: Tensor, partial: bool) -> None:
        """Write the examples of `result` over those of `x`."""
        from gradtool.engine._ops.core.inplace import replace
        from gradtool.engine._ops.core.primitive_node import PrimitiveNode

        if x.__dict__.get("_detached_view"):
            raise NotBatchableError(
                "vmap: an in-place change of this view would not reach the tensor it is a view of"
            )
        value = self.below(result)
        if not self.owns(result):
            value = value.expand(x._value.shape)
        elif value.ndim > x._value.ndim and value.numel() == x._value.numel():
            # As in torch: examples without dimensions take results with one place.
            value = value.reshape(x._value.shape)
            replace(x._value, value)
            if isinstance(x._value._node, PrimitiveNode):
                x._value._node.title = "CopySlices"
            return
        replace(x._value, value, partial)

    def check_change(self, x: Any, name: str, others: Sequence[Any]) -> None:
        """Refuse to change what all examples share by what they do not."""
        if self.owns(x):
            from gradtool.engine._ops.core.inplace import check_in_place
            from gradtool.engine._ops.core.overlap import check_overlap_of_examples

            check_in_place(x._value)
            check_overlap_of_examples(self, x, name, others)
            return
        batched = [each for each in others if self.owns(each)]
        if batched:
            refuse_shared(x, name, batched)

    def lift(self, x: Tensor) -> None:
        """Refuse to give `x`, which all examples share, a value for each."""
        refuse_shared(x, "copy_", ())


class RowsLevel(VmapLevel):
    """The level of cotangents in batches, inside of which user code may do what it does outside."""

    by_func = False
    refuses_data = False

    def detached(self, x: Any) -> Any:
        """Return `x` outside the graphs, while the walk lasts that it belongs to."""
        if not self.alive:
            raise RuntimeError(
                "Batching rule not implemented for aten::detach; the fallback path doesn't work on "
                "out= or view ops."
            )
        return super().detached(x)

    def apply_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Batch a Function as by vmap, or else run its forward on batched tensors."""
        from gradtool.engine.autograd._apply import finish
        from gradtool.engine.autograd.function import Function

        if function.generate_vmap_rule or function.vmap is not Function.vmap:
            return super().apply_function(function, args, kwargs)
        ctx, output = function._run_forward(args, kwargs)
        return finish(ctx, args, output, modes.grad and any(ctx.needs_input_grad))


_DETAILS = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


def _has_own_rule(function: Any, kwargs: dict[str, Any]) -> bool:
    """Return True if a Function has its own vmap, False if one can be derived.

    Raises:
        RuntimeError: it has neither, or claims both.
        NotImplementedError: a tensor is passed by keyword.
    """
    from gradtool.engine.autograd.function import Function

    if any(isinstance(leaf, Tensor) for leaf in _pytree.tree_leaves(kwargs)):
        raise NotImplementedError(
            "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass "
            f"kwarg-only Tensors to autograd.Function. Got: {kwargs}"
        )
    own = function.vmap is not Function.vmap
    if own and function.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True "
            "and an overridden vmap staticmethod. Please set generate_vmap_rule=False or delete "
            f"the overridden vmap staticmethod to avoid ambiguity. {_DETAILS}"
        )
    if not own and not function.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. "
            "Please override and implement the vmap staticmethod or set generate_vmap_rule=True. "
            f"{_DETAILS}"
        )
    return own


def _two_returns(returned: Any) -> tuple[Any, Any]:
    message = (
        "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree "
        "structure compatible with the output. "
    )
    if not isinstance(returned, tuple):
        raise RuntimeError(f"{message}Got a {type(returned)} instead")
    if len(returned) != 2:
        raise RuntimeError(f"{message}Got {len(returned)} returns instead")
    return returned
