"""Gradients asked for: of leaves and others, kept graphs, gradients of gradients, edges."""

from __future__ import annotations

from tests.engine.fuzz.draw import Draw, Name, computed, leaf, requiring, smooth
from tests.engine.fuzz.grammar.reductions import summed


def cotangent(draw: Draw, x: Name) -> str:
    """A gradient for a tensor."""
    return draw.among(
        f"torch.ones_like({x})", f"torch.full_like({x}, 0.5)", f"torch.ones_like({x})",
        f"torch.ones(()).expand_as({x})", "None", f"{x}.detach()",
    )  # fmt: skip


def backward(draw: Draw) -> str:
    """A call of backward."""
    x = draw.tensor(computed)
    more = _options(draw)
    return draw.among(
        f"{summed(x)}.backward({more})", f"({x} * {x}).sum().abs().backward({more})",
        f"{x}.backward({cotangent(draw, x)}, {more})", f"{summed(x)}.backward({more})",
        f"torch.autograd.backward({x}, {cotangent(draw, x)}, {more})",
    )  # fmt: skip


def _options(draw: Draw) -> str:
    options = []
    if draw.chance(0.5):
        options.append(f"retain_graph={draw.chance(0.8)}")
    if draw.chance(0.15):
        options.append(f"create_graph={draw.chance(0.8)}")
    if draw.chance(0.12):
        options.append(f"inputs=[{draw.tensor(requiring)}, {draw.tensor(requiring)}]")
    return ", ".join(options)


def of_several(draw: Draw) -> str:
    """Several roots at once."""
    x, y = draw.tensor(requiring), draw.tensor(computed)
    return (
        f"torch.autograd.backward([{x}, {y}], "
        f"[{cotangent(draw, x)}, {cotangent(draw, y)}], {_options(draw)})"
    )


def grad(draw: Draw) -> str:
    """Gradients given back, by leaves or by any others."""
    x, y, z = draw.tensor(computed), draw.tensor(requiring), draw.tensor(requiring)
    options = [f"retain_graph={draw.chance(0.9)}"] if draw.chance(0.6) else []
    for name, share in (("create_graph", 0.4), ("allow_unused", 0.7), ("materialize_grads", 0.2)):
        if draw.chance(share):
            options.append(f"{name}={draw.chance(0.9)}")
    more = ", ".join(options)
    root = draw.among(summed(x), f"({x} * {x}).sum().abs()", f"{x}.sum()")
    one, other = draw.new(), draw.new()
    return draw.among(
        f"{one}, {other} = torch.autograd.grad({root}, [{y}, {z}], {more})",
        f"({one},) = torch.autograd.grad({root}, {y}, {more})",
        f"{one}, {other} = torch.autograd.grad([{x}, {y}], [{y}, {z}], "
        f"[{cotangent(draw, x)}, {cotangent(draw, y)}], {more})",
        f"({one},) = torch.autograd.grad({x}, {y}, grad_outputs={cotangent(draw, x)}, {more})",
    )  # fmt: skip


def double(draw: Draw) -> str:
    """The gradient of a gradient."""
    x, y = draw.tensor(computed, smooth), draw.tensor(leaf)
    (one, other) = draw.new(), draw.new()
    return "; ".join(
        (
            f"({one},) = torch.autograd.grad({summed(x)}, {y}, create_graph=True)",
            draw.among(
                f"({other},) = torch.autograd.grad(({one} * {one}).sum().abs(), {y}, "
                "allow_unused=True)",
                f"({one} * {one}).sum().abs().backward()", f"{one}.abs().sum().backward()",
            ),
        )
    )  # fmt: skip


def edges(draw: Draw) -> str | tuple[str, ...]:
    """Roots and inputs given as edges of the graph."""
    x, y = draw.tensor(computed), draw.tensor(requiring)
    edge, out = draw.new("e"), draw.new()
    return (
        f"{edge} = torch.autograd.graph.get_gradient_edge({y})",
        draw.among(
            f"({out},) = torch.autograd.grad({summed(x)}, [{edge}], allow_unused=True, "
            "retain_graph=True)",
            f"torch.autograd.backward([{edge}], [torch.ones_like({y})])",
            f"({out},) = torch.autograd.grad([{edge}], [{y}], [torch.ones_like({y})], "
            "retain_graph=True)",
            f"note({edge}.node.name(), {edge}.output_nr)",
            f"{summed(x)}.backward(inputs=[{edge}], retain_graph=True)",
        ),
    )  # fmt: skip


def batched(draw: Draw) -> str:
    """Several cotangents in one walk."""
    x, y = draw.tensor(computed), draw.tensor(requiring)
    return (
        f"({draw.new()},) = torch.autograd.grad({x}, {y}, "
        f"torch.stack([torch.ones_like({x}), torch.ones_like({x}) * 2]), is_grads_batched=True, "
        f"retain_graph=True, allow_unused={draw.chance(0.7)})"
    )


def of_grads(draw: Draw) -> str:
    """The gradient attribute set, changed or used."""
    x = draw.tensor(leaf)
    return draw.among(
        f"{x}.grad = None", f"{x}.grad.zero_()", f"{x}.grad = torch.ones_like({x})",
        f"{draw.new()} = {x}.grad", f"{x}.grad = {draw.tensor()}", f"{x}.grad.mul_(2)",
        f"{draw.new()} = {x}.grad.clone()", f"del {x}.grad", f"{x}.grad.detach_()",
        f"{x}.grad.requires_grad_()", f"{draw.new()} = {x}.grad * 2",
    )  # fmt: skip


SIMPLE = ("Mul", "Add", "Sub", "Sin", "Cos", "Exp", "Sum", "Clone", "View", "Select", "Slice")


def graph(draw: Draw) -> str:
    """The nodes that a node leads to; of operations that the engine does not write with others."""
    x = draw.tensor(computed, lambda t: t.grad_fn.name().split("Backward")[0] in SIMPLE)
    return f"note([n and n.name() for n, _ in {x}.grad_fn.next_functions])"


RULES = (
    backward, backward, backward, of_several, grad, grad, grad, double, edges, batched, of_grads,
    graph,
)  # fmt: skip
