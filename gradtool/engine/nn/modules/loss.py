"""Losses as Modules, and the distances between rows."""

from __future__ import annotations

import functools
from typing import Any

from gradtool.engine.nn import functional as F  # noqa: N812 - as everybody calls it
from gradtool.engine.nn.modules._functional import module_of as _module_of

module_of = functools.partial(_module_of, text="")
"""Show nothing: losses show no settings."""

_OF_OLD: dict[str, Any] = {"size_average": None, "reduce": None}
_ENDS: dict[str, Any] = {**_OF_OLD, "reduction": "mean"}

BCELoss = module_of("BCELoss", F.binary_cross_entropy, __name__, weight=None, **_ENDS)
BCEWithLogitsLoss = module_of(
    "BCEWithLogitsLoss",
    F.binary_cross_entropy_with_logits,
    __name__,
    weight=None,
    **_ENDS,
    pos_weight=None,
)
CTCLoss = module_of("CTCLoss", F.ctc_loss, __name__, blank=0, reduction="mean", zero_infinity=False)
CosineEmbeddingLoss = module_of(
    "CosineEmbeddingLoss", F.cosine_embedding_loss, __name__, margin=0.0, **_ENDS
)
CrossEntropyLoss = module_of(
    "CrossEntropyLoss",
    F.cross_entropy,
    __name__,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
)
GaussianNLLLoss = module_of(
    "GaussianNLLLoss", F.gaussian_nll_loss, __name__, full=False, eps=1e-6, reduction="mean"
)
HingeEmbeddingLoss = module_of(
    "HingeEmbeddingLoss", F.hinge_embedding_loss, __name__, margin=1.0, **_ENDS
)
HuberLoss = module_of("HuberLoss", F.huber_loss, __name__, reduction="mean", delta=1.0)
KLDivLoss = module_of("KLDivLoss", F.kl_div, __name__, **_ENDS, log_target=False)
L1Loss = module_of("L1Loss", F.l1_loss, __name__, **_ENDS)
MarginRankingLoss = module_of(
    "MarginRankingLoss", F.margin_ranking_loss, __name__, margin=0.0, **_ENDS
)
MSELoss = module_of("MSELoss", F.mse_loss, __name__, **_ENDS)
MultiLabelMarginLoss = module_of(
    "MultiLabelMarginLoss", F.multilabel_margin_loss, __name__, **_ENDS
)
MultiLabelSoftMarginLoss = module_of(
    "MultiLabelSoftMarginLoss", F.multilabel_soft_margin_loss, __name__, weight=None, **_ENDS
)
MultiMarginLoss = module_of(
    "MultiMarginLoss", F.multi_margin_loss, __name__, p=1, margin=1.0, weight=None, **_ENDS
)
NLLLoss = module_of(
    "NLLLoss",
    F.nll_loss,
    __name__,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
)
PoissonNLLLoss = module_of(
    "PoissonNLLLoss",
    F.poisson_nll_loss,
    __name__,
    log_input=True,
    full=False,
    size_average=None,
    eps=1e-8,
    reduce=None,
    reduction="mean",
)
SmoothL1Loss = module_of("SmoothL1Loss", F.smooth_l1_loss, __name__, **_ENDS, beta=1.0)
SoftMarginLoss = module_of("SoftMarginLoss", F.soft_margin_loss, __name__, **_ENDS)
TripletMarginLoss = module_of(
    "TripletMarginLoss",
    F.triplet_margin_loss,
    __name__,
    margin=1.0,
    p=2.0,
    eps=1e-6,
    swap=False,
    **_ENDS,
)
TripletMarginWithDistanceLoss = module_of(
    "TripletMarginWithDistanceLoss",
    F.triplet_margin_with_distance_loss,
    __name__,
    distance_function=None,
    margin=1.0,
    swap=False,
    reduction="mean",
)

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss",
    "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss",
    "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "NLLLoss", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]  # fmt: skip
