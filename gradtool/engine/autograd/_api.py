"""`backward` and `grad`: the two doors to the backward walk."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._roots import (
    Root,
    as_targets,
    check_targets,
    with_cotangents,
)
from gradtool.engine.autograd._walk import walk


def backward(
    tensors: Any,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add gradients of the sum of `tensors`, weighted by `grad_tensors`, to leaves' ``grad``.

    Args:
        tensors: what is differentiated: tensors, or edges of the graph.
        grad_tensors: a cotangent of the shape of each; may be left out for one element.
        retain_graph: keep saved values for another walk; by default as `create_graph`.
        create_graph: record the walk itself, so that gradients can be differentiated.
        grad_variables: the old name of `grad_tensors`.
        inputs: only these leaves get their gradient; by default all leaves. A tensor that is no
            leaf retains its own.

    Raises:
        RuntimeError: a cotangent is missing or of the wrong shape, a tensor requires no
            gradient, the graph was freed or changed in place, or a transform is under way.
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if modes.levels and any(level.by_func for level in modes.levels):
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use "
            "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
            "transforms."
        )
    targets = None if inputs is None else as_targets(inputs, "backward")
    roots = with_cotangents(tensors, grad_tensors)
    if targets is not None:
        for target in targets:
            if isinstance(target, Tensor):
                target._current_node()  # as in torch, that of a view is found first
                target.retain_grad()
        check_targets(targets)
    if create_graph:
        _warn_of_cycle()
    walk(
        roots,
        keep_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        targets=targets,
    )


_warned: list[bool] = []


def _warn_of_cycle() -> None:
    """Warn of a recorded ``grad``, once in a process."""
    if not _warned:
        _warned.append(True)
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the "
            "parameter and its gradient which can cause a memory leak. We recommend using "
            "autograd.grad when creating the graph to avoid this. If you have to use this "
            "function, make sure to reset the .grad fields of your parameters to None after use "
            "to break the cycle and avoid the leak.",
            UserWarning,
            stacklevel=3,
        )


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Gradients of the sum of `outputs`, weighted by `grad_outputs`, with respect to `inputs`.

    Args:
        outputs: what is differentiated: tensors, or edges of the graph.
        inputs: tensors or edges of the graph, one, a sequence or a dict.
        grad_outputs: a cotangent of the shape of each output; may be left out for one element.
        retain_graph: keep saved values for another walk; by default as `create_graph`.
        create_graph: record the walk itself, so that gradients can be differentiated.
        only_inputs: ignored, as in torch.
        allow_unused: an input that no output depends on gets None rather than an error.
        is_grads_batched: each cotangent has one more leading dimension; so have the results.
        materialize_grads: zeros in the place of None.

    Returns:
        One gradient for each input, of its shape and dtype; in a dict if the inputs are.

    Raises:
        RuntimeError: as `backward`; or an input requires no gradient; or was not used.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            "but got: allow_unused=False."
        )
    targets = as_targets(inputs, "grad")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use "
            "torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    roots = with_cotangents(outputs, grad_outputs, batched=is_grads_batched)
    check_targets(targets)
    find = _batched if is_grads_batched else _found
    found = find(
        roots, targets, create_graph if retain_graph is None else retain_graph, create_graph
    )
    if materialize_grads:
        found = _materialized(found, targets, create_graph)
    elif not allow_unused:
        _require_used(found)
    if type(inputs) is dict:
        return dict(zip(inputs, found, strict=True))  # type: ignore[return-value]  # rarely a dict
    return tuple(found)


def _require_used(found: Sequence[Tensor | None]) -> None:
    for position, each in enumerate(found):
        if each is None:
            raise RuntimeError(
                f"The differentiated Tensor at index {position} "
                "appears to not have been used in the graph. Set allow_unused=True if this is the "
                "desired behavior."
            )


def _found(
    roots: list[tuple[Root, Tensor]], targets: tuple[Root, ...], keep: bool, create: bool
) -> list[Tensor | None]:
    return walk(roots, keep_graph=keep, create_graph=create, targets=targets, accumulate=False)


def _batched(
    roots: list[tuple[Root, Tensor]], targets: tuple[Root, ...], keep: bool, create: bool
) -> list[Tensor | None]:
    """One walk for all rows of the cotangents."""
    # `func` imports the walk of this package.
    from gradtool.engine._vmap_internals import _vmap

    def vjp(*row: Tensor) -> tuple[Tensor | None, ...]:
        again = [(root, each) for (root, _), each in zip(roots, row, strict=True)]
        return tuple(_found(again, targets, keep, create))

    return list(_vmap(vjp, allow_none_pass_through=True)(*[cotangent for _, cotangent in roots]))


def _materialized(
    found: list[Tensor | None], targets: tuple[Root, ...], create_graph: bool
) -> list[Tensor | None]:
    """Zeros in the place of each gradient that is undefined."""
    filled: list[Tensor | None] = []
    for each, target in zip(found, targets, strict=True):
        if each is None and not isinstance(target, Tensor):
            raise RuntimeError(
                "materialize_grads cannot be used when the given input is a GradientEdge"
            )
        filled.append(
            target.new_zeros(target.shape, requires_grad=create_graph)
            if each is None and isinstance(target, Tensor)
            else each
        )
    return filled


def _backward_from(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of this tensor to the ``grad`` of the leaves it depends on.

    See `gradtool.engine.autograd.backward`.
    """
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


_backward_from.__name__, _backward_from.__qualname__ = "backward", "Tensor.backward"
Tensor.backward = _backward_from  # type: ignore[attr-defined]  # methods are attached
