"""Functions that are wrong for an optional tensor, another rank, repeated indices or options."""

import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape):
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(4))


class InitialStateTooLate(Function):
    @staticmethod
    def forward(ctx, decay, x, start=None):
        state = x.new_zeros(x.shape[1]) if start is None else start
        states = [state]
        for row in x:
            state = decay * state + row
            states.append(state)
        ctx.save_for_backward(decay, torch.stack(states))
        ctx.has_start = start is not None
        return torch.stack(states[1:])

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        decay, states = ctx.saved_tensors
        of_decay, of_state = torch.zeros_like(decay), torch.zeros_like(decay)
        of_x = []
        for step in reversed(range(len(grad_output))):
            of_state = of_state + grad_output[step]
            of_x.append(of_state)
            of_decay = of_decay + of_state * states[step]
            if step:
                of_state = decay * of_state
        return of_decay, torch.stack(of_x[::-1]), of_state if ctx.has_start else None

    @staticmethod
    def sample_inputs():
        yield (draw(3), draw(4, 3))


class LastExampleOnly(Function):
    @staticmethod
    def forward(ctx, x, gain):
        ctx.save_for_backward(x, gain)
        return x * gain

    @staticmethod
    def backward(ctx, grad_output):
        x, gain = ctx.saved_tensors
        of_gain = torch.zeros_like(gain)
        for example, grad in zip(x, grad_output, strict=True):
            of_gain[:] = (grad * example).sum(0)
        return grad_output * gain, of_gain

    @staticmethod
    def sample_inputs():
        yield (draw(1, 5, 3), draw(3))


class SharedOffsetAveraged(Function):
    @staticmethod
    def forward(ctx, scores, offset):
        ctx.save_for_backward(scores, offset)
        return torch.tanh(scores + offset)

    @staticmethod
    def backward(ctx, grad_output):
        scores, offset = ctx.saved_tensors
        grad = grad_output * (1 - torch.tanh(scores + offset) ** 2)
        is_shared = offset.shape[0] != scores.shape[0]
        if offset.shape[0] != scores.shape[0]:
            return grad, grad.mean(0, keepdim=is_shared)
        return grad, grad

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3), draw(4, 3))


class AverageOverPixels(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale.view(1, -1, *[1] * (x.ndim - 2))

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        of_scale = grad_output * x
        if x.ndim > 2:
            of_scale = of_scale.flatten(2).mean(-1)
        return grad_output * scale.view(1, -1, *[1] * (x.ndim - 2)), of_scale.sum(0)

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3), draw(3))


class ThresholdOfInput(Function):
    @staticmethod
    def forward(ctx, x, slope=1.0, limit=8.0):
        ctx.save_for_backward(x)
        ctx.slope, ctx.limit = slope, limit
        return torch.where(slope * x > limit, 3 * x, x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return torch.where(x > ctx.limit, 3.0, 1.0) * grad_output, None, None

    @staticmethod
    def sample_inputs():
        yield (draw(4, 5),)


class RowsAssigned(Function):
    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.rows = table.shape[0]
        return table.index_select(0, index)

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad = grad_output.new_zeros(ctx.rows, grad_output.shape[1])
        grad[index] = grad_output
        return grad, None

    @staticmethod
    def sample_inputs():
        yield (draw(6, 2), torch.tensor([5, 0, 3]))


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
        yield (draw(3, 4), -1)


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
        yield (draw(3).abs() + 1, draw(3), 2)


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
        yield (draw(3).abs() + 1,)


class DampingForgotten(Function):
    @staticmethod
    def forward(ctx, matrix, b, damping):
        damped = matrix + damping * torch.eye(len(b), dtype=b.dtype)
        solution = torch.linalg.solve(damped, b)
        ctx.save_for_backward(matrix, solution)
        return solution

    @staticmethod
    def backward(ctx, grad_output):
        matrix, solution = ctx.saved_tensors
        of_b = torch.linalg.solve(matrix.T, grad_output)
        return -torch.outer(of_b, solution), of_b, -(of_b * solution).sum()

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3) + 4 * torch.eye(3).double(), draw(3), torch.zeros(()).double())


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
        yield (draw(4), torch.ones(()).double())


class KeptAxisAveraged(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        grad = grad_output * x
        while grad.dim() > scale.dim():
            grad = grad.sum(0)
        for axis, extent in enumerate(scale.shape):
            if extent == 1:
                grad = grad.mean(axis, keepdim=True)
        return grad_output * scale, grad

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3), draw(3))


class TemperatureCalledEps(Function):
    @staticmethod
    def forward(ctx, x, eps=1.0):
        weights = torch.softmax(x / eps, -1)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, grad_output):
        (weights,) = ctx.saved_tensors
        return weights * (grad_output - (grad_output * weights).sum(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)


def _within(x, length):
    inside = x.clamp(0, length - 1)
    left = inside.floor().long().clamp(max=length - 2)
    return left, inside - left


class BorderStillMoves(Function):
    @staticmethod
    def forward(ctx, line, places):
        left, part = _within(places[:, 0], len(line))
        ctx.save_for_backward(line, left, part)
        return line[left] * (1 - part) + line[left + 1] * part

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        line, left, part = ctx.saved_tensors
        of_line = torch.zeros_like(line)
        of_line = of_line.index_add(0, left, grad_output * (1 - part))
        of_line = of_line.index_add(0, left + 1, grad_output * part)
        return of_line, (grad_output * (line[left + 1] - line[left]))[:, None]

    @staticmethod
    def sample_inputs():
        yield (draw(6), torch.tensor([[0.3], [1.7], [3.2]]).double())


class OneElementSegment(Function):
    @staticmethod
    def forward(ctx, x, offsets):
        ctx.save_for_backward(offsets)
        bounds = offsets.tolist()
        pairs = zip(bounds, bounds[1:], strict=False)
        return torch.cat([x[start:stop] - x[start:stop].mean() for start, stop in pairs])

    @staticmethod
    def backward(ctx, grad_output):
        (offsets,) = ctx.saved_tensors
        bounds = offsets.tolist()
        parts = [grad_output[a:b] for a, b in zip(bounds, bounds[1:], strict=False)]
        return torch.cat([g - g.mean() if len(g) > 1 else g for g in parts]), None

    @staticmethod
    def sample_inputs():
        yield (draw(7), torch.tensor([0, 3, 7]))


class EqualEigenvalues(Function):
    @staticmethod
    def forward(ctx, matrix):
        values, vectors = torch.linalg.eigh((matrix + matrix.T) / 2)
        ctx.save_for_backward(values, vectors)
        return vectors @ torch.diag(values.exp()) @ vectors.T

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        values, vectors = ctx.saved_tensors
        gaps = values[:, None] - values
        slopes = values.exp()[:, None] - values.exp()
        quotients = torch.where(gaps.abs() > 1e-9, slopes / gaps, 0.0)
        quotients = quotients + torch.diag(values.exp())
        inner = vectors.T @ ((grad_output + grad_output.T) / 2) @ vectors
        return vectors @ (quotients * inner) @ vectors.T

    @staticmethod
    def sample_inputs():
        matrix = draw(3, 3)
        yield (matrix + matrix.T,)


class PowerThroughNumPy(Function):
    @staticmethod
    def forward(ctx, x, power=2.0):
        ctx.save_for_backward(x)
        return torch.from_numpy(np.exp(power * np.log(x.detach().numpy())))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x, None

    @staticmethod
    def sample_inputs():
        yield (draw(4).abs() + 0.5,)
