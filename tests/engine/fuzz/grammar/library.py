"""Checkpoints, modules and their parameters, copies and what is asked of a tensor."""

from __future__ import annotations

from tests.engine.fuzz.draw import Draw, UnsuitableError, leaf, real, requiring


def checkpointed(draw: Draw) -> str:
    """A computation done again in backward."""
    x = draw.tensor(requiring)
    body = draw.among(
        "x.sin() * x", "x * x", "(note('again'), x.exp().tanh())[1]", "x.clone().mul_(2)",
        "(x * 2).sum()", "x.view(-1) * 2", f"x * {draw.tensor(requiring)}", "x",
    )  # fmt: skip
    reentrant = draw.among("True", "False", "False")
    return f"{draw.new()} = checkpoint(lambda x: {body}, {x}, use_reentrant={reentrant})"


def module(draw: Draw) -> str:
    """A layer with weights of its own."""
    name = draw.new("m")
    n, m = draw.integer(1, 3), draw.integer(1, 3)
    weight = draw.made((m, n), "float32")
    return (
        f"{name} = torch.nn.Linear({n}, {m}, bias={draw.chance(0.5)})\n"
        f"with torch.no_grad(): [p.fill_(0.5) for p in {name}.parameters()]\n"
        f"{name}.weight.data.copy_({weight})"
    )


def module_called(draw: Draw) -> str:
    """A call of a layer, or something done with its parameters."""
    m = draw.old("m")
    width = draw.space[m].in_features
    x = draw.tensor(real, lambda t: t.ndim > 0 and t.shape[-1] == width, strict=True)
    out = draw.new()
    return draw.among(
        f"{out} = {m}({x}.float())", f"{out} = {m}({x})",
        f"{out} = torch.func.functional_call({m}, dict({m}.named_parameters()), ({x}.float(),))",
        f"{out} = {m}.weight", f"{out} = {m}.weight * 2", f"{m}.zero_grad()",
        f"note([p.grad for p in {m}.parameters()])", f"{m}.requires_grad_(False)",
        f"{out} = checkpoint({m}, {x}.float(), use_reentrant=False)",
        f"{draw.new('h')} = {m}.register_forward_hook(lambda m, i, o: note('forward', i, o))",
        f"{draw.new('h')} = {m}.register_full_backward_hook(lambda m, i, o: note('back', i, o))",
        f"{draw.new('h')} = {m}.register_full_backward_pre_hook(lambda m, o: note('pre', o))",
        f"{draw.new('h')} = {m}.register_forward_pre_hook(lambda m, i: note('first', i))",
    )  # fmt: skip


def normalized(draw: Draw) -> str:
    """Functions of ``nn.functional``."""
    x = draw.tensor(real)
    shape = tuple(x.value.shape[-1:])
    return f"{draw.new()} = torch.nn.functional." + draw.among(
        f"mse_loss({x}, {x} * 2)", f"l1_loss({x}, torch.zeros_like({x}))", f"gelu({x})",
        f"layer_norm({x}, {shape})", f"normalize({x}, dim=-1)", f"silu({x})", f"softplus({x})",
        f"smooth_l1_loss({x}, {x} * 3)", f"elu({x})", f"huber_loss({x}, {x} * 2)", f"glu({x})",
        f"binary_cross_entropy_with_logits({x}, {x}.sigmoid())", f"leaky_relu({x}, 0.1)",
        f"log_softmax({x}, -1)", f"kl_div({x}.log_softmax(-1), {x}.softmax(-1))", f"relu6({x})",
        f"cosine_similarity({x}, {x} + 1, dim=-1)", f"dropout({x}, 0.0)", f"selu({x})",
        f"dropout({x}, 0.5, training=False)", f"rms_norm({x}, {shape})", f"mish({x})",
        f"gaussian_nll_loss({x}, {x} * 2, {x}.abs() + 1)", f"hardswish({x})", f"celu({x})",
    )  # fmt: skip


def copied(draw: Draw) -> str:
    """A leaf copied, or made a parameter."""
    x = draw.tensor(leaf)
    return f"{draw.new()} = " + draw.among(
        f"copy.deepcopy({x})", f"copy.copy({x})", f"torch.nn.Parameter({x}.detach())",
        f"torch.nn.Parameter({x}.detach().clone(), requires_grad=False)", f"{x}.clone()",
    )  # fmt: skip


def asked(draw: Draw) -> str:
    """A question whose answer is no tensor."""
    x, y = draw.tensor(), draw.tensor()
    return draw.among(
        f"note(torch.equal({x}, {y}), {x}.numel())", f"note({x}.tolist())", f"note({x}.item())",
        f"note(bool({x}))", f"note(len({x}))", f"note({x}.size(), {x}.dim(), {x}.element_size())",
        f"note(torch.result_type({x}, {y}))", f"note(torch.can_cast({x}.dtype, {y}.dtype))",
        f"note({x}.is_same_size({y}), {x}.is_floating_point(), {x}.is_complex())",
        f"note(float({x}))", f"note({x}.data_ptr() == {y}.data_ptr())", f"note({x} in [1])",
        f"note({x}.is_set_to({y}), {x}.is_contiguous())", f"note(torch.allclose({x}, {x}))",
        f"note({x}.grad_fn is {x}.grad_fn, {x}._base is {y})", f"note(int({x}))",
    )  # fmt: skip


def left(draw: Draw) -> str:
    """A context left."""
    if not draw.space["opened"]:
        raise UnsuitableError
    return "leave()"


RULES = (checkpointed, checkpointed, module, module_called, module_called, normalized, normalized,
         copied, asked, asked, left)  # fmt: skip
