"""Functions of a matrix by its diagonals, whose number only the class of the matrix asserts."""

import torch
from torch.autograd import Function


def reflected(rows, before, after):
    """Move the diagonal that lies `k` behind the main one to `k` before it."""
    count, width = rows.shape
    columns = []
    for to in range(width):
        column, shift = rows[:, width - 1 - to], to - after
        entries = [
            column[at + shift] if 0 <= at + shift < count else 0 * column[0] for at in range(count)
        ]
        columns.append(torch.stack(entries))
    return torch.stack(columns, 1)


class Band:
    """A matrix that is zero outside of its diagonals."""

    def __init__(self, rows, before: int, after: int):
        count, width = rows.shape
        assert width == before + after + 1, "there is one main diagonal"
        self.rows, self.before, self.after = rows, before, after

    def transposed(self):
        """Return the transpose, which has the diagonals in the opposite order."""
        rows = Reflect.apply(self.rows, self.before, self.after)
        return Band(rows, self.after, self.before)


class ReflectBack(Function):
    @staticmethod
    def forward(ctx, rows, before, after):
        ctx.band = before, after
        return reflected(rows, before, after)

    @staticmethod
    def backward(ctx, grad):
        before, after = ctx.band
        return reflected(grad, after, before), None, None


class Reflect(Function):
    @staticmethod
    def forward(ctx, rows, before, after):
        ctx.band = before, after
        return reflected(rows, before, after)

    @staticmethod
    def backward(ctx, grad):
        before, after = ctx.band
        return ReflectBack.apply(grad, after, before), None, None
