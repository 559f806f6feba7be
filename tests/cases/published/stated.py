"""Functions whose checks, annotations and processes state their arguments."""

from __future__ import annotations

import enum

import torch
import torch.distributed as dist
from torch.autograd import Function


class Edge(enum.Enum):
    """How a difference treats the last entry."""

    WRAP = "wrap"
    DROP = "drop"


class Grid:
    """A spacing, of which the module has one."""

    def __init__(self, step):
        self.step = step


UNIT = Grid(0.5)


def split(x, group):
    """The share of this process of the last axis."""
    assert group is not None, "a group is needed"
    return x.chunk(group.size(), dim=-1)[group.rank()].contiguous()


class ScatterToRanks(Function):
    @staticmethod
    def forward(ctx, x, tp_group):
        ctx.tp_group = tp_group
        return split(x, tp_group)

    @staticmethod
    def backward(ctx, grad_output):
        parts = [torch.empty_like(grad_output) for _ in range(ctx.tp_group.size())]
        dist.all_gather(parts, grad_output, group=ctx.tp_group)
        return torch.cat(parts, dim=-1), None


class Differences(Function):
    @staticmethod
    def forward(ctx, x, edge: Edge, grid: Grid):
        ctx.edge, ctx.grid = edge, grid
        found = (x.roll(-1, dims=-1) - x) / grid.step
        return found if edge is Edge.WRAP else found[..., :-1]

    @staticmethod
    def backward(ctx, grad_output):
        grad = grad_output
        if ctx.edge is Edge.DROP:
            grad = torch.nn.functional.pad(grad_output, (0, 1))
        return (grad.roll(1, dims=-1) - grad) / ctx.grid.step, None, None


class PickedFrames(Function):
    """Checks what it is given, and says what it wants."""

    @staticmethod
    def forward(ctx, frames, labels):
        if labels.dtype is not torch.int32:
            raise TypeError(f"labels must be {torch.int32}")
        if frames.dim() != 4:
            raise ValueError("frames must be 4D")
        if labels.shape != frames.shape[:1]:
            raise ValueError("labels must have an entry for each of the first axis")
        index = labels.long()
        ctx.shape = frames.shape
        ctx.save_for_backward(index)
        return frames[torch.arange(len(index)), index]

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad = grad_output.new_zeros(ctx.shape)
        grad[torch.arange(len(index)), index] = grad_output
        return grad, None


class SoftLookup(Function):
    """Looks up rows of a table, weighted by how near a key is.

    Args: keys (N, D), table (N, E), rows (N,) int64, tau > 0 scalar tensor, shift (E,) or None.
    """

    @staticmethod
    def forward(ctx, keys, table, rows, tau, shift=None):
        weights = torch.softmax(keys @ keys[rows].T / tau, -1)
        ctx.save_for_backward(keys, table, rows, tau, weights)
        ctx.shifts = shift is not None
        found = weights @ table
        return found if shift is None else found + shift

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        keys, table, rows, tau, weights = ctx.saved_tensors
        of_weights = grad_output @ table.T
        of_scores = weights * (of_weights - (weights * of_weights).sum(-1, keepdim=True))
        of_scores = of_scores / tau
        of_keys = of_scores @ keys[rows]
        of_keys = of_keys.index_add(0, rows, of_scores.T @ keys)
        of_tau = -(of_scores * (keys @ keys[rows].T)).sum() / tau
        of_shift = grad_output.sum(0) if ctx.shifts else None
        return of_keys, weights.T @ grad_output, None, of_tau, of_shift


class PiecewiseLinear(Function):
    """The knots are searched, so they ascend."""

    @staticmethod
    def cells(x, knots):
        return (torch.searchsorted(knots, x.detach()) - 1).clamp(0, len(knots) - 2)

    @staticmethod
    def forward(ctx, x, values, knots):
        at = PiecewiseLinear.cells(x, knots)
        part = (x - knots[at]) / (knots[at + 1] - knots[at])
        if not 0 <= part.max() < 10:
            raise ValueError("the knots do not ascend")
        ctx.save_for_backward(values, knots, at, part)
        return values[at] + (values[at + 1] - values[at]) * part

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        values, knots, at, part = ctx.saved_tensors
        slope = (values[at + 1] - values[at]) / (knots[at + 1] - knots[at])
        of_values = torch.zeros_like(values)
        of_values.index_add_(0, at.flatten(), ((1 - part) * grad_output).flatten())
        of_values.index_add_(0, at.flatten() + 1, (part * grad_output).flatten())
        return grad_output * slope, of_values, None
