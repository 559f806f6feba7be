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
"""

CONVOLVING = """
    f.conv1d(t.arange(12.0).reshape(3, 4), t.ones(3, 3, 3), t.ones(3), stride=2, padding=2)
    f.conv2d(t.arange(24.0).reshape(3, 2, 4), t.ones(3, 3, 1, 3))
    f.conv_transpose1d(t.arange(20.0).reshape(4, 5), t.ones(4, 8, 3))
    f.conv1d(t.ones(0, 3, 4), t.ones(2, 3, 2))
"""


def calls(text: str) -> list[str]:
    return [each.strip() for each in text.strip().splitlines()]


@pytest.mark.parametrize("call", calls(NORMALIZING + DROPPING + FOLDING + CONVOLVING))
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
