"""Sizes zero and one, and arguments that do not fit: what PyTorch answers, word for word."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

pytestmark = pytest.mark.torch

NORMALIZING = """
    f.batch_norm(t.zeros(0), t.zeros(0), t.zeros(0), training=True)
    f.batch_norm(t.zeros(0), t.zeros(0), t.zeros(0), training=False)
    f.batch_norm(t.ones(0, 3), t.ones(3), t.ones(3), training=True)
    f.batch_norm(t.ones(2, 3, 0), t.ones(3), t.ones(3), training=True)
    f.batch_norm(t.ones(2, 3, 2), t.ones(2), t.ones(3), training=True)
    f.batch_norm(t.ones(2, 3, 2), t.ones(3), t.ones(3), weight=t.ones(4))
    f.batch_norm(t.ones(1, 3), t.ones(3), t.ones(3), training=True)
    f.batch_norm(t.ones(2, 3), None, None)
    f.instance_norm(t.ones(2, 3, 2), t.ones(3), t.ones(3), weight=t.ones(4))
    f.instance_norm(t.ones(2, 3), None, None)
    f.instance_norm(t.ones(0, 3, 4), None, None)
    f.instance_norm(t.ones(2, 0, 4), None, None)
    f.instance_norm(t.ones(2, 3, 4), t.zeros(3), None)
    f.instance_norm(t.ones(2, 3, 4), None, None, use_input_stats=False)
    f.group_norm(t.ones(0, 4), 2)
    f.group_norm(t.ones(2, 4, 0), 2)
    f.group_norm(t.ones(2, 4, 3), 3)
    f.group_norm(t.ones(2, 4, 3), 2, t.ones(3))
    f.group_norm(t.ones(4), 2, t.ones(3))
    f.group_norm(t.ones(1, 2), 2)
    f.layer_norm(t.ones(2, 4, 3), [3], t.ones(4))
    f.layer_norm(t.ones(2, 4, 3), [3], None, t.ones(4))
    f.layer_norm(t.ones(0, 4, 3), [4, 3])
    f.layer_norm(t.ones(2, 4, 0), [4, 0])
    f.layer_norm(t.ones(2, 4), [])
    f.rms_norm(t.ones(2, 4), [2])
    f.rms_norm(t.ones(2, 4), [4], t.ones(3))
"""

DROPPING = """
    f.dropout1d(t.ones(2))
    f.dropout2d(t.ones(4, 5))
    f.dropout2d(t.ones(4, 5, 3))
    f.dropout3d(t.ones(2, 3, 4))
    f.dropout3d(t.ones(2, 3, 4, 5))
    f.feature_alpha_dropout(t.ones(2), training=True)
    f.feature_alpha_dropout(t.ones(2, 3, 2), training=True)
    f.rrelu(t.arange(-9.0, 9.0), training=True)
    f.rrelu(t.arange(-9.0, 9.0).reshape(6, 3).t(), 0.1, 0.9, training=True)
"""

FOLDING = """
    f.pixel_shuffle(t.ones(3, 4), 2)
    f.pixel_shuffle(t.ones(4, 3, 4), 0)
    f.pixel_shuffle(t.ones(1, 0, 1, 1), 1)
    f.pixel_shuffle(t.ones(4, 0, 2), 2)
    f.pixel_unshuffle(t.ones(2, 3, 4), 2)
    f.pixel_unshuffle(t.ones(2, 3, 4), -1)
    f.pixel_unshuffle(t.ones(2, 4, 3), 2)
    f.unfold(t.ones(0, 3, 4, 4), 2)
    f.avg_pool2d(t.arange(16.0).reshape(1, 4, 4), 2, stride=[])
    f.avg_pool2d(t.ones(1, 3, 4, 4), 2, stride=0)
    f.max_pool2d(t.ones(1, 3, 4, 4), 2, stride=0)
    t.nn.FractionalMaxPool2d(2, output_size=(3, 4))(t.arange(49.0).reshape(1, 7, 7))
    t.nn.FractionalMaxPool3d(2, output_ratio=0.5)(t.arange(125.0).reshape(1, 1, 5, 5, 5))
    f.channel_shuffle(t.ones(2, 3, 4), 0)
    f.channel_shuffle(t.ones(3, 4), 1)
    t.native_channel_shuffle(t.arange(8.0).reshape(1, 4, 2), 2)
"""

PADDING = """
    f.pad(t.arange(5.0).reshape(1, 5), (-1, 4), "circular")
    f.pad(t.arange(5.0).reshape(1, 5), (3, -2), "circular")
    f.pad(t.arange(5.0).reshape(1, 5), (6, 0), "circular")
    f.pad(t.arange(5.0).reshape(1, 5), (-4, -2), "circular")
    f.pad(t.arange(5.0).reshape(1, 5), (-4, -2), "reflect")
    f.pad(t.arange(5.0).reshape(1, 5), (-1, 5), "reflect")
    f.pad(t.arange(5.0).reshape(1, 5), (-4, -2), "replicate")
    f.pad(t.ones(1, 2, 3, 4), (1, 1), "circular")
    f.pad(t.ones(2, 0, 4), (1, 1), "reflect")
    f.pad(t.ones(0, 3, 4), (1, 1), "reflect")
    f.pad(t.ones(2, 3, 0), (1, 1), "replicate")
    f.pad(t.ones(2, 3), (1, 1), "reflect", 3)
    t.constant_pad_nd(t.arange(4.0), (1, -2), 5)
    t.constant_pad_nd(t.arange(4.0), (1, 2, 3))
"""

TOP_LEVEL = """
    t.batch_norm(t.ones(1, 3), None, None, t.zeros(3), t.ones(3), True, 0.1, 1e-5, False)
    t.instance_norm(t.arange(6.0).reshape(1, 2, 3), None, None, None, None, True, 0.1, 1e-5, True)
    t.native_batch_norm(t.arange(6.0).reshape(3, 2), None, None, None, None, True, 0.1, 1e-5)[2]
    t.native_batch_norm(t.ones(3, 2), None, None, t.zeros(2), t.ones(2), False, 0.1, 1e-5)[1]
    t.native_layer_norm(t.arange(6.0).reshape(3, 2), [2], None, None, 1e-5)[1]
    t.native_group_norm(t.arange(8.0).reshape(1, 4, 2), None, None, 1, 4, 2, 2, 1e-5)[2]
    t.native_dropout(t.ones(20), 0.3, True)[0]
    t.native_dropout(t.ones(2), 1.0, None)[0]
    t.feature_dropout(t.ones(2, 3, 4), 0.5, True)
    t.convolution(t.ones(1, 2, 4), t.ones(3, 2, 2), None, [1], [0], [1], False, [0], 1)
    t.convolution(t.ones(1, 3, 4), t.ones(3, 2, 2), None, [2], [0], [1], True, [1], 1)
    t.embedding(t.arange(8.0).reshape(4, 2), t.tensor([[1, 3]]))
    t.grid_sampler_2d(t.arange(4.0).reshape(1, 1, 2, 2), t.ones(1, 1, 3, 2) * 0.4, 2, 1, False)
    t.grid_sampler(t.arange(4.0).reshape(1, 1, 2, 2), t.ones(1, 1, 3, 2) * 0.4, 0, 2, True)
    t.affine_grid_generator(t.arange(6.0).reshape(1, 2, 3), (1, 1, 2, 2), False)
    t.kl_div(t.zeros(3), t.ones(3), 2)
    t.poisson_nll_loss(t.zeros(3), t.ones(3), True, False, 1e-8, 0)
    t.triplet_margin_loss(t.zeros(2, 3), t.ones(2, 3), -t.ones(2, 3) * 1.1)
    t.norm_except_dim(t.arange(6.0).reshape(2, 3), 2, 1)
    f.fractional_max_pool2d(t.arange(49.0).reshape(1, 7, 7), 2, output_size=(3, 4))
    f.fractional_max_pool3d(t.arange(125.0).reshape(1, 1, 5, 5, 5), 2, output_ratio=0.5)
    f.fractional_max_pool2d_with_indices(t.arange(36.0).reshape(1, 6, 6), 2, output_size=3)[1]
    f.fractional_max_pool2d(t.ones(1, 7, 7), 2)
    f.fractional_max_pool2d(t.ones(1, 7, 7), 5, output_size=4)
    f.linear_cross_entropy(t.ones(2, 3), t.ones(4, 3), t.tensor([1, 2]), reduction="none")
    f.linear_cross_entropy(t.ones(3), t.ones(4, 2, 3), t.tensor(1))
    t.ops.aten.native_dropout_backward(t.ones(2), t.tensor([True, False]), 2.0)
    t._softmax_backward_data(t.arange(6.0).reshape(2, 3), t.ones(2, 3) / 3, 1, t.float32)
    t._log_softmax_backward_data(t.arange(6.0).reshape(2, 3), t.zeros(2, 3) - 0.5, -1, t.float32)
    f.grouped_mm(t.ones(8, 4) / 3, t.arange(32.0).reshape(2, 4, 4), offs=t.tensor([3, 8]).int())
    f.grouped_mm(t.arange(32.0).reshape(4, 8), t.ones(8, 4), offs=t.tensor([3, 8]).int())
    f.grouped_mm(t.arange(32.0).reshape(2, 4, 4), t.ones(4, 8), offs=t.tensor([3, 8]).int())
    f.grouped_mm(t.arange(32.0).reshape(2, 4, 4), t.ones(2, 4, 8).transpose(1, 2).mT)
    f.grouped_mm(t.ones(8, 4), t.ones(2, 4, 4), offs=t.tensor([3, 5]).int())[:5]
    t._grouped_mm(t.ones(8, 4).bfloat16(), t.ones(2, 4, 8).bfloat16(), t.tensor([0, 8]).int())
    f.grouped_mm(t.ones(8, 4).double(), t.ones(2, 4, 4), offs=t.tensor([3, 8]).int())
    f.grouped_mm(t.ones(4), t.ones(2, 4, 4), offs=t.tensor([3, 8]).int())
    f.grouped_mm(t.ones(8, 4), t.ones(2, 4, 4))
    f.grouped_mm(t.ones(8, 4), t.ones(2, 8, 4), offs=t.tensor([3, 8]).int())
    f.grouped_mm(t.ones(8, 6), t.ones(2, 6, 4), offs=t.tensor([3, 8]).int())
    f.grouped_mm(t.ones(1, 1).expand(8, 4), t.ones(2, 4, 4), offs=t.tensor([3, 8]).int())
    f.grouped_mm(t.ones(8, 4), t.ones(2, 4, 4), offs=t.tensor([3, 8]))
    f.grouped_mm(t.ones(8, 4), t.ones(2, 4, 4), offs=t.tensor([[3, 8]]).int())
    f.grouped_mm(t.ones(8, 4), t.ones(3, 4, 4), offs=t.tensor([3, 8]).int())
    f.grouped_mm(t.ones(2, 4, 8), t.ones(3, 8, 4))
    f.grouped_mm(t.ones(8, 4), t.ones(2, 4, 4), offs=t.tensor([3, 8]).int(), bias=t.ones(4))
    f.grouped_mm(t.ones(2, 4, 4), t.ones(2, 4, 4), out_dtype=t.bfloat16)
"""

SAMPLING = """
    f.interpolate(t.arange(12.0).reshape(1, 1, 3, 4), size=(5, 2), mode="bilinear", antialias=True)
    f.interpolate(t.arange(12.0).reshape(1, 1, 3, 4), size=2, mode="bicubic", antialias=True)
    f.interpolate(t.arange(12.0).reshape(1, 1, 3, 4), size=2, mode="lanczos", antialias=True)
    f.interpolate(t.arange(8.0).reshape(1, 1, 8), scale_factor=0.4, mode="linear")
    f.interpolate(t.arange(8.0).reshape(1, 1, 2, 4), (1, 2), mode="area")
    f.interpolate(t.ones(1, 1, 4))
    f.interpolate(t.ones(1, 1, 4), size=2, scale_factor=2)
    f.interpolate(t.ones(1, 1, 4), size=(2, 2))
    f.interpolate(t.ones(1, 1, 4), scale_factor=(2, 2))
    f.interpolate(t.ones(1, 1, 4), size=2, recompute_scale_factor=True)
    f.interpolate(t.ones(1, 1, 4), size=3, mode="bilinear")
    f.interpolate(t.ones(1, 1, 4), size=0)
    f.interpolate(t.ones(1, 1, 4, 0), size=2)
    f.interpolate(t.ones(1, 0, 4), size=2)
    f.interpolate(t.ones(0, 1, 4), size=2)
    f.interpolate(t.ones(1, 4), size=3)
    f.interpolate(t.ones(1, 1, 4), size=2, mode="linear", antialias=True)
    f.interpolate(t.ones(1, 1, 4, 4), size=2, mode="lanczos")
    f.interpolate(t.ones(1, 1, 4, 4), size=(2.5, 2), mode="bilinear")
    f.grid_sample(t.ones(1, 1, 2, 2), t.zeros(1, 2, 2, 2), "cubic")
    f.grid_sample(t.ones(1, 1, 2, 2), t.zeros(1, 2, 2, 2), padding_mode="same")
    f.grid_sample(t.ones(0, 1, 2, 2), t.zeros(0, 2, 2, 2))
    f.grid_sample(t.ones(1, 1, 0, 2), t.zeros(1, 2, 2, 2))
    f.affine_grid(t.ones(1, 2, 3), (1, 1, 2))
    f.affine_grid(t.ones(1, 2, 3), (1, 1, 0, 2))
    f.affine_grid(t.ones(1, 3, 3), (1, 1, 2, 2))
    f.max_unpool2d(t.ones(0, 1, 2, 2), t.zeros(0, 1, 2, 2, dtype=t.int64), 2)
    f.max_unpool2d(t.ones(1, 1, 2, 2), t.zeros(1, 1, 2, 1, dtype=t.int64), 2)
    f.adaptive_avg_pool2d(t.arange(12.0).reshape(1, 3, 4), (2, 3))
    f.local_response_norm(t.ones(0, 3, 4), 2)
"""

CONVOLVING = """
    f.conv1d(t.arange(12.0).reshape(3, 4), t.ones(3, 3, 3), t.ones(3), stride=2, padding=2)
    f.conv2d(t.arange(24.0).reshape(3, 2, 4), t.ones(3, 3, 1, 3))
    f.conv_transpose1d(t.arange(20.0).reshape(4, 5), t.ones(4, 8, 3))
    f.conv1d(t.ones(0, 3, 4), t.ones(2, 3, 2))
    f.conv1d(t.ones(2, 3, 4), t.ones(0, 3, 2))
    f.conv1d(t.ones(2, 3, 4), t.ones(2, 3, 2), t.ones(3))
    f.conv1d(t.ones(2, 3, 4), t.ones(2, 3, 2, 2))
    f.conv1d(t.ones(2, 3, 4), t.ones(2, 3, 2), stride=0)
    f.conv1d(t.ones(2, 3, 4), t.ones(2, 3, 2), dilation=0)
    f.conv1d(t.ones(2, 3, 4), t.ones(2, 1, 2), groups=3)
    f.conv1d(t.ones(2, 2, 4), t.ones(3, 1, 2), groups=2)
    f.conv1d(t.ones(2, 3, 4), t.ones(2, 3, 2, dtype=t.float64))
    f.conv1d(t.ones(2, 3, 4, dtype=t.float64), t.ones(2, 3, 2))
    f.conv1d(t.ones(2, 3, 4), t.ones(2, 3, 2), t.ones(2, dtype=t.float64))
    f.conv1d(t.ones(2, 3, 4, dtype=t.int32), t.ones(2, 3, 2))
    f.conv1d(t.ones(2, 3, 4, dtype=t.bool), t.ones(2, 3, 2, dtype=t.bool))
    f.conv_transpose1d(t.ones(2, 3, 4), t.ones(3, 3, 2), t.ones(2))
    f.conv_transpose1d(t.ones(2, 3, 4), t.ones(3, 3, 2), output_padding=1)
    f.conv_transpose3d(t.ones(1, 1, 2, 2, 2), t.ones(1, 1, 2, 2, 2), output_padding=1)
    f.conv_transpose1d(t.ones(1, 1, 3), t.ones(1, 1, 2), dilation=2, output_padding=1)
    f.conv_tbc(t.ones(4, 2, 3), t.ones(2, 3, 5), t.ones(5))
"""

SCORING = """
    f.binary_cross_entropy_with_logits(t.ones(3), t.ones(3, dtype=t.int64))
    f.binary_cross_entropy_with_logits(t.ones(3), t.ones(3, dtype=t.uint8))
    f.binary_cross_entropy_with_logits(t.ones(3), t.ones(3, dtype=t.float64))
    f.binary_cross_entropy_with_logits(t.ones(3, dtype=t.float64), t.ones(3))
    f.binary_cross_entropy_with_logits(t.ones(3), t.ones(3, dtype=t.float16), t.ones(3))
    f.multilabel_soft_margin_loss(t.ones(2, 3), t.ones(2, 3, dtype=t.int64))
    f.multilabel_soft_margin_loss(t.ones(2, 3, dtype=t.int64), t.ones(2, 3))
    f.multilabel_soft_margin_loss(t.ones(2, 3), t.ones(3))
    f.multilabel_soft_margin_loss(t.ones(3), t.ones(2, 3))
    f.multilabel_soft_margin_loss(t.ones(2, 3, dtype=t.float64), t.ones(2, 3), t.ones(3))
"""


def calls(text: str) -> list[str]:
    return [each.strip() for each in text.strip().splitlines()]


CALLS = calls(
    NORMALIZING + DROPPING + FOLDING + PADDING + SAMPLING + TOP_LEVEL + CONVOLVING + SCORING
)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_answered_as_pytorch_does(call: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    ours, theirs = answer(call, engine), answer(call, torch)
    if isinstance(theirs, Exception):
        assert (type(ours), str(ours)) == (type(theirs), str(theirs))
        return
    assert (ours.dtype.name, ours.shape) == (str(theirs.dtype)[6:], tuple(theirs.shape))
    assert ours.stride() == theirs.stride()
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-6)


def answer(call: str, t: Any) -> Any:
    t.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(call, {"t": t, "f": t.nn.functional})
        except Exception as error:
            return error


def test_the_gradient_of_ctc_loss_assumes_a_softmax_before() -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    found = []
    for t in (engine, torch):
        scores = t.arange(24.0).reshape(4, 2, 3).cos().log_softmax(2).requires_grad_()
        labels = t.tensor([[1, 2], [2, 1]])
        loss = t.nn.functional.ctc_loss(scores, labels, (4, 3), (2, 1), reduction="sum")
        loss.backward()
        found.append(scores.grad.numpy())
    np.testing.assert_allclose(*found, atol=1e-6)


def test_ctc_loss_takes_a_batch_without_any_label(torch: Any) -> None:
    scores = torch.zeros(4, 2, 4, requires_grad=True)
    log_probs = scores.log_softmax(2)
    labels = torch.zeros((2, 0), dtype=torch.long)
    out = torch.nn.functional.ctc_loss(log_probs, labels, (4, 3), (0, 0), reduction="none")
    out.sum().backward()
    assert torch.allclose(out, -log_probs[:, 0, 0].sum() * torch.tensor([1.0, 0.75]))
    assert torch.allclose(scores.grad[:3, 1, 0], torch.tensor(-0.75))
