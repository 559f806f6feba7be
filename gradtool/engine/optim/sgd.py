"""Stochastic gradient descent, with momentum (Sutskever et al., 2013)."""

from __future__ import annotations

from typing import Any

from gradtool.engine.optim.optimizer import Optimizer, checked


class SGD(Optimizer):
    """``p -= lr · b``, where ``b = momentum · b + (1 - dampening) · grad``."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        checked("learning rate", lr >= 0, lr)
        checked("momentum value", momentum >= 0, momentum)
        checked("weight_decay value", weight_decay >= 0, weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        momentum, decay = group["momentum"], group["weight_decay"]
        for each, grad, state in self._with_grads(group):
            step = grad.add(each, alpha=decay) if decay else grad
            if momentum:
                kept = state.get("momentum_buffer")
                if kept is None:
                    kept = state["momentum_buffer"] = step.detach().clone()
                else:
                    kept.mul_(momentum).add_(step, alpha=1 - group["dampening"])
                step = step.add(kept, alpha=momentum) if group["nesterov"] else kept
            each.add_(step, alpha=-group["lr"])


__all__ = ["SGD"]
