"""Jacobians and Hessians of functions of tensors, row by row or all rows at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd import _functional_parts as parts
from gradtool.engine.autograd._functional_parts import Tensors, finished, prepared, pulled, shaped
from gradtool.engine.autograd.grad_mode import enable_grad


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of `func`: for outputs of shape M and inputs of shape N, of shape M + N.

    Args:
        func: takes the tensors of `inputs`, returns a tensor or a tuple of them.
        inputs: a tensor or a tuple of them.
        create_graph: let the result be differentiated.
        strict: an output that does not depend on an input is an error, not zero.
        vectorize: all rows (or columns) in one batched walk.
        strategy: ``reverse-mode``, or ``forward-mode``, which needs `vectorize`.

    Raises:
        RuntimeError, AssertionError, NotImplementedError: the options contradict each other, as
            in torch, or `strict` is not met.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        _check_forward(create_graph, strict, vectorize)
        return _by_columns(func, inputs)
    with enable_grad():
        several_in, given = parts.as_tuple(inputs, "inputs", "jacobian")
        primals = prepared(given, create_graph)
        several_out, outputs = parts.outputs_of(func, primals, "jacobian", strict)
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                "supported together. Please either set `strict=False` or `vectorize=False`."
            )
        blocks = (
            _all_rows(outputs, primals, create_graph)
            if vectorize
            else [_rows(at, each, primals, create_graph, strict) for at, each in enumerate(outputs)]
        )
    rows = [shaped(finished(tuple(row), create_graph), several_in) for row in blocks]
    return shaped(rows, several_out)


def _check_forward(create_graph: bool, strict: bool, vectorize: bool) -> None:
    """Refuse what the forward strategy does not support."""
    for name, given in (("create_graph", create_graph), ("strict", strict)):
        if given:
            kind = RuntimeError if name == "strict" else NotImplementedError
            raise kind(
                f'torch.autograd.functional.jacobian: `{name}=True` and `strategy="forward-mode"` '
                f"are not supported together (yet). Please either set `{name}=False` or "
                '`strategy="reverse-mode"`.'
            )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
            "only implemented for `vectorize=True`."
        )


def _rows(
    number: int, output: Tensor, primals: Tensors, create_graph: bool, strict: bool
) -> list[Tensor]:
    """One output's Jacobian with respect to each input."""
    from gradtool.engine._ops.shape.joining import stack

    missing = (
        f"Output {number} of the user-provided function is independent of input {{at}}. This is "
        "not allowed in strict mode."
    )
    # torch numbers the output here too, where its message speaks of an input.
    constant = parts.JACOBIAN_RECORDED.format(at=number)
    columns: list[list[Tensor]] = [[] for _ in primals]
    for at in range(output.numel()):
        # Every element walks the same graph: it is kept.
        row = pulled(
            (output.reshape(-1)[at],), primals, create_graph=create_graph, retain_graph=True
        )
        strictly = (missing, constant if create_graph else None) if strict else (None, None)
        for column, each in zip(columns, parts.filled(row, primals, *strictly)):
            column.append(each)
    return [
        stack(column).view((*output.shape, *primal.shape))
        for column, primal in zip(columns, primals)
    ]


def _all_rows(outputs: Tensors, primals: Tensors, create_graph: bool) -> list[list[Tensor]]:
    """Each output's Jacobian with respect to each input, in one batched walk."""
    counts = [each.numel() for each in outputs]
    found = pulled(
        [each.reshape(-1) for each in outputs],
        primals,
        standard_basis(outputs),
        create_graph=create_graph,
        batched=True,
    )
    by_input = [
        (
            parts.zeros_of(primal).expand((sum(counts), *primal.shape)) if each is None else each
        ).split(counts, dim=0)
        for each, primal in zip(found, primals)
    ]
    return [
        [rows[at].view((*output.shape, *primal.shape)) for rows, primal in zip(by_input, primals)]
        for at, output in enumerate(outputs)
    ]


def standard_basis(tensors: Tensors) -> Tensors:
    """The basis of the space of all tensors together: for each tensor a matrix of its part.

    A row belongs to an element of the space, a column to one of the tensor.
    """
    total = sum(each.numel() for each in tensors)
    basis, start = [], 0
    for each in tensors:
        part: Any = each.new_zeros(total, each.numel())
        part.diagonal(-start).fill_(1)
        basis.append(part)
        start += each.numel()
    return tuple(basis)


def construct_standard_basis_for(tensors: Tensors, tensor_numels: tuple[int, ...]) -> Tensors:
    """`standard_basis`, as torch calls it, which has the tensors' numbers of elements given.

    Raises:
        AssertionError: there is no tensor, or not a number for each.
    """
    if len(tensors) != len(tensor_numels):
        raise AssertionError(
            "Expected tensors and tensor_numels to have the same length, but got "
            f"{len(tensors)} and {len(tensor_numels)}"
        )
    if not tensors:
        raise AssertionError("Expected at least one tensor")
    return standard_basis(tensors)


def _by_columns(func: Callable[..., Any], inputs: Any) -> Any:
    """The Jacobian by forward mode, with a tangent for each element of the inputs."""
    # `func` imports the walk of this package.
    from gradtool.engine._vmap_internals import _vmap

    several_in, primals = parts.as_tuple(inputs, "inputs", "jacobian")
    seen: list[Any] = []

    def push(*tangents: Tensor) -> Tensors:
        seen[:] = _pushed(func, primals, tangents)
        moved: Tensors = seen[2]
        return moved

    columns = _vmap(push)(*standard_basis(primals))
    several_out, outputs, _ = seen
    counts = [each.numel() for each in primals]
    blocks = [
        shaped(
            [
                part.permute(*range(1, part.ndim), 0).reshape((*output.shape, *primal.shape))
                for part, primal in zip(column.split(counts, dim=0), primals)
            ],
            several_in,
        )
        for column, output in zip(columns, outputs)
    ]
    return shaped(blocks, several_out)


def _pushed(func: Any, primals: Tensors, tangents: Tensors) -> tuple[bool, Tensors, Tensors]:
    """Return (outputs are a tuple, the outputs, their tangents)."""
    from gradtool.engine.autograd import forward_ad

    with forward_ad.dual_level():
        duals = [
            forward_ad.make_dual(primal, tangent.view_as(primal))
            for primal, tangent in zip(primals, tangents)
        ]
        several, outputs = parts.as_tuple(func(*duals), "outputs", "None")
        unpacked = [forward_ad.unpack_dual(each) for each in outputs]
        moved = [
            parts.zeros_of(primal) if tangent is None else tangent for primal, tangent in unpacked
        ]
        return several, tuple(primal for primal, _ in unpacked), tuple(moved)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of scalar `func`: the Jacobian of its Jacobian.

    Raises:
        RuntimeError: `func` does not return one single-element tensor, or as `jacobian`.
    """
    several, tensors = parts.as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*values: Tensor) -> Tensor:
        squeezed: Tensor = parts.scalar_of(func, values, "hessian", strict).squeeze()
        return squeezed

    def gradient(*primals: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            # Recorded as they are, with their tangents; a constant would be detached.
            primals = tuple(each.requires_grad_() for each in primals)
        first = jacobian(scalar, primals, create_graph=True)
        if strict:
            parts.require_recorded(first, parts.GRADIENT_IS_JACOBIAN)
        return first

    result = jacobian(
        gradient,
        tensors,
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )
    return shaped([shaped(row, several) for row in result], several)
