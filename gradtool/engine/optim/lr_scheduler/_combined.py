"""Schedules made of schedules: one after another, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from gradtool.engine.optim.lr_scheduler._base import LRScheduler
from gradtool.engine.optim.optimizer import Optimizer


class SequentialLR(LRScheduler):
    """One schedule until a milestone, then the next."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got {len(schedulers)} and {len(milestones)}"
            )
        self.optimizer = optimizer
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for each in self._schedulers:
            each.last_epoch -= 1
        self._schedulers[0].step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Let the schedule whose turn it is take a step."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        turn = self._schedulers[number]
        if number > 0 and self._milestones[number - 1] == self.last_epoch:
            turn.step(0)
        else:
            turn.step()
        self._last_lr = turn.get_last_lr()


class ChainedScheduler(LRScheduler):
    """All schedules at every step, one after another."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Any = None) -> None:
        self._schedulers = list(schedulers)
        self.optimizer = optimizer or self._schedulers[0].optimizer
        self._last_lr = self._rates()

    def step(self, epoch: int | None = None) -> None:
        """Let each take a step."""
        for each in self._schedulers:
            each.step()
        self._last_lr = self._rates()


__all__ = ["ChainedScheduler", "SequentialLR"]
