"""The rules of the contract, asked of Functions as people write them."""

from __future__ import annotations

import textwrap

import pytest

from gradtool.run.runner import check
from tests.options import check_options

CLASSES = {
    "output kept": (
        "GT505",
        "y = x.exp(); ctx.y = y; return y",
        "return g * ctx.y",
    ),
    "output kept detached": (
        "GT505",
        "y = x.exp(); ctx.y = y.detach(); return y",
        "return g * ctx.y",
    ),
    "input in a dict": (
        "GT505",
        "ctx.cache = {'x': [x]}; return x * x",
        "return 2 * g * ctx.cache['x'][0]",
    ),
    "input in a closure": (
        "GT505",
        "ctx.pull = lambda g: 2 * g * x; return x * x",
        "return ctx.pull(g)",
    ),
    "input in a partial": (
        "GT505",
        "ctx.pull = functools.partial(torch.mul, x); return x * x / 2",
        "return ctx.pull(g)",
    ),
    "input in an object": (
        "GT505",
        "ctx.state = types.SimpleNamespace(x=x); return x * x",
        "return 2 * g * ctx.state.x",
    ),
    "input of which the sign counts": (
        "GT505",
        "ctx.x = x; return x.clamp(min=0)",
        "return g * (ctx.x > 0)",
    ),
    "saved intermediate changed": (
        "GT504",
        "e = x.exp(); ctx.save_for_backward(e); return e + 1",
        "(e,) = ctx.saved_tensors; e *= g; return e",
    ),
    "cotangent masked where nothing is hidden": (
        "GT503",
        "ctx.save_for_backward(x > 9); return x * 2",
        "(hidden,) = ctx.saved_tensors; return 2 * g.masked_fill_(hidden, 0)",
    ),
    "tensor on ctx used up": (
        "GT504",
        "ctx.e = torch.ones_like(x); return x * 2",
        "ctx.e += 1; return ctx.e * g",
    ),
    "buffer of the module": (
        "GT504",
        "BUFFER.add_(1); return x * 2",
        "return g * 2",
    ),
    "counter": (
        "GT508",
        "CALLS.append(0); return x * len(CALLS)",
        "return g * len(CALLS)",
    ),
    "memory of the input": (
        "GT509",
        "ctx.save_for_backward(x); return x.data.t()",
        "(x,) = ctx.saved_tensors; return g.t() * (x / x)",
    ),
    "ctx held": ("GT510", "HELD.append(ctx); return x * 2", "return g * 2"),
    "mask on the class": ("GT111", "It.mask = x > 0; return x * It.mask", "return g * It.mask"),
    "place of the maximum on the class": (
        "GT111",
        "It.at, ctx.shape = int(x.argmax()), x.shape; return x.max()",
        "out = g.new_zeros(ctx.shape); out.view(-1)[It.at] = g; return out",
    ),
    "shape on the class": (
        "GT111",
        "It.shape = x.shape; return x.reshape(-1) * 2",
        "return 2 * g.reshape(It.shape)",
    ),
    "random mask on the class": (
        "GT111",
        "It.mask = torch.rand(x.shape) > 0.5; return x * It.mask",
        "return g * It.mask",
    ),
    "gradient in a buffer that is returned": (
        "GT111",
        "ctx.save_for_backward(x); return x * x",
        "(x,) = ctx.saved_tensors; out = KEPT.setdefault(x.shape, torch.zeros_like(x)); "
        "return out.copy_(2 * x.detach() * g)",
    ),
    "wrong after another call as well": (
        "GT111",
        "ctx.gain = 1 + len(CALLS); return x * ctx.gain",
        "CALLS.append(0); return g * ctx.gain",
    ),
    "result kept for the tensor": (
        "GT111",
        "ctx.save_for_backward(x); return KEPT.setdefault(id(x), (x, x.detach().exp()))[1].clone()",
        "(x,) = ctx.saved_tensors; return g * x.exp()",
    ),
    # right ones
    "result kept for the tensor's version": (
        "",
        "ctx.save_for_backward(x); key = id(x), x._version; "
        "return KEPT.setdefault(key, (x, x.detach().exp()))[1].clone()",
        "(x,) = ctx.saved_tensors; return g * x.exp()",
    ),
    "shape in a closure": (
        "",
        "shape = x.shape; ctx.pull = lambda g: 2 * g.reshape(shape); return 2 * x",
        "return ctx.pull(g)",
    ),
    "a function of the dtype": (
        "",
        "ctx.like = lambda n: torch.full((n,), 2.0, dtype=x.dtype); return 2 * x",
        "return ctx.like(g.shape[-1]) * g",
    ),
    "in place on a copy": ("", "y = x.clone(); y.mul_(2); return y", "return g.clone().mul_(2)"),
    "shape and intermediate on ctx": (
        "",
        "ctx.shape = x.shape; ctx.mask = x > 0; return x * ctx.mask",
        "return g * ctx.mask",
    ),
    "the input itself": ("", "return x", "return g"),
    "a view": ("", "return x.view_as(x)", "return g"),
    "scratch buffer": (
        "",
        "SCRATCH.copy_(x[0]); ctx.save_for_backward(x); return x + SCRATCH * 0",
        "return g",
    ),
    "dropout": (
        "",
        "mask = (torch.rand(x.shape) > 0.5).double(); ctx.save_for_backward(mask); return x * mask",
        "(mask,) = ctx.saved_tensors; return g * mask",
    ),
    "dropout of the input's layout": (
        "",
        "mask = (torch.rand_like(x) > 0.5).double(); ctx.save_for_backward(mask); return x * mask",
        "(mask,) = ctx.saved_tensors; return g * mask",
    ),
    "permutation saved": (
        "",
        "y, i = x.sort(-1); ctx.save_for_backward(i); return y",
        "(i,) = ctx.saved_tensors; return torch.zeros_like(g).scatter_add(-1, i, g)",
    ),
}

MODULE = """
import functools
import types

import torch
from gradtool import Function

BUFFER = torch.zeros(1)
SCRATCH = torch.zeros(4, dtype=torch.float64)
CALLS = []
HELD = []
KEPT = {{}}


class It(Function):
    @staticmethod
    def forward(ctx, x):
        {forward}

    @staticmethod
    def backward(ctx, g):
        {backward}

    @staticmethod
    def sample_inputs():
        yield (torch.randn(3, 4, dtype=torch.float64, requires_grad=True),)
"""


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_mistake_trips_its_rule_alone(name, seed, tmp_path, monkeypatch):
    rule, forward, backward = CLASSES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it.py").write_text(
        textwrap.dedent(MODULE).format(forward=forward, backward=backward)
    )
    report = check(check_options(paths=("it.py",), seed=seed))
    assert {finding.rule for finding in report.findings()} == ({rule} if rule else set())
