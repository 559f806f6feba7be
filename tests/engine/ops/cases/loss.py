"""Losses and distances of ``nn.functional``, in every reduction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tests.engine.ops.cases.case import (
    Arg,
    OpCase,
    between,
    distinct,
    exactly,
    integers,
    normal,
    over,
    positive,
)

REDUCTIONS = ("mean", "sum", "none")


def _loss(name: str, *choices: Sequence[Arg], **options: Any) -> list[OpCase]:
    """A loss by each reduction."""

    def call(t: Any, *tensors: Any) -> Any:
        function = getattr(t.nn.functional, name)
        return [function(*tensors, reduction=each, **options) for each in REDUCTIONS]

    text = ", ".join(f"{key}={value}" for key, value in options.items())
    return over(f"{name} {text}".strip(), call, choices)


def _weighed(name: str, weights: Sequence[str], *choices: Sequence[Arg]) -> list[OpCase]:
    """A loss whose last tensors, integers made floats, are keyword arguments of these names."""

    def call(t: Any, *tensors: Any) -> Any:
        constants = [each.double() for each in tensors[-len(weights) :]]
        given = dict(zip(weights, constants, strict=True))
        function: Callable[..., Any] = getattr(t.nn.functional, name)
        rest = tensors[: -len(weights)]
        return [function(*rest, reduction=each, **given) for each in REDUCTIONS]

    return over(f"{name} by {' and '.join(weights)}", call, choices)


PAIR = (distinct(3, 4), normal(3, 4))
CLASSES = exactly([1, -100, 0, 3], "int64")
WEIGHTS = integers(1, 5, 5)
SIGNS = exactly([1.0, -1.0, 1.0], "float64")

CASES: list[OpCase] = [
    *[
        case
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
        for case in _loss(name, PAIR, (distinct(), normal()))
    ],
    *_loss("smooth_l1_loss", PAIR, beta=0.3),
    *_loss("huber_loss", PAIR, delta=0.3),
    *_weighed("mse_loss", ["weight"], (*PAIR, integers(1, 5, 3, 4))),
    OpCase("kl_div", lambda t, x, y: [
        t.nn.functional.kl_div(x, y, reduction=each, log_target=logarithm)
        for each in ("sum", "none", "batchmean") for logarithm in (False, True)
    ], (normal(3, 4), positive(3, 4))),
    *_loss("poisson_nll_loss", (normal(3, 4), between(0.1, 3, 3, 4)), full=True),
    *_loss("poisson_nll_loss", (positive(3, 4), positive(3, 4)), log_input=False),
    *_loss("gaussian_nll_loss", (normal(3, 4), normal(3, 4), positive(3, 4)),
           (normal(3, 4), normal(3, 4), positive(3)), (normal(3, 4), normal(3, 4), positive(3, 1))),
    *[replace(case, not_pushed="PyTorch's tangent is not that of its gradient below eps")
      for case in _loss("gaussian_nll_loss", (normal(3), normal(3), exactly([0.5, 1.0, 2.0])),
                        full=True, eps=0.8)],
    *_loss("nll_loss", (normal(4), integers(0, 4)), (normal(3, 5), integers(0, 5, 3)),
           (normal(2, 5, 3), integers(0, 5, 2, 3)), (normal(4, 5), CLASSES)),
    *_weighed("nll_loss", ["weight"], (normal(4, 5), CLASSES, WEIGHTS)),
    *_loss("cross_entropy", (normal(4), integers(0, 4)), (normal(4, 5), CLASSES),
           (normal(2, 5, 3), integers(0, 5, 2, 3)), (normal(3, 5), between(0, 1, 3, 5)),
           (normal(2, 3, 2), between(0, 1, 2, 3, 2))),
    *_loss("cross_entropy", (normal(4, 5), CLASSES), (normal(3, 5), between(0, 1, 3, 5)),
           label_smoothing=0.3),
    *over("cross_entropy by weight", lambda t, x, y, w: [
        t.nn.functional.cross_entropy(x, y, w.double(), reduction=each, label_smoothing=part)
        for each in REDUCTIONS for part in (0.0, 0.2)
    ], [(normal(4, 5), CLASSES, WEIGHTS), (normal(3, 5), between(0, 1, 3, 5), WEIGHTS),
        (normal(2, 5, 3), integers(0, 5, 2, 3), WEIGHTS)]),
    *_loss("cross_entropy", (normal(4, 5), integers(0, 5, 4)), ignore_index=2),
    *[replace(case, tolerance=1e-10)  # PyTorch's second derivative divides by a bounded variance.
      for case in _loss("binary_cross_entropy", (between(0.1, 0.9, 3, 4), between(0, 1, 3, 4)))],
    OpCase("binary_cross_entropy at ends", lambda t, x, y: t.nn.functional.binary_cross_entropy(
        x, y, reduction="none"), (exactly([0.0, 1.0, 0.0, 1.0]), exactly([0.0, 1.0, 1.0, 0.0])),
        second_order=False, tolerance=1e-8),  # PyTorch's bound of 1e-12 is in single precision.
    *_loss("binary_cross_entropy_with_logits", (distinct(3, 4), between(0, 1, 3, 4)),
           (exactly([800.0, -800.0]), exactly([0.0, 1.0]))),
    *_weighed("binary_cross_entropy_with_logits", ["weight", "pos_weight"],
              (distinct(3, 4), between(0, 1, 3, 4), integers(1, 5, 3, 4), integers(1, 5, 4))),
    *_loss("multilabel_soft_margin_loss", (normal(3, 4), between(0, 1, 3, 4))),
    *_loss("soft_margin_loss", (distinct(3), integers(0, 2, 3))),
    *_loss("hinge_embedding_loss", (distinct(3), SIGNS)),
    *_loss("margin_ranking_loss", (distinct(3), normal(3), SIGNS), margin=0.1),
    *_loss("triplet_margin_loss", (normal(3, 4), normal(3, 4), normal(3, 4)), p=2, swap=True),
    *_loss("triplet_margin_loss", (normal(3, 4), normal(3, 4), normal(3, 4)), margin=9.0),
    *_loss("cosine_embedding_loss", (normal(3, 4), normal(3, 4), SIGNS), margin=-0.9),
    *over("cosine_similarity", lambda t, x, y: (
        t.nn.functional.cosine_similarity(x, y), t.nn.functional.cosine_similarity(x, y, dim=0)
    ), [(normal(3, 4), normal(3, 4)), (normal(2, 3, 2), normal(3, 2))]),
    *over("pairwise_distance", lambda t, x, y: (
        t.nn.functional.pairwise_distance(x, y), t.nn.functional.pairwise_distance(x, y, 1.0),
        t.nn.functional.pairwise_distance(x, y, 3, 0.1, True),
    ), [(normal(3, 4), normal(3, 4)), (normal(4), normal(3, 4))]),
]  # fmt: skip
