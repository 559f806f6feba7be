"""Transforms of ``torch.func`` and of ``autograd.functional``, one in another."""

from __future__ import annotations

from tests.engine.fuzz.draw import Draw, UnsuitableError, nonempty, real, smooth

ELEMENTWISE = (
    "x.sin()", "x * 2", "x * x", "x.exp().tanh()", "x ** 3", "x.clone()", "x + 1", "x.tanh() * x",
    "x.detach() * x", "torch.where(x > 0, x, x * 2)", "x.abs()", "x.clone().mul_(2)",
    "x.clone().add_(x)", "x.cos() * x.sum()", "x.relu()", "x.flip(0) if x.ndim else x",
    "x.cumsum(-1)", "x.softmax(-1)", "torch.zeros_like(x).copy_(x)", "x.view(-1).view(x.shape)",
    "x.sigmoid()", "torch.cat([x.view(-1), x.view(-1)])", "x.unsqueeze(0)", "x.sum(-1)",
    "torch.stack([x, x * 2])", "x.view(-1)[:1]", "x.reshape(-1).diag()", "x.mean(-1, keepdim=True)",
    "x @ x if x.ndim == 1 else x", "x.expand(2, *x.shape)", "torch.ones(2) * x.sum()",
)  # fmt: skip
SCALAR = (
    "x.sum()", "(x * x).sum()", "x.sin().sum()", "x.prod()", "x.mean()", "(x ** 3).sum()",
    "x.norm()", "x.logsumexp(tuple(range(x.ndim)))", "(x.detach() * x).sum()", "x.max()",
    "x.cos().mean()", "(x.clone().mul_(2) * x).sum()", "x.var()", "x.view(-1)[0] ** 2",
)  # fmt: skip
GROWTH = {"jacrev": 1, "jacfwd": 1, "hessian": 2}
"""Factors of the size of the argument that a transform multiplies the size of the result by."""
MAPS = ("grad", "jacrev", "jacfwd", "hessian", "vmap", "vmap", "grad", "grad_and_value")


def body(draw: Draw, scalar: bool) -> str:
    """A function of a tensor ``x``, perhaps with one from outside."""
    text = draw.one_of(SCALAR if scalar else ELEMENTWISE)
    if draw.chance(0.3):
        outer = draw.tensor(smooth, lambda t: t.numel() == 1)
        text = f"{text} * {outer}.sum()" if not scalar else f"({text} * {outer}).sum()"
    return f"lambda x: {text}"


def composed(draw: Draw) -> str:
    """One to three transforms around a function."""
    x = draw.tensor(real, nonempty, lambda t: t.numel() <= 12, strict=True)
    depth = draw.among(1, 1, 2, 2, 3)
    chosen = [draw.one_of(MAPS) for _ in range(depth)]
    if sum(GROWTH.get(each, 0) for each in chosen) > 3:
        raise UnsuitableError
    text = f"({body(draw, scalar=chosen[0] != 'vmap' and draw.chance(0.85))})"
    for each in chosen:
        more = ""
        if each == "vmap":
            more = draw.among("", "", ", in_dims=-1", ", out_dims=-1", ", chunk_size=1")
        if each.startswith("grad") and draw.chance(0.1):
            more = ", has_aux=True"
        text = f"torch.func.{each}({text}{more})"
    if draw.chance(0.85):
        draw.try_(f"{text}({x})")
    return f"{draw.new()} = {text}({x})"


def products(draw: Draw) -> str:
    """Products with Jacobians."""
    x = draw.tensor(real, nonempty)
    f = f"({body(draw, scalar=draw.chance(0.3))})"
    v = f"torch.ones_like({x})"
    one, other = draw.new(), draw.new()
    return draw.among(
        f"{one}, {other} = torch.func.jvp({f}, ({x},), ({v},))",
        f"{one}, f0 = torch.func.vjp({f}, {x}); ({other},) = f0(torch.ones_like({one}))",
        f"{one}, f0 = torch.func.linearize({f}, {x}); {other} = f0({v})",
        f"{one}, {other} = torch.func.jvp(torch.func.grad({f}), ({x},), ({v},))",
        f"{one} = torch.func.jvp(lambda x: torch.func.vjp({f}, x)[1](({f})(x))[0], ({x},), "
        f"({v},))[1]",
        f"{one} = torch.func.vmap({f})({x}.expand(2, *{x}.shape))",
        f"{one} = torch.func.vmap(lambda y: torch.func.jvp({f}, ({x},), (y,))[1])"
        f"(torch.stack([{v}, {v} * 2]))",
    )  # fmt: skip


def functional(draw: Draw) -> str:
    """The older functions of ``autograd.functional``."""
    x = draw.tensor(real, nonempty)
    f = f"({body(draw, scalar=True)})"
    g = f"({body(draw, scalar=False)})"
    v = f"torch.ones_like({x})"
    one, other = draw.new(), draw.new()
    more = draw.among("", "", ", create_graph=True", ", strict=True", ", vectorize=True")
    less = draw.among("", "", ", create_graph=True", ", strict=True")
    return draw.among(
        f"{one} = torch.autograd.functional.jacobian({g}, {x}{more})",
        f"{one} = torch.autograd.functional.hessian({f}, {x}{more})",
        f"{one} = torch.autograd.functional.jacobian({f}, {x}{more})",
        f"{one}, {other} = torch.autograd.functional.hvp({f}, {x}, {v}{less})",
        f"{one}, {other} = torch.autograd.functional.vhp({f}, {x}, {v}{less})",
        f"{one}, {other} = torch.autograd.functional.vjp({f}, {x}, torch.ones(()){less})",
        f"{one}, {other} = torch.autograd.functional.jvp({f}, {x}, {v}{less})",
        f"{one} = torch.autograd.functional.jacobian({g}, {x}, vectorize=True, "
        "strategy='forward-mode')",
    )  # fmt: skip


def outside(draw: Draw) -> str:
    """A transform whose function reaches for tensors outside of it."""
    x, y = draw.tensor(real, nonempty), draw.tensor(real)
    return draw.among(
        f"{draw.new()} = torch.func.grad(lambda x: (x * {y}).sum())({x})",
        f"{draw.new()} = torch.func.vmap(lambda x: x * {y})({x})",
        f"{draw.new()} = torch.func.vmap(lambda x: {y}.mul_(x))({x})",
        f"{draw.new()} = torch.func.grad(lambda x: ({y}.clone().copy_(x) * x).sum())({x})",
        f"{draw.new()} = torch.func.grad(lambda x: (x.mul_(2) * {y}).sum())({x}.clone())",
        f"{draw.new()} = torch.func.vmap(lambda x: x.mul_(2))({x})",
        f"{draw.new()} = torch.func.vmap(lambda x: x.add_({y}))({x})",
        f"{draw.new()} = torch.func.vmap(lambda x, y: x * y, in_dims=(0, None))({x}, {y})",
        f"{draw.new()} = torch.func.vmap(lambda x: x.item())({x})",
        f"{draw.new()} = torch.func.vmap(lambda x: (x, 1))({x})",
        f"{draw.new()} = torch.func.grad(lambda x: torch.autograd.grad((x * {y}).sum(), x, "
        f"create_graph=True)[0].sum())({x})",
        f"{draw.new()} = torch.func.functionalize(lambda x: x.clone().mul_(2))({x})",
    )  # fmt: skip


RULES = (composed, composed, composed, products, functional, outside)
