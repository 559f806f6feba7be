"""Tensors from nothing: leaves of every dtype, and those made like another."""

from __future__ import annotations

from tests.engine.fuzz.draw import COMPLEX, FLOATS, INTEGERS, Draw, dtype_of


def leaf(draw: Draw) -> str:
    """A floating tensor, most often one that requires a gradient."""
    dtype = draw.among("float32", "float32", "float64", "float64", *FLOATS, *COMPLEX)
    more = draw.among(", requires_grad=True", ", requires_grad=True", "")
    return f"{draw.new()} = {draw.made(draw.shape(), dtype, more)}"


def whole(draw: Draw) -> str:
    """A tensor of integers or booleans."""
    dtype = draw.among("int64", "bool", *INTEGERS)
    more = ", requires_grad=True" if draw.chance(0.02) else ""
    return f"{draw.new()} = {draw.made(draw.shape(), dtype, more)}"


def alike(draw: Draw) -> str:
    """A tensor made like another."""
    x = draw.tensor()
    made = draw.among(
        f"torch.zeros_like({x})", f"torch.ones_like({x})", f"{x}.new_zeros({draw.shape(2)})",
        f"torch.full_like({x}, {draw.number(dtype_of(x))})", f"{x}.new_ones({draw.shape(2)})",
        f"torch.ones_like({x}, dtype=torch.float64)", f"{x}.new_tensor({draw.number(dtype_of(x))})",
        f"{x}.clone()", f"{x}.detach().clone()", f"torch.zeros_like({x}, requires_grad=True)",
        f"{x}.contiguous()", f"copy.copy({x})", f"copy.deepcopy({x}.detach())",
        f"{x}.detach().requires_grad_()", f"{x}.clone().detach().requires_grad_(True)",
    )  # fmt: skip
    return f"{draw.new()} = {made}"


def sequence(draw: Draw) -> str:
    """A tensor by a formula."""
    made = draw.among(
        f"torch.arange({draw.integer(1, 6)}, dtype=torch.float64)",
        f"torch.arange({draw.integer(1, 6)})", f"torch.eye({draw.integer(1, 3)})",
        f"torch.linspace(-1, 1, {draw.integer(1, 5)}, requires_grad=True)",
        f"torch.zeros({draw.shape()}, dtype=torch.float64)", f"torch.ones({draw.shape()})",
        f"torch.full({draw.shape()}, {draw.number()})", "torch.scalar_tensor(2.0)",
        f"torch.zeros({draw.shape()}, requires_grad=True)",
    )  # fmt: skip
    return f"{draw.new()} = {made}"


RULES = (leaf, leaf, leaf, leaf, whole, alike, sequence)
