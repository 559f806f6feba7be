"""Right Functions of points, matrices, queries, lengths and optional tensors."""

import torch
from torch.autograd import Function


def draw(*shape, low=-1.0, high=1.0, seed=151):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class AxisOfTurn(Function):
    """The axis of a rotation times its trace, from the antisymmetric part of its matrix."""

    @staticmethod
    def forward(ctx, turn):
        x = turn[..., 2, 1] - turn[..., 1, 2]
        y = turn[..., 0, 2] - turn[..., 2, 0]
        z = turn[..., 1, 0] - turn[..., 0, 1]
        trace = turn.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
        ctx.save_for_backward(turn)
        return torch.stack([x, y, z], -1) * trace

    @staticmethod
    def backward(ctx, g):
        (turn,) = ctx.saved_tensors
        places = [(2, 1), (0, 2), (1, 0)]
        trace = turn.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
        axis = torch.stack([turn[..., a, b] - turn[..., b, a] for a, b in places], -1)
        out = (g * axis).sum(-1)[..., None, None] * torch.eye(3, dtype=g.dtype)
        for at, (a, b) in enumerate(places):
            out[..., a, b] = out[..., a, b] + (g * trace)[..., at]
            out[..., b, a] = out[..., b, a] - (g * trace)[..., at]
        return out

    @staticmethod
    def sample_inputs():
        yield (draw(2, 3, 3, seed=168),)


class CornersOfCell(Function):
    """Weights of the corners of a cell around points in the unit square."""

    @staticmethod
    def forward(ctx, points, features):
        ctx.save_for_backward(points, features)
        x, y = points[:, :1], points[:, 1:]
        return x * y * features + (1 - x) * (1 - y)

    @staticmethod
    def backward(ctx, g):
        points, features = ctx.saved_tensors
        x, y = points[:, :1], points[:, 1:]
        of_x = (g * (y * features - (1 - y))).sum(1, keepdim=True)
        of_y = (g * (x * features - (1 - x))).sum(1, keepdim=True)
        return torch.cat([of_x, of_y], 1), g * x * y

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, low=0.1, high=0.9, seed=169), draw(3, 2, seed=170)


class LengthOfRows(Function):
    """The length of rows, which has no derivative where a row is zero."""

    @staticmethod
    def forward(ctx, x):
        length = x.norm(dim=1)
        ctx.save_for_backward(x, length)
        return length

    @staticmethod
    def backward(ctx, g):
        x, length = ctx.saved_tensors
        return (g / length)[:, None] * x

    @staticmethod
    def sample_inputs():
        yield (draw(3, 2, seed=171),)


class RowsByIndex(Function):
    """Rows of a table, whose indices are not negative."""

    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.shape = table.shape
        return table[index]

    @staticmethod
    def backward(ctx, g):
        (index,) = ctx.saved_tensors
        return g.new_zeros(ctx.shape).index_add(0, index, g), None

    @staticmethod
    def sample_inputs():
        yield draw(5, 2, seed=172), torch.tensor([0, 1, 3])


class RowsOfMatrix(Function):
    """The rows of a matrix, divided by their sum, as columns."""

    @staticmethod
    def forward(ctx, x):
        y = x / x.sum(-1, keepdim=True)
        ctx.save_for_backward(x)
        return y.T

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        y = x / x.sum(-1, keepdim=True)
        g = g.T
        return (g - (g * y).sum(1, keepdim=True)) / x.sum(1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4, low=0.5, high=1.5, seed=173),)


class SizedDifference(Function):
    """The distance of rows from a center that both have."""

    @staticmethod
    def forward(ctx, x, center):
        moved = x - center
        size = (x * x).sum(-1, keepdim=True) + (center * center).sum(-1, keepdim=True)
        ctx.save_for_backward(x, center)
        return moved * size

    @staticmethod
    def backward(ctx, g):
        x, center = ctx.saved_tensors
        moved = x - center
        size = (x * x).sum(-1, keepdim=True) + (center * center).sum(-1, keepdim=True)
        inner = (g * moved).sum(-1, keepdim=True)
        of_x, of_center = g * size + 2 * x * inner, -g * size + 2 * center * inner
        return of_x.sum_to_size(x.shape), of_center.sum_to_size(center.shape)

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=174), draw(3, 2, seed=175)
