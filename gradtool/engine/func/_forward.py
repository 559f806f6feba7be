"""Derivatives of functions of trees of tensors by forward mode, and of both modes together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradtool.engine import _pytree
from gradtool.engine._levels.dual import NESTED, DualLevel
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.kinds import zeros_like
from gradtool.engine._tensor import Tensor
from gradtool.engine.func._arguments import (
    Argnums,
    check_tensors,
    chosen,
    lowered_aux,
    refuse_complex,
    replaced,
    split_aux,
    standard_basis,
)
from gradtool.engine.func._reverse import jacrev
from gradtool.engine.func._vmap import vmap

_CALL = "jvp(f, primals, tangents)"


class Pushed(NamedTuple):
    """The result of a function, and its tangents."""

    output: Any
    tangent: Any
    aux: Any


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
    pushed = _jvp(func, primals, tangents, None, strict=strict, has_aux=has_aux)
    # As in torch, which unpacks dual tensors, the outputs are views.
    pushed = pushed._replace(output=_pytree.tree_map(lambda each: each[...], pushed.output))
    return tuple(pushed) if has_aux else pushed[:2]


def _jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    argnums: Argnums | None,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Pushed:
    """`jvp` with respect to the primals of these positions; by default all."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_CALL}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    leaves, spec = _pytree.tree_flatten(primals if argnums is None else chosen(primals, argnums))
    moved, tangents_spec = _pytree.tree_flatten(tangents)
    if spec != tangents_spec:
        raise RuntimeError(
            f"{_CALL}: Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with "
            f"structure {spec} and tangents with structure {tangents_spec}"
        )
    _check_given(leaves, "primals")
    _check_given(moved, "tangents")
    if modes.dual_level is not None:
        raise RuntimeError(NESTED)
    with DualLevel() as level:
        # Of views, as in torch: what is changed in place inside is a view of the primal.
        views = [leaf.view_as(leaf) for leaf in leaves]
        duals = _pytree.tree_unflatten(map(level.make_dual, views, moved), spec)
        if argnums is not None:
            duals = replaced(_pytree.tree_map_only(Tensor, level.wrap, primals), duals, argnums)
        result, aux = split_aux(func(*duals), has_aux, _CALL)
        outputs, out_spec = _pytree.tree_flatten(result)
        aux = lowered_aux(level, aux) if has_aux else None
        check_tensors(outputs, _CALL)
        out_tangents = [_tangent(level, each, strict) for each in outputs]
    values = [level.below(each) for each in outputs]
    return Pushed(
        _pytree.tree_unflatten(values, out_spec), _pytree.tree_unflatten(out_tangents, out_spec),
        aux,
    )  # fmt: skip


def _check_given(leaves: Sequence[Any], what: str) -> None:
    if not leaves:
        raise RuntimeError(f"{_CALL}: Expected {what} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{_CALL}: Expected {what} to only contain Tensors, got {type(leaf)}"
            )


def _tangent(level: DualLevel, leaf: Tensor, strict: bool) -> Tensor:
    tangent = level.tangent_of(leaf)
    if tangent is not None:
        return tangent
    if strict:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
            "inputs. This is not allowed with strict=True."
        )
    return zeros_like(level.below(leaf).detach())


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The outputs of `func` at `primals`, and the linear function of tangents there.

    Raises, when that function is called:
        RuntimeError: the tangents do not fit the primals.
    """
    output = func(*primals)
    if modes.dual_level is not None:
        raise RuntimeError(NESTED)
    leaves, spec = _pytree.tree_flatten(primals)
    for leaf in leaves:
        if isinstance(leaf, Tensor) and not (leaf.is_floating_point() or leaf.is_complex()):
            raise ValueError(
                f"Expected primal to be floating point or complex, but got: {leaf.dtype}"
            )

    def push(*tangents: Any) -> Any:
        moved, tangents_spec = _pytree.tree_flatten(tangents)
        if tangents_spec != spec:
            raise RuntimeError(
                f"Expected the tangents {tangents_spec} to have the same argspec as the primals "
                f"{spec}"
            )
        for at, (tangent, primal) in enumerate(zip(moved, leaves)):
            _check_like(at, tangent, primal)
        # There is no tracer to keep the linear part: `func` runs again.
        apart = _pytree.tree_map_only(Tensor, Tensor.contiguous, primals)
        tangent = _jvp(func, apart, tangents, None).tangent
        # What a tracer has kept computes outside of the transform.
        return _pytree.tree_map_only(Tensor, Tensor.clone, tangent) if modes.inference else tangent

    return output, push


def _check_like(at: int, tangent: Tensor, primal: Tensor) -> None:
    for name in ("shape", "device", "dtype"):
        have, wanted = getattr(tangent, name), getattr(primal, name)
        if have != wanted:
            raise RuntimeError(
                f"tangent:{at} with {name} {have} in flattened pytree doesn't match the {name} "
                f"{wanted} of the corresponding primal."
            )


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func`, one batched jvp for all columns."""

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacfwd", args, "inputs")
        leaves, spec = _pytree.tree_flatten(chosen(args, argnums))

        def push(*tangents: Any) -> Any:
            pushed = _jvp(func, args, tangents, argnums, has_aux=has_aux)
            refuse_complex("jacfwd", pushed.output, "outputs")
            return (pushed.tangent, pushed.aux) if has_aux else pushed.tangent

        basis = _pytree.tree_unflatten(standard_basis(leaves), spec)
        columns = vmap(push, randomness=randomness)(*basis)
        columns, aux = columns if has_aux else (columns, None)
        jacobian = _pytree.tree_map(lambda column: _blocks(column, leaves, spec, argnums), columns)
        # It is the same for each column.
        return (jacobian, _pytree.tree_map(lambda each: each[0], aux)) if has_aux else jacobian

    return wrapper


def _blocks(
    columns: Tensor, inputs: Sequence[Tensor], spec: _pytree.TreeSpec, argnums: Argnums
) -> Any:
    """One output's Jacobian with respect to each input."""
    counts = [each.numel() for each in inputs]
    blocks = [
        part.unflatten(-1, each.shape) if each.dim() else part.squeeze(-1)
        for part, each in zip(columns.movedim(0, -1).split(counts, dim=-1), inputs)
    ]
    tree = _pytree.tree_unflatten(blocks, spec)
    return tree[0] if isinstance(argnums, int) else tree


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that returns the Hessian of `func`: forward over reverse."""
    return jacfwd(jacrev(func, argnums), argnums)
