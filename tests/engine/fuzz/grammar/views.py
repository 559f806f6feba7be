"""Views of every kind, of one output and of several."""

from __future__ import annotations

from collections.abc import Callable

from tests.engine.fuzz.draw import Draw, Name, UnsuitableError, ranked

View = Callable[[Draw, Name], str]


def view(draw: Draw) -> str:
    """A view of a tensor, bound to a name."""
    x = draw.tensor()
    return f"{draw.new()} = {draw.one_of(VIEWS)(draw, x)}"


def view_of_view(draw: Draw) -> str:
    """A view of a view."""
    x = draw.tensor(lambda t: t._is_view())
    return f"{draw.new()} = {draw.one_of(VIEWS)(draw, x)}"


def several(draw: Draw) -> str:
    """Views that one operation gives together, two of them bound."""
    x = draw.tensor(ranked(1))
    dim = draw.dim(x)
    text = draw.among(
        f"{x}.unbind({dim})", f"{x}.split({draw.integer(1, 2)}, {dim})", f"{x}.chunk(2, {dim})",
        f"torch.tensor_split({x}, 2, {dim})", f"{x}.hsplit(2)", f"torch.unbind({x})",
        f"{x}.split([1, {x}.shape[{dim}] - 1], {dim})", f"tuple({x})",
        f"{x}.unsafe_chunk(2, {dim})",
        f"torch.broadcast_tensors({x}, {draw.tensor()})",
    )  # fmt: skip
    one, other = draw.new(), draw.new()
    return f"{one}, {other}, *_ = {text}"


def permuted(draw: Draw, x: Name) -> str:
    """All dimensions in another order."""
    order = list(range(x.value.ndim))
    draw.rng.shuffle(order)
    return draw.among(f"{x}.permute({tuple(order)})", f"torch.permute({x}, {tuple(order)})")


def expanded(draw: Draw, x: Name) -> str:
    """More places, all the same memory."""
    sizes = [draw.among(2, 3) if n == 1 else n for n in x.value.shape]
    shape = ([draw.among(1, 2)] if draw.chance(0.5) else []) + sizes
    kept = [-1 if draw.chance(0.2) and at >= len(shape) - x.value.ndim else n
            for at, n in enumerate(shape)]  # fmt: skip
    return draw.among(
        f"{x}.expand({tuple(kept)})", f"{x}.broadcast_to({tuple(shape)})",
        f"{x}.expand_as({draw.tensor()})",
    )  # fmt: skip


def shaped(draw: Draw, x: Name) -> str:
    """The same elements in another shape."""
    count = x.value.numel()
    shapes = [(count,), (-1,), (1, count), (count, 1)]
    shapes += [(n, count // n) for n in (2, 3, 4) if count and count % n == 0]
    shape = draw.one_of(shapes)
    return draw.among(
        f"{x}.view({shape})", f"{x}.reshape({shape})", f"{x}.view({x}.shape)", f"{x}.flatten()",
        f"{x}.view_as({x})", f"{x}.ravel()", f"{x}.reshape_as({x})", f"{x}.view(-1)",
        f"{x}.unflatten({draw.dim(x)}, (1, -1))", f"{x}.view(*{x}.shape, 1)",
    )  # fmt: skip


def strided(draw: Draw, x: Name) -> str:
    """Any places of the memory, some of them perhaps twice."""
    memory = x.value.untyped_storage().size() // x.value.element_size()
    offset = draw.integer(0, 1) if draw.chance(0.4) else 0
    sizes, strides, last = [], [], offset
    for _ in range(draw.integer(0, 2)):
        size, stride = draw.integer(1, 3), draw.integer(0, 3)
        if last + (size - 1) * stride < memory:
            sizes.append(size)
            strides.append(stride)
            last += (size - 1) * stride
    if last >= memory:
        raise UnsuitableError
    more = f", {offset}" if offset else ""
    return f"{x}.as_strided({tuple(sizes)}, {tuple(strides)}{more})"


def part(draw: Draw, x: Name) -> str:
    """Some places along one dimension."""
    if not x.value.ndim:
        raise UnsuitableError
    dim = draw.dim(x)
    extent = x.value.shape[dim] if -x.value.ndim <= dim < x.value.ndim else 1
    start = draw.integer(0, max(0, extent - 1))
    length = draw.integer(0 if draw.chance(0.1) else min(1, extent), max(0, extent - start))
    return draw.among(
        f"{x}.narrow({dim}, {start}, {length})", f"{x}.select({dim}, {draw.place(extent)})",
        f"{x}[{start}:]", f"{x}[..., {start}:{start + length}]", f"{x}[::2]",
        f"{x}[{draw.place(x.value.shape[0])}]", f"{x}[..., {draw.place(x.value.shape[-1])}]",
        f"{x}[..., None]", f"{x}[None]", f"{x}[:]", f"{x}[...]", f"{x}[-1:]",
        f"{x}.unfold({dim}, {max(1, length)}, {draw.integer(1, 2)})", f"{x}.select({dim}, 0)",
    )  # fmt: skip


def turned(draw: Draw, x: Name) -> str:
    """Two dimensions swapped, or one moved."""
    one, other = draw.dim(x), draw.dim(x)
    return draw.among(
        f"{x}.transpose({one}, {other})", f"{x}.swapaxes({one}, {other})", f"{x}.t()", f"{x}.mT",
        f"{x}.movedim({one}, {other})", f"{x}.T", f"{x}.mH", f"{x}.adjoint()", f"{x}.H",
        f"{x}.swapdims({one}, {other})", f"torch.moveaxis({x}, {one}, {other})",
    )  # fmt: skip


def ones(draw: Draw, x: Name) -> str:
    """Dimensions of one place, more or fewer."""
    dim = draw.dim(x)
    return draw.among(
        f"{x}.unsqueeze({draw.dim(x, extra=1)})", f"{x}.squeeze()", f"{x}.squeeze({dim})",
        f"{x}.squeeze(({dim},))", f"torch.atleast_2d({x})", f"{x}[None, ..., None]",
    )  # fmt: skip


def diagonal(draw: Draw, x: Name) -> str:
    """A diagonal."""
    if x.value.ndim < 2:
        raise UnsuitableError
    return draw.among(
        f"{x}.diagonal()", f"{x}.diagonal({draw.integer(-1, 1)})",
        f"{x}.diagonal(0, {draw.dim(x)}, {draw.dim(x)})", f"torch.linalg.diagonal({x})",
        f"{x}.diagonal(offset={draw.integer(-1, 2)}, dim1=-1, dim2=-2)",
    )  # fmt: skip


def of_numbers(draw: Draw, x: Name) -> str:
    """Parts of complex numbers, and other dtypes in the same memory."""
    if not x.value.is_complex():
        return draw.among(
            f"torch.view_as_complex({x})", f"{x}.real", f"{x}.conj()", f"{x}.view({x}.dtype)",
            f"{x}.imag", f"{x}.view(torch.int32)", f"{x}.resolve_conj()",
        )  # fmt: skip
    return draw.among(
        f"{x}.real", f"{x}.imag", f"torch.view_as_real({x})", f"{x}.conj()", f"{x}.mH",
        f"{x}.conj().imag", f"torch.conj({x})", f"{x}.resolve_conj()", f"torch.real({x})",
    )  # fmt: skip


def the_same(draw: Draw, x: Name) -> str:
    """All of it again."""
    return draw.among(
        f"{x}.detach()", f"{x}.data", f"{x}.contiguous()", f"{x}.to({x}.dtype)", f"{x}.expand(())",
        f"{x}.view_as({x})", f"{x}.type_as({x})", f"{x}.positive()", f"torch.Tensor.detach({x})",
        f"{x}.requires_grad_({x}.requires_grad)", f"{x}.cpu()",
    )  # fmt: skip


VIEWS: tuple[View, ...] = (
    permuted, expanded, shaped, shaped, strided, part, part, part, turned, turned, ones, diagonal,
    of_numbers, the_same,
)  # fmt: skip

RULES = (view, view, view, view_of_view, several)
