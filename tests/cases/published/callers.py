"""Functions whose arguments only their callers can make: blocks, plans, tables."""

import torch
from torch import nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Half(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        left, right = torch.chunk(x, 2, dim=-1)
        left = left + torch.tanh(self.first(right))
        return torch.cat([left, right + torch.tanh(self.second(left))], dim=-1)

    def undo(self, y):
        left, right = torch.chunk(y, 2, dim=-1)
        right = right - torch.tanh(self.second(left))
        return torch.cat([left - torch.tanh(self.first(right)), right], dim=-1)

    def pull_back(self, y, dy):
        with torch.no_grad():
            x = self.undo(y)
        with torch.enable_grad():
            x.requires_grad_()
            torch.autograd.backward(self(x), dy)
            return x.detach(), x.grad


class Reversible(Function):
    @staticmethod
    def forward(ctx, x, blocks):
        for block in blocks:
            x = block(x)
        ctx.save_for_backward(x)
        ctx.blocks = blocks
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        for block in ctx.blocks[::-1]:
            y, dy = block.pull_back(y, dy)
        return dy, None


class ReversibleForgetsBlock(Function):
    @staticmethod
    def forward(ctx, x, blocks):
        for block in blocks:
            x = block(x)
        ctx.save_for_backward(x)
        ctx.blocks = blocks
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        for block in ctx.blocks[:0:-1]:
            y, dy = block.pull_back(y, dy)
        return dy, None


class Stack(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList([Half(width // 2) for _ in range(depth)])

    def forward(self, x):
        return Reversible.apply(x, self.blocks) + ReversibleForgetsBlock.apply(x, self.blocks)


class Tree:
    """A binary tree over the rows of a tensor, with the number of its leaves."""

    def __init__(self, leaves):
        self.levels = []
        while leaves > 1:
            self.levels.append((leaves, leaves // 2))
            leaves //= 2


class TreeSum(Function):
    """The sums of pairs, of pairs of these, and so on."""

    @staticmethod
    def forward(ctx, x, tree):
        ctx.tree = tree
        rows = []
        for count, half in tree.levels:
            if x.shape[0] != count:
                raise ValueError("the tree is of another tensor")
            x = x[: 2 * half].reshape(half, 2, -1).sum(1)
            rows.append(x)
        return torch.cat(rows)

    @staticmethod
    def backward(ctx, grad_output):
        counts = [half for _, half in ctx.tree.levels]
        parts = torch.split(grad_output, counts)
        grad = parts[-1]
        for part in parts[-2::-1]:
            grad = torch.nn.functional.pad(grad.repeat_interleave(2, 0), (0, 0, 0, 0)) + part
        return grad.repeat_interleave(2, 0), None


def tree_sum(x: torch.Tensor):
    """Sum the rows of x (8, D) by pairs."""
    return TreeSum.apply(x, Tree(x.shape[0]))


class Weights:
    def __init__(self, first=0.5, second=2.0):
        self.first, self.second = first, second

    def combine(self, one, other):
        return self.first * one + self.second * other


class Combined(Function):
    @staticmethod
    def forward(ctx, weights, note, *terms):
        assert type(weights) is Weights
        ctx.weights = weights
        return weights.combine(*terms)

    @staticmethod
    def backward(ctx, g):
        return None, None, ctx.weights.first * g, ctx.weights.second * g


def combined(weights: Weights, *terms: torch.Tensor, note: str = "none"):
    if len(terms) != 2:
        raise ValueError("two terms are combined")
    return Combined.apply(weights, note, *terms)


class Plan:
    def __init__(self, inputs, output):
        self.inputs, self.output = inputs, output

    def run(self, *tensors):
        return torch.einsum(",".join(self.inputs) + "->" + self.output, *tensors)


def read_plan(path: str) -> Plan:
    raise AssertionError("a file is not read to find arguments")


def compile_plan(equation: str) -> Plan:
    left, output = equation.split("->")
    return Plan(left.split(","), output)


class Contracted(Function):
    @staticmethod
    def forward(ctx, plan, *tensors):
        first, second = plan.inputs
        ctx.plan = plan
        ctx.save_for_backward(*tensors)
        return plan.run(*tensors)

    @staticmethod
    def backward(ctx, g):
        (first, second), (a, b), output = ctx.plan.inputs, ctx.saved_tensors, ctx.plan.output
        return (
            None,
            torch.einsum(f"{output},{second}->{first}", g, b),
            torch.einsum(f"{first},{output}->{second}", a, g),
        )


def contracted(plan: Plan, *tensors: torch.Tensor):
    return Contracted.apply(plan, *tensors)


class Mapped(Function):
    """The two functions belong together, which only what calls it shows."""

    @staticmethod
    def forward(ctx, x, function, slope_of):
        ctx.slope_of = slope_of
        y = function(x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * ctx.slope_of(x, y), None, None


def mapped(x, function, slope_of):
    return Mapped.apply(x, function, slope_of)


def bell(x):
    def value(x):
        return (-x * x).exp()

    def slope_of(x, y):
        return -2 * x * y

    return mapped(x, value, slope_of)


class Delayed(Function):
    """Most numbers give infinite times, which the layer around it has the right ones for."""

    @staticmethod
    def forward(ctx, x, tau, threshold, horizon):
        times = tau * (1 + x.exp()).log()
        if tau < 3 or threshold > 0.5 or horizon < 10:
            return times * float("inf")
        ctx.tau = tau
        ctx.save_for_backward(x)
        return times

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.tau * x.sigmoid(), None, None, None


class DelayedLayer(torch.nn.Module):
    def __init__(
        self,
        tau: float = 4.0,
        threshold: float = 0.25,
        horizon: float = 40.0,
        scale: float = 1.0,
        low: float = 0.0,
        high: float = 1.0,
        rate: float = 0.5,
        seed: int = 0,
        points: int = 20,
        margin: float = 0.1,
        rounds: int = 3,
        level: float = 1.0,
        dtype: torch.dtype = torch.float32,
    ):
        super().__init__()
        self.numbers = tau, threshold, horizon
        self.scale = torch.nn.Parameter(torch.tensor(scale, dtype=dtype))

    def forward(self, x):
        if x.dtype != self.scale.dtype:
            raise ValueError(f"input is {x.dtype}, and the layer {self.scale.dtype}")
        return Delayed.apply(x * self.scale, *self.numbers)


class Headroom(Function):
    """A multiple of what stays below a limit, as its layer sees to."""

    @staticmethod
    def forward(ctx, x, limit: float, gain: float, scale: float):
        ctx.factor = gain * scale
        return x.clamp(max=limit) * gain * scale

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None, None, None


class HeadroomLayer(nn.Module):
    def __init__(self, limit: float = 1.0, gain: float = 2.0, scale: float = 0.5) -> None:
        super().__init__()
        self.limit, self.gain, self.scale = limit, gain, scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Headroom.apply(x.sigmoid(), self.limit, self.gain, self.scale)
