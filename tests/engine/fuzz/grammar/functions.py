"""Custom Functions with every feature of their context, and calls of them."""

from __future__ import annotations

from dataclasses import dataclass

from tests.engine.fuzz.draw import Draw, requiring, smooth


@dataclass(frozen=True)
class Kind:
    """A computation, as the text of its methods."""

    inputs: str
    forward: str
    """Uses the inputs, and sets ``out``."""
    saved: str
    """What is saved."""
    marks: str
    """What else is done to the context, with the outputs in ``out``."""
    cotangents: str
    backward: str
    """Gives the gradients, by the saved tensors."""
    jvp: str = ""
    """Gives the tangents of the outputs, by ``dx`` and ``dy``."""


KINDS = {
    "product": Kind("x, y", "x * y", "x, y", "", "g", "g * y, g * x", "dx * y + x * dy"),
    "square": Kind("x", "x * x", "x", "", "g", "g * 2 * x", "2 * x * dx"),
    "result": Kind("x", "x.exp()", "out", "", "g", "g * out", "out * dx"),
    "two": Kind("x", "(x * 2, x.sin())", "x", "", "g, k", "g * 2 + k * x.cos()"),
    "two of which one is kept": Kind(
        "x", "(x * 2, x > 0)", "x", "ctx.mark_non_differentiable(out[1])", "g, k", "g * 2"),
    "two of two": Kind("x, y", "(x + y, x * y)", "x, y", "", "g, k", "g + k * y, g + k * x"),
    "dirty": Kind("x", "x.mul_(2)", "", "ctx.mark_dirty(x)", "g", "g * 2"),
    "dirty second": Kind("x, y", "y.add_(x)", "", "ctx.mark_dirty(y)", "g", "g, g"),
    "dirty and more": Kind(
        "x", "(x.mul_(2), x * 3)", "", "ctx.mark_dirty(x)", "g, k", "g * 2 + k * 6"),
    "the same": Kind("x", "x", "", "", "g", "g * 3"),
    "the same and more": Kind("x", "(x, x * 2)", "", "", "g, k", "g * 3 + k"),
    "view": Kind("x", "x.view(-1)", "x", "", "g", "g.view(x.shape)"),
    "view of some": Kind("x", "x[:1]", "x", "", "g", "torch.zeros_like(x)"),
    "expanded": Kind(
        "x", "x.expand(2, *x.shape)", "", "", "g", "g.sum(0)", "dx.expand(2, *dx.shape)"),
    "unused": Kind("x, y", "x * 2", "", "", "g", "g * 2, None"),
    "wrong count": Kind("x, y", "x * y", "", "", "g", "g"),
    "wrong shape": Kind("x", "x * 1", "", "", "g", "g.sum()"),
    "summed": Kind("x", "x.sum()", "x", "", "g", "g.expand_as(x)", "dx.sum()"),
    "whole": Kind("x", "(x.detach().abs() > 1e-6).to(torch.int64)", "", "", "g", "None"),
    "wide": Kind("x", "x.to(torch.float64)", "", "", "g", "g * 2"),
    "none": Kind("x", "(x * 2, None)", "", "", "g, k", "g * 2"),
    "detached": Kind("x", "x.detach()", "", "", "g", "g * 2"),
    "shared": Kind(
        "x", "(lambda y: (y, y.view(-1)))(x * 2)", "", "", "g, k", "g * 2 + k.view(g.shape)"),
    "not saved": Kind("x", "x.sin()", "", "ctx.x = x", "g", "g * ctx.x.cos()"),
    "number": Kind("x, n", "x * n", "x", "ctx.n = n", "g", "g * ctx.n, None", "dx * ctx.n"),
}  # fmt: skip


def defined(draw: Draw) -> str:
    """A Function of one kind, with features of its own choosing."""
    kind = KINDS[draw.one_of(list(KINDS))]
    name = draw.new("F")
    apart = draw.chance(0.4)
    lines = [f"class {name}(Function):", *_forward(draw, kind, apart)]
    if apart and draw.chance(0.5):
        lines.insert(1, "    generate_vmap_rule = True")
    lines += _backward(draw, kind, name)
    if kind.jvp and draw.chance(0.6):
        lines += _jvp(kind, name)
    return "\n".join(lines)


def _marks(draw: Draw, kind: Kind) -> list[str]:
    saved = [f"ctx.save_for_backward({kind.saved})"] if kind.saved else []
    if kind.jvp and kind.saved:
        saved.append(f"ctx.save_for_forward({kind.saved})")
    if draw.chance(0.25):
        saved.append("ctx.set_materialize_grads(False)")
    if draw.chance(0.1):
        saved.append("ctx.mark_non_differentiable(out)")
    return saved + ([kind.marks] if kind.marks else [])


def _forward(draw: Draw, kind: Kind, apart: bool) -> list[str]:
    marks = [f"        {each}" for each in _marks(draw, kind)]
    if not apart:
        return [
            "    @staticmethod", f"    def forward(ctx, {kind.inputs}):",
            f"        out = {kind.forward}", *marks, "        return out",
        ]  # fmt: skip
    return [
        "    @staticmethod", f"    def forward({kind.inputs}):", f"        return {kind.forward}",
        "    @staticmethod", "    def setup_context(ctx, inputs, output):",
        f"        {kind.inputs}{'' if ',' in kind.inputs else ','} = inputs",
        "        out = output", *marks, "        pass",
    ]  # fmt: skip


def _backward(draw: Draw, kind: Kind, name: str) -> list[str]:
    lines = ["    @staticmethod"]
    if draw.chance(0.12):
        lines.append("    @torch.autograd.function.once_differentiable")
    lines.append(f"    def backward(ctx, {kind.cotangents}):")
    if draw.chance(0.6):
        lines.append(f"        note('{name}', {kind.cotangents}, ctx.needs_input_grad)")
    if kind.saved:
        comma = "" if "," in kind.saved else ","
        lines.append(f"        {kind.saved}{comma} = ctx.saved_tensors")
    return [*lines, f"        return {kind.backward}"]


def _jvp(kind: Kind, name: str) -> list[str]:
    tangents = ", ".join(f"d{each}" for each in kind.inputs.split(", "))
    lines = ["    @staticmethod", f"    def jvp(ctx, {tangents}):"]
    if kind.saved:
        comma = "" if "," in kind.saved else ","
        lines.append(f"        {kind.saved}{comma} = ctx.saved_tensors")
    return [*lines, f"        return {kind.jvp}"]


def called(draw: Draw) -> str:
    """A call of a Function there is."""
    name = draw.old("F")
    count = _inputs(draw, name)
    x = draw.tensor(smooth, requiring) if draw.chance(0.8) else draw.tensor(smooth)
    second = draw.tensor(lambda t: t.shape == x.value.shape and t.dtype == x.value.dtype)
    given = draw.among(x, x, f"{x} * 2", f"{x}.clone()")
    if count == 2:
        given = f"{given}, {draw.among(second, second, draw.number(), f'{second}.clone()')}"
    if draw.chance(0.75):
        return f"{draw.new()} = {name}.apply({given})"
    return f"{draw.new()}, {draw.new()} = {name}.apply({given})"


def _inputs(draw: Draw, name: str) -> int:
    """The number of inputs of a Function."""
    cls = draw.space[name]
    code = cls.forward.__code__
    return code.co_argcount - ("ctx" in code.co_varnames[: code.co_argcount])


def under_transforms(draw: Draw) -> str:
    """A Function under transforms of ``torch.func``."""
    name = draw.old("F")
    x = draw.tensor(smooth)
    given = "x" if _inputs(draw, name) == 1 else "x, x"
    body = draw.among(f"{name}.apply({given})", f"{name}.apply({given}).sum()")
    return f"{draw.new()} = " + draw.among(
        f"torch.func.grad(lambda x: {body})({x})", f"torch.func.vmap(lambda x: {body})({x})",
        f"torch.func.jacrev(lambda x: {body})({x})", f"torch.func.jacfwd(lambda x: {body})({x})",
        f"torch.func.vmap(torch.func.grad(lambda x: {body}))({x})",
        f"torch.func.jvp(lambda x: {body}, ({x},), (torch.ones_like({x}),))[1]",
    )  # fmt: skip


RULES = (defined, defined, called, called, called, called, under_transforms)
