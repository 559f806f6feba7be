"""`backward` and `grad`: the two doors to the backward walk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine._errors import ContractError
from gradtool.engine._tensor import Tensor, wrap
from gradtool.engine.autograd._walk import walk


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add gradients of the sum of `tensors`, weighted by `grad_tensors`, to leaves' ``grad``.

    Args:
        tensors: what is differentiated.
        grad_tensors: a cotangent of the shape of each; may be left out for one element.
        retain_graph: keep saved values for another walk; by default as `create_graph`.
        create_graph: record the walk itself, so that gradients can be differentiated.
        inputs: only these leaves get their gradient; by default all leaves.

    Raises:
        RuntimeError: a cotangent is missing or of the wrong shape, a tensor requires no
            gradient, or the graph was freed or changed in place.
    """
    roots = _roots(tensors, grad_tensors)
    targets = None if inputs is None else _as_tuple(inputs)
    if targets is not None and not targets:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    walk(
        roots,
        keep_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        targets=targets,
    )


def grad(
    outputs: Tensor | Sequence[Tensor],
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
        outputs: what is differentiated.
        inputs: tensors of the graph, one or a sequence.
        grad_outputs: a cotangent of the shape of each output; may be left out for one element.
        retain_graph: keep saved values for another walk; by default as `create_graph`.
        create_graph: record the walk itself, so that gradients can be differentiated.
        only_inputs: ignored, as in torch.
        allow_unused: an input that no output depends on gets None rather than an error.
        is_grads_batched: each cotangent has one more leading dimension; so have the results.
        materialize_grads: zeros in the place of None.

    Returns:
        One gradient for each input, of its shape and dtype.

    Raises:
        RuntimeError: as `backward`; or an input requires no gradient; or was not used.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            "but got: allow_unused=False."
        )
    targets = _as_tuple(inputs)
    roots = None if is_grads_batched else _roots(outputs, grad_outputs)
    for target in targets:
        if not target._requires_grad:
            raise ContractError(
                "no-graph", "One of the differentiated Tensors does not require grad"
            )
    if roots is None:
        return _batched_grad(outputs, targets, grad_outputs, create_graph, allow_unused)
    found = walk(
        roots,
        keep_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        targets=targets,
        accumulate=False,
    )
    if materialize_grads:
        return tuple(
            target.new_zeros(target.shape) if each is None else each
            for target, each in zip(targets, found)
        )
    if not allow_unused and any(each is None for each in found):
        raise RuntimeError(
            f"The differentiated Tensor at index {[each is None for each in found].index(True)} "
            "appears to not have been used in the graph. Set allow_unused=True if this is the "
            "desired behavior."
        )
    return tuple(found)


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


_backward_from.__name__ = "backward"
Tensor.backward = _backward_from  # type: ignore[attr-defined]  # methods are attached


def _batched_grad(
    outputs: Any, targets: tuple[Tensor, ...], cotangents: Any, create_graph: bool, allow: Any
) -> tuple[Tensor | None, ...]:
    """One walk for all rows of the cotangents."""
    # `func` imports the walk of this package.
    from gradtool.engine.func._vmap import vmap_rows

    def of_row(*row: Tensor) -> tuple[Tensor | None, ...]:
        return grad(outputs, targets, row, True, create_graph, allow_unused=allow)

    found: tuple[Tensor | None, ...] = vmap_rows(of_row)(*_as_tuple(cotangents))
    return found


def _as_tuple(tensors: Any) -> tuple[Any, ...]:
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _roots(outputs: Any, cotangents: Any) -> list[tuple[Tensor, Tensor]]:
    """Outputs with their cotangents, checked."""
    if cotangents is None and outputs.__class__ is Tensor:
        return [(outputs, cotangent_of(outputs, None, 0))]
    tensors = _as_tuple(outputs)
    given = (None,) * len(tensors) if cotangents is None else _as_tuple(cotangents)
    if len(given) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(given)} gradients")
    return [
        (tensor, cotangent_of(tensor, each, position))
        for position, (tensor, each) in enumerate(zip(tensors, given))
    ]


def cotangent_of(tensor: Tensor, given: Tensor | None, position: int) -> Tensor:
    """The cotangent of a root, checked; ones if none is given.

    Raises:
        RuntimeError: the tensor requires no gradient, or the cotangent does not fit it.
    """
    if not tensor._requires_grad:
        raise ContractError(
            "no-graph",
            f"element {position} of tensors does not require grad and does not have a grad_fn",
        )
    array = tensor._array
    if given is None:
        if array.size != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if array.dtype.kind == "c":
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs but got "
                f"{tensor.dtype}"
            )
        if tensor.__class__ is not Tensor and tensor._level is not None:
            return tensor.detach().new_ones(tensor.shape)
        # Not `np.ones`: a copy is on the array's own device, NumPy's or CuPy's.
        ones = array.copy()
        ones[...] = 1
        return wrap(ones)
    if not isinstance(given, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(given).__name__}")
    if given._array.shape != array.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{position}] has a shape of {given.shape} and "
            f"output[{position}] has a shape of {tensor.shape}."
        )
    if (given._array.dtype.kind == "c") != (array.dtype.kind == "c"):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{position}] has a dtype of {given.dtype} and "
            f"output[{position}] has a dtype of {tensor.dtype}."
        )
    # NumPy has one object for each native dtype, and `is` is quicker than `==`.
    return given if given._array.dtype is array.dtype else given.to(tensor.dtype)
