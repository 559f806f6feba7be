"""Hooks of every kind: of tensors, nodes, accumulation, several gradients and saved tensors."""

from __future__ import annotations

from tests.engine.fuzz.draw import Draw, UnsuitableError, computed, leaf, requiring


def of_tensor(draw: Draw) -> str:
    """A hook on the gradient of a tensor, which may replace it."""
    x, name = draw.tensor(requiring), draw.new("h")
    body = draw.among(
        "note('{0}', g)", "(note('{0}', g), g * 2)[1]", "g * 0.5", "g.clone()", "None",
        "note('{0}', g, g.requires_grad, torch.is_grad_enabled())", "(note('{0}'), g)[1]",
    )  # fmt: skip
    if draw.chance(0.05):
        body = draw.among("1", "g.sum()", "g.double()", "1 / 0", "(g, g)")
    # PyTorch ends the process for a view whose base has changed since it last made its node.
    asked = f"{x}.grad_fn; " if x.value._is_view() else ""
    return f"{asked}{name} = {x}.register_hook(lambda g: {body.format(name)})"


def retained(draw: Draw) -> str:
    """The gradient of a tensor that is no leaf, kept."""
    return f"{draw.tensor(requiring)}.retain_grad()"


def of_node(draw: Draw) -> str:
    """A hook on a node, before it or after."""
    x, name = draw.tensor(computed), draw.new("h")
    if draw.chance(0.5):
        body = draw.among(
            f"note('{name}', gi, go)", f"note('{name}', go)", "None",
            f"(note('{name}'), tuple(g if g is None else g * 2 for g in gi))[1]",
        )  # fmt: skip
        return f"{name} = {x}.grad_fn.register_hook(lambda gi, go: {body})"
    body = draw.among(
        f"note('{name}', go)", f"(note('{name}'), tuple(g if g is None else g * 2 for g in go))[1]",
        "None", "(None,)" if draw.chance(0.1) else "None",
    )  # fmt: skip
    return f"{name} = {x}.grad_fn.register_prehook(lambda go: {body})"


def of_accumulation(draw: Draw) -> str:
    """A hook on a leaf after its gradient has been added."""
    x, name = draw.tensor(leaf), draw.new("h")
    body = draw.among(
        f"note('{name}', p.grad)", f"(note('{name}'), setattr(p, 'grad', None))[0]",
        f"note('{name}', p, p.grad, torch.is_grad_enabled())", "p.grad.mul_(2)[:0].sum() and None",
    )  # fmt: skip
    return f"{name} = {x}.register_post_accumulate_grad_hook(lambda p: {body})"


def of_several(draw: Draw) -> str:
    """A hook on the gradients of several tensors."""
    x, y, name = draw.tensor(requiring), draw.tensor(requiring), draw.new("h")
    mode = draw.among("all", "any")
    return (
        f"{name} = torch.autograd.graph.register_multi_grad_hook([{x}, {y}], "
        f"lambda g: note('{name}', g), mode='{mode}')"
    )


def removed(draw: Draw) -> str:
    """A hook taken off."""
    return f"{draw.old('h')}.remove()"


def of_saved(draw: Draw) -> str:
    """Hooks on what is saved for backward, entered until left."""
    if len(draw.space["opened"]) > 2:
        raise UnsuitableError
    pair = draw.among(
        "lambda x: (note('pack', x), x)[1], lambda x: (note('unpack', x), x)[1]",
        "lambda x: x * 2, lambda x: x", "lambda x: x.detach(), lambda x: x",
        "lambda x: [x], lambda x: x[0]", "lambda x: x, lambda x: (note('unpack'), x)[1]",
        "lambda x: x.clone(), lambda x: x.clone()",
    )  # fmt: skip
    return draw.among(
        f"enter(torch.autograd.graph.saved_tensors_hooks({pair}))",
        f"enter(torch.autograd.graph.saved_tensors_hooks({pair}))",
        "enter(torch.autograd.graph.save_on_cpu())",
        "enter(torch.autograd.graph.disable_saved_tensors_hooks('no hooks'))",
        "enter(torch.autograd.graph.allow_mutation_on_saved_tensors())",
        "enter(torch.autograd.detect_anomaly(check_nan=False))",
    )  # fmt: skip


def of_saved_briefly(draw: Draw) -> str:
    """Hooks on what one operation saves."""
    x = draw.tensor(requiring)
    computed = draw.among(f"{x} * {x}", f"{x}.sin()", f"{x}.exp()", f"{x} * 2", f"{x} ** 2")
    return (
        "with torch.autograd.graph.saved_tensors_hooks(lambda x: (note('pack', x), x * 2)[1], "
        f"lambda x: (note('unpack', x), x)[1]): {draw.new()} = {computed}"
    )


def left(draw: Draw) -> str:
    """The last context left."""
    if not draw.space["opened"]:
        raise UnsuitableError
    return "leave()"


RULES = (
    of_tensor, of_tensor, of_tensor, retained, retained, of_node, of_node, of_accumulation,
    of_several, removed, of_saved, of_saved_briefly, left,
)  # fmt: skip
