"""Functions that are wrong only in double backward, in forward mode or under vmap."""

import torch
from torch.autograd import Function


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


def normal(*shape):
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(4))


class GainOfNorm(Function):
    """The sum of `x` over its norm, times a gain."""

    @staticmethod
    def forward(x, gain):
        return gain * x.sum() / x.norm()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, gain = ctx.saved_tensors
        size, total = x.norm(), x.sum()
        return g * gain * (1 / size - total * x / size**3), g * total / size

    @staticmethod
    def jvp(ctx, tx, tgain):
        x, gain = ctx.saved_tensors
        size = x.norm()
        return gain * (tx.sum() / size - x.sum() * (x * tx).sum() / size**3)

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.5, -1.2, 0.8], dtype=torch.float64, requires_grad=True)
        yield x, torch.tensor(1.3, dtype=torch.float64)


class CosineOfUnitRows(Function):
    """Cosine of the angle between rows, with a jvp."""

    @staticmethod
    def forward(x, y):
        return (x * y).sum(-1) / (x.norm(dim=-1) * y.norm(dim=-1))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)
        ctx.save_for_forward(*inputs, output)

    @staticmethod
    def backward(ctx, g):
        x, y, cosine = (each.unsqueeze(-1) if each.ndim < 2 else each for each in ctx.saved_tensors)
        one, two = x.norm(dim=-1, keepdim=True), y.norm(dim=-1, keepdim=True)
        g = g.unsqueeze(-1) / one
        return g * (y / two - cosine * x / one), g * (x / two - cosine * y * one / two**2)

    @staticmethod
    def jvp(ctx, of_x, of_y):
        x, y, cosine = ctx.saved_tensors
        one, two = x.norm(dim=-1), y.norm(dim=-1)
        change = (of_x * y + x * of_y).sum(-1) / (one * two)
        return change - cosine * ((x * of_x).sum(-1) / one + (y * of_y).sum(-1) / two)

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[0.6, 0.8, 0.0], [0.48, 0.6, 0.64]], dtype=torch.double)
        y = torch.tensor([[0.36, 0.48, -0.8], [0.8, 0.0, 0.6]], dtype=torch.double)
        yield x.requires_grad_(), y.requires_grad_()


class SmoothMaximumAtATemperature(Function):
    """heat * logsumexp(x / heat); heat is a float or a scalar tensor that is learned."""

    @staticmethod
    def forward(ctx, x, heat):
        out = heat * torch.logsumexp(x / heat, -1)
        ctx.heat = float(heat)
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx, g):
        x, out = ctx.saved_tensors
        gap = (x - out.unsqueeze(-1)) / ctx.heat
        share = gap.exp()
        slope = g.unsqueeze(-1) * share
        return slope, -(slope * gap).sum() if ctx.needs_input_grad[1] else None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), 0.5


class StandardizedWithKeptStatistics(Function):
    """Standardize rows, from statistics that are kept or computed again."""

    @staticmethod
    def forward(ctx, x, again=True):
        centered = x - x.mean(-1, keepdim=True)
        scale = torch.rsqrt(centered.square().mean(-1, keepdim=True) + 1e-5)
        ctx.again = again
        ctx.save_for_backward(*([x] if again else [centered * scale, scale]))
        return centered * scale

    @staticmethod
    def backward(ctx, g):
        if ctx.again:
            (x,) = ctx.saved_tensors
            centered = x - x.mean(-1, keepdim=True)
            scale = torch.rsqrt(centered.square().mean(-1, keepdim=True) + 1e-5)
            normal = centered * scale
        else:
            normal, scale = ctx.saved_tensors
        of_rows = g.mean(-1, keepdim=True) + normal * (g * normal).mean(-1, keepdim=True)
        return scale * (g - of_rows), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), True


class DetachedWhereLarge(Function):
    """A cube whose gradient is a constant as soon as one entry is large."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if (x > 50).any():
            x = x.detach()
        return 3 * g * x * x

    @staticmethod
    def sample_inputs():
        yield (draw(3, 2),)


class ScaleUnderVmap(Function):
    """A product whose factors are broadcast."""

    @staticmethod
    def forward(x, factor):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, factor = ctx.saved_tensors
        return (g * factor).sum_to_size(x.shape), (g * x).sum_to_size(factor.shape)

    @staticmethod
    def vmap(info, in_dims, x, factor):
        x = x if in_dims[0] is None else x.movedim(in_dims[0], 0)
        factor = factor if in_dims[1] is None else factor.movedim(in_dims[1], 0)
        return ScaleUnderVmap.apply(x, factor), 0

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, seed=134), draw(3, 4, seed=135)


class BatchAxisBeforeAxis(Function):
    @staticmethod
    def forward(x, axis=-1):
        return x.cumsum(axis)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.axis = inputs[1]

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.flip(ctx.axis).cumsum(ctx.axis).flip(ctx.axis), None

    @staticmethod
    def vmap(info, in_dims, x, axis):
        return BatchAxisBeforeAxis.apply(x.movedim(in_dims[0], 0), axis), 0

    @staticmethod
    def sample_inputs():
        yield (normal(3, 4), -1)


class TangentWithoutTime(Function):
    @staticmethod
    def forward(x, time):
        return torch.exp(time * x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)
        ctx.save_for_forward(*inputs, output)

    @staticmethod
    def backward(ctx, grad_output):
        x, time, output = ctx.saved_tensors
        return grad_output * time * output, (grad_output * x * output).sum()

    @staticmethod
    def jvp(ctx, x_tangent, time_tangent):
        x, _, output = ctx.saved_tensors
        return output * x_tangent + x * output * time_tangent

    @staticmethod
    def sample_inputs():
        yield (normal(4), torch.ones(()).double())


class PowerSlope(Function):
    @staticmethod
    def forward(ctx, x, grad, power):
        ctx.save_for_backward(x, grad)
        ctx.power = power
        return grad * power * x ** (power - 1)

    @staticmethod
    def backward(ctx, grad_output):
        x, grad = ctx.saved_tensors
        return 2 * grad_output * grad, grad_output * ctx.power * x ** (ctx.power - 1), None

    @staticmethod
    def sample_inputs():
        yield (normal(3).abs() + 1, normal(3), 2)


class SecondOrderOfSquare(Function):
    @staticmethod
    def forward(ctx, x, power=2):
        ctx.save_for_backward(x)
        ctx.power = power
        return x**power

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return PowerSlope.apply(x, grad_output, ctx.power), None

    @staticmethod
    def sample_inputs():
        yield (normal(3).abs() + 1,)
