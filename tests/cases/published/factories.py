"""Functions that a factory makes of kernels, which alone show what the arguments are."""

import torch
from torch.autograd import Function


def spread(weights, values, source, target):
    """Add weighted rows of values up.

    :param weights: (n_pairs, n_kinds) tensor
    :param values: (n_points, n_columns) tensor
    :param source: (n_pairs,) index of the row that is taken
    :param target: (n_pairs,) index of the row that it is added to
    """
    if target.max() >= len(values) or len(target) != len(weights):
        raise ValueError("a row of values is missing")
    terms = weights.unsqueeze(2) * values[source].unsqueeze(1)
    total = torch.zeros(len(values), *terms.shape[1:], dtype=values.dtype)
    return torch.stack([total.index_add(0, target, terms), total], dim=-1).sum(-1)


def collected(total, values, source, target):
    return (total[target] * values[source].unsqueeze(1)).sum(2)


def returned(weights, total, source, target, count):
    terms = (weights.unsqueeze(2) * total[target]).sum(1)
    made = torch.zeros(count, terms.shape[1], dtype=terms.dtype)
    return made.index_add_(0, source, terms)


def made_of(kernel):
    class Message(Function):
        @staticmethod
        def forward(ctx, a, b, i, j):
            ctx.save_for_backward(a, b, i, j)
            return kernel(a, b, i, j)

        @staticmethod
        def backward(ctx, grad):
            a, b, i, j = ctx.saved_tensors
            return collected(grad, b, i, j), returned(a, grad, i, j, len(b)), None, None

    return Message


Message = made_of(spread)


def incidence(weights, source, target, count):
    kinds = weights.shape[1]
    places = source.unsqueeze(1).expand(-1, kinds).flatten()
    ends = target.unsqueeze(1).expand(-1, kinds).flatten()
    return torch.sparse_coo_tensor(
        indices=torch.stack([ends, places]), values=weights.flatten(), size=(count, count)
    )


def blurred(weights, values, source, target):
    return torch.sparse.mm(incidence(weights, source, target, len(values)), values)


def averaged_by(kernel):
    class Average(Function):
        @staticmethod
        def forward(ctx, a, b, i, j):
            ctx.save_for_backward(a, b, i, j)
            return kernel(a, b, i, j)

        @staticmethod
        def backward(ctx, grad):
            a, b, i, j = ctx.saved_tensors
            each = (grad[j] * b[i]).sum(1, keepdim=True)
            taken = torch.zeros_like(b).index_add(0, i, a.sum(1, keepdim=True) * grad[j])
            return each.expand_as(a), taken, None, None

    return Average


Average = averaged_by(blurred)
