"""Functions that are given Modules or callables, and such that gather among processes."""

import torch
import torch.distributed as dist
from torch.autograd import Function


class Coupling(Function):
    """Additive coupling that computes its inputs anew; weights belong to the two Modules."""

    @staticmethod
    def forward(ctx, x, first, second, *weights):
        ctx.first, ctx.second = first, second
        with torch.no_grad():
            left, right = torch.chunk(x, 2, dim=1)
            left = left + first.forward(right)
            right = right + second.forward(left)
        ctx.save_for_backward(x)
        return torch.cat((left, right), dim=1)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        owned = [*ctx.first.parameters(), *ctx.second.parameters()]
        with torch.enable_grad():
            left, right = (part.detach().requires_grad_() for part in torch.chunk(x, 2, dim=1))
            upper = left + ctx.first.forward(right)
            lower = right + ctx.second.forward(upper)
            out = torch.cat((upper, lower), dim=1)
            grads = torch.autograd.grad(out, (left, right, *owned), grad_output)
        return torch.cat(grads[:2], dim=1), None, None, *grads[2:]


class CouplingSwapped(Function):
    @staticmethod
    def forward(ctx, y, first, second, *weights):
        ctx.first, ctx.second = first, second
        with torch.no_grad():
            left, right = torch.chunk(y, 2, dim=1)
            right = right - second.forward(left)
            left = left - first.forward(right)
        ctx.save_for_backward(y)
        return torch.cat((left, right), dim=1)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        owned = [*ctx.first.parameters(), *ctx.second.parameters()]
        with torch.enable_grad():
            left, right = (part.detach().requires_grad_() for part in torch.chunk(y, 2, dim=1))
            lower = right - ctx.second.forward(left)
            out = torch.cat((left - ctx.first.forward(lower), lower), dim=1)
            grads = torch.autograd.grad(out, (right, left, *owned), grad_output)
        return torch.cat(grads[:2], dim=1), None, None, *grads[2:]


class GatherInto(Function):
    @staticmethod
    def forward(ctx, rows, group, *gathered):
        ctx.rank = dist.get_rank(group)
        gathered = [torch.zeros_like(each) for each in gathered]
        dist.all_gather(gathered, rows, group)
        return tuple(gathered)

    @staticmethod
    def backward(ctx, *grads):
        return (grads[ctx.rank].clone(), None, *(None for _ in grads))


class GatherRows(Function):
    @staticmethod
    def forward(ctx, rows):
        gathered = [torch.zeros_like(rows) for _ in range(dist.get_world_size())]
        dist.all_gather(gathered, rows)
        return tuple(gathered)

    @staticmethod
    def backward(ctx, *grads):
        stacked = torch.stack(grads)
        dist.all_reduce(stacked)
        return stacked[dist.get_rank()]
