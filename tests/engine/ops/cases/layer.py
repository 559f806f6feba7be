"""What layers are made of: attention in heads, bags, norms of windows, unpooling, CTC, margins."""

from __future__ import annotations

from typing import Any

from tests.engine.ops.cases.case import OpCase, distinct, integers, normal, positive

NO_FORWARD = "PyTorch has no forward mode of it"
NO_BAGS = "PyTorch has no batches of bags"
ONCE = {"second_order": False, "not_pushed": NO_FORWARD}


def _attended(t: Any, query: Any, key: Any, weight: Any, **options: Any) -> Any:
    return t.nn.functional.multi_head_attention_forward(
        query, key, key * 0.5, 4, 2, weight, None, None, None, False, 0.0, weight[:4], None,
        **options,
    )  # fmt: skip


def _ctc(t: Any, scores: Any, labels: Any) -> Any:
    likely, given = scores.log_softmax(2), t.clamp(labels, 1, 2)
    return t.nn.functional.ctc_loss(likely, given, (4, 3), (2, 1), reduction="none")


def _right_ones(t: Any, x: Any) -> Any:
    right = t.tensor([[1, 0, -1], [2, -1, 0]])
    return t.nn.functional.multilabel_margin_loss(x, right, reduction="none")


CASES = [
    OpCase("multi-head attention", _attended, (normal(2, 2, 4), normal(3, 2, 4), normal(12, 4))),
    OpCase("multi-head attention, masked", lambda t, x, w: _attended(
        t, x, x, w, attn_mask=t.ones(3, 3, dtype=t.bool).triu(1), average_attn_weights=False,
    ), (normal(3, 4), normal(12, 4))),
    OpCase("embedding_bag", lambda t, i, w: (
        t.nn.functional.embedding_bag(i, w, t.tensor([0, 2, 2])),
        t.nn.functional.embedding_bag(i, w, t.tensor([0, 1]), mode="max", padding_idx=1),
    ), (integers(0, 4, 5), distinct(4, 2)), not_batched=NO_BAGS, **ONCE),
    OpCase("embedding_bag, weighed", lambda t, i, w, share: t.nn.functional.embedding_bag(
        i, w, mode="sum", per_sample_weights=share,
    ), (integers(0, 4, 3, 2), normal(4, 2), normal(3, 2)), not_batched=NO_BAGS, **ONCE),
    OpCase("ctc_loss", _ctc, (normal(4, 2, 3), integers(1, 3, 2, 2)), **ONCE),
    OpCase("multi_margin_loss", lambda t, x: t.nn.functional.multi_margin_loss(
        x, t.tensor([0, 2]), p=2, margin=0.77, weight=t.tensor([1.0, 2.0, 0.5], dtype=x.dtype),
    ), (distinct(2, 3),), **ONCE),
    OpCase("multilabel_margin_loss", _right_ones, (distinct(2, 3),), **ONCE),
    OpCase("max_unpool2d", lambda t, x: t.nn.functional.max_unpool2d(
        *t.nn.functional.max_pool2d_with_indices(x, 2), 2,
    ), (distinct(1, 2, 2, 4),)),
    OpCase("lp_pool2d", lambda t, x: t.nn.functional.lp_pool2d(x, 3.0, 2, 1),
           (positive(1, 1, 3, 2),)),
    OpCase("local_response_norm", lambda t, x: t.nn.functional.local_response_norm(x, 3, 0.5),
           (normal(1, 4, 2),)),
    OpCase("channel_shuffle", lambda t, x: t.nn.functional.channel_shuffle(x, 2),
           (normal(1, 4, 2),)),
    OpCase("pdist", lambda t, x: t.nn.functional.pdist(x), (normal(3, 2),), **ONCE),
    OpCase("conv_tbc", lambda t, x, w, b: t.nn.functional.conv_tbc(x, w, b, 1),
           (normal(3, 1, 2), normal(2, 2, 2), normal(2)), **ONCE),
]  # fmt: skip
