"""The arguments of `backward` and `grad`: what is differentiated, by what, and its cotangents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradtool.engine._errors import ContractError
from gradtool.engine._size import Size
from gradtool.engine._tensor import Tensor, wrap
from gradtool.engine.autograd._node import GradientEdge, Nowhere, node_and_number
from gradtool.engine.autograd._run_hooks import in_form

Root = Tensor | GradientEdge

ROOTS = (Tensor, GradientEdge)
"""The same for `isinstance`: a union is made anew wherever it is written in a function."""


def as_roots(given: Any) -> tuple[Any, ...]:
    """One tensor or edge, or a sequence of them, as a tuple."""
    # An edge is a tuple too.
    return (given,) if isinstance(given, ROOTS) else tuple(given)


def as_targets(inputs: Any, name: str) -> tuple[Root, ...]:
    """The tensors and edges of the argument `inputs` of a function, which may be in a dict.

    Raises:
        TypeError: it is another mapping.
        RuntimeError: there is none, or something that is neither tensor nor edge.
    """
    kind = type(inputs)
    if kind is dict:
        inputs = inputs.values()
    elif kind is not Tensor and kind is not list and isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{name}()` must be a dict, not {type(inputs).__name__}. "
            "Other Mapping types are not supported."
        )
    targets = as_roots(inputs)
    if not targets:
        raise RuntimeError(f"`inputs` argument to `{name}()` cannot be empty.")
    return targets


def check_targets(targets: tuple[Root, ...]) -> None:
    """Refuse what cannot be differentiated by.

    Raises:
        RuntimeError: it is neither tensor nor edge, or a tensor that requires no gradient.
    """
    for target in targets:
        if target.__class__ is Tensor and target._requires_grad:
            continue
        if isinstance(target, GradientEdge):
            continue
        if not isinstance(target, Tensor):
            raise RuntimeError(
                f"all inputs have to be Tensors or GradientEdges, but got {type(target).__name__}"
            )
        if not target._requires_grad:
            raise ContractError(
                "no-graph", "One of the differentiated Tensors does not require grad"
            )


def with_cotangents(
    outputs: Any, cotangents: Any, *, batched: bool = False
) -> list[tuple[Root, Tensor]]:
    """Outputs with their cotangents, checked; a missing one is 1.

    Args:
        outputs: what is differentiated.
        cotangents: a cotangent for each of the outputs, or None.
        batched: each cotangent has a further dimension in front.

    Raises:
        RuntimeError: a cotangent does not fit, or is missing where it is needed; an output
            requires no gradient.
        TypeError: a cotangent is no tensor.
    """
    if outputs.__class__ is Tensor and not batched:
        if cotangents is None:
            is_usual = outputs._requires_grad and outputs._view is None
            return [(outputs, _one(outputs) if is_usual else cotangent_of(outputs, None, 0))]
        plain = outputs._view is None or outputs._node is not None
        if plain and outputs._requires_grad and _are_alike(outputs, cotangents):
            return [(outputs, cotangents)]
    if not batched and _are_usual(outputs, cotangents):
        return list(zip(outputs, cotangents))
    roots = as_roots(outputs)
    given = (None,) * len(roots) if cotangents is None else cotangents
    given = (given,) if isinstance(given, Tensor) else tuple(given)
    checked = [
        _cotangent(root, each, position, batched)
        for position, (root, each) in enumerate(zip(roots, given))
    ]
    if len(checked) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(checked)} gradients")
    for position, root in enumerate(roots):
        _require_gradient(root, position)
    return [
        (root, _as_computed(root, each, position))
        for position, (root, each) in enumerate(zip(roots, checked, strict=True))
    ]


_SEQUENCES = (tuple, list)


def _are_usual(outputs: Any, cotangents: Any) -> bool:
    """Return True for a sequence of which nothing needs another look."""
    if outputs.__class__ not in _SEQUENCES or cotangents.__class__ not in _SEQUENCES:
        return False
    return len(outputs) == len(cotangents) == sum(map(_is_usual, outputs, cotangents))


def _is_usual(root: Any, given: Any) -> bool:
    """Return True for a tensor in the graph, as it was computed, and its usual cotangent."""
    if root.__class__ is not Tensor or root._node is None or not root._requires_grad:
        return False
    node, _ = node_and_number(root)
    return node._hooks is None and _are_alike(root, given)


def _are_alike(root: Tensor, given: Any) -> bool:
    """Return True for a tensor of the shape and dtype of another: the usual cotangent."""
    if given.__class__ is not Tensor:
        return False
    array, of_root = given._array, root._array
    return bool(array.dtype is of_root.dtype and array.shape == of_root.shape)


def cotangent_of(root: Root, given: Tensor | None, position: int) -> Tensor:
    """The cotangent of a root, checked; ones if none is given.

    Raises:
        RuntimeError: the tensor requires no gradient, or the cotangent does not fit it.
    """
    _require_gradient(root, position)
    cotangent: Tensor = _cotangent(root, given, position, batched=False)
    return cotangent


def _require_gradient(root: Root, position: int) -> None:
    if isinstance(root, Tensor) and (not root._requires_grad or _leads_nowhere(root)):
        raise ContractError(
            "no-graph",
            f"element {position} of tensors does not require grad and does not have a grad_fn",
        )


def _as_computed(root: Root, cotangent: Tensor, position: int) -> Tensor:
    """Return the cotangent in the form that a tensor was computed in before it got other data."""
    if not isinstance(root, Tensor) or root._node is None:
        return cotangent
    node, number = node_and_number(root)
    form = None if node._hooks is None else node._hooks.computed.get(number)
    return (
        cotangent
        if form is None
        else in_form(cotangent, form, f"invalid gradient at index {position}")
    )


def _leads_nowhere(root: Tensor) -> bool:
    """Return True for a view of a leaf that was made outside of the graph."""
    return root._view is not None and isinstance(root._node or root._accumulator(), Nowhere)


def _cotangent(root: Root, given: Any, position: int, batched: bool) -> Any:
    if not isinstance(root, ROOTS):
        raise AssertionError("Expected output to be a torch.Tensor")
    info: Any = root
    if isinstance(root, GradientEdge):
        known = root.node._input_metadata
        if not known and isinstance(given, Tensor):
            return given
        info = known[root.output_nr]
    if given is None:
        return _one(info) if isinstance(root, GradientEdge) or root._requires_grad else None
    if not isinstance(given, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(given).__name__}")
    if batched and not given.ndim:
        return given[0]  # raises, as in torch
    shape = Size(given.shape[1:]) if batched else given.shape
    if shape != info.shape:
        raise RuntimeError(_mismatch(position, shape, info, batched))
    if given.is_complex() != info.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{position}] has a dtype of {given.dtype} and "
            f"output[{position}] has a dtype of {info.dtype}."
        )
    return given if given.dtype is info.dtype else given.to(info.dtype)


def _one(info: Any) -> Tensor:
    """The cotangent 1 for a tensor, or for the properties of one."""
    if info.__class__ is Tensor and info._array.dtype.kind == "f" and info._array.size == 1:
        return _filled_with_one(info)
    shape, dtype = info.shape, info.dtype
    if shape.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not dtype.is_floating_point and (dtype.is_complex or not isinstance(info, Tensor)):
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {dtype}"
        )
    if info.__class__ is Tensor:
        return _filled_with_one(info)
    if isinstance(info, Tensor):
        return info.detach().new_ones(shape)
    from gradtool.engine._ops.creation.creation import ones

    one: Tensor = ones(shape, dtype=dtype, device=info.device)
    return one


def _filled_with_one(tensor: Tensor) -> Tensor:
    # Not `np.ones`: a copy is on the array's own device, NumPy's or CuPy's.
    array = tensor._array.copy()
    array.fill(1)
    return wrap(array)


def _mismatch(position: int, shape: Size, info: Any, batched: bool) -> str:
    if not batched:
        return (
            f"Mismatch in shape: grad_output[{position}] has a shape of {shape} and "
            f"output[{position}] has a shape of {info.shape}."
        )
    return (
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the "
        "batch dimension. The sizes of the remaining dimensions are expected to match the shape "
        "of corresponding output, but a mismatch was detected: "
        f"grad_output[{position}] has a shape of {shape} and output[{position}] has a "
        f"shape of {info.shape}. If you only want some tensors in `grad_output` to be considered "
        "batched, consider using vmap."
    )
