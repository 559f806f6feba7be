"""Derivatives of functions of tensors by reverse mode, as ``torch.autograd.functional`` has them.

Inputs and outputs are tensors or tuples of tensors; results have the structure of both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd import _functional_parts as parts
from gradtool.engine.autograd._functional_parts import Tensors, finished, prepared, pulled, shaped
from gradtool.engine.autograd._jacobian import (
    construct_standard_basis_for as _construct_standard_basis_for,
)
from gradtool.engine.autograd._jacobian import hessian, jacobian
from gradtool.engine.autograd.grad_mode import enable_grad

__all__ = [
    "_construct_standard_basis_for", "hessian", "hvp", "jacobian", "jvp", "vhp", "vjp",
]  # fmt: skip


def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs of `func`, and the product of `v` with its Jacobian.

    Raises:
        RuntimeError: `v` does not fit the outputs, or with `strict` an output does not depend
            on an input.
    """
    with enable_grad():
        several_in, given = parts.as_tuple(inputs, "inputs", "vjp")
        primals = prepared(given, create_graph)
        several_out, outputs = parts.outputs_of(func, primals, "vjp", strict)
        cotangents = parts.given_vector(
            v, outputs, several_out, create_graph, "vjp", "user-provided function returns"
        )
    grads = pulled(outputs, primals, cotangents, create_graph=create_graph)
    product = parts.filled(
        grads,
        primals,
        missing=parts.OUTPUT_DEPENDS if strict else None,
        constant=parts.JACOBIAN_RECORDED if strict and create_graph else None,
    )
    return (
        shaped(finished(outputs, create_graph), several_out),
        shaped(finished(product, create_graph), several_in),
    )


def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs of `func`, and the product of its Jacobian with `v`.

    Computed as the transpose of the vjp, which is linear in its cotangent.

    Raises:
        RuntimeError: `v` does not fit the inputs, or with `strict` an output does not depend
            on an input.
    """
    with enable_grad():
        primals, tangents, _ = _primals_and_vector(inputs, v, create_graph, "jvp")
        several_out, outputs = parts.outputs_of(func, primals, "jvp", strict)
        # The vjp is linear in its cotangents, so any values of them will do.
        dummies = _recorded_zeros(outputs)
        grads = pulled(outputs, primals, dummies, create_graph=True)
        if strict:
            parts.require_recorded(grads, parts.GRADIENT_DEPENDS)
    pushed = parts.filled(
        pulled(grads, dummies, tangents, create_graph=create_graph),
        outputs,
        missing=parts.PUSHED_DEPENDS if strict else None,
        constant=parts.JACOBIAN_RECORDED if strict and create_graph else None,
    )
    return (
        shaped(finished(outputs, create_graph), several_out),
        shaped(finished(pushed, create_graph), several_out),
    )


def vhp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of scalar `func`, and the product of `v` with its Hessian.

    Raises:
        RuntimeError: `v` does not fit the inputs, `func` does not return one element, or with
            `strict` a derivative does not depend on an input.
    """
    with enable_grad():
        primals, vector, several = _primals_and_vector(inputs, v, create_graph, "vhp")
        output, first = _gradient(func, primals, "vhp", strict)
    product = parts.filled(
        pulled(first, primals, vector, create_graph=create_graph),
        primals,
        missing=parts.JACOBIAN_DEPENDS if strict else None,
        constant=parts.HESSIAN_RECORDED if strict and create_graph else None,
    )
    return finished((output,), create_graph)[0], shaped(finished(product, create_graph), several)


def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of scalar `func`, and the product of its Hessian with `v`.

    Slower than `vhp`, whose result is the same where the Hessian is symmetric.

    Raises:
        RuntimeError: as `vhp`.
    """
    with enable_grad():
        primals, vector, several = _primals_and_vector(inputs, v, create_graph, "hvp")
        output, first = _gradient(func, primals, "hvp", strict)
        # As in `jvp`: the product from the right is a derivative by a cotangent.
        dummies = _recorded_zeros(primals)
        second = pulled(first, primals, dummies, create_graph=True)
    product = parts.filled(
        pulled(second, dummies, vector, create_graph=create_graph),
        primals,
        missing=parts.HESSIAN_PUSHED_DEPENDS if strict else None,
        constant=parts.HESSIAN_RECORDED if strict and create_graph else None,
    )
    return finished((output,), create_graph)[0], shaped(finished(product, create_graph), several)


def _primals_and_vector(
    inputs: Any, v: Any, create_graph: bool, name: str
) -> tuple[Tensors, Tensors | None, bool]:
    """Return the inputs, the vector of their shapes, and True if they are a tuple."""
    several, given = parts.as_tuple(inputs, "inputs", name)
    primals = prepared(given, create_graph)
    source = "input to the user-provided function is"
    return primals, parts.given_vector(v, primals, several, create_graph, name, source), several


def _recorded_zeros(like: Tensors) -> Tensors:
    return tuple(parts.zeros_of(each).requires_grad_() for each in like)


def _gradient(
    func: Any, primals: Tensors, name: str, strict: bool
) -> tuple[Tensor, parts.Gradients]:
    """Return the scalar, and its gradients as functions of the inputs."""
    output = parts.scalar_of(func, primals, name, strict)
    first = pulled((output,), primals, create_graph=True)
    if strict:
        parts.require_recorded(first, parts.GRADIENT_IS_JACOBIAN)
    return output, first
