"""Changes of a tensor in place: of bases, of views, and of what the graph has saved."""

from __future__ import annotations

from tests.engine.fuzz.draw import (
    Draw,
    Name,
    changeable,
    dtype_of,
    leaf,
    ranked,
    real,
    requiring,
    smooth,
    tame,
)
from tests.engine.fuzz.grammar.elementwise import other_than


def target(draw: Draw, *tests) -> Name:  # type: ignore[no-untyped-def]
    """A tensor to change, sooner a view or the base of one."""
    if draw.chance(0.4):
        return draw.tensor(changeable, lambda t: t._is_view(), *tests)
    return draw.tensor(changeable, *tests)


def of_one(draw: Draw) -> str:
    """A function in place."""
    x = target(draw, smooth, tame)
    names = ["sin_", "cos_", "tanh_", "neg_", "square_", "sgn_", "zero_", "sigmoid_"]
    if not x.value.is_complex():
        names += [
            "abs_",
            "relu_",
            "floor_",
            "trunc_",
            "round_",
            "frac_",
            "sign_",
            "erf_",
            "exp_",
            "expm1_",
        ]
    return f"{x}.{draw.one_of(names)}()"


def of_two(draw: Draw) -> str:
    """An operator in place; the target keeps its dtype."""
    x = target(draw)
    y = _operand(draw, x)
    return draw.among(
        f"{x} += {y}", f"{x} -= {y}", f"{x} *= {y}", f"{x}.add_({y})", f"{x}.mul_({y})",
        f"{x}.copy_({y})", f"{x}.sub_({y}, alpha=2)", f"{x}.div_(2)", f"{x} /= 2", f"{x}.mul_({x})",
        f"{x} **= 2", f"{x}.add_({x})", f"torch.add({x}, {y}, out={x})", f"{x} //= 2",
    )  # fmt: skip


def _operand(draw: Draw, x: Name) -> str:
    """Something that broadcasts onto the target, and can be cast to its dtype."""
    kind = draw.rng.random()
    dtype = dtype_of(x)
    if kind < 0.25:
        return draw.number(dtype)
    if kind < 0.7:
        return draw.tensor(lambda y: y.numel() <= x.value.numel() and _onto(y.shape, x.value.shape))
    if kind < 0.95:
        more = ", requires_grad=True" if draw.chance(0.4) and smooth(x.value) else ""
        return draw.made(draw.onto(x.value.shape), dtype, more)
    return other_than(draw, x)


def _onto(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    pairs = zip(reversed(small), reversed(large), strict=False)
    return len(small) <= len(large) and all(one in (1, other) for one, other in pairs)


def filled(draw: Draw) -> str:
    """A value written over all or some elements."""
    x = target(draw)
    number = draw.number(dtype_of(x))
    dim = draw.dim(x)
    return draw.among(
        f"{x}.fill_({number})", f"{x}.zero_()", f"{x}.masked_fill_({x} == 0, {number})",
        f"{x}.fill_(torch.tensor({number}))", f"{x}.masked_fill_({x}.detach() != 0, {number})",
        f"{x}.index_fill_({dim}, torch.tensor([0]), {number})", f"{x}.fill_diagonal_({number})",
        f"{x}.clamp_(-1, 1)", f"{x}.tril_()", f"{x}.triu_()", f"{x}.cumsum_({dim})",
        f"{x}.nan_to_num_()", f"{x}.clamp_min_(0)", f"{x}.cumprod_({dim})",
    )  # fmt: skip


def scattered(draw: Draw) -> str:
    """Values written at places given by a tensor."""
    x = target(draw, smooth, ranked(1))
    dim = draw.dim(x)
    shape = tuple(x.value.shape)
    if not -len(shape) <= dim < len(shape):
        dim = 0
    one = list(shape)
    one[dim] = 1
    source = draw.made(one, dtype_of(x), draw.among("", ", requires_grad=True"))
    index = "torch.tensor([0])"
    places = f"torch.zeros({tuple(one)}, dtype=torch.int64)"
    return draw.among(
        f"{x}.index_add_({dim}, {index}, {source})", f"{x}.index_copy_({dim}, {index}, {source})",
        f"{x}.scatter_({dim}, {places}, {source})", f"{x}.scatter_add_({dim}, {places}, {source})",
        f"{x}.put_({index}, {source}.flatten()[:1])", f"{x}.masked_scatter_({x} != 0, {x} * 2)",
        f"{x}.index_put_(({index},), {x}[:1] * 2)", f"{x}.scatter_({dim}, {places}, 2.0)",
        f"{x}.index_put_(({index},), {x}[:1] * 2, accumulate=True)", f"{x}.addcmul_({x}, {x})",
        f"{x}.lerp_({x} * 2, 0.5)", f"{x}.addcdiv_({x}, {x} * 0 + 2)",
    )  # fmt: skip


def of_metadata(draw: Draw) -> str:
    """Shape, place in the graph or recording, changed in place."""
    x = draw.tensor()
    one, other = draw.dim(x), draw.dim(x)
    return draw.among(
        f"{x}.detach_()", f"{x}.requires_grad_()", f"{x}.requires_grad_(False)", f"{x}.t_()",
        f"{x}.transpose_({one}, {other})", f"{x}.squeeze_()", f"{x}.unsqueeze_(0)",
        f"{x}.requires_grad = {draw.chance(0.5)}", f"{x}.swapaxes_({one}, {other})",
        f"{x}.data.mul_(2)", f"{x}.data = {x}.data * 2", f"{x}.data = {draw.tensor()}",
        f"{x}.detach().zero_()", f"{x}.detach().add_(1)", f"{x}.as_strided_((1,), (1,))",
        f"{x}.squeeze_({one})", f"{x}.conj_physical_()",
    )  # fmt: skip


def unrecorded(draw: Draw) -> str:
    """A leaf changed where nothing is recorded."""
    x = draw.tensor(leaf)
    return draw.among(
        f"with torch.no_grad(): {x}.mul_(0.5)", f"with torch.no_grad(): {x} -= 0.1",
        f"with torch.no_grad(): {x}.copy_({x}.detach() * 2)", f"with torch.no_grad(): {x}.zero_()",
        f"with torch.no_grad(): {x}[...] = 1", f"{x}.data.add_(1)", f"{x}.mul_(2)",
    )  # fmt: skip


def of_base(draw: Draw) -> str:
    """The base of a view changed, or the view of a base, with something recorded."""
    x = draw.tensor(lambda t: t._is_view() and smooth(t))
    y = draw.tensor(requiring, lambda t: t.numel() == 1)
    return draw.among(
        f"{x}._base.mul_({y}.sum())", f"{x}._base.add_({y}.sum())", f"{x}.mul_({y}.sum())",
        f"{x}._base.zero_()", f"{x}._base.copy_({x}._base * 2)", f"{x}._base.detach_()",
        f"{x}.add_({y}.sum().real)",
    )  # fmt: skip


def activated(draw: Draw) -> str:
    """A function of ``nn.functional`` that may work in place."""
    x = target(draw, real)
    name = draw.among("relu", "relu6", "elu", "leaky_relu", "hardtanh", "silu", "selu", "celu")
    return f"{draw.new()} = torch.nn.functional.{name}({x}, inplace=True)"


RULES = (of_one, of_two, of_two, filled, scattered, of_metadata, unrecorded, of_base, activated)
