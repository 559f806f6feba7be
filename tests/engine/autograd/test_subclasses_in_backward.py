"""A user's backward sees subclasses of Tensor, unless one of them started the walk."""

from __future__ import annotations


def test_a_subclass_that_was_saved_keeps_its_class(torch):
    class Length(torch.Tensor):
        pass

    seen = []

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.save_for_backward(scale)
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            (scale,) = ctx.saved_tensors
            seen.append(type(torch.mul(grad, scale)))
            return grad, None

    scale = torch.ones(2).as_subclass(Length)
    x = torch.ones(2, requires_grad=True)
    Scaled.apply(x, scale).sum().backward()
    Scaled.apply(x, scale).sum().as_subclass(Length).backward()
    assert seen == [Length, torch.Tensor]
