"""What layers and losses of ``nn`` are made of that takes more than tensors of one shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.cases.case import Arg, Shape, distinct, normal, positive
from tests.engine.ops.drawn.language import (
    BOOL,
    WIDE,
    Call,
    Op,
    Pick,
    among,
    by_shape,
    of_one,
    op,
    positions,
)

REDUCTION = among("mean", "sum", "none")
NO_SECOND = {"second_order": False, "not_pushed": "PyTorch has no forward mode of it"}

# ---- losses ---------------------------------------------------------------------------------


def _one_right(pick: Pick, _: Shape) -> Call:
    batch = (pick(among(2, 1, 3)),) if pick(BOOL) else ()
    options = {
        "p": pick(among(1, 2)),
        "margin": pick(among(0.97, 0.43)),
        "reduction": pick(REDUCTION),
    }
    return Call((distinct(*batch, 4), positions(4, batch)), (), options)


def _some_right(pick: Pick, _: Shape) -> Call:
    batch = (pick(among(2, 1, 3)),) if pick(BOOL) else ()
    return Call((distinct(*batch, 4), right_ones(*batch, 4)), (), {"reduction": pick(REDUCTION)})


def right_ones(*shape: int) -> Arg:
    """Classes, each once, of which some count: those before the first -1."""

    def draw(rng: np.random.Generator) -> Any:
        rows = rng.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1)
        rows[..., rng.integers(0, shape[-1])] = -1
        return rows

    return Arg(f"right ones {shape}", draw)


def _aligned(pick: Pick, _: Shape) -> Call:
    """Behind a softmax, as PyTorch's gradient presumes."""
    count, places = pick(among(2, 1)), pick(among(6, 5))
    spelled = [pick(among(2, 1, 0)) for _ in range(count)]
    used = [places - pick(among(0, 1)) for _ in range(count)]
    labels = positions(2, (count, 2)) if pick(BOOL) else positions(2, (sum(spelled),))
    return Call((normal(places, count, 3), labels), (used, spelled), {"reduction": pick(REDUCTION)})


def _ctc(t: Any, scores: Any, labels: Any, used: Any, spelled: Any, **options: Any) -> Any:
    return t.nn.functional.ctc_loss(scores.log_softmax(2), labels + 1, used, spelled, **options)


LOSSES: dict[str, Op] = {
    "nn.functional.multi_margin_loss": op(by_shape(_one_right, most=0), **NO_SECOND),
    "nn.functional.multilabel_margin_loss": op(by_shape(_some_right, most=0), **NO_SECOND),
    "nn.functional.ctc_loss": op(by_shape(_aligned, most=0), _ctc, **NO_SECOND),
}

# ---- bags and heads -------------------------------------------------------------------------


def _bags(pick: Pick, _: Shape) -> Call:
    mode = pick(among("sum", "mean", "max"))
    options: dict[str, Any] = {"mode": mode, "padding_idx": pick(among(None, 0))}
    if pick(BOOL):
        return Call((positions(4, (3, pick(among(2, 1)))), distinct(4, 2)), (None,), options)
    offsets = pick(among([0, 2, 2, 3], [0], [0, 1, 5]))
    return Call((positions(4, (5,)), distinct(4, 2)), (offsets,), options)


def _bag(t: Any, members: Any, table: Any, offsets: Any, **options: Any) -> Any:
    starts = None if offsets is None else t.tensor(offsets)
    return t.nn.functional.embedding_bag(members, table, starts, **options)


def _heads(pick: Pick, _: Shape) -> Call:
    batch = (pick(among(2, 1)),) if pick(BOOL) else ()
    queries, keys = pick(among(2, 3)), pick(among(3, 2, 1))
    tensors = (normal(queries, *batch, 4), normal(keys, *batch, 4), normal(12, 4), normal(12))
    options = {
        "causal": pick(BOOL), "more": pick(BOOL), "zero": pick(BOOL), "average": pick(BOOL),
    }  # fmt: skip
    return Call(tensors, (), options)


def _attend(
    t: Any, query: Any, key: Any, weight: Any, bias: Any,
    causal: bool, more: bool, zero: bool, average: bool,
) -> Any:  # fmt: skip
    mask = t.ones(len(query), len(key), dtype=t.bool).triu(1) if causal else None
    extra = weight[:2].reshape(2, 1, 1, 4) if more else (None, None)
    return t.nn.functional.multi_head_attention_forward(
        query, key, key * 0.5, 4, 2, weight, bias, *extra, zero, 0.0, weight[:4], bias[:4],
        attn_mask=mask, average_attn_weights=average,
    )  # fmt: skip


HEADS: dict[str, Op] = {
    "nn.functional.embedding_bag": op(
        by_shape(_bags, most=0),
        _bag,
        second_order=False,
        not_pushed="PyTorch has no forward mode of it",
        not_batched="PyTorch has no batches of bags",
    ),
    "nn.functional.multi_head_attention_forward": op(by_shape(_heads, most=0), _attend),
}

# ---- channels and windows -------------------------------------------------------------------


def _unpooled(spatial: int) -> Op:
    def build(pick: Pick, _: Shape) -> Call:
        batch = (pick(among(2, 1)),) if pick(BOOL) else ()
        shape = (*batch, 2, *[pick(among(4, 5)) for _ in range(spatial)])
        return Call((distinct(*shape),), (2, pick(among(None, 2))), {"sized": pick(BOOL)})

    def call(t: Any, x: Any, size: int, step: Any, sized: bool) -> Any:
        functional = t.nn.functional
        pool = getattr(functional, f"max_pool{spatial}d_with_indices")
        values, places = pool(x, size, step)
        extents = x.shape[-spatial:] if sized else None
        unpool = getattr(functional, f"max_unpool{spatial}d")
        return values, unpool(values, places, size, step, output_size=extents)

    return op(by_shape(build, most=0), call)


def _powered(spatial: int) -> Op:
    def build(pick: Pick, _: Shape) -> Call:
        shape = (1, 2, *[pick(among(4, 3)) for _ in range(spatial)])
        options = {"stride": pick(among(None, 1)), "ceil_mode": pick(BOOL)}
        return Call((positive(*shape),), (pick(among(2, 1, 3.0)), 2), options)

    return op(by_shape(build, most=0))


def _shifted(pick: Pick, _: Shape) -> Call:
    sizes = (normal(4, 2, 3), normal(pick(among(1, 2, 3)), 3, 2), normal(2))
    return Call(sizes, (pick(among(0, 1)),))


def _adaptive_with_places(spatial: int) -> Op:
    return op(
        by_shape(lambda pick, _: Call((distinct(2, *[4, 5, 3][:spatial]),), (pick(among(2, 3)),)),
                 most=0)
    )  # fmt: skip


WINDOWS: dict[str, Op] = {
    **{f"nn.functional.max_unpool{n}d": _unpooled(n) for n in (1, 2, 3)},
    **{f"nn.functional.max_pool{n}d_with_indices": op(
        of_one(distinct, among(2), least=n + 1, most=n + 1, smallest=2)) for n in (1, 2, 3)},
    **{f"nn.functional.adaptive_max_pool{n}d_with_indices": _adaptive_with_places(n)
       for n in (1, 2, 3)},
    **{f"nn.functional.lp_pool{n}d": _powered(n) for n in (1, 2, 3)},
    "nn.functional.local_response_norm": op(of_one(
        normal, among(2, 3, 1), alpha=among(1e-4, 0.5), beta=among(0.75, 2.0), least=3, most=4,
        smallest=1, dtypes=WIDE)),
    "nn.functional.channel_shuffle": op(by_shape(lambda pick, shape: Call(
        (normal(2, 6, *shape),), (pick(among(2, 3, 1)),)), least=1, smallest=1)),
    # PyTorch's backward crashes where there are no columns.
    "nn.functional.pdist": op(of_one(
        normal, among(2.0, 1.0, 3.0), least=2, most=2, smallest=2, dtypes=WIDE), **NO_SECOND),
    "nn.functional.conv_tbc": op(by_shape(_shifted, most=0), tolerance=1e-10, **NO_SECOND),
}  # fmt: skip

TABLE: dict[str, Op] = {**LOSSES, **HEADS, **WINDOWS}
