"""Right Functions of labels, masks, lengths, constants and combined options."""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0):
    generator = torch.Generator().manual_seed(29)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class MaskedMean(Function):
    @staticmethod
    def forward(ctx, x, keep):
        count = keep.sum(-1).clamp(min=1)
        ctx.save_for_backward(keep, count)
        return x.masked_fill(~keep, 0.0).sum(-1) / count

    @staticmethod
    def backward(ctx, grad_output):
        keep, count = ctx.saved_tensors
        return (grad_output / count)[..., None] * keep, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.ones(3, 4, dtype=torch.bool)


class MaskedSoftmax(Function):
    """Each row keeps at least one entry."""

    @staticmethod
    def forward(ctx, x, keep):
        y = x.masked_fill(~keep, -torch.inf).softmax(-1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * (grad_output - (y * grad_output).sum(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.ones(3, 4, dtype=torch.bool)


class MeanOfSteps(Function):
    @staticmethod
    def forward(ctx, x, lengths):
        valid = torch.arange(x.shape[1]) < lengths[:, None]
        ctx.save_for_backward(valid, lengths)
        return (x * valid).sum(1) / lengths

    @staticmethod
    def backward(ctx, grad_output):
        valid, lengths = ctx.saved_tensors
        return (grad_output / lengths)[:, None] * valid, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 5), torch.tensor([5, 5, 5])


class DirichletEnergy(Function):
    """Half of the quadratic form of a graph Laplacian."""

    @staticmethod
    def forward(ctx, x, laplacian):
        product = laplacian @ x
        ctx.save_for_backward(product)
        return (x * product).sum() / 2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (product,) = ctx.saved_tensors
        return grad_output * product, None

    @staticmethod
    def sample_inputs():
        weights = draw(4, 4, low=0.1).detach()
        weights = weights + weights.T
        yield draw(4), torch.diag(weights.sum(1)) - weights


class GroupMeans(Function):
    """Means of three groups, which all have members."""

    @staticmethod
    def forward(ctx, x, group):
        count = torch.bincount(group, minlength=3).to(x.dtype)
        ctx.save_for_backward(group, count)
        return x.new_zeros(3).index_add(0, group, x) / count

    @staticmethod
    def backward(ctx, grad_output):
        group, count = ctx.saved_tensors
        return (grad_output / count)[group], None

    @staticmethod
    def sample_inputs():
        yield draw(6), torch.tensor([0, 2, 1, 0, 1, 2])


class SoftmaxAlongAny(Function):
    @staticmethod
    def forward(ctx, x, dim=1):
        y = x.softmax(dim)
        ctx.save_for_backward(y)
        ctx.dim = dim
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * (grad_output - (grad_output * y).sum(ctx.dim, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 1


class StridedConvolution(Function):
    @staticmethod
    def forward(ctx, x, kernel, stride=1, padding=(0, 0)):
        ctx.save_for_backward(x, kernel)
        ctx.stride, ctx.padding = stride, padding
        padded = F.pad(x, padding)
        return F.conv1d(padded[None, None], kernel[None, None], stride=stride)[0, 0]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, kernel = ctx.saved_tensors
        left, right = ctx.padding
        grad = x.new_zeros(len(x) + left + right)
        padded = F.pad(x, ctx.padding)
        of_kernel = torch.zeros_like(kernel)
        for at, value in enumerate(grad_output):
            start = at * ctx.stride
            grad[start : start + len(kernel)] += value * kernel
            of_kernel += value * padded[start : start + len(kernel)]
        return grad[left : left + len(x)], of_kernel, None, None

    @staticmethod
    def sample_inputs():
        yield draw(7), draw(3), 1, (1, 1)


class BatchNormOrNot(Function):
    @staticmethod
    def forward(ctx, x, mean, var, training=True):
        if training:
            mean, var = x.mean(0), x.var(0, unbiased=False)
        scale = (var + 1e-5).rsqrt()
        y = (x - mean) * scale
        ctx.save_for_backward(y, scale)
        ctx.training = training
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, scale = ctx.saved_tensors
        if not ctx.training:
            return grad_output * scale, None, None, None
        inner = grad_output - grad_output.mean(0) - y * (grad_output * y).mean(0)
        return inner * scale, None, None, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 3), torch.zeros(3).double() + 0.2, torch.ones(3).double() * 0.7, True


class Padded(Function):
    @staticmethod
    def forward(ctx, x, padding=(1, 1)):
        ctx.padding = padding
        return F.pad(x, padding)

    @staticmethod
    def backward(ctx, grad_output):
        left, right = ctx.padding
        return grad_output[..., left : grad_output.shape[-1] - right], None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class RowsByTwoOrders(Function):
    """The two orders undo each other."""

    @staticmethod
    def forward(ctx, x, order, inverse):
        ctx.save_for_backward(inverse)
        return x.gather(1, order)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (inverse,) = ctx.saved_tensors
        return grad_output.gather(1, inverse), None, None

    @staticmethod
    def sample_inputs():
        order = torch.tensor([[1, 2, 0], [2, 1, 0]])
        yield draw(2, 3), order, order.argsort(1)
