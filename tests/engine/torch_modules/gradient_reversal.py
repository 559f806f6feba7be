"""A gradient reversal layer with a warm start, and clipped gradients, as domain adaptation uses."""

from typing import Any, Optional, Tuple

import torch
import torch.nn as nn
from show import show
from torch.autograd import Function


class GradientReverseFunction(Function):
    @staticmethod
    def forward(ctx: Any, input: torch.Tensor, coeff: Optional[float] = 1.0) -> torch.Tensor:
        ctx.coeff = coeff
        output = input * 1.0
        return output

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> Tuple[torch.Tensor, Any]:
        return grad_output.neg() * ctx.coeff, None


class ClipGradient(Function):
    @staticmethod
    def forward(ctx, x, max_norm):
        ctx.max_norm = max_norm
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        norm = g.norm(p=2, dim=-1, keepdim=True)
        scale = (ctx.max_norm / (norm + 1e-6)).clamp(max=1.0)
        return g * scale, None


class WarmStartGradientReverseLayer(nn.Module):
    def __init__(self, alpha=1.0, lo=0.0, hi=1.0, max_iters=1000.0, auto_step=False):
        super().__init__()
        self.alpha, self.lo, self.hi = alpha, lo, hi
        self.iter_num, self.max_iters, self.auto_step = 0, max_iters, auto_step

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        import numpy as np

        coeff = float(
            2.0 * (self.hi - self.lo) / (1.0 + np.exp(-self.alpha * self.iter_num / self.max_iters))
            - (self.hi - self.lo)
            + self.lo
        )
        if self.auto_step:
            self.iter_num += 1
        return GradientReverseFunction.apply(input, coeff)


class DomainDiscriminator(nn.Sequential):
    def __init__(self, in_feature: int, hidden_size: int):
        super().__init__(
            nn.Linear(in_feature, hidden_size), nn.ReLU(), nn.Linear(hidden_size, 1), nn.Sigmoid()
        )


if __name__ == "__main__":
    grl = WarmStartGradientReverseLayer(auto_step=True, max_iters=10.0)
    net = DomainDiscriminator(3, 4).double()
    for p in net.parameters():
        nn.init.constant_(p, 0.1)
    nn.init.eye_(net[0].weight)
    criterion = nn.BCELoss()
    x = torch.sin(torch.arange(6, dtype=torch.float64)).view(2, 3).requires_grad_(True)
    for step in range(3):
        net.zero_grad()
        x.grad = None
        y = net(grl(ClipGradient.apply(x, 0.05)))
        loss = criterion(y, torch.ones_like(y))
        loss.backward()
        print(f"step {step} loss {loss:.12f}")
        show("x.grad", x.grad)
