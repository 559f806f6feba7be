"""Operations that move elements: views, joins, selections and their inverses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtool.derive.expression import Expression
from gradtool.derive.rules.registry import Pulled, rule
from gradtool.derive.shapes import fit, full, shape_of, transpose_of_product, transposed


def _plain(value: Any) -> Any:
    if isinstance(value, Expression):
        return value.value
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    return value


def _listed(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of ``f(*dims)``, given one by one or at once."""
    if len(args) == 1 and isinstance(_plain(args[0]), tuple | list):
        return tuple(_plain(args[0]))
    return args


@rule("reshape", "view", "flatten", "unflatten", "ravel", "reshape_as")
def _reshape(g: Any, out: Expression, x: Any, *args: Any, **kwargs: Any) -> Iterable[Pulled]:
    return [(x, full(g, out).reshape(shape_of(x)))]


@rule("unsqueeze")
def _unsqueeze(g: Any, out: Expression, x: Any, dim: Any) -> Iterable[Pulled]:
    if g.ndim != out.ndim:
        g = full(g, out)
    return [(x, g.squeeze(dim))]


@rule("squeeze")
def _squeeze(g: Any, out: Expression, x: Any, dim: Any = None) -> Iterable[Pulled]:
    if isinstance(_plain(dim), int) and g.ndim == out.ndim and x.ndim != out.ndim:
        return [(x, g.unsqueeze(dim))]
    return [(x, full(g, out).reshape(shape_of(x)))]


@rule("t", "T", "mT", "H", "mH", "adjoint")
def _transposed(g: Any, out: Expression, x: Any) -> Iterable[Pulled]:
    g = full(g, out)
    product = transpose_of_product(g)
    if product is not None:
        return [(x, product)]
    if out.kind == "method":
        return [(x, g.method(out.name))]
    return [(x, g.attribute(out.name) if out.kind == "attribute" else g.method("t"))]


@rule("transpose", "swapaxes", "swapdims")
def _transpose(g: Any, out: Expression, x: Any, dim0: Any, dim1: Any) -> Iterable[Pulled]:
    g = full(g, out)
    product = transpose_of_product(g) if transposed(out) is not None else None
    return [(x, g.transpose(dim0, dim1) if product is None else product)]


@rule("permute")
def _permute(g: Any, out: Expression, x: Any, *dims: Any) -> Iterable[Pulled]:
    order = [int(_plain(each)) % x.ndim for each in _listed(dims)]
    back = [order.index(each) for each in range(x.ndim)]
    return [(x, full(g, out).permute(*back))]


@rule("movedim", "moveaxis")
def _movedim(g: Any, out: Expression, x: Any, source: Any, destination: Any) -> Iterable[Pulled]:
    return [(x, full(g, out).movedim(destination, source))]


@rule("expand", "expand_as", "broadcast_to")
def _expand(g: Any, out: Expression, x: Any, *sizes: Any) -> Iterable[Pulled]:
    return [(x, fit(g, out, x))]


@rule("flip")
def _flip(g: Any, out: Expression, x: Any, *dims: Any, **kwargs: Any) -> Iterable[Pulled]:
    return [(x, full(g, out).method("flip", *dims, **kwargs))]


@rule("roll")
def _roll(g: Any, out: Expression, x: Any, shifts: Any, dims: Any = None) -> Iterable[Pulled]:
    back = tuple(-each for each in shifts) if isinstance(shifts, tuple | list) else -shifts
    return [(x, full(g, out).roll(back, dims) if dims is not None else full(g, out).roll(back))]


@rule("getitem")
def _getitem(g: Any, out: Expression, x: Any, index: Any) -> Iterable[Pulled]:
    return [(x, _placed(full(g, out), x, index))]


def _placed(g: Expression, x: Expression, index: Any) -> Expression:
    """Zeros of the shape of a tensor, with a cotangent at an index."""
    places = list(index) if isinstance(index, tuple) else [index]
    values = [_plain(each) for each in places]
    if not all(each is None or each is ... or isinstance(each, int | slice) for each in values):
        return _gathered_back(g, x, places)
    if ... in values:
        at = values.index(...)
        rest = sum(each is not None for each in values) - 1
        places[at : at + 1] = [slice(None)] * (x.ndim - rest)
    for at in range(len(places) - 1, -1, -1):
        if places[at] is None:
            before = sum(isinstance(_plain(each), int) for each in places[:at])
            g = g.squeeze(at - before)
    chosen = [
        (d, each)
        for d, each in enumerate(p for p in places if p is not None)
        if each != slice(None)
    ]
    zeros = x.graph.function("zeros_like", x)
    if not chosen:
        return g
    if len(chosen) > 1:
        return x.graph.call(
            "method", "setitem", (zeros, tuple(p for p in places if p is not None), g), {}
        )
    ((dim, place),) = chosen
    if isinstance(place, slice):
        return _slice_scattered(zeros, g, dim, place)
    return zeros.method("select_scatter", g, dim, place)


def _gathered_back(g: Expression, x: Expression, places: list[Any]) -> Expression:
    """Add a cotangent at places that tensors or lists of indices name."""
    values = [_plain(each) for each in places]
    if any(each is None or each is ... or isinstance(each, slice) for each in values):
        raise NotImplementedError
    tensor = x.graph.function
    given = tuple(
        tensor("tensor", list(each)) if isinstance(_plain(each), list | tuple) else each
        for each in places
    )
    return tensor("zeros_like", x).method("index_put", given, g, accumulate=True)


def _slice_scattered(zeros: Expression, g: Expression, dim: int, part: Any) -> Expression:
    extra = {
        name: each
        for name, each in (("start", part.start), ("end", part.stop), ("step", part.step))
        if each is not None
    }
    return zeros.method("slice_scatter", g, dim, **extra)


@rule("setitem")
def _setitem(g: Any, out: Expression, x: Any, index: Any, value: Any) -> Iterable[Pulled]:
    g = full(g, out)
    item = g[index]
    zero = out.graph.call("method", "setitem", (g, index, 0), {})
    found: list[Pulled] = [(x, zero)]
    if isinstance(value, Expression) and value.is_tensor:
        found.append((value, fit(item, item, value)))
    return found


@rule("select")
def _select(g: Any, out: Expression, x: Any, dim: Any, index: Any) -> Iterable[Pulled]:
    zeros = x.graph.function("zeros_like", x)
    return [(x, zeros.method("select_scatter", full(g, out), dim, index))]


@rule("narrow")
def _narrow(g: Any, out: Expression, x: Any, dim: Any, start: Any, length: Any) -> Iterable[Pulled]:
    zeros = x.graph.function("zeros_like", x)
    return [(x, zeros.method("slice_scatter", full(g, out), dim, start, start + length))]


def _dim(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else kwargs.get("dim", 0)


@rule("cat", "concat", "concatenate")
def _cat(g: Any, out: Expression, tensors: Any, *args: Any, **kwargs: Any) -> Iterable[Pulled]:
    dim = _dim(args, kwargs)
    at = _plain(dim)
    sizes = [each.graph.literal(each.shape[at], f"__0__.shape[{at}]", (each,)) for each in tensors]
    parts = full(g, out).method("split", list(sizes), dim)
    return [
        (each, out.graph.call("part", "part", (parts, place), {}))
        for place, each in enumerate(tensors)
    ]


@rule("stack")
def _stack(g: Any, out: Expression, tensors: Any, *args: Any, **kwargs: Any) -> Iterable[Pulled]:
    dim = _dim(args, kwargs)
    g = full(g, out)
    if _plain(dim) == 0:
        return [(each, g[place]) for place, each in enumerate(tensors)]
    return [(each, g.select(dim, place)) for place, each in enumerate(tensors)]


@rule("unbind")
def _unbind(g: Any, out: Expression, x: Any, dim: Any = 0) -> Iterable[Pulled]:
    return [(x, x.graph.function("stack", _parts(g, out), dim))]


@rule("chunk", "split", "tensor_split")
def _chunk(g: Any, out: Expression, x: Any, sections: Any, dim: Any = 0) -> Iterable[Pulled]:
    return [(x, x.graph.function("cat", _parts(g, out), dim))]


def _parts(g: Any, out: Expression) -> list[Expression]:
    found = []
    for place in range(len(out.value)):
        part = out.graph.call("part", "part", (out, place), {})
        found.append(full(g[place], part) if place in g else out.graph.function("zeros_like", part))
    return found


@rule("gather")
def _gather(g: Any, out: Expression, x: Any, dim: Any, index: Any) -> Iterable[Pulled]:
    return [(x, x.graph.function("zeros_like", x).scatter_add(dim, index, full(g, out)))]


@rule("index_select")
def _index_select(g: Any, out: Expression, x: Any, dim: Any, index: Any) -> Iterable[Pulled]:
    return [(x, x.graph.function("zeros_like", x).index_add(dim, index, full(g, out)))]


@rule("scatter_add")
def _scatter_add(
    g: Any, out: Expression, x: Any, dim: Any, index: Any, src: Any
) -> Iterable[Pulled]:
    g = full(g, out)
    if src.shape != index.shape:
        raise NotImplementedError
    return [(x, g), (src, g.gather(dim, index))]


@rule("scatter")
def _scatter(g: Any, out: Expression, x: Any, dim: Any, index: Any, src: Any) -> Iterable[Pulled]:
    g = full(g, out)
    if not isinstance(src, Expression) or not src.is_tensor:
        return [(x, g.scatter(dim, index, 0))]
    if src.shape != index.shape:
        raise NotImplementedError
    return [(x, g.scatter(dim, index, 0)), (src, g.gather(dim, index))]


@rule("index_add")
def _index_add(
    g: Any, out: Expression, x: Any, dim: Any, index: Any, source: Any
) -> Iterable[Pulled]:
    g = full(g, out)
    return [(x, g), (source, g.index_select(dim, index))]


@rule("select_scatter")
def _select_scatter(
    g: Any, out: Expression, x: Any, src: Any, dim: Any, index: Any
) -> Iterable[Pulled]:
    g = full(g, out)
    return [
        (x, g.select_scatter(out.graph.function("zeros_like", src), dim, index)),
        (src, g.select(dim, index)),
    ]


@rule("tril", "triu")
def _triangle(g: Any, out: Expression, x: Any, diagonal: Any = 0) -> Iterable[Pulled]:
    return [
        (x, full(g, out).method(out.name, diagonal) if diagonal else full(g, out).method(out.name))
    ]


@rule("diag")
def _diag(g: Any, out: Expression, x: Any, diagonal: Any = 0) -> Iterable[Pulled]:
    if x.ndim == 2 and (x.shape[0] != x.shape[1] or diagonal):
        raise NotImplementedError
    return [(x, full(g, out).diag(diagonal) if diagonal else full(g, out).diag())]
