"""Steps scaled by the squares of earlier gradients: Adagrad, Adadelta, RMSprop, Rprop."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.creation.creation import full_like, ones_like, zeros, zeros_like
from gradtool.engine.optim.optimizer import Optimizer, checked


class Adagrad(Optimizer):
    """``p -= lr · grad / (√Σ grad² + eps)`` (Duchi et al., 2011)."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        checked("learning rate", lr >= 0, lr)
        checked("lr_decay value", lr_decay >= 0, lr_decay)
        checked("weight_decay value", weight_decay >= 0, weight_decay)
        checked("epsilon value", eps >= 0, eps)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for each in group["params"]:
                first = full_like(each, group["initial_accumulator_value"])
                self.state[each] = {"step": zeros(()), "sum": first.detach()}

    def _update(self, group: dict[str, Any]) -> None:
        for each, grad, state in self._with_grads(group):
            state["step"] += 1
            if group["weight_decay"]:
                grad = grad.add(each, alpha=group["weight_decay"])
            rate = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
            state["sum"].addcmul_(grad, grad, value=1)
            each.addcdiv_(grad, state["sum"].sqrt().add_(group["eps"]), value=-rate)


class Adadelta(Optimizer):
    """Steps as long as earlier ones were for such gradients (Zeiler, 2012)."""

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        checked("learning rate", lr >= 0, lr)
        checked("rho value", 0 <= rho <= 1, rho)
        checked("epsilon value", eps >= 0, eps)
        checked("weight_decay value", weight_decay >= 0, weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        rho, eps = group["rho"], group["eps"]
        for each, grad, state in self._with_grads(group):
            if not state:
                state.update(
                    step=zeros(()), square_avg=zeros_like(each), acc_delta=zeros_like(each)
                )
            state["step"] += 1
            if group["weight_decay"]:
                grad = grad.add(each, alpha=group["weight_decay"])
            square, moved = state["square_avg"], state["acc_delta"]
            square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
            delta = moved.add(eps).sqrt_().div_(square.add(eps).sqrt_()).mul_(grad)
            moved.mul_(rho).addcmul_(delta, delta, value=1 - rho)
            each.add_(delta, alpha=-group["lr"])


class RMSprop(Optimizer):
    """``p -= lr · grad / (√v + eps)``, ``v`` a running mean of squares (Tieleman and Hinton)."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        checked("learning rate", lr >= 0, lr)
        checked("epsilon value", eps >= 0, eps)
        checked("momentum value", momentum >= 0, momentum)
        checked("weight_decay value", weight_decay >= 0, weight_decay)
        checked("alpha value", alpha >= 0, alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        alpha, momentum = group["alpha"], group["momentum"]
        for each, grad, state in self._with_grads(group):
            if not state:
                state.update(step=zeros(()), square_avg=zeros_like(each))
                if momentum:
                    state["momentum_buffer"] = zeros_like(each)
                if group["centered"]:
                    state["grad_avg"] = zeros_like(each)
            state["step"] += 1
            if group["weight_decay"]:
                grad = grad.add(each, alpha=group["weight_decay"])
            square = state["square_avg"]
            square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
            root = square
            if group["centered"]:
                mean = state["grad_avg"].lerp_(grad, 1 - alpha)
                root = square.addcmul(mean, mean, value=-1)
            root = root.sqrt().add_(group["eps"])
            if momentum:
                kept = state["momentum_buffer"].mul_(momentum).addcdiv_(grad, root)
                each.add_(kept, alpha=-group["lr"])
            else:
                each.addcdiv_(grad, root, value=-group["lr"])


class Rprop(Optimizer):
    """Steps by the sign of the gradient, longer while it stays (Riedmiller and Braun, 1993)."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        checked("learning rate", lr >= 0, lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        for each, grad, state in self._with_grads(group):
            if not state:
                state.update(
                    step=zeros(()), prev=zeros_like(each), step_size=full_like(each, group["lr"])
                )
            state["step"] += 1
            agreed = grad * state["prev"]
            factor = ones_like(each).masked_fill(agreed > 0, grow).masked_fill(agreed < 0, shrink)
            state["step_size"].mul_(factor).clamp_(least, most)
            kept = grad.masked_fill(agreed < 0, 0)
            each.addcmul_(kept.sign(), state["step_size"], value=-1)
            state["prev"].copy_(kept)


__all__ = ["Adadelta", "Adagrad", "RMSprop", "Rprop"]
