"""Convolutions, pooling, padding, folding, resampling, tables of ``nn.functional``."""

from __future__ import annotations

from typing import Any

from tests.engine.ops.cases.activation import of
from tests.engine.ops.cases.case import OpCase, distinct, exactly, integers, normal, over, strided

SIGNAL = (normal(1, 4, 5), normal(2, 2, 2), normal(2))
IMAGE = (normal(1, 2, 4, 3), normal(2, 2, 3, 2), normal(2))

CONVOLUTIONS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("conv1d", {"groups": 2}, [SIGNAL]),
    ("conv1d", {"stride": 2, "padding": 1, "groups": 2}, [SIGNAL]),
    ("conv1d", {"padding": "same", "dilation": 2, "groups": 2}, [SIGNAL]),
    ("conv1d", {"padding": "valid"}, [(normal(2, 7), normal(3, 2, 2))]),
    ("conv2d", {}, [IMAGE, (normal(2, 5, 4), normal(3, 2, 2, 2))]),
    ("conv2d", {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2)}, [IMAGE]),
    ("conv3d", {"stride": 2, "padding": 1}, [(normal(1, 2, 3, 4, 3), normal(2, 2, 2, 2, 2))]),
    ("conv_transpose1d", {"groups": 2}, [(normal(2, 4, 3), normal(4, 3, 2), normal(6))]),
    ("conv_transpose1d", {"stride": 3, "padding": 2, "output_padding": 1, "dilation": 2},
     [(normal(2, 3, 3), normal(3, 2, 3), normal(2))]),
    ("conv_transpose2d", {"stride": 2, "padding": (1, 0)},
     [(normal(1, 2, 3, 2), normal(2, 3, 2, 3))]),
    ("conv_transpose2d", {}, [(normal(2, 3, 2), normal(2, 2, 2, 2), normal(2))]),
]  # fmt: skip

CASES: list[OpCase] = [
    *[
        case for name, options, choices in CONVOLUTIONS
        for case in over(f"{name} {options or ''}".strip(), of(name, **options), choices)
    ],
    *over("pad", lambda t, x: (
        t.nn.functional.pad(x, (1, 2)), t.nn.functional.pad(x, (0, 1, 2, 0), value=1.5),
        t.nn.functional.pad(x, (-1, 2, 1, -1)), t.nn.functional.pad(x, ()),
    ), [(normal(3, 4),), (strided(normal(2, 3, 2)),)]),
    *over("pad from inside", lambda t, x: [
        t.nn.functional.pad(x, (2, 1), mode=mode) for mode in ("reflect", "replicate", "circular")
    ], [(normal(2, 3, 4),), (normal(3, 4),)]),
    OpCase("pad two from inside", lambda t, x: [
        t.nn.functional.pad(x, (2, 1, 1, 0), mode=mode)
        for mode in ("reflect", "replicate", "circular")
    ], (normal(1, 2, 3, 4),)),
    OpCase("unfold images", lambda t, x: (
        t.nn.functional.unfold(x, 2), t.nn.functional.unfold(x, (2, 3), 1, 1, 2),
        t.nn.functional.unfold(x, 2, dilation=(2, 1)),
    ), (normal(1, 2, 3, 4),)),
    OpCase("fold", lambda t, x: (
        t.nn.functional.fold(x, (3, 4), 2), t.nn.functional.fold(x[0], (3, 4), (2, 2)),
        t.nn.functional.fold(x, (4, 5), 2, dilation=2), t.nn.functional.fold(x, (4, 6), 2, 1, 0, 2),
        t.nn.functional.fold(x, (2, 5), 2, 1, (0, 1), (1, 1)),
    ), (normal(1, 8, 6),)),
    *over("avg_pool1d", lambda t, x: (
        t.nn.functional.avg_pool1d(x, 2), t.nn.functional.avg_pool1d(x, 3, 2, 1),
        t.nn.functional.avg_pool1d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    ), [(normal(2, 3, 6),), (normal(3, 7),)]),
    OpCase("avg_pool2d", lambda t, x: (
        t.nn.functional.avg_pool2d(x, (2, 3)), t.nn.functional.avg_pool2d(x, 3, 2, (1, 0), True),
        t.nn.functional.avg_pool2d(x, 2, divisor_override=3),
    ), (normal(1, 1, 5, 6),)),
    OpCase("avg_pool3d", of("avg_pool3d", 2, 1), (normal(1, 2, 2, 3, 3),)),
    *over("max_pool1d", lambda t, x: (
        t.nn.functional.max_pool1d(x, 2), t.nn.functional.max_pool1d(x, 3, 2, 1, ceil_mode=True),
        *t.nn.functional.max_pool1d(x, 2, dilation=2, return_indices=True),
    ), [(distinct(2, 3, 6),), (distinct(3, 7),)]),
    OpCase("max_pool2d", lambda t, x: (
        t.nn.functional.max_pool2d(x, (2, 3)),
        *t.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True),
    ), (distinct(1, 1, 5, 4),)),
    OpCase("pad of powers", lambda t, x: t.nn.functional.pad(x, (1, 2), "reflect") ** 3,
           (normal(2, 3),)),
    OpCase("max_pool3d", lambda t, x: t.nn.functional.max_pool3d(x, 2, 1, 1) ** 2,
           (distinct(1, 2, 2, 3, 2),)),
    OpCase("adaptive_avg_pool", lambda t, x: (
        t.nn.functional.adaptive_avg_pool2d(x, (3, 2)), t.nn.functional.adaptive_avg_pool2d(x, 1),
        t.nn.functional.adaptive_avg_pool2d(x, (None, 7)),
        t.nn.functional.adaptive_avg_pool1d(x[0], 3),
    ), (normal(2, 2, 5, 4),)),
    OpCase("interpolate signals", lambda t, x: (
        t.nn.functional.interpolate(x, 7), t.nn.functional.interpolate(x, 3, mode="nearest-exact"),
        t.nn.functional.interpolate(x, scale_factor=1.7, mode="linear"),
        t.nn.functional.interpolate(x, 7, mode="linear", align_corners=True),
        t.nn.functional.interpolate(x, 3, mode="area"),
    ), (normal(2, 2, 5),)),
    *[
        OpCase(f"interpolate images by {mode}", lambda t, x, mode=mode: (
            t.nn.functional.interpolate(x, (5, 2), mode=mode),
            t.nn.functional.interpolate(x, scale_factor=(2, 1.5), mode=mode, align_corners=False),
            t.nn.functional.interpolate(x, 6, mode=mode, align_corners=True),
        ), (normal(1, 2, 3, 4),), tolerance=1e-11)
        for mode in ("bilinear", "bicubic")
    ],
    OpCase("interpolate images by nearest", lambda t, x: (
        t.nn.functional.interpolate(x, scale_factor=2), t.nn.functional.interpolate(x, (2, 7)),
    ), (normal(1, 2, 3, 4),)),
    OpCase("interpolate volumes", of("interpolate", (3, 2, 4), mode="trilinear"),
           (normal(1, 1, 2, 3, 3),)),
    OpCase("pixel_shuffle", lambda t, x: (
        t.nn.functional.pixel_shuffle(x, 2), t.nn.functional.pixel_unshuffle(x, 2)
    ), (normal(2, 4, 2, 4),)),
    *over("linear", of("linear"), [
        (normal(2, 3), normal(4, 3), normal(4)), (normal(3), normal(4, 3)),
        (normal(2, 3), normal(3)),
    ]),
    *over("bilinear", of("bilinear"), [
        (normal(2, 3), normal(2, 4), normal(5, 3, 4), normal(5)),
        (normal(2, 2, 3), normal(2, 2, 4), normal(2, 3, 4)),
    ]),
    OpCase("embedding", of("embedding"), (integers(0, 5, 2, 3), normal(5, 2))),
    OpCase("embedding with padding", lambda t, i, w: (
        t.nn.functional.embedding(i, w, padding_idx=-1), t.nn.functional.embedding(i[0], w, 0),
    ), (exactly([[0, 4, 2], [2, 4, 0]], "int64"), normal(5, 2)),
        not_pushed="PyTorch cuts the gradient of padding, but not the tangent"),
    OpCase("embedding by frequency", of("embedding", scale_grad_by_freq=True),
           (exactly([[0, 1, 1], [2, 1, 0]], "int64"), normal(3, 2)), second_order=False,
           not_pushed="it scales gradients only"),
    OpCase("one_hot", lambda t, i: t.nn.functional.one_hot(i, 5), (integers(0, 5, 2, 3),)),
]  # fmt: skip
