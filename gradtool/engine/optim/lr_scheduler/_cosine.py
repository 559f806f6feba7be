"""Schedules along half a cosine."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine.optim.lr_scheduler._base import LRScheduler
from gradtool.engine.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """Down to `eta_min` along half a cosine in `T_max` steps (Loshchilov and Hutter, 2017)."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,  # noqa: N803 - torch's name
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See the class."""
        step, length, least = self.last_epoch, self.T_max, self.eta_min
        if step == 0:
            return self._rates()
        if (step - 1 - length) % (2 * length) == 0:
            rise = (1 - math.cos(math.pi / length)) / 2
            pairs = zip(self._rates(), self.base_lrs, strict=True)
            return [rate + (base - least) * rise for rate, base in pairs]
        now, before = (1 + math.cos(math.pi * each / length) for each in (step, step - 1))
        return [now / before * (rate - least) + least for rate in self._rates()]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down along half a cosine, then from the top again (Loshchilov and Hutter, 2017)."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,  # noqa: N803 - torch's name
        T_mult: int = 1,  # noqa: N803 - torch's name
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See the class."""
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on by one step, or to `epoch`, which may be a fraction."""
        self._step_count += 1
        position: float = self.last_epoch + 1 if epoch is None else epoch
        length, self.T_cur = self.T_0, position
        while self.T_cur >= length:
            self.T_cur -= length
            length *= self.T_mult
        self.T_i, self.last_epoch = length, math.floor(position)
        self._set(self.get_lr())


__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts"]
