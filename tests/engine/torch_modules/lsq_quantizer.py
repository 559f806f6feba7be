"""Learned step size quantisation: a step that gets a gradient, over a straight-through rounding."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from show import show


class FunLSQ(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, alpha, g, Qn, Qp):
        assert alpha > 0, "alpha = {}".format(alpha)
        ctx.save_for_backward(weight, alpha)
        ctx.other = g, Qn, Qp
        q_w = (weight / alpha).round().clamp(Qn, Qp)
        return q_w * alpha

    @staticmethod
    def backward(ctx, grad_weight):
        weight, alpha = ctx.saved_tensors
        g, Qn, Qp = ctx.other
        q_w = weight / alpha
        indicate_small = (q_w < Qn).float()
        indicate_big = (q_w > Qp).float()
        indicate_middle = 1.0 - indicate_small - indicate_big
        grad_alpha = (
            (
                (indicate_small * Qn + indicate_big * Qp + indicate_middle * (-q_w + q_w.round()))
                * grad_weight
                * g
            )
            .sum()
            .unsqueeze(dim=0)
        )
        grad_weight = indicate_middle * grad_weight
        return grad_weight, grad_alpha, None, None, None


class QuantLinear(nn.Linear):
    def __init__(self, in_features, out_features, nbits=4, **kwargs):
        super(QuantLinear, self).__init__(in_features, out_features, **kwargs)
        self.Qn, self.Qp = -(2 ** (nbits - 1)), 2 ** (nbits - 1) - 1
        self.alpha = nn.Parameter(torch.Tensor(1).double())
        self.register_buffer("init_state", torch.zeros(1))

    def forward(self, x):
        if self.training and self.init_state == 0:
            self.alpha.data.copy_(2 * self.weight.abs().mean() / math.sqrt(self.Qp))
            self.init_state.fill_(1)
        g = 1.0 / math.sqrt(self.weight.numel() * self.Qp)
        w_q = FunLSQ.apply(self.weight, self.alpha, g, self.Qn, self.Qp)
        return F.linear(x, w_q, self.bias)


if __name__ == "__main__":
    layer = QuantLinear(3, 2).double()
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.31, -0.77, 0.05], [1.9, -1.3, 0.66]]).double())
        layer.bias.zero_()
    x = torch.sin(torch.arange(12, dtype=torch.float64)).view(4, 3).requires_grad_()
    loss = layer(x).pow(2).mean()
    loss.backward()
    print("loss: {:.10f}, init {}".format(loss.item(), int(layer.init_state)))
    for name, p in sorted(layer.named_parameters()):
        show(name, p.grad)
    show("x.grad", x.grad)
