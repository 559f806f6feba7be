"""Derivatives of functions of tensors by reverse mode, as ``torch.autograd.functional`` has them.

Inputs and outputs are tensors or tuples of tensors; results have the structure of both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._api import grad
from gradtool.engine.autograd.grad_mode import enable_grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = tuple[Tensor, ...]


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
        single_in, tensors = _as_tuple(inputs, "inputs", "vjp")
        primals = _prepared(tensors, create_graph)
        single_out, outputs = _outputs_of(func, primals, "vjp", strict)
        cotangents = _vector(v, outputs, single_out, "vjp", "outputs of the user-provided function")
        grads = _pulled(outputs, primals, cotangents, create_graph, strict)
    results = _finished(_filled(grads, primals), create_graph)
    return (
        _shaped(_finished(outputs, create_graph), single_out),
        _shaped(results, single_in),
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
        single_in, tensors = _as_tuple(inputs, "inputs", "jvp")
        tangents = _vector(v, tensors, single_in, "jvp", "inputs")
        primals = _prepared(tensors, create_graph)
        single_out, outputs = _outputs_of(func, primals, "jvp", strict)
        # Reverse mode twice: the vjp is linear in its cotangent, so any value of it will do.
        dummies = tuple(_zeros(each).requires_grad_() for each in outputs)
        pulled = _pulled(outputs, primals, dummies, True, strict)
        through = [
            (each, tangent)
            for each, tangent in zip(pulled, tangents)
            if each is not None and each._requires_grad
        ]
        pushed = _pulled(
            tuple(each for each, _ in through),
            dummies,
            tuple(tangent for _, tangent in through),
            create_graph,
            strict=False,
        )
    results = _finished(_filled(pushed, dummies), create_graph)
    return (
        _shaped(_finished(outputs, create_graph), single_out),
        _shaped(results, single_out),
    )


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
        RuntimeError, ValueError, NotImplementedError: the options contradict each other, as in
            torch, or `strict` is not met.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise ValueError(
            "Expected strategy to be either 'forward-mode' or 'reverse-mode'. Hint: If your "
            "function has more outputs than inputs, 'forward-mode' tends to be more performant."
        )
    if strategy == "forward-mode":
        return _forward_jacobian(func, inputs, create_graph, strict, vectorize)
    if strict and vectorize:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorize=True` are not "
            "supported together."
        )
    with enable_grad():
        single_in, tensors = _as_tuple(inputs, "inputs", "jacobian")
        primals = _prepared(tensors, create_graph)
        single_out, outputs = _outputs_of(func, primals, "jacobian", strict)
        rows = [_jacobian_of(each, primals, create_graph, strict) for each in outputs]
    blocks = [_shaped(_finished(tuple(row), create_graph), single_in) for row in rows]
    return blocks[0] if single_out else tuple(blocks)


def _jacobian_of(
    output: Tensor, primals: Tensors, create_graph: bool, strict: bool
) -> list[Tensor]:
    """One output's Jacobian with respect to each input."""
    from gradtool.engine._ops.shape.joining import stack

    flat = output.reshape(-1)
    columns: list[list[Tensor]] = [[] for _ in primals]
    for number in range(flat.numel()):
        # Every element walks the same graph: it is kept.
        pulled = _pulled((flat[number],), primals, (None,), create_graph, strict, retain=True)
        for column, each, primal in zip(columns, pulled, primals):
            column.append(_zeros(primal) if each is None else each)
    return [
        stack(column).reshape(*output.shape, *primal.shape)
        if column
        else primal.new_zeros((*output.shape, *primal.shape))
        for column, primal in zip(columns, primals)
    ]


def _forward_jacobian(
    func: Any, inputs: Any, create_graph: bool, strict: bool, vectorize: bool
) -> Any:
    # `func` imports the walk of this package.
    from gradtool.engine.func import jacfwd

    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` '
            "are not supported together (yet)."
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only "
            "implemented for `vectorize=True`."
        )
    single, tensors = _as_tuple(inputs, "inputs", "jacobian")
    primals = tensors if create_graph else tuple(each.detach() for each in tensors)
    result = jacfwd(func, argnums=tuple(range(len(tensors))))(*primals)
    if not single:
        return result
    if isinstance(result, tuple) and result and isinstance(result[0], tuple):
        return tuple(each[0] for each in result)
    return result[0]


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
    single, tensors = _as_tuple(inputs, "inputs", "hessian")

    def gradient(*primals: Tensor) -> Any:
        def scalar(*values: Tensor) -> Tensor:
            return _scalar(func(*values), "hessian")

        # Recorded, because the outer Jacobian differentiates it.
        inner = jacobian(scalar, primals, create_graph=True, strict=strict)
        return tuple(each.reshape(primal.shape) for each, primal in zip(inner, primals))

    result = jacobian(
        gradient,
        tensors,
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )
    return result[0][0] if single else result


def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of scalar `func`, and the product of its Hessian with `v`."""
    return _second_order(func, inputs, v, create_graph, strict, "hvp")


def vhp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value of scalar `func`, and the product of `v` with its Hessian."""
    return _second_order(func, inputs, v, create_graph, strict, "vhp")


def _second_order(
    func: Any, inputs: Any, v: Any, create_graph: bool, strict: bool, name: str
) -> tuple[Any, Any]:
    """Gradient of <gradient, v>; for the Hessian's product from the left, its transpose."""
    with enable_grad():
        single, tensors = _as_tuple(inputs, "inputs", name)
        vector = _vector(v, tensors, single, name, "inputs")
        primals = _prepared(tensors, create_graph)
        output = _scalar(func(*primals), name)
        first = _pulled((output,), primals, (None,), True, strict)
        filled = _filled(first, primals)
        if name == "vhp":
            through = [(each, w) for each, w in zip(filled, vector) if each._requires_grad]
            found = _pulled(
                tuple(each for each, _ in through),
                primals,
                tuple(w for _, w in through),
                create_graph,
                strict,
            )
        else:
            # As in `jvp`: the product from the right takes a derivative through a cotangent.
            dummies = tuple(_zeros(each).requires_grad_() for each in filled)
            usable = [(e, d) for e, d in zip(filled, dummies) if e._requires_grad]
            pulled = _pulled(
                tuple(e for e, _ in usable), primals, tuple(d for _, d in usable), True, strict
            )
            pairs = [
                (each, w)
                for each, w in zip(pulled, vector)
                if each is not None and each._requires_grad
            ]
            found = _pulled(
                tuple(e for e, _ in pairs), dummies, tuple(w for _, w in pairs), create_graph, False
            )
    results = _finished(_filled(found, primals), create_graph)
    return _finished((output,), create_graph)[0], _shaped(results, single)


# ---- the parts they share ----------------------------------------------------------------


def _as_tuple(value: Any, what: str, name: str) -> tuple[bool, Tensors]:
    single = not isinstance(value, tuple | list)
    tensors = (value,) if single else tuple(value)
    for position, each in enumerate(tensors):
        if not isinstance(each, Tensor):
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but "
                f"the value at index {position} has type {type(each)}."
            )
    return single, tensors


def _prepared(tensors: Tensors, create_graph: bool) -> Tensors:
    """Inputs to differentiate with respect to, connected to the caller's graph if asked."""
    if create_graph:
        return tuple(
            # A view, not the input: only what goes through `func` counts as dependence on it.
            each.view_as(each) if each._requires_grad else each.detach().requires_grad_()
            for each in tensors
        )
    return tuple(each.detach().requires_grad_() for each in tensors)


def _outputs_of(func: Any, primals: Tensors, name: str, strict: bool) -> tuple[bool, Tensors]:
    single, outputs = _as_tuple(func(*primals), "outputs of the user-provided function", name)
    if strict:
        for number, each in enumerate(outputs):
            if not each._requires_grad:
                raise RuntimeError(
                    f"Output {number} of the user-provided function does not require gradients. "
                    "The outputs must be computed in a differentiable manner from the input when "
                    "running in strict mode."
                )
    return single, outputs


def _scalar(output: Any, name: str) -> Tensor:
    if not isinstance(output, Tensor):
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if output.numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    return output.reshape(())


def _vector(v: Any, like: Tensors, single: bool, name: str, what: str) -> Tensors:
    """`v` as a tuple of tensors of the shapes of `like`; ones for a single element."""
    del single
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {what} is a single Tensor with a single "
                "element."
            )
        return (_zeros(like[0]) + 1,)
    _, vector = _as_tuple(v, "v", name)
    if len(vector) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(vector)}."
        )
    for position, (each, expected) in enumerate(zip(vector, like)):
        if each.shape != expected.shape:
            raise RuntimeError(
                f"Entry {position} in v has invalid size: should be {expected.shape} but got "
                f"{each.shape}."
            )
    return vector


def _pulled(
    outputs: Tensors,
    inputs: Tensors,
    cotangents: Sequence[Tensor | None],
    create_graph: bool,
    strict: bool,
    *,
    retain: bool | None = None,
) -> tuple[Tensor | None, ...]:
    """Gradients of `inputs`; None where no output depends on one, unless `strict`."""
    usable = [
        (output, cotangent)
        for output, cotangent in zip(outputs, cotangents)
        if output._requires_grad
    ]
    if not usable:
        return (None,) * len(inputs)
    found = grad(
        [output for output, _ in usable],
        inputs,
        [cotangent for _, cotangent in usable],
        retain_graph=retain,
        create_graph=create_graph,
        allow_unused=True,
    )
    if strict:
        for number, each in enumerate(found):
            if each is None:
                raise RuntimeError(
                    "The output of the user-provided function is independent of input "
                    f"{number}. This is not allowed in strict mode."
                )
    return found


def _zeros(like: Tensor) -> Tensor:
    zeros: Tensor = like.new_zeros(like.shape)
    return zeros


def _filled(grads: Sequence[Tensor | None], like: Tensors) -> Tensors:
    return tuple(_zeros(expected) if each is None else each for each, expected in zip(grads, like))


def _finished(tensors: Tensors, create_graph: bool) -> Tensors:
    """Results as the caller gets them: outside the graph unless it was asked for."""
    return tensors if create_graph and modes.grad else tuple(each.detach() for each in tensors)


def _shaped(tensors: Tensors, single: bool) -> Any:
    return tensors[0] if single else tensors
