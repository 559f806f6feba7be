"""Strings and members of enums that select a branch, in forward and in helpers."""

from __future__ import annotations

import enum

from torch.autograd import Function


class Norm(enum.Enum):
    """Directions of a sum."""

    ROWS = "rows"
    COLUMNS = "columns"


def _padding(mode: str) -> str:
    if mode == "periodization":
        return "circular"
    if mode == "reflected":
        return "reflect"
    raise ValueError(f"Unknown pad type: {mode}")


class PaddedDifference(Function):
    """The string is compared in a helper."""

    @staticmethod
    def forward(ctx, x, mode):
        ctx.padding = _padding(mode)
        if ctx.padding == "circular":
            return x.roll(1, -1) - x
        return x.flip(-1) - x

    @staticmethod
    def backward(ctx, grad_output):
        if ctx.padding == "circular":
            return grad_output.roll(-1, -1) - grad_output, None
        return grad_output.flip(-1) - grad_output, None


class PaddedDifferenceRolledTwice(Function):
    """A backward that rolls in the wrong direction."""

    @staticmethod
    def forward(ctx, x, mode):
        ctx.padding = _padding(mode)
        if ctx.padding == "circular":
            return x.roll(1, -1) - x
        return x.flip(-1) - x

    @staticmethod
    def backward(ctx, grad_output):
        if ctx.padding == "circular":
            return grad_output.roll(1, -1) - grad_output, None
        return grad_output.flip(-1) - grad_output, None


class SumAlong(Function):
    """A member of an enum is compared with."""

    @staticmethod
    def forward(ctx, x, norm):
        if norm == Norm.ROWS:
            dim = 0
        elif norm == Norm.COLUMNS:
            dim = 1
        else:
            raise NotImplementedError(norm)
        ctx.dim, ctx.size = dim, x.shape[dim]
        return x.sum(dim)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.unsqueeze(ctx.dim).repeat_interleave(ctx.size, ctx.dim), None


class Activation(Function):
    """The message lists what it takes."""

    @staticmethod
    def forward(ctx, x, kind):
        table = {"softsign": lambda v: v / (1 + v.abs()), "gaussian": lambda v: (-v * v).exp()}
        if kind not in table:
            raise KeyError("kind must be one of softsign, gaussian")
        ctx.kind = kind
        ctx.save_for_backward(x)
        return table[kind](x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        if ctx.kind == "softsign":
            return grad_output / (1 + x.abs()) ** 2, None
        return -2 * x * (-x * x).exp() * grad_output, None


class CastAndScale(Function):
    """A dtype, in whose place a tensor would be accepted and show nothing."""

    @staticmethod
    def forward(ctx, x, target):
        ctx.before = x.dtype
        return x.to(target) * 3.0

    @staticmethod
    def backward(ctx, grad_output):
        return (grad_output * 3.0).to(ctx.before), None


_LEVELS = {"int2": 2, "int4": 8, "int8": 128}


def _quantized(x, scale, scheme, kind):
    if kind not in _LEVELS:
        raise ValueError(f"Unsupported kind: {kind}")
    return _by_scheme(x, scale, scheme, _LEVELS[kind], kind)


def _by_tensor(x, scale, levels):
    return (x / scale.item()).tanh() * levels


def _by_scheme(x, scale, scheme, levels, kind):
    if scheme == "per_tensor":
        return _by_tensor(x, scale, levels)
    raise ValueError(f"Unsupported scheme: {scheme} for kind {kind}")


class Schemes(Function):
    """Two words that are refused one after the other, and then a tensor above that line."""

    @staticmethod
    def forward(ctx, x, scale, scheme: str, kind: str):
        out = _quantized(x, scale, scheme, kind)
        ctx.save_for_backward(x, scale)
        ctx.levels = _LEVELS[kind]
        return out

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        slope = 1 - (x / scale).tanh() ** 2
        return grad_output * slope * ctx.levels / scale, None, None, None
