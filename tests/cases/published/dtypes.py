"""Functions that refuse in backward only, or that need a dtype, a number or an object."""

from abc import ABC, abstractmethod

import torch
from torch.autograd import Function


class DoublesPicked(Function):
    @staticmethod
    def forward(ctx, x, picks):
        ctx.save_for_backward(picks)
        is_picked = torch.arange(x.shape[-1]) == picks.unsqueeze(-1)
        return x + x * is_picked.to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        (picks,) = ctx.saved_tensors
        picked = grad_output.gather(-1, index=picks.unsqueeze(-1))
        return grad_output.scatter_add(dim=-1, index=picks.unsqueeze(-1), src=picked), None


class ConjugatePairs(Function):
    """Complex numbers, stored as pairs of float32."""

    @staticmethod
    def forward(ctx, x):
        assert x.shape[-1] == 2, "Last dimension must be 2"
        pairs = x.detach().contiguous().numpy().view("complex64")
        return torch.from_numpy(pairs.conj().view("float32"))

    @staticmethod
    def backward(ctx, grad_output):
        return ConjugatePairs.apply(grad_output)


class Between(Function):
    @staticmethod
    def forward(ctx, x, start, end):
        if end < start:
            start, end = end, start
        ctx.save_for_backward(x)
        ctx.length = float(end - start)
        return x * ctx.length

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.length, None, None


class Group(ABC):
    @property
    @abstractmethod
    def size(self) -> int: ...


class Alone(Group):
    def __init__(self, device: torch.device) -> None:
        self.kind = device.type

    @property
    def size(self) -> int:
        return 1


class DividedAmong(Function):
    @staticmethod
    def forward(ctx, x, group: Group):
        ctx.size = group.size
        return x / group.size

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output / ctx.size, None


class FirstOf(Function):
    @staticmethod
    def forward(ctx, x, constants: list[torch.Tensor]):
        ctx.save_for_backward(constants[0])
        return x * constants[0].detach()

    @staticmethod
    def backward(ctx, grad_output):
        (constant,) = ctx.saved_tensors
        return grad_output * constant, None


class CosineOfOrder(Function):
    """Called with complex numbers, of which it reads the real part."""

    @staticmethod
    def forward(ctx, n, z):
        ctx.n = int(n)
        z = z.to(torch.complex128)
        ctx.save_for_backward(z)
        return torch.cos(ctx.n * z.real).to(z.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        (z,) = ctx.saved_tensors
        return None, -ctx.n * torch.sin(ctx.n * z.real) * grad_output


class QuantisedGradient(Function):
    """Keeps the gradient in a class of tensors that only PyTorch can make."""

    @staticmethod
    def forward(ctx, x: torch.Tensor, block_size: int):
        ctx.block_size = block_size
        return x

    @staticmethod
    def backward(ctx, grad_output):
        assert grad_output.numel() % ctx.block_size == 0
        return torch.Tensor._make_wrapper_subclass(torch.Tensor, grad_output.shape), None


class SquaredIn(Function):
    """The squares of numbers that are stored in a byte each; only the range of these matters."""

    @staticmethod
    def forward(ctx, x, fp8_dtype):
        if torch.finfo(fp8_dtype).bits != 8:
            raise ValueError("unsupported dtype")
        ctx.save_for_backward(x)
        ctx.largest = torch.finfo(fp8_dtype).max
        return x.to(fp8_dtype).to(x.dtype) * 0 + x * x / ctx.largest

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output / ctx.largest, None
