"""A tensor's text shows the ``grad_fn`` that PyTorch's shows: printed losses look the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as engine

pytestmark = pytest.mark.torch

CALLS: list[Callable[[Any, Any, Any], Any]] = [
    lambda t, x, f: [1 - x, 2 / x, 2.0**x, x**2, x ** x.abs(), x.square(), x.log1p(), x - 1],
    lambda t, x, f: [x.sum(), x.sum(0), x.mean(), x.mean(1), x.abs().prod(), x.prod(0)],
    lambda t, x, f: [x[0], x[:, 0], x[1:], x[None], x[..., 0], x[:, 1:], x[[0, 1]], x[x > 0]],
    lambda t, x, f: [x[0:, :], x[:9, 0:], x[None, 0:], x[0, :0], x[0:, None, 1:], x[-1:, :]],
    lambda t, x, f: [x[0][...], x[...], x.narrow(0, 0, 2), t.tensor_split(x, 1)[0], x % x, x % 2],
    lambda t, x, f: [x[:, :1].reshape(-1), x.mT.reshape(-1), x.to(x.dtype, copy=True), x.msort()],
    lambda t, x, f: [f.gelu(x.half()), x.quantile(0.5), x.sum_to_size(3), x.sum_to_size(1, 3)],
    lambda t, x, f: [x.masked_fill(x > 0, x[0, 0]), t.fmod(x, x), t.polar(x, x), t.rsub(x, 1)],
    lambda t, x, f: [x.t(), x.T, x.transpose(0, 1), x.mT, x.squeeze(), x.squeeze(0), x.view(-1)],
    lambda t, x, f: [x.max(), x.max(0)[0], x.max(x * 2), x.median(), x.median(0)[0], x.amax()],
    lambda t, x, f: [x.sort()[0], x.topk(1)[0], x.kthvalue(1)[0], x.cummax(0)[0], x.cumprod(0)],
    lambda t, x, f: [x.clamp(min=0), x.clamp(0, 1), x.clamp_min(0), x.clamp_max(0), x.clip(0, 1)],
    lambda t, x, f: [x.norm(), x.norm(1), x.var(), x.std(0), *t.var_mean(x), t.linalg.norm(x)],
    lambda t, x, f: [
        x @ x.T,
        x @ x[0],
        x[None] @ x.T,
        t.addmm(x @ x.T, x, x.T),
        t.outer(x[0], x[0]),
    ],
    lambda t, x, f: [t.einsum(e, x, x) for e in ("ij,kj->ik", "ij,ij->ij", "ij,ij->")],
    lambda t, x, f: [t.addcmul(x, x, x), t.addcdiv(x, x, x), t.lerp(x, x, 0.5), t.lerp(x, x, x)],
    lambda t, x, f: [*x.unbind(), *x.chunk(2), *x.split(1), x.roll(1), x.flip(0), t.cat([x, x])],
    lambda t, x, f: [x.gather(0, t.tensor([[0]])), x.scatter(0, t.tensor([[0]]), 1.0), x.trace()],
    lambda t, x, f: [
        f.gelu(x),
        f.silu(x),
        f.elu(x),
        f.selu(x),
        f.mish(x),
        f.softplus(x),
        f.glu(x[:, :2]),
    ],
    lambda t, x, f: [
        f.elu(x.exp(), inplace=True),
        f.leaky_relu(x),
        f.hardswish(x),
        f.logsigmoid(x),
    ],
    lambda t, x, f: [
        f.softmax(x, 1),
        f.log_softmax(x, 1),
        x.logsumexp(1),
        f.relu(x),
        f.hardtanh(x),
    ],
    lambda t, x, f: [
        f.mse_loss(x, x.detach()),
        f.l1_loss(x, 2 * x.detach()),
        f.smooth_l1_loss(x, 2 * x),
    ],
    lambda t, x, f: [f.cross_entropy(x, t.tensor([0, 2])), f.nll_loss(x, t.tensor([0, 2]))],
    lambda t, x, f: [f.cross_entropy(x, x.detach().softmax(1)), f.huber_loss(x, 2 * x.detach())],
    lambda t, x, f: [f.cross_entropy(x, t.tensor([0, 2]), label_smoothing=0.1)],
    lambda t, x, f: [f.binary_cross_entropy_with_logits(x, x.detach().sigmoid())],
    lambda t, x, f: [
        f.binary_cross_entropy(x.sigmoid(), x.detach().sigmoid()),
        f.kl_div(x, x.detach(), reduction="sum"),
    ],
    lambda t, x, f: [f.layer_norm(x, (3,)), f.batch_norm(x, None, None, training=True)],
    lambda t, x, f: [f.group_norm(x[None], 1), f.normalize(x), f.cosine_similarity(x, x)],
    lambda t, x, f: [f.linear(x, x), f.linear(x, x, x[:, 0]), f.linear(x[None], x, x[:, 0])],
    lambda t, x, f: [f.embedding(t.tensor([0]), x), f.unfold(x[None, None], 2)],
    lambda t, x, f: [f.conv1d(x[None], x[None]), f.conv2d(x[None, None], x[None, None], x[0, :1])],
    lambda t, x, f: [
        f.max_pool1d(x[None], 2),
        f.max_pool2d(x[None, None], 2),
        f.avg_pool2d(x[None], 2),
    ],
    lambda t, x, f: [f.pad(x, (1, 1)), f.pad(x[None], (1, 1), mode="reflect"), f.dropout(x, 0.5)],
    lambda t, x, f: [
        f.interpolate(x[None, None], scale_factor=2),
        f.adaptive_avg_pool2d(x[None], 1),
    ],
    lambda t, x, f: [t.linalg.inv(x @ x.T), t.linalg.solve(x @ x.T, x), *t.linalg.svd(x)[:1]],
    lambda t, x, f: [
        f.dropout(x.exp(), 0.5, training=False),
        x.exp().contiguous(),
        x.exp().float(),
    ],
]


@pytest.mark.parametrize("call", CALLS)
def test_nodes_have_the_names_of_pytorchs(call: Callable[[Any, Any, Any], Any]) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert names(engine, call) == names(torch, call)


def names(torch: Any, call: Callable[[Any, Any, Any], Any]) -> list[str | None]:
    x = torch.tensor([[0.3, -1.2, 0.8], [0.1, 0.4, -0.6]], requires_grad=True)
    outputs = call(torch, x, torch.nn.functional)
    return [None if each.grad_fn is None else each.grad_fn.name() for each in outputs]
