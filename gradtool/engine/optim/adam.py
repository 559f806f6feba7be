"""Steps scaled by running moments of the gradient: Adam and its variants."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine._ops.creation.creation import ones, zeros, zeros_like
from gradtool.engine._ops.elementwise.selection import maximum
from gradtool.engine._tensor import Tensor
from gradtool.engine.optim.optimizer import Optimizer, checked


class _Moments(Optimizer):
    """Options, and the two running moments, that all of them share."""

    def __init__(
        self, params: Any, lr: float, betas: Any, eps: float, weight_decay: float, **rest: Any
    ) -> None:
        checked("learning rate", lr >= 0, lr)
        checked("epsilon value", eps >= 0, eps)
        for place, beta in enumerate(betas):
            checked(f"beta parameter at index {place}", 0 <= beta < 1, beta)
        checked("weight_decay value", weight_decay >= 0, weight_decay)
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, **rest}
        super().__init__(params, defaults)

    @staticmethod
    def _begun(state: dict[str, Any], each: Tensor, *names: str) -> int:
        """Count a step, of which the first makes the moments; the number of it."""
        if not state:
            state["step"] = zeros(())
            state.update({name: zeros_like(each) for name in names})
        state["step"] += 1
        return int(state["step"].item())


class Adam(_Moments):
    """``p -= lr · m̂ / (√v̂ + eps)`` (Kingma and Ba, 2015)."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay,
            amsgrad=amsgrad, maximize=maximize, foreach=foreach, capturable=capturable,
            differentiable=differentiable, fused=fused,
            decoupled_weight_decay=decoupled_weight_decay,
        )  # fmt: skip

    def _update(self, group: dict[str, Any]) -> None:
        (beta1, beta2), decay, lr = group["betas"], group["weight_decay"], group["lr"]
        names = ["exp_avg", "exp_avg_sq", *["max_exp_avg_sq"][: group["amsgrad"]]]
        for each, grad, state in self._with_grads(group):
            number = self._begun(state, each, *names)
            if decay and group["decoupled_weight_decay"]:
                each.mul_(1 - lr * decay)
            elif decay:
                grad = grad.add(each, alpha=decay)
            first, second = state["exp_avg"], state["exp_avg_sq"]
            first.lerp_(grad, 1 - beta1)
            second.mul_(beta2).addcmul_(grad, grad.conj(), value=1 - beta2)
            if group["amsgrad"]:
                second = state["max_exp_avg_sq"]
                second.copy_(maximum(second, state["exp_avg_sq"]))
            root = second.sqrt() / math.sqrt(1 - beta2**number)
            each.addcdiv_(first, root.add_(group["eps"]), value=-(lr / (1 - beta1**number)))


class AdamW(Adam):
    """Adam with weights that decay apart from the gradient (Loshchilov and Hutter, 2019)."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, **options, decoupled_weight_decay=True
        )


class Adamax(_Moments):
    """Adam with the largest gradient in place of the second moment (Kingma and Ba, 2015)."""

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable,
        )  # fmt: skip

    def _update(self, group: dict[str, Any]) -> None:
        (beta1, beta2), decay = group["betas"], group["weight_decay"]
        for each, grad, state in self._with_grads(group):
            number = self._begun(state, each, "exp_avg", "exp_inf")
            grad = grad.add(each, alpha=decay) if decay else grad
            first, most = state["exp_avg"], state["exp_inf"]
            first.lerp_(grad, 1 - beta1)
            most.copy_(maximum(most * beta2, grad.abs() + group["eps"]))
            each.addcdiv_(first, most, value=-group["lr"] / (1 - beta1**number))


class NAdam(_Moments):
    """Adam with Nesterov's momentum (Dozat, 2016)."""

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach,
            capturable=capturable, differentiable=differentiable,
        )  # fmt: skip

    def _update(self, group: dict[str, Any]) -> None:
        (beta1, beta2), decay, lr = group["betas"], group["weight_decay"], group["lr"]
        for each, grad, state in self._with_grads(group):
            number = self._begun(state, each, "exp_avg", "exp_avg_sq")
            state.setdefault("mu_product", ones(()))
            if decay and group["decoupled_weight_decay"]:
                each.mul_(1 - lr * decay)
            elif decay:
                grad = grad.add(each, alpha=decay)
            now, after = (
                beta1 * (1 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
                for step in (number, number + 1)
            )
            product = state["mu_product"].mul_(now).item()
            first, second = state["exp_avg"], state["exp_avg_sq"]
            first.lerp_(grad, 1 - beta1)
            second.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            root = (second / (1 - beta2**number)).sqrt().add_(group["eps"])
            each.addcdiv_(grad, root, value=-lr * (1 - now) / (1 - product))
            each.addcdiv_(first, root, value=-lr * after / (1 - product * after))


class RAdam(_Moments):
    """Adam that waits until the second moment's variance is known (Liu et al., 2020)."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, maximize=maximize, foreach=foreach,
            capturable=capturable, decoupled_weight_decay=decoupled_weight_decay,
            differentiable=differentiable,
        )  # fmt: skip

    def _update(self, group: dict[str, Any]) -> None:
        (beta1, beta2), decay, lr = group["betas"], group["weight_decay"], group["lr"]
        longest = 2 / (1 - beta2) - 1
        for each, grad, state in self._with_grads(group):
            number = self._begun(state, each, "exp_avg", "exp_avg_sq")
            if decay and group["decoupled_weight_decay"]:
                each.mul_(1 - lr * decay)
            elif decay:
                grad = grad.add(each, alpha=decay)
            first, second = state["exp_avg"], state["exp_avg_sq"]
            first.lerp_(grad, 1 - beta1)
            second.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            kept = 1 - beta2**number
            length = longest - 2 * number * beta2**number / kept
            scaled = first / (1 - beta1**number)
            if length > 5:
                scaled = scaled * (math.sqrt(kept) * _rectified(length, longest))
                scaled = scaled / second.sqrt().add_(group["eps"])
            each.add_(scaled, alpha=-lr)


def _rectified(length: float, longest: float) -> float:
    """What makes up for the variance of a second moment over that many steps."""
    ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    return math.sqrt(ratio)


__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"]
