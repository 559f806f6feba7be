"""Derivatives of functions of trees of tensors, in either mode and any nesting."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradtool.engine import _pytree
from gradtool.engine._levels.dual import DualLevel
from gradtool.engine._levels.grad import GradLevel
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.kinds import zeros_like
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._walk import walk
from gradtool.engine.func._vmap import vmap

Argnums = int | tuple[int, ...]


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The outputs of `func`, and the function from their cotangents to those of `primals`.

    Returns:
        ``(outputs, vjp_fn)``, and with `has_aux` the second output of `func` as it is.
    """
    level = GradLevel()
    with level:
        leaves, rebuild = _pytree.flatten(primals)
        wrapped = [_require(level, leaf) for leaf in leaves]
        result = func(*_pytree.unflatten(rebuild, wrapped))
        output, aux = _split_aux(result, has_aux, "vjp")
        out_leaves, out_rebuild = _pytree.flatten(output)
        _check_tensors(out_leaves, "vjp")

    def pull(*cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        # Part of torch's signature; the walk is recorded whenever operations are.
        del create_graph
        # For a tuple of one output, `cotangents` has the outputs' structure already.
        given = cotangents[0] if len(cotangents) == 1 and not _is_tuple(output, 1) else cotangents
        flat = _pytree.tree_leaves(given)
        if len(flat) != len(out_leaves):
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function: {len(out_leaves)} tensors, got {len(flat)}"
            )
        pulled = _pull(level, out_leaves, flat, wrapped, retain_graph)
        return _pytree.unflatten(rebuild, pulled)

    outputs = _pytree.unflatten(out_rebuild, [level.below(leaf) for leaf in out_leaves])
    if has_aux:
        return outputs, pull, _lowered(level, aux)
    return outputs, pull


def _is_tuple(tree: Any, length: int) -> bool:
    return isinstance(tree, tuple) and len(tree) == length


def _require(level: GradLevel, leaf: Any) -> Any:
    if not isinstance(leaf, Tensor) or leaf._array.dtype.kind not in "fc":
        return leaf
    wrapped = level.wrap(leaf)
    wrapped._requires_grad = True
    return wrapped


def _split_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{name}(f, *primals): output of function f should be a tuple: (output, aux) "
            "if has_aux is True"
        )
    return result


def _check_tensors(leaves: list[Any], name: str) -> None:
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{name}(f, ...): expected f(*primals) to return only tensors, "
                f"got unsupported type {type(leaf)}"
            )


def _lowered(level: Any, tree: Any) -> Any:
    return _pytree.tree_map(level.below, tree)


def _pull(
    level: GradLevel, outputs: list[Any], cotangents: list[Any], inputs: list[Any], retain: bool
) -> list[Any]:
    """Gradients of `inputs`, one level below; zeros where an output does not depend on them."""
    targets = [each for each in inputs if level.owns(each)]
    roots = [
        (output, cotangent)
        for output, cotangent in zip(outputs, cotangents)
        if level.owns(output) and output._requires_grad
    ]
    recording = modes.grad
    found = iter(
        walk(roots, keep_graph=retain, create_graph=recording, targets=targets, accumulate=False)
        if roots
        else [None] * len(targets)
    )
    grads = []
    for each in inputs:
        if level.owns(each):
            grad_of = next(found)
            below = level.below(each)
            grads.append(zeros_like(below.detach()) if grad_of is None else level.below(grad_of))
        else:
            grads.append(None)
    return grads


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of scalar `func`, and its value."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = _chosen(args, argnums)

        def of_chosen(*values: Any) -> Any:
            result = func(*_replaced(args, argnums, values), **kwargs)
            output, _ = _split_aux(result, has_aux, "grad_and_value")
            _check_scalar(output)
            return result

        value, pull, *aux = vjp(of_chosen, *chosen, has_aux=has_aux)
        grads = pull(_ones_like(value), retain_graph=False)
        if isinstance(argnums, int):
            grads = grads[0]
        return (grads, (value, aux[0])) if has_aux else (grads, value)

    return wrapper


def _ones_like(value: Tensor) -> Tensor:
    return zeros_like(value.detach()) + 1


def _check_scalar(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a single tensor, got "
            f"{type(output)}"
        )
    if output.dim() != 0:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor "
            f"with {output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )


def _chosen(args: tuple[Any, ...], argnums: Argnums) -> tuple[Any, ...]:
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"Got argnum={number}, but only {len(args)} positional inputs")
    return tuple(args[number] for number in numbers)


def _replaced(args: tuple[Any, ...], argnums: Argnums, values: tuple[Any, ...]) -> list[Any]:
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    replaced = list(args)
    for number, value in zip(numbers, values):
        replaced[number] = value
    return replaced


def grad(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of scalar `func` with respect to `argnums`."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapper


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """The outputs of `func` at `primals` and their tangents along `tangents`.

    Raises:
        RuntimeError: primals and tangents are not tuples of one structure, or with `strict`
            an output does not depend on the primals.
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to be tuples")
    leaves, rebuild = _pytree.flatten(primals)
    pushed = _pytree.tree_leaves(tangents)
    if len(leaves) != len(pushed):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python "
            f"structure: {len(leaves)} primals and {len(pushed)} tangents"
        )
    with DualLevel(by_func=True) as level:
        duals = [level.wrap(primal, tangent) for primal, tangent in zip(leaves, pushed)]
        result = func(*_pytree.unflatten(rebuild, duals))
        output, aux = _split_aux(result, has_aux, "jvp")
        out_leaves, out_rebuild = _pytree.flatten(output)
        _check_tensors(out_leaves, "jvp")
    values = [level.below(leaf) for leaf in out_leaves]
    moved = [_tangent(level, leaf, strict) for leaf in out_leaves]
    outputs = _pytree.unflatten(out_rebuild, values), _pytree.unflatten(out_rebuild, moved)
    return (*outputs, _lowered(level, aux)) if has_aux else outputs


def _tangent(level: DualLevel, leaf: Tensor, strict: bool) -> Tensor:
    tangent = level.tangent_of(leaf)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
                "inputs. This is not allowed with strict=True."
            )
        return zeros_like(leaf.detach())
    return tangent


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The outputs of `func` at `primals`, and the linear function of tangents there."""
    output = func(*primals)

    def push(*tangents: Any) -> Any:
        # There is no tracer to keep the linear part: `func` runs again.
        return jvp(func, primals, tangents)[1]

    return output, push


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func`, one batched backward for all rows.

    For each output a tree of each argument, of shape ``output.shape + argument.shape``.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = _chosen(args, argnums)

        def of_chosen(*values: Any) -> Any:
            return func(*_replaced(args, argnums, values), **kwargs)

        output, pull, *aux = vjp(of_chosen, *chosen, has_aux=has_aux)
        out_leaves, out_rebuild = _pytree.flatten(output)
        basis = _basis(out_leaves)
        pulled = vmap(
            lambda *rows: pull(_pytree.unflatten(out_rebuild, rows)), chunk_size=chunk_size
        )(*basis)
        if isinstance(argnums, int):
            pulled = pulled[0]
        jacobian = _rows_to_jacobian(pulled, out_leaves, out_rebuild)
        return (jacobian, aux[0]) if has_aux else jacobian

    return wrapper


def _basis(leaves: list[Tensor]) -> list[Tensor]:
    """The standard basis of the space of all leaves together: one row for each element."""
    from gradtool.engine._ops.creation.creation import eye

    total = sum(leaf.numel() for leaf in leaves)
    basis = []
    start = 0
    for leaf in leaves:
        rows = eye(total, dtype=leaf.dtype, device=leaf.device).narrow(1, start, leaf.numel())
        basis.append(rows.reshape(total, *leaf.shape))
        start += leaf.numel()
    return basis


def _rows_to_jacobian(pulled: Any, outputs: list[Tensor], rebuild: Any) -> Any:
    per_output = []
    start = 0
    for output in outputs:
        size = output.numel()

        def block(leaf: Tensor, start: int = start, output: Tensor = output) -> Tensor:
            rows = leaf.narrow(0, start, output.numel())
            return rows.reshape(*output.shape, *leaf.shape[1:])

        per_output.append(_pytree.tree_map(block, pulled))
        start += size
    return _pytree.unflatten(rebuild, per_output)


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func`, one batched jvp for all columns."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = _chosen(args, argnums)
        leaves, rebuild = _pytree.flatten(chosen)

        def push(*tangents: Any) -> Any:
            moved = _pytree.unflatten(rebuild, tangents)
            result = jvp(
                lambda *values: func(*_replaced(args, argnums, values), **kwargs),
                chosen,
                moved,
                has_aux=has_aux,
            )
            return (result[1], result[2]) if has_aux else result[1]

        dims: Any = (0, None) if has_aux else 0
        columns = vmap(push, out_dims=dims, randomness=randomness)(*_basis(leaves))
        moved, aux = columns if has_aux else (columns, None)
        jacobian = _pytree.tree_map(
            lambda column: _columns_to_jacobian(column, leaves, rebuild, argnums), moved
        )
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def _columns_to_jacobian(column: Tensor, inputs: list[Tensor], rebuild: Any, argnums: Any) -> Any:
    blocks = []
    start = 0
    for each in inputs:
        rows = column.narrow(0, start, each.numel())
        moved = rows.reshape(each.numel(), *column.shape[1:]).movedim(0, -1)
        blocks.append(moved.reshape(*column.shape[1:], *each.shape))
        start += each.numel()
    tree = _pytree.unflatten(rebuild, blocks)
    return tree[0] if isinstance(argnums, int) else tree


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that returns the Hessian of `func`: forward over reverse."""
    return jacfwd(jacrev(func, argnums), argnums)
