"""L-BFGS: descent along curvature that the last steps have shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import enable_grad, no_grad
from gradtool.engine.optim._line_search import strong_wolfe
from gradtool.engine.optim.optimizer import Optimizer


class LBFGS(Optimizer):
    """Limited-memory BFGS (Nocedal and Wright, Numerical Optimization, chapter 7)."""

    def __init__(
        self,
        params: Any,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if lr < 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        defaults = {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params: list[Tensor] = self.param_groups[0]["params"]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Up to `max_iter` steps, each calling `closure`; what it returned first.

        Raises:
            RuntimeError: there is no closure, or an unknown line search.
        """
        if closure is None:
            raise RuntimeError("LBFGS needs a closure that computes the loss")
        options = self.param_groups[0]
        if options["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        with no_grad():
            return self._descend(_enabled(closure), options)

    def _descend(self, closure: Callable[[], Any], options: dict[str, Any]) -> Any:
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        state["func_evals"] += 1
        loss, grad, evaluations = float(first), self._flat_grad(), 1
        if grad.abs().max() <= options["tolerance_grad"]:
            return first
        for number in range(1, options["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, grad, options["history_size"])
            start = min(1.0, 1.0 / float(grad.abs().sum())) if state["n_iter"] == 1 else 1.0
            slope = grad.dot(direction)
            state["prev_flat_grad"], before = grad.clone(), loss
            if slope > -options["tolerance_change"]:
                break
            moved, loss, grad, used = self._moved(
                closure, direction, start * options["lr"], loss, grad, slope,
                number < options["max_iter"],
            )  # fmt: skip
            state["d"], state["t"] = direction, moved
            evaluations += used
            state["func_evals"] += used
            if self._ended(options, evaluations, grad, direction * moved, loss - before):
                break
        return first

    @staticmethod
    def _ended(
        options: dict[str, Any], evaluations: int, grad: Tensor, step: Tensor, change: float
    ) -> bool:
        return bool(
            evaluations >= options["max_eval"]
            or grad.abs().max() <= options["tolerance_grad"]
            or step.abs().max() <= options["tolerance_change"]
            or abs(change) < options["tolerance_change"]
        )

    def _direction(self, state: dict[str, Any], grad: Tensor, memory: int) -> Tensor:
        """The inverse curvature of the last steps times the negative gradient."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return grad.neg()
        change, step = grad.sub(state["prev_flat_grad"]), state["d"].mul(state["t"])
        curvature = change.dot(step)
        if curvature > 1e-10:
            for kept, new in (("old_dirs", change), ("old_stps", step), ("ro", 1.0 / curvature)):
                state[kept] = [*state[kept], new][-memory:]
            state["H_diag"] = curvature / change.dot(change)
        return self._two_loops(state, grad)

    @staticmethod
    def _two_loops(state: dict[str, Any], grad: Tensor) -> Tensor:
        history = list(zip(state["old_dirs"], state["old_stps"], state["ro"], strict=True))
        q, shares = grad.neg(), []
        for change, step, ro in reversed(history):
            shares.append(step.dot(q) * ro)
            q = q.add(change * -shares[-1])
        direction = q * state["H_diag"]
        for (change, step, ro), share in zip(history, reversed(shares), strict=True):
            direction = direction.add(step * (share - change.dot(direction) * ro))
        return direction

    def _moved(
        self, closure: Callable[[], Any], direction: Tensor, length: float, loss: float,
        grad: Tensor, slope: Tensor, again: bool,
    ) -> tuple[float, float, Tensor, int]:  # fmt: skip
        """Go along the direction: how far, the loss and the gradient there, and evaluations."""
        if self.param_groups[0]["line_search_fn"] is None:
            self._add(length, direction)
            if not again:
                return length, loss, grad, 0
            return length, float(closure()), self._flat_grad(), 1
        origin = [each.clone() for each in self._params]

        def at(distance: float) -> tuple[float, Tensor]:
            self._add(distance, direction)
            found = float(closure()), self._flat_grad()
            for each, value in zip(self._params, origin, strict=True):
                each.copy_(value)
            return found

        found = strong_wolfe(at, length, direction, loss, grad, float(slope))
        self._add(found[2], direction)
        return found[2], found[0], found[1], found[3]

    def _flat_grad(self) -> Tensor:
        parts = [
            each.new_zeros(each.numel()) if each.grad is None else each.grad.reshape(-1)
            for each in self._params
        ]
        flat: Tensor = cat(parts, 0)
        return flat

    def _add(self, length: float, direction: Tensor) -> None:
        start = 0
        for each in self._params:
            part = direction.narrow(0, start, each.numel()).reshape(each.shape)
            each.add_(part, alpha=length)
            start += each.numel()


def _enabled(closure: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        with enable_grad():
            return closure()

    return run


__all__ = ["LBFGS"]
