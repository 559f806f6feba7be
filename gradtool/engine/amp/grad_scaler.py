"""GradScaler: losses scaled up, so that gradients of half precision do not vanish."""

from __future__ import annotations

import warnings
from typing import Any

from gradtool.engine._ops.creation.creation import full
from gradtool.engine._tensor import Tensor
from gradtool.engine.amp.autocast_mode import is_autocast_available
from gradtool.engine.autograd.grad_mode import no_grad


class GradScaler:
    """Scales losses, takes the scale out of gradients, and skips steps that are not finite.

    The scale halves (`backoff_factor`) after such a step, and grows after `growth_interval` good
    ones. Not `enabled`, or for a device that is not there, it does nothing.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device, self._enabled = device, enabled
        if enabled and not is_autocast_available(device):
            name = device.upper()
            warnings.warn(
                f"torch.{device}.amp.GradScaler is enabled, but {name} is not available. "
                " Disabling.",
                stacklevel=2,
            )
            self._enabled = False
        self._scale, self._growth_tracker = init_scale, 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._found_infinite: dict[int, bool] = {}

    def scale(self, outputs: Any) -> Any:
        """A tensor, or each of several, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * full((), self._scale, device=outputs.device)
        return type(outputs)(self.scale(each) for each in outputs)

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale.

        Raises:
            RuntimeError: that was done already since the last `update`.
        """
        if not self._enabled:
            return
        if id(optimizer) in self._found_infinite:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        finite = True
        with no_grad():
            for group in optimizer.param_groups:
                for each in group["params"]:
                    if each.grad is not None:
                        each.grad.mul_(1.0 / self._scale)
                        finite = finite and bool(each.grad.isfinite().all())
        self._found_infinite[id(optimizer)] = not finite

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step()``, unless a gradient is infinite or NaN."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if id(optimizer) not in self._found_infinite:
            self.unscale_(optimizer)
        return None if self._found_infinite[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Set the scale for the next step."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif any(self._found_infinite.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale *= self._growth_factor
                self._growth_tracker = 0
        self._found_infinite.clear()

    def get_scale(self) -> float:
        """The scale; 1 where it is not enabled."""
        return self._scale if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` needs to go on."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what `state_dict` returned."""
        if not self._enabled:
            return
        self._scale, self._growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]


__all__ = ["GradScaler"]
