"""Derivatives of functions of trees of tensors by reverse mode, in any nesting."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from gradtool.engine import _pytree
from gradtool.engine._levels.grad import GradLevel
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.kinds import zeros_like
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._roots import cotangent_of
from gradtool.engine.autograd._walk import walk
from gradtool.engine.autograd.graph import disable_saved_tensors_hooks
from gradtool.engine.func._arguments import (
    Argnums,
    check_tensors,
    chosen,
    lowered_aux,
    refuse_complex,
    split_aux,
    standard_basis,
)
from gradtool.engine.func._vmap import vmap

_NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an "
    "issue with your use case."
)


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The outputs of `func`, and the function from their cotangents to those of `primals`.

    Returns:
        ``(outputs, vjp_fn)``, and with `has_aux` the second output of `func` as it is.
    """
    outputs, pull, aux = _vjp(func, primals, None, has_aux)
    return (outputs, pull, aux) if has_aux else (outputs, pull)


def _vjp(
    func: Callable[..., Any], primals: tuple[Any, ...], argnums: Argnums | None, has_aux: bool
) -> tuple[Any, Callable[..., Any], Any]:
    """`vjp` with respect to the primals of these positions; by default all."""
    with _recording() as level:
        args = _wrapped(level, primals)
        inputs, in_spec = _required(
            args if argnums is None else chosen(args, argnums, as_tuple=False)
        )
        result, aux = split_aux(func(*args), has_aux, "vjp(f, *primals)")
        outputs, out_spec = _pytree.tree_flatten(result)
        aux = lowered_aux(level, aux) if has_aux else None
        check_tensors(outputs, "vjp(f, *primals)")
        results = _lowered(level, result)
        for each in outputs:
            if each._array.dtype.kind not in "fcV":
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                    f"Tensor with dtype {each.dtype}"
                )

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        flat, spec = _pytree.tree_flatten(cotangents)
        if spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {_pytree.treespec_pprint(spec)}, primal "
                f"output: {_pytree.treespec_pprint(out_spec)}"
            )
        record = modes.grad if create_graph is None else create_graph
        pulled = _pulled(level, outputs, flat, inputs, keep_graph=retain_graph, record=record)
        return _pytree.tree_unflatten(pulled, in_spec)

    return results, pull, aux


@contextmanager
def _recording() -> Iterator[GradLevel]:
    with disable_saved_tensors_hooks(_NO_HOOKS), GradLevel() as level:
        yield level


def _wrapped(level: GradLevel, tree: Any) -> Any:
    return _pytree.tree_map_only(Tensor, level.wrap, tree)


def _required(tree: Any) -> tuple[list[Any], _pytree.TreeSpec]:
    """The leaves, which now require gradients, and the structure around them."""
    leaves, spec = _pytree.tree_flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        Tensor.requires_grad.__set__(leaf, True)  # type: ignore[attr-defined]  # a property
    return leaves, spec


def _lowered(level: Any, tree: Any) -> Any:
    return _pytree.tree_map(level.below, tree)


def _pulled(
    level: GradLevel,
    outputs: Sequence[Any],
    cotangents: Sequence[Any],
    inputs: Sequence[Any],
    *,
    keep_graph: bool,
    record: bool,
) -> list[Tensor]:
    """Gradients of `inputs`, one level below; zeros where an output does not depend on them."""
    found: Sequence[Any] = [None] * len(inputs)
    inference, modes.inference = modes.inference, False  # As in torch, at every level.
    try:
        roots = [
            (output, cotangent_of(output, cotangent, at))
            for at, (output, cotangent) in enumerate(zip(outputs, cotangents))
            if level.owns(output) and output._requires_grad
        ]
        if roots:
            found = walk(
                roots, keep_graph=keep_graph, create_graph=record, targets=inputs, accumulate=False
            )
        return [
            zeros_like(each._value.detach()) if grad is None else level.below(grad)
            for each, grad in zip(inputs, found)
        ]
    finally:
        modes.inference = inference


class Gradient(NamedTuple):
    """The gradient of a scalar function, and what the function returned."""

    grad: Any
    value: Tensor
    aux: Any


def _gradient(
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Gradient:
    call = "grad_and_value(f)(*args)"
    with _recording() as level:
        args, kwargs = _wrapped(level, args), _wrapped(level, kwargs)
        inputs, spec = _required(chosen(args, argnums, as_tuple=False))
        output, aux = split_aux(func(*args, **kwargs), has_aux, call)
        _check_scalar(output, call)
        aux = lowered_aux(level, aux) if has_aux else None
    grads = _pulled(level, [output], [None], inputs, keep_graph=False, record=modes.grad)
    return Gradient(_pytree.tree_unflatten(grads, spec), level.below(output), _lowered(level, aux))


def _check_scalar(output: Any, call: str) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{call}: Expected f(*args) to return a Tensor, got {type(output)}")
    if output.dim() != 0:
        raise RuntimeError(
            f"{call}: Expected f(*args) to return a scalar Tensor, got tensor with "
            f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of scalar `func`, and its value."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        grads, value, aux = _gradient(func, argnums, has_aux, args, kwargs)
        return (grads, (value, aux)) if has_aux else (grads, value)

    return wrapper


def grad(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of scalar `func` with respect to `argnums`."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        grads, _, aux = _gradient(func, argnums, has_aux, args, kwargs)
        return (grads, aux) if has_aux else grads

    return wrapper


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func`, one batched backward for all rows.

    For each output a tree of each argument, of shape ``output.shape + argument.shape``.
    `chunk_size` is how many rows to compute at once; by default all.
    """
    # An option of torch about memory, without effect on results.
    del _preallocate_and_copy
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacrev", args, "inputs")
        output, pull, aux = _vjp(func, args, argnums, has_aux)
        leaves, spec = _pytree.tree_flatten(output)
        refuse_complex("jacrev", leaves, "outputs")
        inputs, in_spec = _pytree.tree_flatten(chosen(args, argnums))
        rows = _rows(leaves, spec, pull, chunk_size)
        blocks = [
            _pytree.tree_unflatten(block, in_spec) for block in _by_output(rows, leaves, inputs)
        ]
        if isinstance(argnums, int):
            blocks = [block[0] for block in blocks]
        jacobian = _pytree.tree_unflatten(blocks, spec)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def _rows(
    outputs: Sequence[Tensor], spec: _pytree.TreeSpec, pull: Any, chunk_size: int | None
) -> list[Tensor]:
    """For each input the gradients of all elements of the outputs, along the first dimension."""
    from gradtool.engine._ops.shape.joining import cat

    total = sum(each.numel() for each in outputs)
    parts = []
    # A step of one at least: without elements there is one part without rows.
    for start in range(0, max(total, 1), chunk_size or max(total, 1)):
        basis = standard_basis(outputs, start, chunk_size)
        if chunk_size == 1:
            # As in torch row by row: user code then need not work under vmap.
            row = pull(_pytree.tree_unflatten([each.squeeze(0) for each in basis], spec))
            parts.append([each.unsqueeze(0) for each in _pytree.tree_leaves(row)])
        else:
            parts.append(_pytree.tree_leaves(vmap(pull)(_pytree.tree_unflatten(basis, spec))))
    return parts[0] if len(parts) == 1 else [cat(list(column)) for column in zip(*parts)]


def _by_output(
    rows: Sequence[Tensor], outputs: Sequence[Tensor], inputs: Sequence[Tensor]
) -> list[list[Tensor]]:
    """For each output the block of each input, of shape ``output.shape + input.shape``."""
    counts = [each.numel() for each in outputs]
    split = [each.split(counts, dim=0) for each in rows]
    return [
        [part[at].view((*output.shape, *each.shape)) for part, each in zip(split, inputs)]
        for at, output in enumerate(outputs)
    ]
