"""Normalisations, attention, gates, convolutions and contractions of networks; all right."""

import math

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class GroupNorm(Function):
    @staticmethod
    def forward(ctx, x, weight, bias, groups, eps=1e-5):
        n, c, length = x.shape
        grouped = x.reshape(n, groups, -1)
        mean = grouped.mean(-1, keepdim=True)
        rstd = (grouped.var(-1, keepdim=True, unbiased=False) + eps).rsqrt()
        normed = ((grouped - mean) * rstd).reshape(n, c, length)
        ctx.save_for_backward(normed, rstd, weight)
        ctx.groups = groups
        return normed * weight[:, None] + bias[:, None]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        normed, rstd, weight = ctx.saved_tensors
        n, c, length = normed.shape
        grad_weight = (grad_output * normed).sum((0, 2))
        grad_bias = grad_output.sum((0, 2))
        inner = (grad_output * weight[:, None]).reshape(n, ctx.groups, -1)
        flat = normed.reshape(n, ctx.groups, -1)
        grad = inner - inner.mean(-1, keepdim=True)
        grad = rstd * (grad - flat * (inner * flat).mean(-1, keepdim=True))
        return grad.reshape(n, c, length), grad_weight, grad_bias, None, None

    @staticmethod
    def sample_inputs():
        yield rand(2, 4, 3), rand(4), rand(4), 2


class BatchNorm(Function):
    """By the batch's own statistics, or by given ones."""

    @staticmethod
    def forward(ctx, x, gamma, beta, running_mean, running_variance, training):
        mean = x.mean(0) if training else running_mean
        variance = x.var(0, unbiased=False) if training else running_variance
        rstd = (variance + 1e-5).rsqrt()
        normed = (x - mean) * rstd
        ctx.save_for_backward(normed, rstd, gamma)
        ctx.training = training
        return normed * gamma + beta

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        normed, rstd, gamma = ctx.saved_tensors
        grad = grad_output * gamma
        if ctx.training:
            grad = grad - grad.mean(0) - normed * (grad * normed).mean(0)
        grad_gamma = (grad_output * normed).sum(0)
        return grad * rstd, grad_gamma, grad_output.sum(0), None, None, None

    @staticmethod
    def sample_inputs():
        mean, variance = torch.zeros(3).double(), torch.ones(3).double()
        yield rand(6, 3), rand(3), rand(3), mean, variance, True
        yield rand(6, 3), rand(3), rand(3), mean, variance, False


class BatchNormWithBuffers(Function):
    """Updates the statistics that it will use when training is over."""

    @staticmethod
    def forward(ctx, x, gamma, running_mean, running_var, momentum=0.1, eps=1e-5):
        mean, var = x.mean(0), x.var(0, unbiased=False)
        running_mean.lerp_(mean, momentum)
        running_var.lerp_(var, momentum)
        rstd = (var + eps).rsqrt()
        normed = (x - mean) * rstd
        ctx.save_for_backward(normed, rstd, gamma)
        return normed * gamma

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        normed, rstd, gamma = ctx.saved_tensors
        grad = grad_output * gamma
        grad = grad - grad.mean(0) - normed * (grad * normed).mean(0)
        return grad * rstd, (grad_output * normed).sum(0), None, None, None, None

    @staticmethod
    def sample_inputs():
        yield rand(6, 3), rand(3), torch.zeros(3).double(), torch.ones(3).double()


class MaskedSoftmax(Function):
    """Padding keys get -inf, and no gradient."""

    @staticmethod
    def forward(ctx, scores, mask):
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, grad_output):
        (weights,) = ctx.saved_tensors
        inner = (grad_output * weights).sum(-1, keepdim=True)
        return weights * (grad_output - inner), None

    @staticmethod
    def sample_inputs():
        mask = torch.tensor([[True, True, False, False], [True, True, True, True]])
        yield rand(2, 4), mask


class CausalAttention(Function):
    """Heads of a decoder; the weights are computed again in backward to save memory."""

    @staticmethod
    def weights(q, k):
        n = q.shape[-2]
        future = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        return scores.masked_fill(future, float("-inf")).softmax(-1)

    @staticmethod
    def forward(ctx, q, k, v):
        ctx.save_for_backward(q, k, v)
        return CausalAttention.weights(q, k) @ v

    @staticmethod
    def backward(ctx, grad_output):
        q, k, v = ctx.saved_tensors
        p = CausalAttention.weights(q, k)
        grad_v = p.transpose(-2, -1) @ grad_output
        grad_p = grad_output @ v.transpose(-2, -1)
        grad_s = p * (grad_p - (grad_p * p).sum(-1, keepdim=True)) / math.sqrt(q.shape[-1])
        return grad_s @ k, grad_s.transpose(-2, -1) @ q, grad_v

    @staticmethod
    def sample_inputs():
        yield rand(2, 4, 3), rand(2, 4, 3), rand(2, 4, 3)


class SwiGlu(Function):
    @staticmethod
    def forward(ctx, gate, up):
        ctx.save_for_backward(gate, up)
        return gate * gate.sigmoid() * up

    @staticmethod
    def backward(ctx, grad_output):
        gate, up = ctx.saved_tensors
        s = gate.sigmoid()
        return grad_output * up * s * (1 + gate * (1 - s)), grad_output * gate * s


class RotaryEmbedding(Function):
    """Turns pairs of features; backward turns them back."""

    @staticmethod
    def turn(x, cos, sin):
        half = x.shape[-1] // 2
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)

    @staticmethod
    def forward(ctx, x, cos, sin):
        ctx.save_for_backward(cos, sin)
        return RotaryEmbedding.turn(x, cos, sin)

    @staticmethod
    def backward(ctx, grad_output):
        cos, sin = ctx.saved_tensors
        return RotaryEmbedding.turn(grad_output, cos, -sin), None, None

    @staticmethod
    def sample_inputs():
        angle = torch.arange(6, dtype=torch.float64).reshape(3, 2) / 3
        yield rand(2, 3, 4), angle.cos(), angle.sin()


class DepthwiseConvolution(Function):
    """Causal and one-dimensional, by shifted sums."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        taps = weight.shape[1]
        padded = torch.nn.functional.pad(x, (taps - 1, 0))
        length = x.shape[-1]
        return sum(weight[:, k, None] * padded[..., k : k + length] for k in range(taps))

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        taps, length = weight.shape[1], x.shape[-1]
        padded = torch.nn.functional.pad(x, (taps - 1, 0))
        ahead = torch.nn.functional.pad(grad_output, (0, taps - 1))
        grad_x = sum(
            weight[:, taps - 1 - k, None] * ahead[..., k : k + length] for k in range(taps)
        )
        grad_weight = torch.stack(
            [(grad_output * padded[..., k : k + length]).sum((0, 2)) for k in range(taps)], 1
        )
        return grad_x, grad_weight

    @staticmethod
    def sample_inputs():
        yield rand(2, 3, 5), rand(3, 3)


class AveragePool(Function):
    @staticmethod
    def forward(ctx, x, size):
        ctx.size = size
        n, h, w = x.shape
        return x.reshape(n, h // size, size, w // size, size).mean((2, 4))

    @staticmethod
    def backward(ctx, grad_output):
        size = ctx.size
        grad = grad_output.repeat_interleave(size, 1).repeat_interleave(size, 2)
        return grad / size**2, None

    @staticmethod
    def sample_inputs():
        yield rand(2, 4, 6), 2


class EinsumBilinear(Function):
    @staticmethod
    def forward(ctx, x, w, y):
        ctx.save_for_backward(x, w, y)
        return torch.einsum("bi,oij,bj->bo", x, w, y)

    @staticmethod
    def backward(ctx, g):
        x, w, y = ctx.saved_tensors
        return (
            torch.einsum("bo,oij,bj->bi", g, w, y),
            torch.einsum("bo,bi,bj->oij", g, x, y),
            torch.einsum("bo,oij,bi->bj", g, w, x),
        )

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(2, 3, 4), rand(2, 4)


class QuaternionProduct(Function):
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
    def conjugate(a):
        return a * a.new_tensor([1.0, -1.0, -1.0, -1.0])

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return QuaternionProduct.product(a, b)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        product, conjugate = QuaternionProduct.product, QuaternionProduct.conjugate
        return product(grad_output, conjugate(b)), product(conjugate(a), grad_output)

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4)


class WeightNorm(Function):
    @staticmethod
    def forward(ctx, v, g):
        norm = v.norm(dim=1, keepdim=True)
        ctx.save_for_backward(v, g)
        return v * (g / norm)

    @staticmethod
    def backward(ctx, grad_output):
        v, g = ctx.saved_tensors
        norm = v.norm(dim=1, keepdim=True)
        along = (grad_output * v).sum(1, keepdim=True)
        return g / norm * (grad_output - v * along / norm**2), along / norm

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 1)


class GruGate(Function):
    @staticmethod
    def forward(ctx, update, candidate, hidden):
        z, n = update.sigmoid(), candidate.tanh()
        ctx.save_for_backward(z, n, hidden)
        return (1 - z) * n + z * hidden

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        z, n, hidden = ctx.saved_tensors
        return (
            grad_output * (hidden - n) * z * (1 - z),
            grad_output * (1 - z) * (1 - n * n),
            grad_output * z,
        )

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(2, 3), rand(2, 3)


class Mish(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.tanh(torch.nn.functional.softplus(x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        t = torch.tanh(torch.nn.functional.softplus(x))
        return grad_output * (t + x * (1 - t * t) * x.sigmoid())


class Cross(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.linalg.cross(a, b)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        return torch.linalg.cross(b, grad_output), torch.linalg.cross(grad_output, a)

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(4, 3)
