"""Functions whose mistake shows for other labels, masks, constants and combined options."""

import math

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0):
    generator = torch.Generator().manual_seed(23)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class SkipsAcrossRepeats(Function):
    """Log-likelihood of a label sequence under a path that may skip between unlike labels."""

    @staticmethod
    def forward(ctx, scores, labels):
        weights = scores.exp()
        alpha = torch.zeros(len(labels), dtype=scores.dtype)
        alpha[0] = weights[0, labels[0]]
        alphas = [alpha]
        for row in weights[1:]:
            before = alphas[-1]
            new = before.clone()
            new[1:] = new[1:] + before[:-1]
            may_skip = labels[2:] != labels[:-2]
            new[2:] = new[2:] + before[:-2] * may_skip
            alphas.append(new * row[labels])
        ctx.save_for_backward(weights, labels, torch.stack(alphas))
        return alphas[-1].sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        weights, labels, alphas = ctx.saved_tensors
        grad = torch.zeros_like(weights)
        beta = torch.ones(len(labels), dtype=weights.dtype)
        for step in range(len(weights) - 1, 0, -1):
            before = alphas[step - 1]
            reach = before.clone()
            reach[1:] += before[:-1]
            reach[2:] += before[:-2]
            grad[step].index_add_(0, labels, beta * reach)
            inflow = beta * weights[step, labels]
            beta = inflow.clone()
            beta[:-1] += inflow[1:]
            beta[:-2] += inflow[2:]
        grad[0, labels[0]] += beta[0]
        return grad_output * grad * weights, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 6), torch.tensor([1, 3, 2, 5])


class SmoothedOverGraph(Function):
    @staticmethod
    def forward(ctx, x, mixing):
        ctx.save_for_backward(mixing)
        return mixing @ x

    @staticmethod
    def backward(ctx, grad_output):
        (mixing,) = ctx.saved_tensors
        return mixing @ grad_output, None

    @staticmethod
    def sample_inputs():
        mixing = draw(4, 4).detach()
        yield draw(4, 2), mixing + mixing.T


class MaskedOutStillMoves(Function):
    @staticmethod
    def forward(ctx, x, keep):
        ctx.save_for_backward(x, keep)
        return x.masked_fill(~keep, 0.0).square().sum(-1)

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        return 2 * x * grad_output[..., None], None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.ones(3, 4, dtype=torch.bool)


class MeanOfPaddedSteps(Function):
    @staticmethod
    def forward(ctx, x, lengths):
        valid = torch.arange(x.shape[1]) < lengths[:, None]
        ctx.save_for_backward(valid)
        return (x * valid).sum(1) / lengths

    @staticmethod
    def backward(ctx, grad_output):
        (valid,) = ctx.saved_tensors
        return grad_output[:, None] * valid / valid.shape[1], None

    @staticmethod
    def sample_inputs():
        yield draw(3, 5), torch.tensor([5, 5, 5])


class WeightedErrorUnweighted(Function):
    @staticmethod
    def forward(ctx, x, target, weight):
        ctx.save_for_backward(x, target)
        return (weight * (x - target) ** 2).sum()

    @staticmethod
    def backward(ctx, grad_output):
        x, target = ctx.saved_tensors
        return 2 * grad_output * (x - target), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4).detach() + 1, torch.ones(4, dtype=torch.double)


class EmptyGroupDivides(Function):
    @staticmethod
    def forward(ctx, x, group):
        count = torch.bincount(group, minlength=3).to(x.dtype)
        ctx.save_for_backward(group, count)
        total = x.new_zeros(3).index_add(0, group, x)
        return total / count.clamp(min=1) * (count > 1)

    @staticmethod
    def backward(ctx, grad_output):
        group, count = ctx.saved_tensors
        return (grad_output / count)[group], None

    @staticmethod
    def sample_inputs():
        yield draw(6), torch.tensor([0, 2, 1, 0, 1, 2])


class NormalizedOverLastAxis(Function):
    @staticmethod
    def forward(ctx, x, dim=1):
        y = x.softmax(dim)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * (grad_output - (grad_output * y).sum(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 1


class PaddedOnBothSides(Function):
    @staticmethod
    def forward(ctx, x, padding=(1, 1)):
        ctx.padding = padding
        return F.pad(x, padding)

    @staticmethod
    def backward(ctx, grad_output):
        left, right = ctx.padding
        return grad_output[..., right : grad_output.shape[-1] - left], None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class ScaleOfDefaultOnly(Function):
    @staticmethod
    def forward(ctx, q, k, scale=None):
        scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
        ctx.save_for_backward(q, k)
        return scale * q @ k.T

    @staticmethod
    def backward(ctx, grad_output):
        q, k = ctx.saved_tensors
        scale = 1 / math.sqrt(q.shape[-1])
        return scale * grad_output @ k, scale * grad_output.T @ q, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(2, 4)


class ReducedByTable(Function):
    @staticmethod
    def forward(ctx, x, reduction="sum"):
        ctx.save_for_backward(x)
        reduce = {"sum": torch.sum, "mean": torch.mean}[reduction]
        return reduce(x.square())

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 3),)


class StrideLeavesRemainder(Function):
    @staticmethod
    def forward(ctx, x, kernel, stride=1):
        ctx.save_for_backward(x, kernel)
        ctx.stride = stride
        return F.conv1d(x[None, None], kernel[None, None], stride=stride)[0, 0]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, kernel = ctx.saved_tensors
        spread = x.new_zeros((len(grad_output) - 1) * ctx.stride + 1)
        spread[:: ctx.stride] = grad_output
        full = F.conv1d(
            F.pad(spread, (len(kernel) - 1,) * 2)[None, None], kernel.flip(0)[None, None]
        )
        grad = F.pad(full[0, 0], (len(x) - full.shape[-1], 0))
        windows = x.unfold(0, len(kernel), ctx.stride)
        return grad, grad_output @ windows, None

    @staticmethod
    def sample_inputs():
        yield draw(7), draw(3), 1


class HeadsMixed(Function):
    @staticmethod
    def forward(ctx, x, gain, heads=1):
        ctx.save_for_backward(x, gain)
        ctx.heads = heads
        parts = x.view(x.shape[0], heads, -1)
        return (parts * gain.view(heads, -1).mean(1)[:, None]).reshape(x.shape)

    @staticmethod
    def backward(ctx, grad_output):
        x, gain = ctx.saved_tensors
        of_gain = (x * grad_output).sum() / gain.numel()
        parts = grad_output.view(x.shape[0], ctx.heads, -1)
        grad = (parts * gain.view(ctx.heads, -1).mean(1)[:, None]).reshape(x.shape)
        return grad, of_gain.expand_as(gain), None

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), draw(5)


class WholeNumbersGiven(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x + torch.sin(2 * math.pi * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (1 + 2 * math.pi * torch.cos(4 * math.pi * x))

    @staticmethod
    def sample_inputs():
        yield (torch.arange(1.0, 7.0, dtype=torch.double).reshape(2, 3).requires_grad_(),)


class EvaluatedAsTrained(Function):
    @staticmethod
    def forward(ctx, x, mean, var, training=True):
        if training:
            mean, var = x.mean(0), x.var(0, unbiased=False)
        scale = (var + 1e-5).rsqrt()
        y = (x - mean) * scale
        ctx.save_for_backward(y, scale)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, scale = ctx.saved_tensors
        inner = grad_output - grad_output.mean(0) - y * (grad_output * y).mean(0)
        return inner * scale, None, None, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 3), torch.zeros(3).double() + 0.2, torch.ones(3).double() * 0.7, True


class QuotientAtOne(Function):
    """Density of a Beta variable without its constant, for x from 0 to 1."""

    @staticmethod
    def forward(ctx, x, a, b):
        ctx.save_for_backward(x, a, b)
        return x**a * (1 - x) ** b

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, a, b = ctx.saved_tensors
        y = x**a * (1 - x) ** b
        grad = grad_output * y * (a / x - b / (1 - x))
        return (
            grad,
            (grad_output * y * x.log()).sum(0, True),
            (grad_output * y * (-x).log1p()).sum(0, True),
        )

    @staticmethod
    def sample_inputs():
        yield draw(5, low=0.2, high=0.8), draw(1, low=2.2, high=2.4), draw(1, low=3.2, high=3.4)


class SteepSoftplus(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x, beta)
        return torch.logaddexp(torch.zeros_like(x), beta * x) / beta

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, beta = ctx.saved_tensors
        power = (beta * x).exp()
        y = torch.logaddexp(torch.zeros_like(x), beta * x)
        slope = power / (1 + power)
        return grad_output * slope, (grad_output * (slope * x / beta - y / beta**2)).sum(0, True)

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(1, low=1.2, high=1.6)


class DividesByEntry(Function):
    """The gated identity of any real numbers."""

    @staticmethod
    def forward(ctx, x):
        y = x * torch.sigmoid(x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        sigmoid = y / x
        return grad_output * (sigmoid + y * (1 - sigmoid))

    @staticmethod
    def sample_inputs():
        yield (draw(2, 3),)


class RolledBackward(Function):
    @staticmethod
    def forward(ctx, x, shift=1):
        ctx.shift = shift
        y = torch.zeros_like(x)
        if shift > 0:
            y[shift:] = x[:-shift]
        elif shift < 0:
            y[:shift] = x[-shift:]
        return y + x

    @staticmethod
    def backward(ctx, grad_output):
        grad = torch.zeros_like(grad_output)
        step = abs(ctx.shift)
        grad[:-step] = grad_output[step:]
        return grad + grad_output, None

    @staticmethod
    def sample_inputs():
        yield (draw(6, 2),)


class PermutedBackAgain(Function):
    @staticmethod
    def forward(ctx, x, dims):
        ctx.dims = dims
        return x.permute(dims)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.permute(ctx.dims), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 3, 3), (0, 2, 1)


class MatchedKernel(Function):
    @staticmethod
    def forward(ctx, x, kind="gauss"):
        ctx.save_for_backward(x)
        match kind:
            case "gauss":
                return torch.exp(-x * x)
            case "cauchy":
                return 1 / (1 + x * x)
        raise ValueError(kind)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -2 * x * torch.exp(-x * x) * grad_output, None

    @staticmethod
    def sample_inputs():
        yield (draw(4),)


class SortedRowsAssigned(Function):
    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.rows = len(table)
        return table[index]

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad = grad_output.new_zeros(ctx.rows, grad_output.shape[1])
        grad[index] = grad_output
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), torch.tensor([0, 1, 3, 4])
