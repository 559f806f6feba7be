"""LRScheduler: the base class of what changes learning rates step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine.optim.optimizer import Optimizer


class LRScheduler:
    """Sets ``lr`` of an optimizer's groups at every `step`; `get_lr` says to what."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    "param 'initial_lr' is not specified in "
                    f"param_groups[{number}] when resuming an optimizer"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self.step()

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """The learning rates that were set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Count a step, and set the learning rates for it."""
        self._step_count += 1
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        rates = closed() if epoch is not None and closed else self.get_lr()
        self._set(rates)

    def _set(self, rates: Sequence[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _rates(self) -> list[Any]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        vars(self).update(state_dict)


def for_each_group(optimizer: Optimizer, given: Any) -> list[Any]:
    count = len(optimizer.param_groups)
    if not isinstance(given, list | tuple):
        return [given] * count
    if len(given) != count:
        raise ValueError(f"Expected {count} lr_lambdas, but got {len(given)}")
    return list(given)


__all__ = ["LRScheduler", "for_each_group"]
