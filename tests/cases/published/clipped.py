"""A quantiser with learned clips, which a layer keeps in an attribute and calls with its flags."""

import torch
from torch import nn
from torch.autograd import Function


def clamp(values, low, high):
    return torch.where(values < low, low, torch.where(values > high, high, values))


class Counted(Function):
    """Quantise to an even grid between two learned clips; straight-through in backward."""

    @staticmethod
    def forward(ctx, x, floor_at, cut_at, as_values):
        ctx.save_for_backward(x, floor_at, cut_at)
        step = (cut_at - floor_at) / 7.0
        counts = torch.round(clamp(x, floor_at.data, cut_at.data) / step)
        return counts * step if as_values else counts

    @staticmethod
    def backward(ctx, grad):
        x, floor_at, cut_at = ctx.saved_tensors
        below, above = x <= floor_at, x >= cut_at
        on_floor = torch.where(below, grad, torch.zeros_like(grad)).sum().expand_as(floor_at)
        on_cut = torch.where(above, grad, torch.zeros_like(grad)).sum().expand_as(cut_at)
        return torch.where(below | above, torch.zeros_like(grad), grad), on_floor, on_cut, None


class CountedCoarsely(Counted):
    pass


class Activation(nn.Module):
    def __init__(self, coarse=False, as_values=True):
        super().__init__()
        self.floor_at = nn.Parameter(torch.tensor([-2.0]))
        self.cut_at = nn.Parameter(torch.tensor([2.0]))
        self.as_values = as_values
        self.quantiser = CountedCoarsely if coarse else Counted

    def forward(self, x):
        return self.quantiser.apply(x, self.floor_at, self.cut_at, self.as_values)
