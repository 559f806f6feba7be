"""Sums, means, norms, extrema, softmax and cumulative operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtool.derive.expression import Expression
from gradtool.derive.rules.registry import Pulled, rule
from gradtool.derive.shapes import full, like_of


def _kept(g: Any, out: Expression, x: Expression, dim: Any, keepdim: Any) -> Any:
    """A cotangent of a reduction with the reduced dimensions, of extent one."""
    dims = _plain(dim)
    if not x.ndim or dims is None or dims == ():
        return g
    if g.ndim != out.ndim:
        g = full(g, out)
    if _plain(keepdim):
        return g
    if isinstance(dims, int):
        return g.unsqueeze(dim)
    for each in sorted(d % x.ndim for d in dims):
        g = g.unsqueeze(each)
    return g


def _plain(dim: Any) -> Any:
    value = dim.value if isinstance(dim, Expression) else dim
    if isinstance(value, tuple | list):
        return tuple(each.value if isinstance(each, Expression) else each for each in value)
    return value


def _count(x: Expression, dim: Any) -> Any:
    """The number of elements that are reduced to one."""
    dims = _plain(dim)
    if dims is None or dims == ():
        return x.graph.literal(x.value.numel(), "__0__.numel()", (like_of(x),))
    is_single = isinstance(dims, int)
    dims = (dims,) if is_single else dims
    total: Any = None
    for place, each in enumerate(dims):
        index = dim if is_single else each
        text, operands = (
            ("__0__.shape[__1__]", (like_of(x), index))
            if isinstance(index, Expression)
            else (f"__0__.shape[{index}]", (like_of(x),))
        )
        extent = x.graph.literal(x.shape[each], text, operands)
        total = extent if place == 0 else total * extent
    return total


@rule("sum")
def _sum(
    g: Any, out: Expression, x: Any, dim: Any = None, keepdim: Any = False, *, dtype: Any = None
) -> Iterable[Pulled]:
    return [(x, _kept(g, out, x, dim, keepdim))]


@rule("mean")
def _mean(
    g: Any, out: Expression, x: Any, dim: Any = None, keepdim: Any = False, *, dtype: Any = None
) -> Iterable[Pulled]:
    return [(x, _kept(g, out, x, dim, keepdim) / _count(x, dim))]


def _corrected(x: Expression, dim: Any, unbiased: Any, correction: Any) -> Any:
    if isinstance(correction, Expression) or isinstance(unbiased, Expression):
        raise NotImplementedError
    less = int(unbiased) if correction is None else correction
    return _count(x, dim) - less if less else _count(x, dim)


@rule("var")
def _var(
    g: Any,
    out: Expression,
    x: Any,
    dim: Any = None,
    unbiased: Any = True,
    keepdim: Any = False,
    *,
    correction: Any = None,
) -> Iterable[Pulled]:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    n = _corrected(x, dim, unbiased, correction)
    centred = x - (x.mean() if dim is None else x.mean(dim, keepdim=True))
    return [(x, 2 * (_kept(g, out, x, dim, keepdim) * centred).conj().conj() / n)]


@rule("std")
def _std(
    g: Any,
    out: Expression,
    x: Any,
    dim: Any = None,
    unbiased: Any = True,
    keepdim: Any = False,
    *,
    correction: Any = None,
) -> Iterable[Pulled]:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    n = _corrected(x, dim, unbiased, correction)
    centred = x - (x.mean() if dim is None else x.mean(dim, keepdim=True))
    return [(x, _kept(g / out, out, x, dim, keepdim) * centred / n)]


@rule("logsumexp")
def _logsumexp(g: Any, out: Expression, x: Any, dim: Any, keepdim: Any = False) -> Iterable[Pulled]:
    return [(x, _kept(g, out, x, dim, keepdim) * (x - _kept(out, out, x, dim, keepdim)).exp())]


@rule("softmax")
def _softmax(
    g: Any, out: Expression, x: Any, dim: Any = None, *, dtype: Any = None
) -> Iterable[Pulled]:
    if dim is None:
        raise NotImplementedError
    g = full(g, out)
    return [(x, out * (g - (g * out).sum(dim, keepdim=True)))]


@rule("log_softmax")
def _log_softmax(
    g: Any, out: Expression, x: Any, dim: Any = None, *, dtype: Any = None
) -> Iterable[Pulled]:
    if dim is None:
        raise NotImplementedError
    g = full(g, out)
    return [(x, g - out.exp() * g.sum(dim, keepdim=True))]


@rule("amax", "amin")
def _amax(
    g: Any, out: Expression, x: Any, dim: Any = None, keepdim: Any = False
) -> Iterable[Pulled]:
    chosen = x.graph.operator("eq", x, _kept(out, out, x, dim, keepdim))
    count = chosen.sum() if _plain(dim) in {None, ()} else chosen.sum(dim, keepdim=True)
    return [(x, _kept(g, out, x, dim, keepdim) * chosen / count)]


@rule("max", "min")
def _max(
    g: Any, out: Expression, x: Any, dim: Any = None, keepdim: Any = False
) -> Iterable[Pulled]:
    if isinstance(g, dict):
        part = out.graph.call("part", "part", (out, 0), {})
        indices = out.graph.call("part", "part", (out, 1), {})
        places = _kept(indices, part, x, dim, keepdim)
        grad = _kept(g[0], part, x, dim, keepdim)
        return [(x, x.graph.function("zeros_like", x).scatter(dim, places, grad))]
    if dim is not None:
        from gradtool.derive.rules.elementwise import _larger

        return _larger(g, out, x, dim, x > dim if out.name == "max" else x < dim)
    return _amax(g, out, x)


@rule("sort", "topk", "kthvalue", "median", "mode")
def _sort(g: Any, out: Expression, x: Any, *args: Any, **kwargs: Any) -> Iterable[Pulled]:
    if not isinstance(g, dict) or 0 not in g or out.name not in {"sort", "topk"}:
        raise NotImplementedError
    default = -1
    if out.name == "sort":
        dim = args[0] if args else kwargs.get("dim", default)
    else:
        dim = args[1] if len(args) > 1 else kwargs.get("dim", default)
    places = out.graph.call("part", "part", (out, 1), {})
    part = out.graph.call("part", "part", (out, 0), {})
    return [(x, x.graph.function("zeros_like", x).scatter(dim, places, full(g[0], part)))]


@rule("cumsum")
def _cumsum(g: Any, out: Expression, x: Any, dim: Any) -> Iterable[Pulled]:
    return [(x, full(g, out).flip(dim).cumsum(dim).flip(dim))]


@rule("prod")
def _prod(
    g: Any, out: Expression, x: Any, dim: Any = None, keepdim: Any = False
) -> Iterable[Pulled]:
    raise NotImplementedError


@rule("norm", "linalg.norm", "linalg.vector_norm")
def _norm(g: Any, out: Expression, x: Any, *args: Any, **kwargs: Any) -> Iterable[Pulled]:
    named = dict(zip(("p", "dim", "keepdim"), args, strict=False)) | {
        ("p" if k == "ord" else k): v for k, v in kwargs.items()
    }
    order = named.get("p", 2)
    if order not in {2, "fro", None} or "dtype" in named:
        raise NotImplementedError
    dim, keepdim = named.get("dim"), named.get("keepdim", False)
    if out.name == "linalg.norm" and dim is None and x.ndim == 2 and order == 2:
        raise NotImplementedError
    return [(x, _kept(g / out, out, x, dim, keepdim) * x)]
