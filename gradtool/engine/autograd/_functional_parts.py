"""Checks and steps that the derivatives of `autograd.functional` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._api import grad

Tensors = tuple[Tensor, ...]
Gradients = tuple[Tensor | None, ...]

OUTPUTS = "outputs of the user-provided function"

# Messages of strict mode; `at` is the position of the tensor that breaks it.
OUTPUT_RECORDED = (
    "Output {at} of the user-provided function does not require gradients. The outputs must be "
    "computed in a differentiable manner from the input when running in strict mode."
)
OUTPUT_DEPENDS = (
    "The output of the user-provided function is independent of input {at}. This is not allowed "
    "in strict mode."
)
GRADIENT_DEPENDS = (
    "The gradient with respect to input {at} is independent of the inputs of the user-provided "
    "function. This is not allowed in strict mode."
)
GRADIENT_IS_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with "
    "respect to input {at} is independent of the input. This is not allowed in strict mode. You "
    "should ensure that your function is twice differentiable and that the jacobian depends on the "
    "inputs (this would be violated by a linear function for example)."
)
PUSHED_DEPENDS = (
    "The gradient with respect to the input is independent of entry {at} in the grad_outputs when "
    "using the double backward trick to compute forward mode gradients. This is not allowed in "
    "strict mode."
)
JACOBIAN_DEPENDS = (
    "The jacobian of the user-provided function is independent of input {at}. This is not allowed "
    "in strict mode."
)
HESSIAN_PUSHED_DEPENDS = (
    "The hessian of the user-provided function is independent of entry {at} in the grad_jacobian. "
    "This is not allowed in strict mode as it prevents from using the double backward trick to "
    "replace forward mode AD."
)
JACOBIAN_RECORDED = (
    "The jacobian of the user-provided function is independent of input {at}. This is not allowed "
    "in strict mode when create_graph=True."
)
HESSIAN_RECORDED = (
    "The hessian of the user-provided function is independent of input {at}. This is not allowed "
    "in strict mode when create_graph=True."
)


def as_tuple(value: Any, what: str, name: str) -> tuple[bool, Tensors]:
    """Return (`value` is a tuple, its tensors).

    Raises:
        TypeError: there is something else among them.
    """
    is_tuple = isinstance(value, tuple)
    tensors = value if is_tuple else (value,)
    for at, each in enumerate(tensors):
        if not isinstance(each, Tensor):
            where = f"value at index {at}" if is_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but "
                f"the {where} has type {type(each)}."
            )
    return is_tuple, tensors


def prepared(tensors: Tensors, create_graph: bool, *, need_graph: bool = True) -> Tensors:
    """Inputs to differentiate with respect to, connected to the caller's graph if asked."""
    return tuple(
        # A view, not the input: only what goes through the function counts as dependence on it.
        each.view_as(each)
        if create_graph and each.requires_grad
        else each.detach().requires_grad_(need_graph)
        for each in tensors
    )


def given_vector(
    v: Any, like: Tensors, is_tuple: bool, create_graph: bool, name: str, source: str
) -> Tensors | None:
    """`v` as tensors of the shapes of `like`; None for an implicit one.

    Raises:
        RuntimeError: it does not fit, or was left out where `like` has more than one element.
    """
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {source} a single Tensor with a single "
                "element."
            )
        return None
    vector = prepared(as_tuple(v, "v", name)[1], create_graph, need_graph=False)
    if len(vector) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(vector)}."
            if is_tuple
            else "The given v should contain a single Tensor."
        )
    for at, (each, expected) in enumerate(zip(vector, like)):
        if each.shape != expected.shape:
            entry = f"Entry {at} in " if is_tuple else ""
            raise RuntimeError(
                f"{entry}v has invalid size: should be {expected.shape} but got {each.shape}."
            )
    return vector


def outputs_of(func: Any, inputs: Tensors, name: str, strict: bool) -> tuple[bool, Tensors]:
    """Return (it is a tuple, the tensors of it) for what `func` returns."""
    is_tuple, outputs = as_tuple(func(*inputs), OUTPUTS, name)
    if strict:
        require_recorded(outputs, OUTPUT_RECORDED)
    return is_tuple, outputs


def scalar_of(func: Any, inputs: Tensors, name: str, strict: bool) -> Tensor:
    """The only element that `func` returns.

    Raises:
        RuntimeError: it returns something else.
    """
    is_tuple, outputs = outputs_of(func, inputs, name, strict)
    if is_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    return outputs[0]


def require_recorded(
    tensors: Sequence[Tensor | None], message: str, missing: str = OUTPUT_DEPENDS
) -> None:
    """Refuse what strict mode does not accept: a missing tensor, or one outside the graph."""
    for at, each in enumerate(tensors):
        if each is None:
            raise RuntimeError(missing.format(at=at))
        if not each.requires_grad:
            raise RuntimeError(message.format(at=at))


def pulled(
    outputs: Sequence[Tensor | None],
    inputs: Tensors,
    cotangents: Sequence[Tensor | None] | None = None,
    *,
    create_graph: bool,
    retain_graph: bool | None = None,
    batched: bool = False,
) -> Gradients:
    """Gradients of `inputs`; None where no output depends on one."""
    given = (None,) * len(outputs) if cotangents is None else cotangents
    usable = [
        (output, cotangent)
        for output, cotangent in zip(outputs, given)
        if output is not None and output.requires_grad
    ]
    if not usable:
        return (None,) * len(inputs)
    return grad(
        [output for output, _ in usable],
        inputs,
        [cotangent for _, cotangent in usable],
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=True,
        is_grads_batched=batched,
    )


def filled(
    grads: Gradients, like: Tensors, missing: str | None = None, constant: str | None = None
) -> Tensors:
    """Zeros for what is missing; an error of this message for it, or for a constant."""
    for at, each in enumerate(grads):
        if each is None and missing is not None:
            raise RuntimeError(missing.format(at=at))
        if each is not None and constant is not None and not each.requires_grad:
            raise RuntimeError(constant.format(at=at))
    return tuple(zeros_of(ref) if each is None else each for each, ref in zip(grads, like))


def zeros_of(like: Tensor) -> Tensor:
    """Zeros of the shape of a tensor, which carry no derivative."""
    zeros: Tensor = like.new_zeros(like.shape)
    return zeros


def finished(tensors: Tensors, create_graph: bool) -> Tensors:
    """Results as the caller gets them: outside the graph unless it was asked for."""
    return tensors if create_graph else tuple(each.detach() for each in tensors)


def shaped(tensors: Sequence[Any], is_tuple: bool) -> Any:
    """The tuple, or the only tensor of it."""
    return tuple(tensors) if is_tuple else tensors[0]
