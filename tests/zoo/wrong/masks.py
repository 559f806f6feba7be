"""Branches, masks and indices: one side forgotten, or the gradient sent elsewhere."""

import torch
from torch.autograd import Function


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def both_sides():
    values = [-1.5, -0.25, 0.75, 2.0]
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


class LeakyReluWithoutSlope(Function):
    expect = {"GT101"}
    diagnosis = "mask"
    says = "treats `slope * x`"

    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope
        return torch.where(x > 0, x, slope * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0), None

    @staticmethod
    def sample_inputs():
        yield both_sides(), 0.1


class LeakyReluSlopeEverywhere(Function):
    expect = {"GT101"}
    diagnosis = "mask"

    @staticmethod
    def forward(ctx, x, slope):
        ctx.slope = slope
        return torch.where(x > 0, x, slope * x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.slope, None

    @staticmethod
    def sample_inputs():
        yield both_sides(), 0.1


class AbsWithoutSign(Function):
    expect = {"GT101"}
    diagnosis = "mask"

    @staticmethod
    def forward(ctx, x):
        return x.abs()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone()

    @staticmethod
    def sample_inputs():
        yield (both_sides(),)


class ReluWithoutMask(Function):
    expect = {"GT101"}
    diagnosis = "mask"
    says = "differentiates `x` where forward has `x.clamp(min=0)`"

    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone()

    @staticmethod
    def sample_inputs():
        yield (both_sides(),)


class ReluMaskInverted(Function):
    expect = {"GT101"}
    diagnosis = "mask"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[x > 0] = 0
        return grad_input

    @staticmethod
    def sample_inputs():
        yield (both_sides(),)


class ClampUpperOnly(Function):
    expect = {"GT101"}
    diagnosis = "mask"

    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x)
        ctx.high = high
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x < ctx.high), None, None

    @staticmethod
    def sample_inputs():
        yield both_sides(), -1.0, 1.0


class HuberWithoutDelta(Function):
    expect = {"GT101"}
    diagnosis = "mask"
    says = "the path through `outside`"

    @staticmethod
    def forward(ctx, x, delta):
        ctx.save_for_backward(x)
        ctx.delta = delta
        inside = 0.5 * x * x
        outside = delta * (x.abs() - 0.5 * delta)
        return torch.where(x.abs() <= delta, inside, outside)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * torch.where(x.abs() <= ctx.delta, x, x.sign()), None

    @staticmethod
    def sample_inputs():
        yield both_sides(), 0.5


class EluNegativeBranch(Function):
    expect = {"GT101"}
    diagnosis = "mask"

    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x)
        ctx.alpha = alpha
        return torch.where(x > 0, x, alpha * (x.exp() - 1))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        slope = torch.where(x > 0, torch.ones_like(x), ctx.alpha * (x.exp() - 1))
        return grad_output * slope, None

    @staticmethod
    def sample_inputs():
        yield both_sides(), 1.5


class DropoutWithoutScale(Function):
    expect = {"GT101"}
    diagnosis = "factor"
    says = "differentiates `x * mask` where forward has"

    @staticmethod
    def forward(ctx, x, mask, p):
        ctx.save_for_backward(mask)
        return x * mask / (1 - p)

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output * mask, None, None

    @staticmethod
    def sample_inputs():
        yield rand(4), torch.tensor([True, False, True, True]), 0.5


class MaskedFillUnmasked(Function):
    expect = {"GT101"}
    diagnosis = "mask"
    says = "differentiates `x` where forward has"

    @staticmethod
    def forward(ctx, x, mask):
        return x.masked_fill(mask, -1e9)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone(), None

    @staticmethod
    def sample_inputs():
        yield rand(4), torch.tensor([True, False, True, False])


class TrilForgotten(Function):
    expect = {"GT101"}
    diagnosis = "mask"
    says = "differentiates `x` where forward has `x.tril()`"

    @staticmethod
    def forward(ctx, x):
        return 2 * x.tril()

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output

    @staticmethod
    def sample_inputs():
        yield (rand(3, 3),)


class MaximumToBoth(Function):
    expect = {"GT101"}
    diagnosis = "mask"
    says = "differentiates `a` where forward has `torch.maximum(a, b)`"

    @staticmethod
    def forward(ctx, a, b):
        return torch.maximum(a, b)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone(), grad_output.clone()

    @staticmethod
    def sample_inputs():
        other = torch.tensor([0.5, -1.0, 1.5, 1.0], dtype=torch.float64, requires_grad=True)
        yield both_sides(), other


class WhereSwapped(Function):
    expect = {"GT101"}
    diagnosis = "swapped"

    @staticmethod
    def forward(ctx, condition, a, b):
        ctx.save_for_backward(condition)
        return torch.where(condition, a, b)

    @staticmethod
    def backward(ctx, grad_output):
        (condition,) = ctx.saved_tensors
        zero = torch.zeros_like(grad_output)
        grad_a = torch.where(condition, zero, grad_output)
        return None, grad_a, torch.where(condition, grad_output, zero)

    @staticmethod
    def sample_inputs():
        yield torch.tensor([True, False, True, True]), rand(4), rand(4)


class TopKToFirstPlaces(Function):
    expect = {"GT101"}
    diagnosis = "other"

    @staticmethod
    def forward(ctx, x, k):
        values, _ = x.topk(k)
        ctx.n, ctx.k = x.shape[0], k
        return values

    @staticmethod
    def backward(ctx, grad_output):
        grad = torch.zeros(ctx.n, dtype=grad_output.dtype)
        grad[: ctx.k] = grad_output
        return grad, None

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.3, 2.0, -1.0, 1.5], dtype=torch.float64, requires_grad=True)
        yield x, 2


class SortNotUndone(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, x):
        values, order = x.sort()
        ctx.save_for_backward(order)
        return values

    @staticmethod
    def backward(ctx, grad_output):
        (order,) = ctx.saved_tensors
        return grad_output[order]

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.3, 2.0, -1.0, 1.5], dtype=torch.float64, requires_grad=True)
        yield (x,)


class MedianOfEqualDoubled(Function):
    """Wrong wherever it is looked at, though equal inputs hide the derivative here."""

    expect = {"GT101"}
    diagnosis = "factor"

    @staticmethod
    def forward(ctx, x):
        values, places = torch.median(x, -1, keepdim=True)
        ctx.save_for_backward(places)
        ctx.n = x.shape[-1]
        return values

    @staticmethod
    def backward(ctx, grad_output):
        (places,) = ctx.saved_tensors
        zeros = grad_output.new_zeros(*grad_output.shape[:-1], ctx.n)
        return zeros.scatter(-1, places, 2 * grad_output)

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[1.0, 1.0, 1.0, 0.5, 2.0]], dtype=torch.float64, requires_grad=True)
        yield (x,)


class LookupOverwritesRepeats(Function):
    """An embedding row that is looked up twice gets one of its two gradients."""

    expect = {"GT101"}
    diagnosis = "slice"

    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.shape = table.shape
        return table[index]

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad = torch.zeros(ctx.shape, dtype=grad_output.dtype)
        grad[index] = grad_output
        return grad, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 2), torch.tensor([1, 3, 1])


class RollSameDirection(Function):
    expect = {"GT101"}
    diagnosis = "transpose"

    @staticmethod
    def forward(ctx, x, shift):
        ctx.shift = shift
        return torch.roll(x, shift, 0)

    @staticmethod
    def backward(ctx, grad_output):
        return torch.roll(grad_output, ctx.shift, 0), None

    @staticmethod
    def sample_inputs():
        yield rand(5), 2


class FlipNotFlippedBack(Function):
    expect = {"GT101"}
    diagnosis = "order"

    @staticmethod
    def forward(ctx, x):
        return x.flip(0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone()

    @staticmethod
    def sample_inputs():
        yield (rand(4),)


class PoolOnlyFirstWindow(Function):
    expect = {"GT101"}
    diagnosis = "slice"

    @staticmethod
    def forward(ctx, x):
        return x.reshape(-1, 2).mean(1)

    @staticmethod
    def backward(ctx, grad_output):
        grad = torch.zeros(2 * grad_output.shape[0], dtype=grad_output.dtype)
        grad[:2] = grad_output[0] / 2
        return grad

    @staticmethod
    def sample_inputs():
        yield (rand(6),)


class ConvolutionKernelNotFlipped(Function):
    expect = {"GT101"}
    diagnosis = "other"
    says = "`x.unfold(0, 3, 1).flip(-1) * kernel` where forward has"

    @staticmethod
    def forward(ctx, x, kernel):
        ctx.save_for_backward(x, kernel)
        return (x.unfold(0, 3, 1) * kernel).sum(-1)

    @staticmethod
    def backward(ctx, grad_output):
        x, kernel = ctx.saved_tensors
        padded = torch.zeros(grad_output.shape[0] + 4, dtype=grad_output.dtype)
        padded[2:-2] = grad_output
        grad_x = (padded.unfold(0, 3, 1) * kernel).sum(-1)
        grad_kernel = (x.unfold(0, 3, 1) * grad_output.unsqueeze(1)).sum(0)
        return grad_x, grad_kernel

    @staticmethod
    def sample_inputs():
        yield rand(6), rand(3)


class CrossEntropyWithoutMinusOne(Function):
    expect = {"GT101"}
    diagnosis = "places"
    says = "treats `logits` outside the sum in `torch.log_softmax(logits, -1)`"

    @staticmethod
    def forward(ctx, logits, target):
        log_p = torch.log_softmax(logits, -1)
        ctx.save_for_backward(log_p, target)
        rows = torch.arange(logits.shape[0])
        return -log_p[rows, target].mean()

    @staticmethod
    def backward(ctx, grad_output):
        log_p, target = ctx.saved_tensors
        grad = log_p.exp()
        return grad_output * grad / target.shape[0], None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), torch.tensor([0, 3, 1])
