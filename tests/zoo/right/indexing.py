"""Gather, scatter, segments, quantisers and other work at positions; all right."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class ScatterMean(Function):
    """The mean of the rows of each segment, as graph networks take it; some segments are empty."""

    @staticmethod
    def forward(ctx, source, index, size):
        total = source.new_zeros(size, source.shape[1]).index_add(0, index, source)
        ones = source.new_ones(len(index))
        count = source.new_zeros(size).index_add(0, index, ones).clamp(min=1)
        ctx.save_for_backward(index, count)
        return total / count[:, None]

    @staticmethod
    def backward(ctx, grad_output):
        index, count = ctx.saved_tensors
        return (grad_output / count[:, None])[index], None, None

    @staticmethod
    def sample_inputs():
        yield rand(5, 2), torch.tensor([0, 3, 0, 1, 3]), 5


class GatherAlong(Function):
    @staticmethod
    def forward(ctx, x, dim, index):
        ctx.save_for_backward(index)
        ctx.dim, ctx.shape = dim, x.shape
        return x.gather(dim, index)

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad = torch.zeros(ctx.shape, dtype=grad_output.dtype, device=grad_output.device)
        return grad.scatter_add(ctx.dim, index, grad_output), None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), 1, torch.tensor([[0, 0], [3, 1], [2, 2]])
        yield rand(3, 4), 0, torch.tensor([[0, 2, 1, 1]])


class SegmentSoftmax(Function):
    """Attention over the neighbours of each node."""

    @staticmethod
    def forward(ctx, scores, segment, size):
        most = scores.new_full((size,), -1e30).scatter_reduce(0, segment, scores, "amax")
        weights = (scores - most[segment]).exp()
        total = scores.new_zeros(size).index_add(0, segment, weights)
        result = weights / total[segment]
        ctx.save_for_backward(result, segment)
        ctx.size = size
        return result

    @staticmethod
    def backward(ctx, grad_output):
        result, segment = ctx.saved_tensors
        inner = grad_output.new_zeros(ctx.size).index_add(0, segment, grad_output * result)
        return result * (grad_output - inner[segment]), None, None

    @staticmethod
    def sample_inputs():
        yield rand(6), torch.tensor([0, 1, 0, 2, 1, 0]), 3


class EmbeddingBag(Function):
    """Sums of rows of a table, with padding that stays without gradient."""

    @staticmethod
    def forward(ctx, table, indices, padding=0):
        ctx.save_for_backward(indices)
        ctx.rows, ctx.padding = table.shape[0], padding
        kept = (indices != padding).to(table.dtype)
        return (table[indices] * kept[..., None]).sum(1)

    @staticmethod
    def backward(ctx, grad_output):
        (indices,) = ctx.saved_tensors
        kept = (indices != ctx.padding).to(grad_output.dtype)
        rows = (grad_output[:, None, :] * kept[..., None]).reshape(-1, grad_output.shape[-1])
        grad = grad_output.new_zeros(ctx.rows, grad_output.shape[-1])
        return grad.index_add(0, indices.reshape(-1), rows), None, None

    @staticmethod
    def sample_inputs():
        yield rand(5, 3), torch.tensor([[1, 2, 0], [4, 4, 1]])


class MaxPoolPairs(Function):
    """Keeps the places of the maxima on ctx: integers have no gradient to lose."""

    @staticmethod
    def forward(ctx, x):
        pairs = x.reshape(x.shape[0], -1, 2)
        values, ctx.places = pairs.max(dim=2)
        ctx.shape = x.shape
        return values

    @staticmethod
    def backward(ctx, grad_output):
        grad = grad_output.new_zeros(*grad_output.shape, 2)
        grad = grad.scatter(2, ctx.places[..., None], grad_output[..., None])
        return grad.reshape(ctx.shape)

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[0.1, 2.0, -1.0, -3.0], [4.0, 0.5, 0.2, 0.9]], dtype=torch.float64)
        yield (x.requires_grad_(),)


class SparseMatmul(Function):
    """A sparse matrix as its indices and values."""

    @staticmethod
    def forward(ctx, rows, columns, values, dense, size):
        ctx.save_for_backward(rows, columns, values, dense)
        return dense.new_zeros(size, dense.shape[1]).index_add(
            0, rows, values[:, None] * dense[columns]
        )

    @staticmethod
    def backward(ctx, grad_output):
        rows, columns, values, dense = ctx.saved_tensors
        grad_values = grad_dense = None
        if ctx.needs_input_grad[2]:
            grad_values = (grad_output[rows] * dense[columns]).sum(1)
        if ctx.needs_input_grad[3]:
            grad_dense = torch.zeros_like(dense).index_add(
                0, columns, values[:, None] * grad_output[rows]
            )
        return None, None, grad_values, grad_dense, None

    @staticmethod
    def sample_inputs():
        rows, columns = torch.tensor([0, 0, 2, 3]), torch.tensor([1, 2, 0, 1])
        yield rows, columns, rand(4), rand(3, 2), 4


class LearnedStep(Function):
    """Interpolation on a learned grid: a table, and a position that picks two rows of it."""

    @staticmethod
    def forward(ctx, position, table):
        low = position.floor().clamp(0, len(table) - 2).long()
        part = position - low
        ctx.save_for_backward(low, part, table)
        return table[low] * (1 - part) + table[low + 1] * part

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        low, part, table = ctx.saved_tensors
        grad_position = grad_output * (table[low + 1] - table[low])
        grad_table = torch.zeros_like(table)
        grad_table.index_add_(0, low, grad_output * (1 - part))
        grad_table.index_add_(0, low + 1, grad_output * part)
        return grad_position, grad_table

    @staticmethod
    def sample_inputs():
        position = torch.tensor([0.3, 2.6, 1.2, 0.9], dtype=torch.float64, requires_grad=True)
        yield position, rand(4)


class ClippedRange(Function):
    """Asymmetric clipping, whose bounds are learned as in quantisation-aware training."""

    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x, low, high)
        return torch.minimum(torch.maximum(x, low), high)

    @staticmethod
    def backward(ctx, grad_output):
        x, low, high = ctx.saved_tensors
        below, above = x < low, x > high
        inside = ~(below | above)
        return (
            grad_output * inside,
            (grad_output * below).sum().reshape(low.shape),
            (grad_output * above).sum().reshape(high.shape),
        )

    @staticmethod
    def sample_inputs():
        x = torch.tensor([-2.0, -0.4, 0.3, 0.9, 2.5], dtype=torch.float64, requires_grad=True)
        low = torch.tensor([-0.5], dtype=torch.float64, requires_grad=True)
        yield x, low, torch.tensor([1.0], dtype=torch.float64, requires_grad=True)


class Repeats(Function):
    @staticmethod
    def forward(ctx, x, times: int):
        ctx.times = times
        return x.repeat_interleave(times, dim=0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.reshape(-1, ctx.times, *grad_output.shape[1:]).sum(1), None

    @staticmethod
    def sample_inputs():
        yield rand(3, 2), 4


class MaskedSelect(Function):
    """An output whose size depends on the mask."""

    @staticmethod
    def forward(ctx, x, mask):
        ctx.save_for_backward(mask)
        ctx.shape = x.shape
        return x[mask]

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output.new_zeros(ctx.shape).masked_scatter(mask, grad_output), None

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), torch.tensor([[True, False, True], [False, False, True]])
