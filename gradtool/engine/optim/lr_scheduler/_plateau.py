"""A schedule that follows a metric."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine.optim.lr_scheduler._base import LRScheduler, for_each_group
from gradtool.engine.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """Times `factor` where a metric has not improved for `patience` steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.eps = cooldown, eps
        self.min_lrs = for_each_group(optimizer, min_lr)
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0
        self._last_lr = self._rates()

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override] # torch's
        """Take note of a metric."""
        value = float(metrics)
        self.last_epoch += 1
        if self.is_better(value, self.best):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            new = max(group["lr"] * self.factor, least)
            if group["lr"] - new > self.eps:
                group["lr"] = new

    def is_better(self, a: float, best: float) -> bool:
        """Whether a metric is better than the best by the threshold."""
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            return sign * a > sign * best * (1 + sign * self.threshold)
        return sign * a > sign * best + self.threshold


__all__ = ["ReduceLROnPlateau"]
