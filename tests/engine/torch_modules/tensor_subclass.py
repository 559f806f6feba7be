"""Tensors of classes of one's own, which operations keep or hand to the class."""

import torch
from torch import nn


class Length(torch.Tensor):
    """Keeps its class through operations."""


class Logged(torch.Tensor):
    """Notes the operations that it takes part in."""

    seen: list[str] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class Wrapper(torch.Tensor):
    """Holds a tensor that operations are done with."""

    def __new__(cls, held):
        made = torch.Tensor._make_subclass(cls, held)
        made.held = held
        return made

    def __init__(self, held):
        pass

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        args = tuple(each.held if isinstance(each, cls) else each for each in args)
        out = func(*args, **(kwargs or {}))
        return cls(out) if isinstance(out, torch.Tensor) else out


class Refusing(torch.Tensor):
    """Takes part in nothing."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Same(torch.autograd.Function):
    """Returns its argument."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        print("backward", name(grad), name(x), name(grad * x))
        return grad


def name(value):
    return type(value).__name__


x = torch.ones(2, 3).as_subclass(Length)
plain = torch.ones(2, 3)
results = [
    torch.cat([x, plain]), nn.functional.relu(x), torch.add(plain, x), plain + x, 1 - x, x.add_(1),
    x.t(), x.max(0)[0], x.split(1)[0], x > 1, x[0], x @ x.t(), x.sum(0), x.detach(), x.numpy(),
    torch.zeros_like(x), nn.Linear(3, 2)(x), torch.stack([x, x]), x.tolist(), torch.linalg.norm(x),
]  # fmt: skip
print(*map(name, results))
print(x)

leaf = torch.Tensor._make_subclass(Length, torch.ones(2), True)
(leaf * 2).sum().backward()
print(leaf.is_leaf, name(leaf.grad), leaf.grad.tolist())
y = torch.ones(2, requires_grad=True).as_subclass(Length)
print(y.grad_fn.name(), y.is_leaf)
Same.apply(leaf).sum().backward()

logged = torch.ones(2).as_subclass(Logged)
(torch.sin(logged) + 1).sum()
print(Logged.seen)
with torch._C.DisableTorchFunctionSubclass():
    print(name(logged * 2), len(Logged.seen))

wrapper = Wrapper(torch.tensor([1.0, 2.0]))
print(name(wrapper * 2), (wrapper * 2).held.tolist(), name(Same.apply(wrapper)))
try:
    torch.sin(torch.ones(2).as_subclass(Refusing))
except TypeError as error:
    print(str(error).splitlines()[0])
try:
    plain.as_subclass(int)
except TypeError as error:
    print(error)
