"""Group normalization and conv2d by unfold and fold, each with a hand-written backward."""

import torch
import torch.nn.functional as F
from show import show
from torch import nn
from torch.autograd import Function
from torch.nn.modules.utils import _pair


class GroupNormFunction(Function):
    @staticmethod
    def forward(ctx, x, weight, bias, groups, eps):
        N, C, H, W = x.size()
        xg = x.view(N, groups, -1)
        mean = xg.mean(-1, keepdim=True)
        var = xg.var(-1, unbiased=False, keepdim=True)
        inv = (var + eps).rsqrt()
        x_hat = ((xg - mean) * inv).view(N, C, H, W)
        ctx.save_for_backward(x_hat, weight, inv)
        ctx.groups = groups
        return x_hat * weight.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    @staticmethod
    def backward(ctx, grad_output):
        x_hat, weight, inv = ctx.saved_tensors
        N, C, H, W = grad_output.shape
        grad_weight = grad_bias = grad_x = None
        if ctx.needs_input_grad[1]:
            grad_weight = (grad_output * x_hat).sum((0, 2, 3))
        if ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(dim=[0, 2, 3])
        if ctx.needs_input_grad[0]:
            g = (grad_output * weight[None, :, None, None]).reshape(N, ctx.groups, -1)
            h = x_hat.reshape(N, ctx.groups, -1)
            grad_x = inv * (g - g.mean(-1, keepdim=True) - h * (g * h).mean(-1, keepdim=True))
            grad_x = grad_x.view(N, C, H, W)
        return grad_x, grad_weight, grad_bias, None, None


class Conv2dFunction(Function):
    @staticmethod
    def forward(ctx, x, weight, bias, stride, padding):
        n, _, h, w = x.shape
        c_out, _, kh, kw = weight.shape
        ctx.stride, ctx.padding = _pair(stride), _pair(padding)
        cols = F.unfold(x, (kh, kw), padding=ctx.padding, stride=ctx.stride)
        ctx.save_for_backward(cols, weight)
        ctx.size = (h, w)
        out = weight.view(c_out, -1).matmul(cols) + bias[:, None]
        h_out = (h + 2 * ctx.padding[0] - kh) // ctx.stride[0] + 1
        return out.view(n, c_out, h_out, -1)

    @staticmethod
    def backward(ctx, grad):
        cols, weight = ctx.saved_tensors
        g = grad.flatten(2)
        grad_cols = weight.flatten(1).t() @ g
        grad_x = F.fold(
            grad_cols, ctx.size, weight.shape[2:], padding=ctx.padding, stride=ctx.stride
        )
        grad_w = torch.einsum("bop,bkp->ok", g, cols).view_as(weight)
        return grad_x, grad_w, g.sum((0, 2)), None, None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(2, 4)

    def forward(self, x):
        c, n = self.conv, self.norm
        y = Conv2dFunction.apply(x, c.weight, c.bias, c.stride, c.padding)
        return GroupNormFunction.apply(y, n.weight, n.bias, n.num_groups, n.eps)


if __name__ == "__main__":
    net = Net().to(torch.float64)
    for i, p in enumerate(net.parameters()):
        p.data = torch.cos(torch.arange(p.numel(), dtype=p.dtype) + i).view(p.shape)
    x = torch.sin(torch.arange(2 * 2 * 5 * 4, dtype=torch.float64)).view(2, 2, 5, 4)
    x.requires_grad = True
    y = net(x)
    torch.testing.assert_close(y, net.norm(net.conv(x)))
    y.pow(3).mean().backward()
    show("y", y)
    show("x.grad", x.grad)
    for name, p in net.named_parameters():
        show(name, p.grad)
