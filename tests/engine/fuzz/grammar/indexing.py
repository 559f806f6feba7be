"""Elements read and assigned by integers, slices, masks, tensors of indices, and all mixed."""

from __future__ import annotations

from tests.engine.fuzz.draw import Draw, Name, changeable, dtype_of, ranked, smooth


def key(draw: Draw, x: Name) -> str:
    """What stands in the brackets."""
    if draw.chance(0.15):
        return _mask(draw, x)
    shape = x.value.shape[: draw.integer(1, max(1, x.value.ndim))]
    parts = [_part(draw, extent) for extent in shape]
    if draw.chance(0.15):
        parts.insert(draw.integer(0, len(parts)), "None")
    if draw.chance(0.15):
        parts.insert(draw.integer(0, len(parts)), "...")
    return ", ".join(parts) or "()"


def _part(draw: Draw, extent: int) -> str:
    kind = draw.rng.random()
    if kind < 0.3:
        return str(draw.place(extent))
    if kind < 0.65:
        start = draw.integer(0, max(0, extent - 1))
        return draw.among(":", f"{start}:", f":{start + 1}", "::2", f"-{start + 1}:", "0:0", "1::1")
    places = [draw.place(extent) for _ in range(draw.integer(1, 3))]
    if kind < 0.9:
        return draw.among(f"torch.tensor({places})", f"{places}", f"torch.tensor([{places}])")
    if kind < 0.97:
        return f"torch.tensor({[draw.chance(0.5) for _ in range(extent)]}, dtype=torch.bool)"
    return draw.among("torch.tensor(0)", "True", "False", "torch.tensor(True)")


def _mask(draw: Draw, x: Name) -> str:
    if x.value.is_complex() or draw.chance(0.3):
        return f"{x} != 0"
    return draw.among(f"{x} > 0", f"{x} < 0", f"{x}.detach() > 100", f"({x} > 0) | True")


def read(draw: Draw) -> str:
    """Elements taken out."""
    x = draw.tensor(ranked(1))
    return f"{draw.new()} = {x}[{key(draw, x)}]"


def assigned(draw: Draw) -> str:
    """Elements overwritten by a number or a tensor."""
    x = draw.tensor(changeable, ranked(1))
    place = key(draw, x)
    number = draw.number(dtype_of(x))
    scalar = draw.tensor(lambda t: t.numel() == 1)
    return draw.among(
        f"{x}[{place}] = {number}", f"{x}[{place}] = {scalar}", f"{x}[{place}] = {x}[{place}] * 2",
        f"{x}[{place}] += {number}", f"{x}[{place}] *= {scalar}", f"{x}[{place}] = {draw.tensor()}",
        f"{x}[{place}] = {number}", f"{x}[{place}] = {x}[{place}].detach()",
    )  # fmt: skip


def assigned_through_view(draw: Draw) -> str:
    """Elements of a view overwritten."""
    x = draw.tensor(changeable, ranked(1), lambda t: t._is_view())
    return f"{x}[{key(draw, x)}] = {draw.number(dtype_of(x))}"


def gathered(draw: Draw) -> str:
    """Elements taken by functions."""
    x = draw.tensor(ranked(1), smooth)
    dim = draw.dim(x)
    shape = tuple(x.value.shape)
    return f"{draw.new()} = " + draw.among(
        f"{x}.index_select({dim}, torch.tensor([0, 0]))", f"{x}.take(torch.tensor([0, -1]))",
        f"torch.gather({x}, {dim}, torch.zeros({shape}, dtype=torch.int64))",
        f"torch.masked_select({x}, {x} != 0)", f"{x}.index_add({dim}, torch.tensor([0]), {x}[:1])",
        f"torch.take_along_dim({x}, torch.zeros({shape}, dtype=torch.int64), {dim})",
        f"{x}.index_fill({dim}, torch.tensor([0]), 2.0)", f"{x}.nonzero()",
        f"{x}.scatter({dim}, torch.zeros({shape}, dtype=torch.int64), 1.5)",
        f"{x}.select_scatter({x}.select({dim}, 0) * 2, {dim}, 0)", f"{x}.argwhere()",
        f"{x}.slice_scatter({x}[:1] * 2, 0, 0, 1)",
        f"{x}.index_copy(0, torch.tensor([0]), {x}[:1])",
        f"{x}.index_put((torch.tensor([0]),), {x}[0] * 2)",
        f"{x}.masked_scatter({x} != 0, {x} * 2)",
        f"{x}.scatter_add({dim}, torch.zeros({shape}, dtype=torch.int64), {x})",
        f"{x}.diagonal_scatter({x}.diagonal() * 2)",
    )  # fmt: skip


RULES = (read, read, assigned, assigned, assigned_through_view, gathered)
