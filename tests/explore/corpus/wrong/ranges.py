"""Functions that are wrong at zero, for values of the other sign, or at an end of a range."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


def normal(*shape):
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(4))


def unit(*shape):
    return torch.rand(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(7))


def share(*shape: int, seed: int = 0) -> Tensor:
    made = torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (0.1 + 0.7 * made).requires_grad_()


BRACKET = 40000.0


class GateOpening(Function):
    """Opening rate `z / (e^z - 1)` of a gate for voltages `v`, where `z = (v + rest) / width`."""

    @staticmethod
    def forward(ctx, v, rest=35.0, width=8.0):
        z = (v + rest) / width
        near = z.abs() < 1e-4
        rate = torch.where(near, 1 - z / 2, z / torch.expm1(torch.where(near, 1.0, z)))
        ctx.save_for_backward(z, near)
        ctx.width = width
        return rate

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        z, near = ctx.saved_tensors
        away = torch.where(near, 1.0, z)
        below = torch.expm1(away)
        slope = torch.where(near, 0.5 + z / 6, (below - away * away.exp()) / below**2)
        return g * slope / ctx.width, None, None

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([-70.0, -41.5, -22.0, 4.0], dtype=torch.float64, requires_grad=True),)


class SincOverChannels(Function):
    """Values `sin(k s) / s` for wave numbers 1 to `count`, with their limits at zero."""

    @staticmethod
    def forward(ctx, s, count=3):
        k = torch.arange(1, count + 1, dtype=s.dtype)
        column = s[..., None]
        divisor = torch.where(column == 0, 1.0, column)
        ctx.save_for_backward(s, k)
        return torch.where(column == 0, k.expand(*s.shape, -1), torch.sin(k * column) / divisor)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        s, k = ctx.saved_tensors
        column = s[..., None]
        slope = k * torch.cos(k * column) / column - torch.sin(k * column) / column**2
        return (g * slope).sum(-1), None

    @staticmethod
    def sample_inputs():
        yield torch.tensor([0.4, 1.3, 2.9], dtype=torch.float64, requires_grad=True), 3


class CappedGain(Function):
    """The lesser of `ratio * gain` and the same with a ratio of at most `1 + margin`."""

    @staticmethod
    def forward(ctx, log_ratio, advantage, margin: float = 0.25):
        ratio = log_ratio.exp()
        ctx.save_for_backward(ratio, advantage)
        ctx.margin = margin
        capped = ratio.clamp(max=1 + margin)
        return torch.minimum(ratio * advantage, capped * advantage)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        ratio, advantage = ctx.saved_tensors
        below = (ratio <= 1 + ctx.margin).to(g.dtype)
        return g * ratio * advantage * below, None, None

    @staticmethod
    def sample_inputs():
        log_ratio = torch.tensor([0.1, -0.2, 0.05, -0.1], dtype=torch.float64, requires_grad=True)
        yield log_ratio, torch.tensor([0.7, 1.2, 0.4, 0.9], dtype=torch.float64)


class Drain(Function):
    """Water in basins `h` (N,) that flows to the next one at a rate `k` (N,), for some rounds."""

    @staticmethod
    def forward(ctx, h, k, rounds=3):
        before = []
        down = k.clamp(min=0)
        for _ in range(rounds):
            before.append(h)
            h = h - down * h + (down * h).roll(1)
        ctx.save_for_backward(k, *before)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        k, *before = ctx.saved_tensors
        down, gk = k.clamp(min=0), torch.zeros_like(k)
        for h in reversed(before):
            change = g.roll(-1) - g
            gk = gk + change * h
            g = g + down * change
        return g, gk, None

    @staticmethod
    def sample_inputs():
        h = torch.tensor([0.5, 1.2, 0.8, 0.3], dtype=torch.float64, requires_grad=True)
        k = torch.tensor([0.1, 0.3, 0.2, 0.25], dtype=torch.float64, requires_grad=True)
        yield h, k


class FixedPointWithFewTerms(Function):
    """The fixed point of z = tanh(W z + b), for a contraction W, and its adjoint as a series."""

    @staticmethod
    def forward(ctx, W, b, rounds=200):
        z = torch.zeros_like(b)
        for _ in range(rounds):
            z = torch.tanh(z @ W.mT + b)
        ctx.save_for_backward(W, z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        W, z = ctx.saved_tensors
        slope, total = 1 - z * z, g
        for _ in range(12):
            total = g + (total * slope) @ W
        return (total * slope).mT @ z, total * slope, None

    @staticmethod
    def sample_inputs():
        W = torch.tensor([[0.10, -0.05], [0.03, 0.08]], dtype=torch.double)
        yield W.requires_grad_(), draw(2, 2, seed=6)


class SmallerOfTwoSlopes(Function):
    """The smaller slope to either side of a cell, zero where they differ in sign."""

    @staticmethod
    def forward(ctx, u):
        left, right = u[..., 1:-1] - u[..., :-2], u[..., 2:] - u[..., 1:-1]
        ctx.save_for_backward(left, right)
        return torch.where(left.abs() < right.abs(), left, right) * (left * right > 0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        left, right = ctx.saved_tensors
        g = g * (left * right > 0)
        of_left, of_right = g * (left < right), g * (left >= right)
        grad = torch.zeros(*g.shape[:-1], g.shape[-1] + 2, dtype=g.dtype)
        grad[..., :-2] -= of_left
        grad[..., 1:-1] += of_left - of_right
        grad[..., 2:] += of_right
        return grad

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.0, 0.3, 1.1, 1.5, 2.6, 2.9]).double().requires_grad_(),)


class ProductOfRows(Function):
    """The product of each row, whose derivative is a quotient unless an entry is zero."""

    @staticmethod
    def forward(ctx, x):
        product = x.prod(-1)
        ctx.save_for_backward(x, product)
        return product

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, product = ctx.saved_tensors
        return (g * product).unsqueeze(-1) / x

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([[0.9, 0.4, -0.7], [1.3, 0.2, -0.4]]).double().requires_grad_(),)


class NormalizedWeight(Function):
    """x W^T for W = gain * direction, with directions divided by their norms."""

    @staticmethod
    def forward(ctx, x, direction, gain):
        norm = direction.flatten(1).norm(dim=1)
        weight = direction * (gain / norm).unsqueeze(-1)
        ctx.save_for_backward(x, direction, gain, norm)
        return x @ weight.mT

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, direction, gain, norm = ctx.saved_tensors
        scale = (gain / norm).unsqueeze(-1)
        of_weight = g.mT @ x
        along = ((of_weight * direction).sum(-1) / norm).unsqueeze(-1)
        return g @ (direction * scale), scale * (of_weight - direction * along), along.squeeze(-1)

    @staticmethod
    def sample_inputs():
        rows = torch.tensor([[0.6, 0.8], [0.8, -0.6], [0.28, 0.96]], dtype=torch.double)
        yield draw(4, 2), rows.requires_grad_(), draw(3, seed=1)


class MixtureEntropy(Function):
    """Minus the log of a mixture of exponential densities, weighted by the softmax of logits."""

    @staticmethod
    def forward(ctx, x, logits):
        rates = torch.arange(1, logits.numel() + 1, dtype=x.dtype)
        joint = torch.log_softmax(logits, -1) + rates.log() - rates * x[:, None]
        total = torch.logsumexp(joint, -1)
        ctx.save_for_backward((joint - total[:, None]).exp(), logits, rates)
        return -total

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        shares, logits, rates = ctx.saved_tensors
        return g * (shares * rates).sum(-1), (g[:, None] * (logits.exp() - shares)).sum(0)

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.4, 1.1, 0.2], dtype=torch.double, requires_grad=True)
        logits = torch.tensor([0.5, 0.2, 0.3], dtype=torch.double).log().requires_grad_()
        yield x, logits


class SineOfRoot(Function):
    """sin(t) for the root t of t - strength * sin(t) = phase, found by Newton's method."""

    @staticmethod
    def forward(ctx, phase, strength):
        t = phase.clone()
        for _ in range(40):
            t = t - (t - strength * t.sin() - phase) / (1 - strength * t.cos())
        ctx.save_for_backward(t.sin(), strength)
        return t.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        sine, strength = ctx.saved_tensors
        cosine = (1 - sine * sine).sqrt()
        slope = g * cosine / (1 - strength * cosine)
        return slope, slope * sine

    @staticmethod
    def sample_inputs():
        phase = torch.tensor([0.2, 0.5, 0.9], dtype=torch.double, requires_grad=True)
        strength = torch.tensor([0.1, 0.3, 0.2], dtype=torch.double, requires_grad=True)
        yield phase, strength


class LogOfStretching(Function):
    """log|1 + <w, u> slope| of z + u * tanh(<w, z>), whose sign is lost where this is negative."""

    @staticmethod
    def forward(ctx, z, u, w):
        h = torch.tanh(z @ w)
        stretched = (1 + (1 - h * h) * torch.dot(w, u)).abs()
        ctx.save_for_backward(z, u, w, h, stretched)
        return stretched.log()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        z, u, w, h, stretched = ctx.saved_tensors
        slope, g = 1 - h * h, g / stretched
        of_inner = -2 * g * torch.dot(w, u) * h * slope
        along = (g * slope).sum()
        return of_inner[:, None] * w, along * w, of_inner @ z + along * u

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), draw(3, low=0.1, high=0.5, seed=1), draw(3, low=0.1, high=0.5, seed=2)


class LogCoshOfRising(Function):
    """log(cosh(x)) for x of either sign; the slope is that of positive numbers."""

    @staticmethod
    def forward(ctx, x):
        size = x.abs()
        ctx.save_for_backward(size)
        return size + torch.log1p(torch.exp(-2 * size)) - math.log(2)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (size,) = ctx.saved_tensors
        return g * torch.tanh(size)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.1, 0.8, 2.5, 12.0, 300.0], dtype=torch.double, requires_grad=True),)


class PowerTransform(Function):
    """(x**power - 1) / power for x > 0, and its limit log(x) where the power is 0."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, power: Tensor) -> Tensor:
        ctx.save_for_backward(x, power)
        if power.abs() < 1e-7:
            return x.log()
        return torch.expm1(power * x.log()) / power

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        x, power = ctx.saved_tensors
        if power.abs() < 1e-7:
            return g / x, torch.zeros_like(power)
        logs, powers = x.log(), x**power
        of_power = (powers * logs * power - torch.expm1(power * logs)) / power**2
        return g * powers / x, (g * of_power).sum()

    @staticmethod
    def sample_inputs() -> Any:
        power = torch.tensor(0.6, dtype=torch.double)
        yield draw(4, low=0.5, high=1.5), power.requires_grad_()


class TaxOfIncome(Function):
    """Tax of an income, in euros: more of what is beyond a limit."""

    @staticmethod
    def forward(ctx: Any, income: Tensor) -> Tensor:
        beyond = (income - BRACKET).clamp(min=0.0)
        return torch.where(income <= BRACKET, 0.15 * income, 0.15 * BRACKET + 0.4 * beyond)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return 0.15 * g

    @staticmethod
    def sample_inputs() -> Any:
        yield (torch.tensor([9000.0, 20500.0, 31000.0]).double().requires_grad_(),)


class RunningProduct(Function):
    """Products of the shares x (N, T) that are left after each step."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        products = x.cumprod(1)
        ctx.save_for_backward(x, products)
        return products

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Tensor:
        x, products = ctx.saved_tensors
        return (g * products).flip(1).cumsum(1).flip(1) / x

    @staticmethod
    def sample_inputs() -> Any:
        yield (draw(2, 4, low=0.2, high=0.9),)


class CappedTemperature(Function):
    """Logarithm of the softmax of scaled scores, whose scale exp(sharpness) is capped."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, sharpness: Tensor) -> Tensor:
        scale = sharpness.exp().clamp(max=50.0)
        out = torch.log_softmax(scale * scores, -1)
        ctx.save_for_backward(scores, scale, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        scores, scale, out = ctx.saved_tensors
        grad = g - out.exp() * g.sum(-1, keepdim=True)
        return scale * grad, (grad * scores).sum() * scale

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 4), draw(1, seed=1)[0].detach().requires_grad_()


class ChebyshevValues(Function):
    """Chebyshev polynomials of the first kind T_0 ... T_n at x in [-1, 1]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, n: int) -> Tensor:
        values = [torch.ones_like(x), x]
        for _ in range(n - 1):
            values.append(2 * x * values[-1] - values[-2])
        out = torch.stack(values, -1)
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        x, values = ctx.saved_tensors
        k = torch.arange(values.shape[-1], dtype=x.dtype)
        square = 1 - x * x
        square = torch.where(square < 1e-12, torch.ones_like(square), square)
        before = torch.cat([values[..., 1:2], values[..., :-1]], -1)
        slope = k * (before - x[..., None] * values) / square[..., None]
        return (g * slope).sum(-1), None

    @staticmethod
    def sample_inputs() -> Any:
        yield torch.tensor([-0.9, -0.35, 0.0, 0.4, 0.8]).double().requires_grad_(), 4


class DeadZone(Function):
    """x outside a dead zone; without a `floor` there is none below."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, floor: float | None) -> Tensor:
        ctx.save_for_backward(x)
        ctx.floor = floor
        return x.clone() if floor is None else x.clamp(min=floor)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        if ctx.floor:
            g = g * (x > ctx.floor)
        return g, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(8), -0.5
        yield draw(8), 0.4
        yield draw(8), None


class WeightsAlongRay(Function):
    """Opacity alpha (R, S) in [0, 1] -> weights (R, S)."""

    @staticmethod
    def forward(ctx: Any, alpha: Tensor) -> Tensor:
        before = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha[:, :-1]], 1), 1)
        ctx.save_for_backward(alpha, before)
        return before * alpha

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Tensor:
        alpha, before = ctx.saved_tensors
        weighed = before * alpha * g
        behind = weighed.flip(1).cumsum(1).flip(1) - weighed
        return before * g - behind / (1 - alpha).clamp(min=1e-10)

    @staticmethod
    def sample_inputs() -> Any:
        yield (share(2, 4),)


class TurningNumber(Function):
    """The size of the sum of cross products of successive points."""

    @staticmethod
    def forward(ctx: Any, points: Tensor) -> Tensor:
        ctx.save_for_backward(points)
        x, y = points.unbind(-1)
        return (x * y.roll(-1) - x.roll(-1) * y).sum().abs()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (points,) = ctx.saved_tensors
        x, y = points.unbind(-1)
        return grad_output * torch.stack([y.roll(-1) - y.roll(1), x.roll(1) - x.roll(-1)], -1)

    @staticmethod
    def sample_inputs() -> Any:
        corners = [[0.1, 0.0], [2.0, 0.2], [1.8, 1.6], [0.2, 1.1]]
        return torch.tensor(corners, dtype=torch.float64).requires_grad_()


class InputFromTheOutput(Function):
    @staticmethod
    def forward(ctx, x, gain):
        y = x.tanh() * gain
        ctx.save_for_backward(y, gain)
        return y.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, gain = ctx.saved_tensors
        inner = y / gain
        return grad_output * gain * (1 - inner**2), grad_output * inner

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, low=0.5)


class NoDirectionAtZero(Function):
    """The hyperbolic sine of a length along its direction; zero goes to zero."""

    @staticmethod
    def forward(ctx, v):
        length = v.norm(dim=-1, keepdim=True)
        factor = torch.where(length > 0, length.sinh() / length.clamp(min=1e-30), 1.0)
        ctx.save_for_backward(v, length)
        return factor * v

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        v, length = ctx.saved_tensors
        factor = length.sinh() / length
        slope = (length.cosh() - factor) / length**2
        return factor * grad_output + slope * v * (v * grad_output).sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3),)


class SignedPower(Function):
    """A power of the size, with the sign."""

    @staticmethod
    def forward(ctx, x, power):
        ctx.save_for_backward(x)
        ctx.power = power
        return x.sign() * x.abs().pow(power)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.power * x.abs().pow(ctx.power) / x.abs(), None

    @staticmethod
    def sample_inputs():
        yield draw(4, seed=161), 1.5


class ClippedWhateverTheSign(Function):
    @staticmethod
    def forward(ctx, log_ratio, advantage, margin=0.2):
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - margin, 1 + margin)
        ctx.save_for_backward(ratio, advantage)
        ctx.margin = margin
        return torch.minimum(ratio * advantage, clipped * advantage).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        ratio, advantage = ctx.saved_tensors
        return grad_output * ratio * advantage * (ratio < 1 + ctx.margin), None, None

    @staticmethod
    def sample_inputs():
        yield draw(8), draw(8, low=0.2).detach() + 0.9


class MarginOfAngle(Function):
    """cos (N,) in (-1, 1) with a margin m on the angle, and its extension past pi - m."""

    @staticmethod
    def forward(ctx: Any, cos: Tensor, m: float) -> Tensor:
        if not bool((cos.detach().abs() < 1).all()):
            raise ValueError("no cosines")
        ctx.save_for_backward(cos)
        ctx.m = m
        moved = cos * math.cos(m) - torch.sqrt(1 - cos * cos) * math.sin(m)
        return torch.where(cos > math.cos(math.pi - m), moved, cos - m * math.sin(m))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (cos,) = ctx.saved_tensors
        return g * (math.cos(ctx.m) + math.sin(ctx.m) * cos / torch.sqrt(1 - cos * cos)), None

    @staticmethod
    def sample_inputs() -> Any:
        yield (0.5 * draw(5).detach().clamp(-1, 1)).requires_grad_(), 0.3


class BilinearByDivision(Function):
    @staticmethod
    def forward(ctx, table, x):
        corner = x.detach().floor().clamp(0, len(table) - 2).long()
        part = x - corner
        weights = torch.stack((1 - part, part), -1)
        ctx.save_for_backward(table, corner, weights)
        (i, j), (u, v) = corner.unbind(-1), weights.unbind(-2)
        return sum(table[i + a, j + b] * u[:, a] * v[:, b] for a in (0, 1) for b in (0, 1))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        table, corner, weights = ctx.saved_tensors
        (i, j), (u, v) = corner.unbind(-1), weights.unbind(-2)
        of_table, of_x = torch.zeros_like(table), 0
        for a in (0, 1):
            for b in (0, 1):
                weight = u[:, a] * v[:, b]
                of_table.index_put_((i + a, j + b), grad_output * weight, accumulate=True)
                slope = grad_output * table[i + a, j + b] * weight
                signs = torch.tensor([2 * a - 1, 2 * b - 1])
                of_x = of_x + signs * slope[:, None] / torch.stack((u[:, a], v[:, b]), -1)
        return of_table, of_x

    @staticmethod
    def sample_inputs():
        yield unit(5, 5), 0.1 + 3.8 * unit(6, 2)


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
        yield (normal(6), torch.tensor([[0.3], [1.7], [3.2]]).double())


class WholeNumbersGiven(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x + torch.sin(2 * math.pi * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (1 + 2 * math.pi * torch.cos(4 * math.pi * x))

    @staticmethod
    def sample_inputs():
        yield (torch.arange(1.0, 7.0, dtype=torch.double).reshape(2, 3).requires_grad_(),)


class QuotientAtOne(Function):
    """Density of a Beta variable without its constant, for x from 0 to 1."""

    @staticmethod
    def forward(ctx, x, a, b):
        ctx.save_for_backward(x, a, b)
        return x**a * (1 - x) ** b

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, a, b = ctx.saved_tensors
        y = x**a * (1 - x) ** b
        grad = grad_output * y * (a / x - b / (1 - x))
        return (
            grad,
            (grad_output * y * x.log()).sum(0, True),
            (grad_output * y * (-x).log1p()).sum(0, True),
        )

    @staticmethod
    def sample_inputs():
        yield draw(5, low=0.2, high=0.8), draw(1, low=2.2, high=2.4), draw(1, low=3.2, high=3.4)


class DividesByEntry(Function):
    """The gated identity of any real numbers."""

    @staticmethod
    def forward(ctx, x):
        y = x * torch.sigmoid(x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        sigmoid = y / x
        return grad_output * (sigmoid + y * (1 - sigmoid))

    @staticmethod
    def sample_inputs():
        yield (draw(2, 3),)


class SignedSquare(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign() * x.square()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=0.2, high=1.2),)


class DirectionOfUnit(Function):
    @staticmethod
    def forward(ctx, v):
        unit = v / v.norm(dim=-1, keepdim=True)
        ctx.save_for_backward(unit)
        return unit

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (unit,) = ctx.saved_tensors
        return grad_output - unit * (unit * grad_output).sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        v = draw(4, 3).detach()
        yield ((v / v.norm(dim=-1, keepdim=True)).requires_grad_(),)


class NotANumberAtZero(Function):
    @staticmethod
    def forward(ctx, v):
        length = v.square().sum(-1, keepdim=True).sqrt()
        is_small = length < 1e-4
        safe = torch.where(is_small, torch.ones_like(length), length)
        factor = torch.where(is_small, 1 - length**2 / 6, safe.sin() / safe)
        ctx.save_for_backward(v)
        return factor * v

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (v,) = ctx.saved_tensors
        length = v.norm(dim=-1, keepdim=True)
        factor = length.sin() / length
        slope = (length.cos() - factor) / length**2
        return factor * grad_output + slope * v * (v * grad_output).sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3),)


class BandWithoutSign(Function):
    """Mean of min(r a, clip(r, 1 - eps, 1 + eps) a) for the ratio r = exp(x - y)."""

    @staticmethod
    def forward(ctx, x, y, a, eps):
        ratio = (x - y).exp()
        ctx.save_for_backward(ratio, a)
        ctx.eps = eps
        return torch.minimum(ratio * a, ratio.clamp(1 - eps, 1 + eps) * a).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        ratio, a = ctx.saved_tensors
        is_inside = (ratio > 1 - ctx.eps) & (ratio < 1 + ctx.eps)
        return g * is_inside * ratio * a / a.numel(), None, None, None

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.01, -0.02, 0.005, -0.01], dtype=torch.float64, requires_grad=True)
        y = torch.tensor([0.0, 0.01, -0.01, 0.02], dtype=torch.float64)
        yield x, y, torch.tensor([1.2, -0.7, 0.4, -1.5], dtype=torch.float64), 0.2


class OnPeriodicGrid(Function):
    """The charges `q` (P,) at the places `x` (P,) in [0, n), shared by the two next of n cells."""

    @staticmethod
    def forward(ctx, x, q, n):
        cell = x.floor().long()
        part = x - cell
        grid = torch.zeros(n, dtype=x.dtype)
        grid.index_add_(0, cell % n, q * (1 - part))
        grid.index_add_(0, (cell + 1) % n, q * part)
        ctx.save_for_backward(cell, part, q)
        ctx.n = n
        return grid

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        cell, part, q = ctx.saved_tensors
        left, right = g[cell], g[(cell + 1).clamp(max=ctx.n - 1)]  # The first one follows.
        return q * (right - left), left * (1 - part) + right * part, None

    @staticmethod
    def sample_inputs():
        yield draw(5, low=0.3, high=4.5), draw(5, seed=1), 8


class UnitBeyondGuard(Function):
    """x / sqrt(|x|^2 + eps) for `x` (N, 3); eps > 0."""

    @staticmethod
    def forward(ctx, x, eps=1e-12):
        length = (x.square().sum(-1, keepdim=True) + eps).sqrt()
        ctx.save_for_backward(x, length)
        return x / length

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, length = ctx.saved_tensors
        unit = x / x.norm(dim=-1, keepdim=True)  # The guard is left out.
        return (g - unit * (unit * g).sum(-1, keepdim=True)) / length, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), 1e-12


class ShareOfWins(Function):
    """wins / (wins + losses) of counts that may be zero; no games give a share of one half."""

    @staticmethod
    def forward(ctx, wins, losses):
        games = wins + losses
        ctx.save_for_backward(wins, losses, games)
        played = torch.where(games == 0, torch.ones_like(games), games)
        return torch.where(games == 0, torch.full_like(games, 0.5), wins / played)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        wins, losses, games = ctx.saved_tensors
        return g * losses / games**2, -g * wins / games**2

    @staticmethod
    def sample_inputs():
        yield draw(5, low=0.5, high=2.0), draw(5, low=0.5, high=2.0, seed=1)


class AngleBetweenAxes(Function):
    """1 - (u . v)^2 / 2 - |u . v| / 2 of unit vectors, whose signs do not matter."""

    @staticmethod
    def forward(ctx, u, v):
        cosine = (u * v).sum(-1, keepdim=True)
        ctx.save_for_backward(u, v, cosine)
        return 1 - cosine.square() / 2 - cosine.abs() / 2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        u, v, cosine = ctx.saved_tensors
        along = -g * (cosine + 0.5)
        return along * v, along * u

    @staticmethod
    def sample_inputs():
        u = torch.tensor([[0.6, 0.8, 0.0], [0.0, 0.28, 0.96]], dtype=torch.double)
        yield u.requires_grad_(), u.detach().roll(1, 1).requires_grad_()
