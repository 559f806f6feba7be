"""Attention, bags and unpooling compute with torch's state what torch's do.

Where a layer draws its state, it draws the numbers that torch draws from the same seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

Calls = Callable[[Any, Any, Any], Any]
"""(the module, torch or the engine, floating inputs (4, 2, 8)) -> what comes out."""

LAYERS: dict[str, tuple[Callable[[Any], Any], Calls]] = {
    "attention": (lambda nn: nn.MultiheadAttention(8, 2), lambda m, t, x: m(x, x[:3], x[1:])),
    "attention of others": (
        lambda nn: nn.MultiheadAttention(8, 4, kdim=6, vdim=5, add_bias_kv=True, batch_first=True),
        lambda m, t, x: m(x, x[..., :6], x[..., 3:], average_attn_weights=False)),
    "attention, masked": (
        lambda nn: nn.MultiheadAttention(8, 2, bias=False, add_zero_attn=True),
        lambda m, t, x: m(
            x, x, x, attn_mask=t.ones(4, 4, dtype=t.bool).triu(1),
            key_padding_mask=t.tensor([[False] * 3 + [True], [False] * 4]))),
    "attention of one": (lambda nn: nn.MultiheadAttention(8, 2), lambda m, t, x: m(
        x[:, 0], x[:, 1], x[:, 1], attn_mask=x[..., 0] @ x[..., 1].T, need_weights=False)[0]),
    "bags": (lambda nn: nn.EmbeddingBag(4, 3, mode="max", padding_idx=1), lambda m, t, x: m(
        t.tensor([0, 2, 1, 1, 3]), t.tensor([0, 2, 2]))),
    "weighed bags": (lambda nn: nn.EmbeddingBag(4, 3, mode="sum"), lambda m, t, x: m(
        t.tensor([[0, 2, 1], [1, 1, 3]]), None, x[:2, 0, :3])),
    "transposed convolution": (lambda nn: nn.ConvTranspose3d(2, 3, 2, 2), lambda m, t, x: m(
        x.reshape(2, 2, 2, 4, 2))),
    "pooling": (lambda nn: nn.Sequential(
        nn.LPPool1d(2, 2), nn.AdaptiveAvgPool2d((2, 3)), nn.Unflatten(0, (1, 4)),
        nn.AdaptiveAvgPool3d(2)), lambda m, t, x: m(x.abs())),
    "channels": (lambda nn: nn.Sequential(
        nn.ChannelShuffle(2), nn.LocalResponseNorm(3), nn.Softmax2d(), nn.MaxPool3d(1),
        nn.UpsamplingNearest2d(scale_factor=2), nn.UpsamplingBilinear2d(size=(3, 3)),
        nn.AvgPool3d((2, 1, 1))), lambda m, t, x: m(x.reshape(2, 4, 4, 2))),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")  # PyTorch's, of what its fast path does not take
@pytest.mark.parametrize("name", LAYERS)
def test_draws_and_computes_what_torchs_does(name: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    build, call = LAYERS[name]
    array = np.random.default_rng(0).standard_normal((4, 2, 8))
    found = []
    for t in (engine, torch):
        t.manual_seed(3)
        module = build(t.nn)
        state = {key: value.numpy() for key, value in module.state_dict().items()}
        x = t.tensor(array, requires_grad=True)
        out = call(module.double(), t, x)
        outputs = [each for each in (out if isinstance(out, tuple) else (out,)) if each is not None]
        sum([(each * each).sum() for each in outputs]).backward()
        gradients = [x.grad, *[each.grad for each in module.parameters()]]
        found.append((state, outputs, gradients))
    (ours, our_outputs, our_gradients), (theirs, outputs, gradients) = found
    assert list(ours) == list(theirs)
    for key in ours:
        np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-5, atol=1e-7, err_msg=key)
    pairs = zip([*our_outputs, *our_gradients], [*outputs, *gradients], strict=True)
    for one, other in pairs:
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one.detach(), other.detach(), rtol=1e-5, atol=1e-6)


def losses(t: Any) -> list[Any]:
    nn = t.nn
    scores = t.linspace(-1, 1, 12, dtype=t.float64).reshape(3, 4)
    classes, weight = t.tensor([1, 0, 3]), t.linspace(1, 2, 4, dtype=t.float64)
    labels = t.tensor([[1, 0, -1, 2], [3, -1, 0, 0], [0, 1, 2, 3]])
    by_place = scores.log_softmax(1).unsqueeze(1).expand(3, 2, 4)
    image = t.linspace(-1, 1, 16, dtype=t.float64).reshape(1, 1, 4, 4)
    pooled = nn.MaxPool2d(2, return_indices=True)(image)
    return [
        nn.MultiMarginLoss(p=2, margin=0.6, weight=weight)(scores, classes),
        nn.MultiLabelMarginLoss(reduction="sum")(scores, labels),
        nn.CTCLoss()(by_place, t.tensor([1, 2, 3]), (3, 3), (2, 1)),
        nn.CTCLoss(reduction="none")(by_place, t.tensor([[1, 1], [2, 0]]), (2, 3), (2, 0)),
        nn.CTCLoss(zero_infinity=True)(by_place[:, 0], t.tensor([1, 1]), (2,), (2,)),
        nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance(1))(
            scores, scores.flip(0), scores.sin()),
        nn.MaxUnpool2d(2)(*pooled),
        nn.MaxUnpool2d(2)(*pooled, output_size=(1, 1, 5, 4)),
    ]  # fmt: skip


@pytest.mark.torch
def test_losses_and_unpooling_are_torchs() -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    for ours, theirs in zip(losses(engine), losses(torch), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-12)


def test_channels_are_dropped_whole(torch: Any) -> None:
    drop, x = torch.nn.FeatureAlphaDropout(0.5), torch.ones(50, 4, 3)
    dropped = drop(x)
    assert len(set(dropped.flatten().tolist())) == 2
    assert bool((dropped == dropped[..., :1]).all())
    assert drop.eval()(x) is x


def test_what_does_not_fit_is_refused(torch: Any) -> None:
    functional, x = torch.nn.functional, torch.ones(1, 1, 2, 2)
    with pytest.raises(RuntimeError, match="invalid max index: 99"):
        functional.max_unpool2d(x, torch.full((1, 1, 2, 2), 99), 2)
    with pytest.raises(ValueError, match="invalid output_size"):
        functional.max_unpool2d(
            x, torch.zeros(1, 1, 2, 2, dtype=torch.int64), 2, output_size=(9, 9)
        )
    with pytest.raises(AssertionError, match="must be divisible by num_heads"):
        torch.nn.MultiheadAttention(8, 3)
    with pytest.raises(RuntimeError, match="must be of size batch_size"):
        functional.ctc_loss(torch.ones(3, 1, 2), torch.tensor([[1]]), (3, 3), (1,))
    with pytest.raises(NotImplementedError, match="only supported for mode='sum'"):
        functional.embedding_bag(
            torch.tensor([[1]]), torch.ones(2, 2), per_sample_weights=torch.ones(1, 1)
        )
