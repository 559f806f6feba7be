"""Schedules: the learning rate of each group as a function of how many steps were taken."""

from gradtool.engine.optim.lr_scheduler._base import LRScheduler
from gradtool.engine.optim.lr_scheduler._combined import ChainedScheduler, SequentialLR
from gradtool.engine.optim.lr_scheduler._cosine import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
)
from gradtool.engine.optim.lr_scheduler._cycles import CyclicLR, OneCycleLR
from gradtool.engine.optim.lr_scheduler._factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from gradtool.engine.optim.lr_scheduler._plateau import ReduceLROnPlateau

_LRScheduler = LRScheduler
"""Its name in older code."""

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
    "StepLR",
]  # fmt: skip
