"""Functions that are wrong for unequal sets, unsorted groups, other signs, axes and reductions."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0):
    generator = torch.Generator().manual_seed(31)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class BiasOfScoresLost(Function):
    @staticmethod
    def forward(ctx, scores, bias=None):
        if bias is not None:
            scores = scores + bias
        y = scores.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (1 - y * y), None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4, 4),)


class WeightPerIndexUnscaled(Function):
    @staticmethod
    def forward(ctx, table, index, weights=None):
        rows = table[index]
        ctx.save_for_backward(rows, index, weights)
        ctx.count = len(table)
        if weights is not None:
            rows = rows * weights[..., None]
        return rows.mean(1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        rows, index, weights = ctx.saved_tensors
        spread = (grad_output / index.shape[1])[:, None].expand_as(rows)
        of_weights = None
        if weights is not None:
            of_weights = (grad_output[:, None] * rows).sum(-1)
            spread = spread * weights[..., None]
        of_table = rows.new_zeros(ctx.count, rows.shape[-1])
        of_table.index_add_(0, index.flatten(), spread.reshape(-1, rows.shape[-1]))
        return of_table, None, of_weights

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), torch.tensor([[0, 1, 2], [4, 3, 0]])


class MeanOverOneSet(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a[:, None] - b).square().sum(-1).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        scaled = 2 * grad_output * (a[:, None] - b) / len(a) ** 2
        return scaled.sum(1), -scaled.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), draw(4, 2) + 1


class MeanAsSum(Function):
    @staticmethod
    def forward(ctx, x, target, reduction="sum"):
        error = x - target
        ctx.save_for_backward(error)
        loss = error**2
        if reduction == "none":
            return loss
        return loss.sum() if reduction == "sum" else loss.mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (error,) = ctx.saved_tensors
        return 2 * grad_output * error, None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(2, 3).detach() + 1


class HalvedQuadraticForm(Function):
    """The quadratic form of any square matrix."""

    @staticmethod
    def forward(ctx, x, matrix):
        ctx.save_for_backward(x, matrix)
        return x @ matrix @ x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, matrix = ctx.saved_tensors
        return 2 * grad_output * (matrix @ x), None

    @staticmethod
    def sample_inputs():
        matrix = draw(3, 3).detach()
        yield draw(3), matrix @ matrix.T + torch.eye(3, dtype=torch.double)


class ClippedWhateverTheSign(Function):
    @staticmethod
    def forward(ctx, log_ratio, advantage, margin=0.2):
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - margin, 1 + margin)
        ctx.save_for_backward(ratio, advantage)
        ctx.margin = margin
        return torch.minimum(ratio * advantage, clipped * advantage).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        ratio, advantage = ctx.saved_tensors
        return grad_output * ratio * advantage * (ratio < 1 + ctx.margin), None, None

    @staticmethod
    def sample_inputs():
        yield draw(8), draw(8, low=0.2).detach() + 0.9


class GroupsInOrder(Function):
    @staticmethod
    def forward(ctx, x, group):
        count = torch.bincount(group, minlength=3)
        ctx.save_for_backward(count)
        return x.new_zeros(3).index_add(0, group, x)

    @staticmethod
    def backward(ctx, grad_output):
        (count,) = ctx.saved_tensors
        return grad_output.repeat_interleave(count), None

    @staticmethod
    def sample_inputs():
        yield draw(6), torch.tensor([0, 0, 1, 1, 1, 2])


class AxisFromTheFrontOnly(Function):
    @staticmethod
    def forward(ctx, x, dim=1):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.square().sum(dim)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        spread = grad_output[:, None] if ctx.dim == 1 else grad_output[None]
        return 2 * x * spread, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), 1
