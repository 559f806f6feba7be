"""Functions whose gradient is right, and double backward not, with the sentence that says why.

``<-`` marks the line of backward that the sentence names; ``LINE`` stands for it.
"""

import torch
from torch.autograd import Function


def r(*shape):
    return torch.randn(*shape, dtype=torch.double, requires_grad=True)


class OneInput(Function):
    @staticmethod
    def sample_inputs():
        yield (r(3, 4),)


class DetachesOneFactor(OneInput):
    says = "double backward treats `x.detach()` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * g * x * x.detach()  # <-


class DetachesTheSum(OneInput):
    says = "double backward treats `inner` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x):
        y = torch.softmax(x, -1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        with torch.no_grad():
            inner = (g * y).sum(-1, keepdim=True)  # <-
        return y * (g - inner)


class DetachesTheCotangent(Function):
    says = "double backward treats `g.data` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y + x.sin()

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y + g.data * x.cos(), g * x  # <-

    @staticmethod
    def sample_inputs():
        yield r(3), r(3)


class CutEverywhere(OneInput):
    says = "double backward treats `y` (line LINE) as a constant; in backward, avoid detach"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sigmoid(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        y = torch.sigmoid(x).detach()  # <-
        return g * y * (1 - y)


class CallsAWrongFunction(OneInput):
    says = "double backward has the wrong sign on the path through `torch.cos(x)` (line NEXT)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors

        class _TimesCosine(Function):
            @staticmethod
            def forward(ctx, g, x):
                ctx.save_for_backward(g, x)  # <-
                return g * torch.cos(x)

            @staticmethod
            def backward(ctx, g2):
                g, x = ctx.saved_tensors
                return g2 * torch.cos(x), g2 * g * torch.sin(x)

        return _TimesCosine.apply(g, x)


class KernelKeptDetached(Function):
    says = "autograd does not follow ctx.kernel: save output 0 with ctx.save_for_backward"

    @staticmethod
    def forward(ctx, x, y):
        kernel = (-0.5 * (x - y) ** 2).exp()
        ctx.save_for_backward(x, y)
        ctx.kernel = kernel.detach()
        return kernel

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        found = -grad_output * ctx.kernel * (x - y)
        return found, -found
