"""Recording switched off and on, for a statement or until further notice."""

from __future__ import annotations

from tests.engine.fuzz.draw import Draw, UnsuitableError, changeable, smooth
from tests.engine.fuzz.grammar import elementwise, inplace, views

MODES = (
    "torch.no_grad()", "torch.no_grad()", "torch.enable_grad()", "torch.inference_mode()",
    "torch.set_grad_enabled(False)", "torch.inference_mode(False)", "torch.set_grad_enabled(True)",
    "torch.autograd.set_multithreading_enabled(False)",
)  # fmt: skip


def under(draw: Draw) -> str:
    """One statement under a mode."""
    rule = draw.among(
        elementwise.recorded, elementwise.of_two, views.view, views.view, views.several,
        inplace.of_two, inplace.of_one, inplace.filled,
    )  # fmt: skip
    return f"with {draw.one_of(MODES)}: {rule(draw)}"


def entered(draw: Draw) -> str:
    """A mode entered, to be left later."""
    if len(draw.space["opened"]) > 2:
        raise UnsuitableError
    return f"enter({draw.one_of(MODES)})"


def left(draw: Draw) -> str:
    """The last context left."""
    if not draw.space["opened"]:
        raise UnsuitableError
    return "leave()"


def switched(draw: Draw) -> str:
    """Recording switched by a function."""
    return f"torch.set_grad_enabled({draw.chance(0.7)})"


def decorated(draw: Draw) -> str:
    """A function under a mode."""
    x = draw.tensor(smooth)
    mode = draw.among("torch.no_grad()", "torch.enable_grad()", "torch.inference_mode()")
    return f"{draw.new()} = {mode}(lambda x: x * 2)({x})"


def asked(draw: Draw) -> str:
    """The modes as they are."""
    x = draw.tensor()
    return draw.among(
        "note(torch.is_grad_enabled(), torch.is_inference_mode_enabled())",
        f"note({x}.is_inference(), {x}.requires_grad, {x}.output_nr)",
        f"note({x}.is_contiguous(), {x}.is_leaf, {x}.retains_grad)",
    )  # fmt: skip


def from_inference(draw: Draw) -> str:
    """A tensor of inference mode used outside."""
    x = draw.tensor(changeable)
    return draw.among(
        f"with torch.inference_mode(): {draw.new()} = {x} * 2",
        f"with torch.inference_mode(): {draw.new()} = {x}.view(-1)",
        f"with torch.inference_mode(): {x}.mul_(2)",
    )  # fmt: skip


RULES = (under, under, under, entered, left, left, left, switched, decorated, asked, from_inference)
