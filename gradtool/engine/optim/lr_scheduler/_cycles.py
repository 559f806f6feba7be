"""Schedules that go up and come down again, and take the momentum along."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradtool.engine.optim.lr_scheduler._base import LRScheduler, for_each_group
from gradtool.engine.optim.optimizer import Optimizer


class OneCycleLR(LRScheduler):
    """Up to `max_lr` and down again, far below the start (Smith and Topin, 2019)."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float = 0.85,
        max_momentum: float = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        self.total_steps = total_steps or (epochs or 0) * (steps_per_epoch or 0)
        self._anneal = _cosine if anneal_strategy == "cos" else _line
        self._momenta = (base_momentum, max_momentum) if cycle_momentum else None
        peak = pct_start * self.total_steps - 1
        last = self.total_steps - 1
        self._phases = [(peak, "initial_lr", "max_lr"), (last, "max_lr", "min_lr")]
        if three_phase:
            back = (2 * peak, "max_lr", "initial_lr")
            self._phases = [self._phases[0], back, (last, "initial_lr", "min_lr")]
        for group, most in zip(
            optimizer.param_groups, for_each_group(optimizer, max_lr), strict=True
        ):
            group["initial_lr"], group["max_lr"] = most / div_factor, most
            group["min_lr"] = most / div_factor / final_div_factor
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See the class.

        Raises:
            ValueError: there are no more steps.
        """
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        number, share = self._phase(step)
        _, start, end = self._phases[number]
        for group in self.optimizer.param_groups:
            self._cycle_momentum(group, number, share)
        groups = self.optimizer.param_groups
        return [self._anneal(group[start], group[end], share) for group in groups]

    def _phase(self, step: float) -> tuple[int, float]:
        begin = 0.0
        for number, (end, _, _) in enumerate(self._phases):
            if step <= end or number == len(self._phases) - 1:
                return number, (step - begin) / (end - begin)
            begin = end
        raise AssertionError("there is a last phase")

    def _cycle_momentum(self, group: dict[str, Any], number: int, share: float) -> None:
        if self._momenta is None:
            return
        low, high = self._momenta
        start, end = ((high, low), (low, high), (high, high))[number]
        value = self._anneal(start, end, share)
        if "betas" in group:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


def _cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)


def _line(start: float, end: float, share: float) -> float:
    return (end - start) * share + start


class CyclicLR(LRScheduler):
    """Up and down between two learning rates (Smith, 2017)."""

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        for group, rate in zip(
            optimizer.param_groups, for_each_group(optimizer, base_lr), strict=True
        ):
            group["lr"] = rate
        self.max_lrs = for_each_group(optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        scales: dict[str, tuple[str, Callable[[float], float]]] = {
            "triangular": ("cycle", lambda _: 1.0),
            "triangular2": ("cycle", lambda cycle: 1 / 2.0 ** (cycle - 1)),
            "exp_range": ("iterations", lambda step: gamma**step),
        }
        self._scale_mode, self._scale = (
            (scale_mode, scale_fn) if scale_fn is not None else scales[mode]
        )
        self._momenta = (base_momentum, max_momentum) if cycle_momentum else None
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See the class."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        rise = (
            place / self.step_ratio
            if place <= self.step_ratio
            else ((place - 1) / (self.step_ratio - 1))
        )
        share = rise * self._scale(cycle if self._scale_mode == "cycle" else self.last_epoch)
        if self._momenta is not None:
            low, high = self._momenta
            for group in self.optimizer.param_groups:
                if "momentum" in group:
                    group["momentum"] = high - (high - low) * share
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [base + (most - base) * share for base, most in pairs]


__all__ = ["CyclicLR", "OneCycleLR"]
