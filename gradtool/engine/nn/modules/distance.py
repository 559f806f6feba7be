"""Distances between rows as Modules."""

from __future__ import annotations

from gradtool.engine.nn import functional as F  # noqa: N812 - as everybody calls it
from gradtool.engine.nn.modules._functional import module_of

CosineSimilarity = module_of(
    "CosineSimilarity", F.cosine_similarity, __name__, text="", dim=1, eps=1e-8
)
PairwiseDistance = module_of(
    "PairwiseDistance", F.pairwise_distance, __name__, text="", p=2.0, eps=1e-6, keepdim=False
)

__all__ = ["CosineSimilarity", "PairwiseDistance"]
