"""Bringing a cotangent to the shape of what it belongs to."""

from __future__ import annotations

from gradtool.derive.expression import ELEMENTWISE, Expression


def shape_of(x: Expression) -> Expression:
    """The shape of a value, written as that of a leaf where elementwise steps lead to one."""
    like = like_of(x)
    return x.graph.literal(like.value.shape, "__0__.shape", (like,))


def like_of(x: Expression) -> Expression:
    """A leaf of the same shape, where elementwise steps lead to one; else the value itself."""
    seen = x
    while seen.kind != "leaf" and seen.name in ELEMENTWISE:
        same = [each for each in seen.operands() if each.is_tensor and each.shape == x.shape]
        if not same:
            break
        seen = next((each for each in same if each.kind == "leaf"), same[0])
    return seen.graph.cotangents.get(seen, seen)


def full(g: Expression, out: Expression) -> Expression:
    """Expand a cotangent that only broadcasts to the shape of its value."""
    if g.shape == out.shape:
        return g
    return (
        g.method("expand_as", like_of(out))
        if like_of(out).kind == "leaf"
        else g.method("expand", shape_of(out))
    )


def fit(g: Expression, out: Expression, x: Expression) -> Expression:
    """Sum a cotangent of `out` over the dimensions in which `x` was broadcast.

    The cotangent may lack an extent that `x` has: it then stands for as many equal entries.
    """
    if x.is_tensor and not x.is_complex and g.is_complex:
        g = g.attribute("real")
    if x.shape == out.shape:
        return g
    added = out.ndim - x.ndim
    spread = [d for d in range(x.ndim) if x.shape[d] == 1 and out.shape[added + d] != 1]
    if not added and not spread:
        return g
    if len(g.shape) < out.ndim or any(
        g.shape[d] != out.shape[d] for d in [*range(added), *(added + d for d in spread)]
    ):
        g = full(g, out)
    if not x.ndim:
        return g.method("sum")
    if spread and added:
        return g.method("sum_to_size", shape_of(x))
    if added:
        dims = tuple(range(added))
        return g.method("sum", 0 if added == 1 else dims)
    dims = tuple(d - x.ndim for d in spread)
    return g.method("sum", dims[0] if len(dims) == 1 else dims, keepdim=True)


def transposed(x: Expression) -> Expression | None:
    """The matrices, or a batch of them, of which these are the transposes; None if of none."""
    dims = tuple(each.value if isinstance(each, Expression) else each for each in x.args[1:])
    if x.kind == "method" and x.name in {"transpose", "swapaxes", "swapdims"}:
        is_of_matrices = sorted(each % x.ndim for each in dims) == [x.ndim - 2, x.ndim - 1]
    else:
        is_of_matrices = x.name in {"t", "T", "mT"} and x.kind in {"method", "attribute"}
    found: Expression | None = x.args[0] if is_of_matrices else None
    return found


def transpose_of(x: Expression) -> Expression:
    """The transpose of matrices; of a transpose, what it was taken of."""
    return transposed(x) or (x.attribute("T") if x.ndim == 2 else x.attribute("mT"))


def transpose_of_product(x: Expression) -> Expression | None:
    """The transpose of a product of real matrices as the product of theirs; None for all else."""
    if x.name != "matmul" or x.is_complex or any(each.ndim != x.ndim for each in x.args):
        return None
    left, right = map(transpose_of, x.args)
    return right @ left
