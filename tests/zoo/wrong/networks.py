"""Layers of networks: attention, normalisation, gates, convolutions, pools."""

import math

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class AttentionKeyNotTransposed(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, q, k):
        ctx.save_for_backward(q, k)
        return q @ k.transpose(-2, -1)

    @staticmethod
    def backward(ctx, grad_output):
        q, k = ctx.saved_tensors
        return grad_output @ k, grad_output @ q

    @staticmethod
    def sample_inputs():
        yield rand(2, 3, 4), rand(2, 3, 4)


class AttentionSoftmaxSkipped(Function):
    """The gradient goes past the softmax as if it were not there."""

    expect = {"GT101"}
    diagnosis = "term"
    says = "treats the sum in `scores.softmax(-1)`"

    @staticmethod
    def forward(ctx, scores, v):
        p = scores.softmax(-1)
        ctx.save_for_backward(p, v)
        return p @ v

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        p, v = ctx.saved_tensors
        return p * (grad_output @ v.T), p.T @ grad_output

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 4)


class CausalMaskForgotten(Function):
    """The future takes no part in forward, and gets a gradient."""

    expect = {"GT101"}
    diagnosis = "mask"
    says = "differentiates `scores` where forward has"

    @staticmethod
    def forward(ctx, scores):
        n = scores.shape[-1]
        return scores.masked_fill(torch.ones(n, n).triu(1).bool(), 0.0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output

    @staticmethod
    def sample_inputs():
        yield (rand(4, 4),)


class LayerNormOverWrongDim(Function):
    """The means in backward run over the batch."""

    expect = {"GT101"}
    diagnosis = "places"

    @staticmethod
    def forward(ctx, x):
        rstd = (x.var(1, keepdim=True, unbiased=False) + 1e-5).rsqrt()
        normed = (x - x.mean(1, keepdim=True)) * rstd
        ctx.save_for_backward(normed, rstd)
        return normed

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        normed, rstd = ctx.saved_tensors
        return rstd * (g - g.mean(0) - normed * (g * normed).mean(0))

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class RmsNormEpsilonOutside(Function):
    """Adds epsilon to the root in backward, under the root in forward."""

    expect = {"GT101"}
    diagnosis = "other"

    @staticmethod
    def forward(ctx, x, eps):
        ctx.save_for_backward(x)
        ctx.eps = eps
        return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        r = 1 / (x.square().mean(-1, keepdim=True).sqrt() + ctx.eps)
        return r * g - x * r**3 * (g * x).mean(-1, keepdim=True), None

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), 1e-2


class BatchNormWeightUnsummed(Function):
    """Returns the weight's gradient for each example; autograd refuses it."""

    expect = {"GT103"}

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return (x * weight).sum(1)

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g[:, None] * weight, (g[:, None] * x).reshape(-1)

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(3)


class SwishWithoutProductRule(Function):
    expect = {"GT101"}
    diagnosis = "term"
    says = "treats `x` in `x * x.sigmoid()`"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = x.sigmoid()
        return grad_output * x * s * (1 - s)


class GateOfTheOther(Function):
    """Both halves of a GLU get the gradient of the gate's half."""

    expect = {"GT101"}
    diagnosis = "order"

    @staticmethod
    def forward(ctx, x):
        a, b = x.chunk(2, -1)
        ctx.save_for_backward(a, b)
        return a * b.sigmoid()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        s = b.sigmoid()
        return torch.cat([g * a * s * (1 - s), g * s], -1)

    @staticmethod
    def sample_inputs():
        yield (rand(2, 6),)


class RotaryNotTurnedBack(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def turn(x, cos, sin):
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)

    @staticmethod
    def forward(ctx, x, angle):
        ctx.save_for_backward(angle)
        return RotaryNotTurnedBack.turn(x, angle.cos(), angle.sin())

    @staticmethod
    def backward(ctx, grad_output):
        (angle,) = ctx.saved_tensors
        return RotaryNotTurnedBack.turn(grad_output, angle.cos(), angle.sin()), None

    @staticmethod
    def sample_inputs():
        yield rand(2, 4), torch.tensor([0.3, 1.2], dtype=torch.float64)


class ConvolutionBiasForgotten(Function):
    """The bias was added to forward later."""

    expect = {"GT102"}

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight + bias

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g @ weight.T, x.T @ g

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 4), rand(4)


class CausalTapsReversed(Function):
    expect = {"GT101"}
    diagnosis = "order"

    @staticmethod
    def forward(ctx, x, taps):
        ctx.save_for_backward(x, taps)
        n, length = len(taps), len(x)
        padded = torch.nn.functional.pad(x, (n - 1, 0))
        return sum(taps[k] * padded[k : k + length] for k in range(n))

    @staticmethod
    def backward(ctx, g):
        x, taps = ctx.saved_tensors
        n, length = len(taps), len(x)
        padded = torch.nn.functional.pad(x, (n - 1, 0))
        ahead = torch.nn.functional.pad(g, (0, n - 1))
        grad_x = sum(taps[n - 1 - k] * ahead[k : k + length] for k in range(n))
        grad_taps = torch.stack([(g * padded[k : k + length]).sum() for k in range(n)])
        return grad_x, grad_taps.flip(0)

    @staticmethod
    def sample_inputs():
        yield rand(6), rand(3)


class AveragePoolAsSum(Function):
    expect = {"GT101"}
    diagnosis = "factor"
    says = "where forward has `x.reshape(-1, 2).mean(1)`"

    @staticmethod
    def forward(ctx, x):
        return x.reshape(-1, 2).mean(1)

    @staticmethod
    def backward(ctx, g):
        return g.repeat_interleave(2)

    @staticmethod
    def sample_inputs():
        yield (rand(8),)


class MaxPoolToAll(Function):
    """Every entry of the window gets the gradient of its maximum."""

    expect = {"GT101"}
    diagnosis = "mask"

    @staticmethod
    def forward(ctx, x):
        return x.reshape(-1, 2).amax(1)

    @staticmethod
    def backward(ctx, g):
        return g.repeat_interleave(2)

    @staticmethod
    def sample_inputs():
        yield (rand(8),)


class UpsampleTakesCorner(Function):
    """Nearest-neighbour upsampling: backward takes one pixel of each block."""

    expect = {"GT101"}
    diagnosis = "slice"

    @staticmethod
    def forward(ctx, x):
        return x.repeat_interleave(2, 0).repeat_interleave(2, 1)

    @staticmethod
    def backward(ctx, g):
        return g[::2, ::2]

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)


class LstmForgetGateLost(Function):
    expect = {"GT101"}
    diagnosis = "term"
    says = "treats `1 - f`"

    @staticmethod
    def forward(ctx, cell, forget, update):
        f = forget.sigmoid()
        ctx.save_for_backward(cell, forget, update)
        return f * cell + (1 - f) * update

    @staticmethod
    def backward(ctx, g):
        cell, forget, update = ctx.saved_tensors
        f = forget.sigmoid()
        return g * f, g * cell * f * (1 - f), g * (1 - f)

    @staticmethod
    def sample_inputs():
        yield rand(4), rand(4), rand(4)


class EinsumIndicesMixed(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return torch.einsum("bi,ij->bj", x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return torch.einsum("bj,ij->bi", g, w), torch.einsum("bi,bj->ji", x, g)

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(3, 3)


class WeightNormDirectionOnly(Function):
    expect = {"GT101"}
    diagnosis = "term"
    says = "treats `v.norm()`"

    @staticmethod
    def forward(ctx, v, g):
        ctx.save_for_backward(v, g)
        return g * v / v.norm()

    @staticmethod
    def backward(ctx, grad_output):
        v, g = ctx.saved_tensors
        return grad_output * g / v.norm(), (grad_output * v).sum() / v.norm()

    @staticmethod
    def sample_inputs():
        yield rand(3), torch.tensor(1.3, dtype=torch.float64, requires_grad=True)


class QuaternionOrder(Function):
    """Conjugates the right factor and multiplies from the wrong side."""

    expect = {"GT101"}
    diagnosis = "slice"
    says = "`QuaternionOrder.product(b, a)` where forward has"

    @staticmethod
    def product(a, b):
        w1, x1, y1, z1 = a.unbind(-1)
        w2, x2, y2, z2 = b.unbind(-1)
        return torch.stack(
            [
                w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
                w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
                w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
                w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
            ],
            -1,
        )

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return QuaternionOrder.product(a, b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        flip = a.new_tensor([1.0, -1.0, -1.0, -1.0])
        product = QuaternionOrder.product
        return product(b * flip, g), product(a * flip, g)

    @staticmethod
    def sample_inputs():
        yield rand(2, 4), rand(2, 4)


class ScaleBySizeOfHead(Function):
    """Scales by d in backward, by its root in forward."""

    expect = {"GT101"}
    diagnosis = "factor"
    says = "`q.shape[-1]` where forward has `math.sqrt(q.shape[-1])`"

    @staticmethod
    def forward(ctx, q):
        return q / math.sqrt(q.shape[-1])

    @staticmethod
    def backward(ctx, g):
        return g / g.shape[-1]

    @staticmethod
    def sample_inputs():
        yield (rand(2, 5),)
