"""Collectives in groups that the package has to set up, or that it names."""

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol

_MODEL_PARALLEL_GROUP = None


def setup(ranks):
    global _MODEL_PARALLEL_GROUP
    _MODEL_PARALLEL_GROUP = dist.new_group(ranks)


def get_group():
    assert _MODEL_PARALLEL_GROUP is not None, "setup was not called"
    return _MODEL_PARALLEL_GROUP


class Reduced(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return funcol.all_reduce(x, "sum", get_group())

    @staticmethod
    def backward(ctx, grad):
        return funcol.all_reduce(grad, "sum", get_group())


_POLAR_GROUP = None


def set_polar(ranks):
    global _POLAR_GROUP
    _POLAR_GROUP = dist.new_group(ranks)


def has_polar():
    return _POLAR_GROUP is not None


class HaloReduced(torch.autograd.Function):
    """Without a group there are no neighbours, whatever the number of rows."""

    @staticmethod
    def forward(ctx, x, rows):
        ctx.rows = rows
        return x[rows:-rows].contiguous() if has_polar() else x * 2

    @staticmethod
    def backward(ctx, grad):
        return torch.nn.functional.pad(grad, (0, 0, 1, 1)) if has_polar() else grad * 2, None


class Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group_size: int, group_name: str):
        ctx.group = group_size, group_name
        out = torch.ops._c10d_functional.all_gather_into_tensor(x, group_size, group_name)
        return torch.ops._c10d_functional.wait_tensor(out)

    @staticmethod
    def backward(ctx, grad):
        ops = torch.ops._c10d_functional
        return ops.wait_tensor(ops.reduce_scatter_tensor(grad, "sum", *ctx.group)), None, None


class Exchanged(torch.autograd.Function):
    """The mean over the processes, of which there is one."""

    @staticmethod
    def forward(ctx, x, group_name: str, group_size: int, divide: bool):
        ctx.group = group_name, group_size, divide
        sizes = [x.shape[0]]
        return torch.distributed._functional_collectives.all_to_all_single(
            x, sizes, sizes, group_name
        )

    @staticmethod
    def backward(ctx, grad):
        group_name, group_size, divide = ctx.group
        sizes = [grad.shape[0]]
        grad = torch.distributed._functional_collectives.all_to_all_single(
            grad, sizes, sizes, group_name
        )
        return grad / group_size if divide else grad, None, None, None
