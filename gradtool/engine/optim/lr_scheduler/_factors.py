"""Schedules that multiply the learning rate as steps are counted."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gradtool.engine.optim.lr_scheduler._base import LRScheduler, for_each_group
from gradtool.engine.optim.optimizer import Optimizer


class LambdaLR(LRScheduler):
    """The first learning rate times a function of the step."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.lr_lambdas = for_each_group(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See the class."""
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * factor(self.last_epoch) for base, factor in pairs]


class MultiplicativeLR(LRScheduler):
    """The learning rate times a function of the step, again and again."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.lr_lambdas = for_each_group(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See the class."""
        if self.last_epoch == 0:
            return self._rates()
        pairs = zip(self._rates(), self.lr_lambdas, strict=True)
        return [rate * factor(self.last_epoch) for rate, factor in pairs]


class _Factor(LRScheduler):
    """The learning rate times what `_factor` says at each step but the first."""

    def _factor(self) -> float:
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """See the class."""
        if self.last_epoch == 0:
            return self._rates()
        factor = self._factor()
        return [rate * factor for rate in self._rates()]


class StepLR(_Factor):
    """Times `gamma` every `step_size` steps."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma if self.last_epoch % self.step_size == 0 else 1.0


class MultiStepLR(_Factor):
    """Times `gamma` at each of the milestones."""

    def __init__(
        self, optimizer: Optimizer, milestones: Any, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return float(self.gamma ** self.milestones[self.last_epoch])


class ExponentialLR(_Factor):
    """Times `gamma` every step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma


class ConstantLR(_Factor):
    """Times `factor` until `total_iters` steps were taken."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See the class."""
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._rates()]
        return super().get_lr()

    def _factor(self) -> float:
        return 1.0 / self.factor if self.last_epoch == self.total_iters else 1.0


class LinearLR(_Factor):
    """A factor that goes from one number to another in even steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See the class."""
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._rates()]
        return super().get_lr()

    def _factor(self) -> float:
        if self.last_epoch > self.total_iters:
            return 1.0
        change = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * change
        return 1.0 + change / before


class PolynomialLR(_Factor):
    """Down to 0 in `total_iters` steps, as a power of what is left of them."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch > self.total_iters:
            return 1.0
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return float((left / before) ** self.power)


__all__ = [
    "ConstantLR", "ExponentialLR", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR",
    "PolynomialLR", "StepLR",
]  # fmt: skip
