"""Functions of one tensor and of several that broadcast, with the promotion of their dtypes."""

from __future__ import annotations

from tests.engine.fuzz.draw import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    Draw,
    Name,
    UnsuitableError,
    dtype_of,
    real,
    requiring,
    smooth,
    tame,
)

OF_SMOOTH = ["sin", "cos", "tanh", "neg", "sgn", "square", "positive", "sigmoid"]
OF_REAL = [
    "abs",
    "relu",
    "sign",
    "floor",
    "round",
    "trunc",
    "ceil",
    "frac",
    "erf",
    "softsign",
    "hardtanh",
    "logical_not",
    "isfinite",
    "signbit",
]
OF_TAME = ["exp", "expm1", "sinh", "cosh", "exp2"]


def of_one(draw: Draw) -> str:
    """A function of one tensor."""
    x = draw.tensor(smooth)
    names = [*OF_SMOOTH, "abs", "angle"]
    if not x.value.is_complex():
        names += OF_REAL
    if tame(x.value):
        names += OF_TAME
    name = draw.one_of(names)
    if name in ("softsign", "hardtanh"):
        return f"{draw.new()} = torch.nn.functional.{name}({x})"
    return f"{draw.new()} = {draw.among(f'{x}.{name}()', f'torch.{name}({x})')}"


def of_bounded(draw: Draw) -> str:
    """A function whose domain has an end."""
    x = draw.tensor(real)
    return f"{draw.new()} = " + draw.among(
        f"{x}.abs().sqrt()", f"({x} * {x} + 1).log()", f"{x}.abs().log1p()", f"{x}.clamp(-1, 1)",
        f"{x}.clamp(min=0)", f"{x}.tanh().asin()", f"1 / ({x}.abs() + 1)", f"{x}.clamp_min(0.5)",
        f"({x} * {x} + 1).rsqrt()", f"({x}.abs() + 0.5).pow(1.5)", f"{x}.clamp(max={x}.detach())",
        f"{x}.atan()", f"({x}.abs() + 1).reciprocal()", f"{x}.nan_to_num()", f"{x}.deg2rad()",
    )  # fmt: skip


def other_than(draw: Draw, x: Name) -> str:
    """A second operand: a tensor that broadcasts, a number, or a tensor made for it."""
    kind = draw.rng.random()
    if kind < 0.25:
        return draw.number(draw.among("float32", "int64", "bool", dtype_of(x), "complex64"))
    if kind < 0.75:
        try:
            return draw.tensor(lambda y: _broadcast(x.value, y), strict=True)
        except UnsuitableError:
            pass
    dtype = draw.among(dtype_of(x), dtype_of(x), *FLOATS, *INTEGERS, *COMPLEX)
    return draw.made(draw.onto(x.value.shape), dtype)


def _broadcast(x, y) -> bool:  # type: ignore[no-untyped-def]
    pairs = zip(reversed(x.shape), reversed(y.shape), strict=False)
    return all(one == other or 1 in (one, other) for one, other in pairs)


def of_two(draw: Draw) -> str:
    """An operator between two, of any dtypes."""
    x = draw.tensor()
    y = other_than(draw, x)
    sign = draw.among("+", "-", "*", "+", "*")
    return f"{draw.new()} = " + draw.among(
        f"{x} {sign} {y}", f"{y} {sign} {x}", f"torch.add({x}, {y})", f"{x}.mul({y})",
        f"{x} / ({y} * 0 + 2)", f"torch.sub({x}, {y}, alpha=2)", f"torch.where({x} == 0, {x}, {y})",
    )  # fmt: skip


def of_two_real(draw: Draw) -> str:
    """A function of two real tensors."""
    x = draw.tensor(lambda t: not t.is_complex())
    y = other_than(draw, x)
    return f"{draw.new()} = " + draw.among(
        f"torch.maximum({x}, torch.as_tensor({y}))", f"torch.where({x} > 0, {x}, {y})",
        f"torch.atan2({x} + 0.5, torch.as_tensor({y}))", f"torch.minimum({x}, {x} * 0.5)",
        f"{x}.fmod(2)", f"{x}.remainder(2)", f"torch.copysign({x}, {y})", f"{x} // 2",
        f"torch.hypot({x} * 1.0, {x} * 0.5 + 1)", f"{x} % 3",
        f"torch.fmax({x}, torch.as_tensor({y}))",
        f"torch.div({x}, 2, rounding_mode='floor')", f"{x} ** 2", f"2 ** {x}.clamp(-3, 3)",
        f"{x}.abs() ** 1.5", f"{x} > {y}", f"{x} <= {y}", f"{x} == {y}", f"{x} != {y}",
        f"torch.logical_and({x}, torch.as_tensor({y}))", f"{x} > 0",
    )  # fmt: skip


def of_three(draw: Draw) -> str:
    """A function of three tensors."""
    x = draw.tensor(smooth)
    y, z = other_than(draw, x), other_than(draw, x)
    return f"{draw.new()} = " + draw.among(
        f"torch.lerp({x}, {x} * 2, 0.25)", f"torch.addcmul({x}, {x}, {x}, value=0.5)",
        f"torch.addcdiv({x}, {x}, {x} * 0 + 2)", f"torch.where({x} != 0, {y}, {z})",
        f"torch.lerp({x}, {x}.detach(), {x})", f"torch.addcmul({x}, {x}, {x}.detach())",
        f"{x}.where({x} != 0, {y})", f"{x}.masked_fill({x} == 0, {draw.number()})",
    )  # fmt: skip


def converted(draw: Draw) -> str:
    """Another dtype."""
    x = draw.tensor(tame)
    dtype = draw.among("float64", "float32", "float16", "complex64", "complex128")
    if not smooth(x.value) and draw.chance(0.5):
        dtype = draw.one_of((*INTEGERS, "bool"))
    return f"{draw.new()} = " + draw.among(
        f"{x}.to(torch.{dtype})", f"{x}.type(torch.{dtype})", f"{x}.double()", f"{x}.float()",
        f"{x}.half()", f"{x}.to({draw.tensor(smooth)})", f"{x}.to(torch.{dtype}, copy=True)",
    )  # fmt: skip


def of_whole(draw: Draw) -> str:
    """An operation of integers and booleans."""
    x = draw.tensor(lambda t: not smooth(t))
    return f"{draw.new()} = " + draw.among(
        f"~{x}", f"{x} & {x}", f"{x} | 1", f"{x} ^ True", f"{x}.bitwise_not()", f"{x} << 1",
        f"{x} >> 1", f"-{x}", f"{x}.logical_not()", f"{x} * 2", f"{x} / 2", f"{x} // 2",
        f"{x} + 0.5",
        f"{x}.bool()", f"{x}.abs()", f"{x} ** 2", f"{x}.sin()", f"{x} * 1j",
    )  # fmt: skip


def written_out(draw: Draw) -> str:
    """An operation that writes to a tensor there is."""
    x = draw.tensor(smooth)
    out = draw.tensor(lambda t: t.shape == x.value.shape and not t.requires_grad)
    if draw.chance(0.05):
        out = draw.tensor()
    return f"{draw.new()} = " + draw.among(
        f"torch.add({x}, {x}, out={out})", f"torch.sin({x}, out={out})",
        f"torch.mul({x}, {draw.number()}, out={out})", f"torch.abs({x}, out={out})",
        f"torch.add({x}.detach(), 1, out={out})", f"torch.exp({x}.detach().tanh(), out={out})",
        f"torch.cumsum({x}.detach() * 1, 0, out={out})",
        f"torch.eq({x}, 0, out={out})", f"torch.div({x}.detach(), 2, out={out})",
    )  # fmt: skip


def recorded(draw: Draw) -> str:
    """A product of what requires a gradient, so that graphs grow."""
    x = draw.tensor(requiring)
    y = draw.tensor(lambda t: t.shape == x.value.shape)
    return f"{draw.new()} = " + draw.among(
        f"{x} * {y}", f"{x} * 2", f"{x} + {y}", f"{x} * {x}", f"{x}.clone()", f"{x}.sin() * {y}",
    )  # fmt: skip


RULES = (
    of_one, of_one, of_bounded, of_two, of_two, of_two, of_two_real, of_three, converted, of_whole,
    written_out, recorded, recorded,
)  # fmt: skip
