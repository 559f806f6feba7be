"""Right at ties: entries that are equal hide from each other which of them is meant; all right."""

import torch
from torch.autograd import Function


class TopTwoOfThreeEqual(Function):
    """No input alone moves the second largest of three equal ones: its slopes are all zero."""

    @staticmethod
    def forward(ctx, x):
        values, places = torch.topk(x, 2)
        ctx.save_for_backward(places)
        ctx.n = x.shape[-1]
        ctx.mark_non_differentiable(places)
        return values, places

    @staticmethod
    def backward(ctx, grad_values, _):
        (places,) = ctx.saved_tensors
        zeros = grad_values.new_zeros(*grad_values.shape[:-1], ctx.n)
        return zeros.scatter(-1, places, grad_values)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([1.0, 1.0, 1.0, 0.5], dtype=torch.double, requires_grad=True),)
        rows = [[1.0, 2.0, 3.0, 0.5], [2.0, 2.0, 2.0, 2.0]]
        yield (torch.tensor(rows, dtype=torch.double, requires_grad=True),)


class MedianOfEqual(Function):
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
        return zeros.scatter(-1, places, grad_output)

    @staticmethod
    def sample_inputs():
        rows = [[1.0, 1.0, 1.0, 0.5, 2.0], [0.3, 0.4, 1.0, 2.0, 3.0]]
        yield (torch.tensor(rows, dtype=torch.double, requires_grad=True),)


class SortOfEqual(Function):
    @staticmethod
    def forward(ctx, x):
        values, places = torch.sort(x)
        ctx.save_for_backward(places)
        return values

    @staticmethod
    def backward(ctx, grad_output):
        (places,) = ctx.saved_tensors
        return torch.zeros_like(grad_output).scatter(-1, places, grad_output)

    @staticmethod
    def sample_inputs():
        x = [1.0, 1.0, 1.0, 0.5, 2.0, 0.0, 0.0, 0.0, 0.0]
        yield (torch.tensor(x, dtype=torch.double, requires_grad=True),)
