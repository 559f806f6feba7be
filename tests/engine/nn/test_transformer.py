"""Attention and transformers are PyTorch's."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine
from tests.engine.nn.sides import assert_same

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("seed", range(24))
def test_attention_of_random_settings_agrees(seed: int) -> None:
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    chance = {
        name: draw.random() < 0.5
        for name in ("bias", "add_bias_kv", "add_zero_attn", "batch_first", "weights", "average")
    }
    own = draw.random() < 0.5
    widths = (4, 4, 4) if own else (4, 3, 5)
    hidden = rng.random((3, 3)) < 0.4
    padding = rng.random((2, 3)) < 0.3 if draw.random() < 0.5 else None
    parts0 = [rng.normal(size=(2, 3, w) if chance["batch_first"] else (3, 2, w)) for w in widths]
    kind = draw.choice(["bool", "float", "causal", None])

    def compute(t: Any) -> Any:
        module = t.nn.MultiheadAttention(
            4, 2, 0.3, chance["bias"], chance["add_bias_kv"], chance["add_zero_attn"],
            *(() if own else widths[1:]), batch_first=chance["batch_first"], dtype=t.float64,
        )  # fmt: skip
        parts = [t.tensor(each, requires_grad=True) for each in parts0]
        masks = {
            "bool": t.tensor(hidden), "float": t.tensor(hidden * 1.5),
            "causal": t.ones(3, 3, dtype=t.bool).triu(1), None: None,
        }  # fmt: skip
        found = module(
            *([parts[0]] * 3 if own else parts), attn_mask=masks[kind],
            key_padding_mask=None if padding is None else t.tensor(padding),
            need_weights=chance["weights"], average_attn_weights=chance["average"],
            is_causal=kind == "causal" and seed % 2 == 0,
        )  # fmt: skip
        return module, parts, [each for each in found if each is not None]

    assert_same(compute, seed)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_transformers_agree(norm_first: bool, batch_first: bool) -> None:
    rng = np.random.default_rng(5)
    shapes = [(2, 3, 4), (2, 4, 4)] if batch_first else [(3, 2, 4), (4, 2, 4)]
    source0, target0 = (rng.normal(size=shape) for shape in shapes)

    def compute(t: Any) -> Any:
        module = t.nn.Transformer(
            4, 2, 2, 2, 6, 0.2, "gelu", batch_first=batch_first, norm_first=norm_first,
            dtype=t.float64,
        )  # fmt: skip
        source, target = (t.tensor(each, requires_grad=True) for each in (source0, target0))
        mask = t.nn.Transformer.generate_square_subsequent_mask(4, dtype=t.float64)
        padding = t.tensor([[False, False, True], [False] * 3])
        out = module(
            source, target, tgt_mask=mask, src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )  # fmt: skip
        return module, [source, target], [out]

    assert_same(compute, 3)


OVERRIDDEN = """
import gradtool.engine as t

t.sparse_coo_tensor([[0]], [1.0], (2,))  # Its class overrides functions from here on.
layers = [t.nn.TransformerEncoderLayer(4, 2, activation=each) for each in ("relu", "gelu")]
layers.append(t.nn.TransformerEncoderLayer(4, 2))
assert [each.activation_relu_or_gelu for each in layers] == [1, 2, 1]
"""


def test_an_activation_is_known_where_classes_override_functions() -> None:
    subprocess.run([sys.executable, "-c", OVERRIDDEN], check=True)


@pytest.mark.filterwarnings("ignore")
def test_an_encoder_in_evaluation_leaves_padding_out() -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    found = []
    for t in (engine, torch):
        t.manual_seed(0)
        layer = t.nn.TransformerEncoderLayer(4, 2, 6, batch_first=True)
        encoder = t.nn.TransformerEncoder(layer, 2).eval()
        padding = t.tensor([[False, False, True], [False, True, True]])
        with t.no_grad():
            found.append(encoder(t.ones(2, 3, 4), src_key_padding_mask=padding).numpy())
    # PyTorch leaves the padding at zero where its fast path is taken, as the engine always does.
    padded = padding.numpy()
    assert not found[0][padded].any()
    np.testing.assert_allclose(found[0][~padded], found[1][~padded], atol=1e-6)


REFUSED = """
    m(t.ones(2), t.ones(2), t.ones(2))
    m(t.ones(2, 1, 4), t.ones(2, 4), t.ones(2, 4))
    m(t.ones(2, 1, 4), t.ones(2, 1, 4), t.ones(3, 1, 4))
    m(t.ones(2, 1, 3), t.ones(2, 1, 4), t.ones(2, 1, 4))
    m(t.ones(2, 1, 4), t.ones(2, 1, 4), t.ones(2, 1, 4), attn_mask=t.ones(3, 2))
    m(t.ones(2, 1, 4), t.ones(2, 1, 4), t.ones(2, 1, 4), attn_mask=t.ones(3, 2, 2))
    m(t.ones(2, 1, 4), t.ones(2, 1, 4), t.ones(2, 1, 4), attn_mask=t.ones(2))
    m(t.ones(2, 1, 4), t.ones(2, 1, 4), t.ones(2, 1, 4), attn_mask=t.ones(2, 2).int())
    m(t.ones(2, 1, 4), t.ones(2, 1, 4), t.ones(2, 1, 4), is_causal=True)
    m(t.ones(2, 4), t.ones(2, 4), t.ones(2, 4), key_padding_mask=t.ones(1, 2))
    t.nn.MultiheadAttention(3, 2)
    t.nn.MultiheadAttention(0, 2)
    t.nn.TransformerEncoderLayer(4, 2, activation="tanh")
    t.nn.Transformer(4, 2, 1, 1, 3)(t.ones(2, 1, 4), t.ones(2, 2, 4))
    t.nn.Transformer(4, 2, 1, 1, 3)(t.ones(2, 1, 4), t.ones(2, 1, 3))
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", [each.strip() for each in REFUSED.strip().splitlines()])
def test_shapes_that_do_not_fit_are_refused_in_pytorchs_words(call: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    ours, theirs = (refusal(call, t) for t in (engine, torch))
    assert ours == theirs


def refusal(call: str, t: Any) -> tuple[type, str]:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - compared with the other engine's
        eval(call, {"t": t, "m": t.nn.MultiheadAttention(4, 2)})
    return raised.type, str(raised.value)
