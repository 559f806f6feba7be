"""Forward mode: dual tensors in a level, through views, changes in place and recorded graphs."""

from __future__ import annotations

import torch.autograd.forward_ad as fwAD

from tests.engine.fuzz.draw import Draw, UnsuitableError, smooth


def _level(draw: Draw) -> bool:
    return any(type(each).__name__ == "dual_level" for each in draw.space["opened"])


def entered(draw: Draw) -> str:
    """A level entered, once in a while within another, which is an error."""
    if _level(draw) and draw.chance(0.9):
        return "leave()"
    if len(draw.space["opened"]) > 2:
        raise UnsuitableError
    return "enter(fwAD.dual_level())"


def made(draw: Draw) -> str:
    """A dual tensor."""
    if not _level(draw) and draw.chance(0.9):
        return "enter(fwAD.dual_level())"
    x = draw.tensor(smooth)
    tangent = draw.among(
        f"torch.ones_like({x})", f"torch.full_like({x}, 0.5)", f"{x}.detach().clone()",
        f"torch.ones_like({x}).mT" if x.value.ndim == 2 else f"torch.ones_like({x})",
        f"{x} * 1", f"torch.ones(()).expand_as({x})",
        f"torch.ones_like({x}, requires_grad=True)",
    )  # fmt: skip
    if draw.chance(0.05):
        tangent = draw.tensor()
    return f"{draw.new()} = fwAD.make_dual({x}, {tangent})"


def _dual(draw: Draw) -> str:
    if not _level(draw):
        raise UnsuitableError
    return str(draw.tensor(lambda t: fwAD.unpack_dual(t).tangent is not None))


def unpacked(draw: Draw) -> str:
    """Primal and tangent taken apart."""
    x = _dual(draw)
    return f"{draw.new()}, {draw.new()} = fwAD.unpack_dual({x})"


def computed(draw: Draw) -> str:
    """Something computed with a dual tensor."""
    x = _dual(draw)
    return f"{draw.new()} = " + draw.among(
        f"{x} * 2", f"{x}.sin()", f"{x} * {x}", f"{x}.sum()", f"{x}.view(-1)", f"{x}[..., None]",
        f"{x}.detach()", f"{x}.clone()", f"{x} + {draw.tensor()}", f"{x}.t()", f"{x}.exp()",
        f"torch.stack([{x}, {x}])", f"{x}.expand(2, *{x}.shape)", f"{x}.conj()", f"{x} ** 2",
        f"{x}.abs()", f"{x}.to(torch.float64)", f"{x}.mean()", f"{x}.prod()", f"{x}.norm()",
    )  # fmt: skip


def changed(draw: Draw) -> str:
    """A dual tensor, or something with one, changed in place."""
    x = _dual(draw)
    y = draw.tensor(smooth, lambda t: not t.requires_grad)
    return draw.among(
        f"{x}.mul_(2)", f"{x}.add_({x})", f"{y}.copy_({x})", f"{y}.mul_({x})", f"{x}.zero_()",
        f"{x}[...] = 1.0", f"{y}[...] = {x}", f"{y} += {x}", f"{x}.detach_()", f"{x}.mul_({y})",
        f"with torch.no_grad(): {x}.mul_(3)", f"{x}.view(-1).mul_(2)", f"{x}.copy_({y})",
    )  # fmt: skip


def under_mode(draw: Draw) -> str:
    """Forward mode under another mode."""
    x = _dual(draw)
    return draw.among(
        f"with torch.no_grad(): {draw.new()} = {x} * 2",
        f"with torch.inference_mode(): {draw.new()} = {x} * 2",
        f"with fwAD._set_fwd_grad_enabled(False): {draw.new()} = {x} * 2",
        f"with torch.no_grad(): {draw.new()} = {x}.view(-1)",
    )  # fmt: skip


RULES = (entered, made, made, made, unpacked, computed, computed, computed, changed, under_mode)
