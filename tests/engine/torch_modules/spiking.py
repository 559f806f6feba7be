"""A surrogate gradient for spikes, a binarised linear layer, and a GRU cell by hand."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from show import show
from torch.autograd import Function, Variable


class SurrGradSpike(torch.autograd.Function):
    scale = 10.0

    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        out = torch.zeros_like(input)
        out[input > 0] = 1.0
        return out

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        return grad_input / (SurrGradSpike.scale * torch.abs(input) + 1.0) ** 2


class BinarizedLinear(Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        weight_b = weight.sign()
        weight_b[weight_b == 0] = 1
        ctx.save_for_backward(input, weight, weight_b, bias)
        output = input.mm(weight_b.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, weight_b, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight_b)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
            grad_weight = grad_weight * weight.abs().le(1).type_as(grad_weight)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0).squeeze(0)
        if not bias is None:
            return grad_input, grad_weight, grad_bias
        return grad_input, grad_weight


class GRUCellFunction(Function):
    @staticmethod
    def forward(ctx, gi, gh, h):
        i_r, i_z, i_n = gi.chunk(3, 1)
        h_r, h_z, h_n = torch.split(gh, h.size(1), dim=1)
        r, z = (i_r + h_r).sigmoid_(), (i_z + h_z).sigmoid_()
        n = torch.tanh(torch.addcmul(i_n, r, h_n))
        ctx.save_for_backward(r, z, n, h_n, h)
        return n + z * (h - n)

    @staticmethod
    def backward(ctx, g):
        r, z, n, h_n, h = ctx.saved_tensors
        d_z = g * (h - n) * z * (1 - z)
        d_n = g * (1 - z) * (1 - n**2)
        d_r = d_n * h_n * r * (1 - r)
        return torch.cat([d_r, d_z, d_n], 1), torch.cat([d_r, d_z, d_n * r], 1), g * z


if __name__ == "__main__":
    dtype = torch.DoubleTensor
    torch.set_default_dtype(torch.float64)
    w = Variable(torch.sin(torch.arange(12.0)).view(4, 3).type(dtype), requires_grad=True)
    bias = nn.Parameter(torch.zeros(4))
    x = Variable(torch.cos(torch.arange(6.0)).view(2, 3), requires_grad=True)
    mem, spikes = torch.zeros(2, 4), []
    for t in range(3):
        mem = 0.9 * mem + BinarizedLinear.apply(x, w, bias)
        spk = SurrGradSpike.apply(mem - 1.0)
        mem = mem * (1.0 - spk.detach())
        spikes.append(spk)
    rec = torch.stack(spikes, dim=1)
    rec.pow(2).sum().backward()
    show("spikes", rec)
    show("x.grad", x.grad.data)
    show("w.grad", w.grad)
    show("bias.grad", bias.grad)
    h = torch.zeros(2, 4)
    gi = F.linear(x, torch.sin(torch.arange(36.0)).view(12, 3))
    gh = torch.cos(torch.arange(24.0)).view(2, 12).requires_grad_()
    h = GRUCellFunction.apply(gi, gh, h + 0.5)
    x.grad.zero_()
    h.norm().backward()
    show("h", h)
    show("x.grad", x.grad)
    show("gh.grad", gh.grad)
