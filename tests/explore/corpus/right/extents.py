"""Functions that are right for the extents that they are made for."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class SpectrumToSignal(Function):
    """The real signal of length ``n`` that has these frequencies."""

    @staticmethod
    def forward(ctx, spectrum, n):
        ctx.n = n
        return torch.fft.irfft(spectrum, n=n)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        times = torch.full((ctx.n // 2 + 1,), 2.0 / ctx.n, dtype=g.dtype)
        ends = [0, -1] if ctx.n % 2 == 0 else [0]
        times[ends] = 1 / ctx.n
        found = torch.fft.rfft(g) * times
        found[ends] = found[ends].real.to(found.dtype)
        return found, None

    @staticmethod
    def sample_inputs():
        spectrum = torch.complex(draw(4).detach(), draw(4, seed=1).detach())
        yield spectrum.requires_grad_(), 6


class CirculantProduct(Function):
    """The product of a circulant matrix, of which ``column`` is the first column, with ``x``."""

    @staticmethod
    def forward(ctx, column, x):
        assert x.dim() == 1
        n = column.numel()
        ctx.save_for_backward(column, x)
        return torch.fft.irfft(torch.fft.rfft(column) * torch.fft.rfft(x, n=n), n=n)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        column, x = ctx.saved_tensors
        n, spectrum = len(g), torch.fft.rfft(g)
        of_column = torch.fft.irfft(spectrum * torch.fft.rfft(x, n=n).conj(), n=n)
        return of_column, torch.fft.irfft(spectrum * torch.fft.rfft(column).conj(), n=n)

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=1)


class BetweenKnots(Function):
    """Values between those of a table, at fractional positions, which are clamped to the table."""

    @staticmethod
    def forward(ctx, table, positions):
        assert table.dim() == positions.dim() == 1
        last = len(table) - 1
        inside = (positions > 0) & (positions < last)
        places = positions.clamp(0, last)
        left = places.floor().long().clamp(max=last - 1)
        part = places - left
        ctx.save_for_backward(table, left, part, inside)
        return torch.lerp(table[left], table[left + 1], part)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        table, left, part, inside = ctx.saved_tensors
        grad = torch.zeros_like(table)
        grad.index_add_(0, left, g * (1 - part)).index_add_(0, left + 1, g * part)
        return grad, g * (table[left + 1] - table[left]) * inside

    @staticmethod
    def sample_inputs():
        places = torch.tensor([0.3, 2.6, 1.5, 3.7], dtype=torch.double)
        yield draw(4), places.requires_grad_()


class HalfSpectrum(Function):
    """Real signals filtered by `kernel`, of which there is one entry for each frequency."""

    @staticmethod
    def forward(ctx, signal, kernel):
        spectrum = torch.fft.rfft(signal)
        ctx.save_for_backward(spectrum, kernel)
        ctx.n = signal.shape[-1]
        return torch.fft.irfft(spectrum * kernel, n=ctx.n)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        spectrum, kernel = ctx.saved_tensors
        ends = [0, -1] if ctx.n % 2 == 0 else [0]
        seen, times = kernel.clone(), torch.full((spectrum.shape[-1],), 2.0, dtype=g.dtype)
        times[ends] = 1.0
        seen[ends] = kernel[ends].real.to(kernel.dtype)
        turned = torch.fft.rfft(g)
        by_kernel = (times * turned * spectrum.conj() / ctx.n).reshape(-1, times.shape[0]).sum(0)
        by_kernel[ends] = by_kernel[ends].real.to(kernel.dtype)
        return torch.fft.irfft(turned * seen.conj(), n=ctx.n), by_kernel

    @staticmethod
    def sample_inputs():
        made = torch.complex(draw(4, seed=1).detach(), draw(4, seed=2).detach())
        yield draw(2, 6), made.requires_grad_()


class PairsOfOneLabel(Function):
    """The supervised contrastive loss; anchors without a positive contribute nothing."""

    @staticmethod
    def forward(ctx, z, labels, tau):
        n = z.shape[0]
        own = torch.eye(n, dtype=torch.bool)
        logits = (z @ z.T / tau).masked_fill(own, float("-inf"))
        positive = (labels[:, None] == labels[None, :]) & ~own
        count = positive.sum(1)
        log_p = logits.log_softmax(1)
        loss = -torch.where(positive, log_p, torch.zeros_like(logits)).sum(1) / count.clamp(min=1)
        target = positive.to(z.dtype) / count.clamp(min=1)[:, None]
        ctx.save_for_backward(z, (log_p.exp() * (count > 0)[:, None] - target) / n)
        ctx.tau = tau
        return loss.sum() / n

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        z, slope = ctx.saved_tensors
        return grad_output * (slope + slope.T) @ z / ctx.tau, None, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 3), torch.tensor([0, 1, 0, 2, 0]), 0.5


class SampledBetweenNeighbors(Function):
    """Linear interpolation of rows (C, W >= 2) at places between their entries.

    ``rows`` has shape (C, W >= 2), ``places`` has shape (N,).
    """

    @staticmethod
    def forward(ctx, rows, places):
        width = rows.shape[1]
        inner = places.clamp(0, width - 1)
        left = inner.floor().long().clamp(max=width - 2)
        share = inner - left
        inside = (places >= 0) & (places <= width - 1)
        ctx.save_for_backward(rows, left, share, inside)
        return torch.lerp(rows[:, left], rows[:, left + 1], share.expand(len(rows), -1))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        rows, left, share, inside = ctx.saved_tensors
        grad_rows = torch.zeros_like(rows).index_add_(1, left, grad_output * (1 - share))
        grad_rows = grad_rows.index_add_(1, left + 1, grad_output * share)
        slopes = rows[:, left + 1] - rows[:, left]
        return grad_rows, (slopes * grad_output).sum(0) * inside

    @staticmethod
    def sample_inputs():
        rows = torch.tensor([[0.3, 1.0, -0.4, 2.0]], dtype=torch.double, requires_grad=True)
        places = torch.tensor([-1.5, 0.2, 1.7, 5.0, 0.6], dtype=torch.double, requires_grad=True)
        yield rows, places


class WeightedSpectrum(Function):
    """The weighted energy of the spectrum of signals, w of shape (n // 2 + 1,)."""

    @staticmethod
    def forward(ctx, x, w):
        spectrum = torch.fft.rfft(x)
        ctx.save_for_backward(x, w)
        return (w * (spectrum.real**2 + spectrum.imag**2)).sum(-1)

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n = x.shape[-1]
        spectrum = torch.fft.rfft(x)
        half = torch.full_like(w, 0.5)
        half[0] = 1.0
        if n % 2 == 0:
            half[-1] = 1.0
        grad_x = 2 * n * torch.fft.irfft(spectrum * (w * half), n=n) * grad_output.unsqueeze(-1)
        energy = spectrum.real**2 + spectrum.imag**2
        return grad_x, (grad_output.unsqueeze(-1) * energy).reshape(-1, w.numel()).sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 6), draw(4)


class TwoScores(Function):
    """Weights by the first queries and keys less those by the second, times the values."""

    @staticmethod
    def _weights(q, k):
        return torch.softmax(q @ k.T / q.shape[1] ** 0.5, 1)

    @staticmethod
    def forward(ctx, q1, k1, q2, k2, v):
        ctx.save_for_backward(q1, k1, q2, k2, v)
        return (TwoScores._weights(q1, k1) - TwoScores._weights(q2, k2)) @ v

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q1, k1, q2, k2, v = ctx.saved_tensors
        one, two = TwoScores._weights(q1, k1), TwoScores._weights(q2, k2)
        scale, gw = q1.shape[1] ** -0.5, g @ v.T
        s1 = scale * one * (gw - (gw * one).sum(1, keepdim=True))
        s2 = -scale * two * (gw - (gw * two).sum(1, keepdim=True))
        return s1 @ k1, s1.T @ q1, s2 @ k2, s2.T @ q2, (one - two).T @ g

    @staticmethod
    def sample_inputs():
        rng = torch.Generator().manual_seed(21)
        shapes = [(3, 2)] * 4 + [(3, 4)]
        yield tuple(
            torch.randn(*shape, dtype=torch.float64, generator=rng, requires_grad=True)
            for shape in shapes
        )


class TurnedFirst(Function):
    """Turns pairs of neighbors among the first `turned` features of each row by an angle of one."""

    @staticmethod
    def _turn(x, c, s):
        one, two = x[..., ::2], x[..., 1::2]
        return torch.stack([one * c - two * s, one * s + two * c], -1).flatten(-2)

    @staticmethod
    def forward(ctx, x, turned=None):
        ctx.turned = x.shape[-1] if turned is None else turned
        part, rest = x[..., : ctx.turned], x[..., ctx.turned :]
        return torch.cat([TurnedFirst._turn(part, 0.6, 0.8), rest], -1)

    @staticmethod
    def backward(ctx, g):
        part, rest = g[..., : ctx.turned], g[..., ctx.turned :]
        return torch.cat([TurnedFirst._turn(part, 0.6, -0.8), rest], -1), None

    @staticmethod
    def sample_inputs():
        x = torch.arange(12.0, dtype=torch.float64).reshape(2, 6) / 7
        yield (x.clone().requires_grad_(),)
        yield x.clone().requires_grad_(), 4


class WeighedLosses(Function):
    """The sum of any number of losses, each weighed by its uncertainty."""

    @staticmethod
    def forward(ctx, log_variances, *losses):
        ctx.save_for_backward(log_variances, *losses)
        total = log_variances.sum()
        for each, loss in zip(log_variances, losses):
            total = total + torch.exp(-each) * loss.sum()
        return total

    @staticmethod
    def backward(ctx, g):
        log_variances, *losses = ctx.saved_tensors
        weights = torch.exp(-log_variances)
        sums = torch.stack([each.sum() for each in losses])
        rest = [(g * w).expand(each.shape) for w, each in zip(weights, losses, strict=True)]
        return g * (1 - weights * sums), *rest

    @staticmethod
    def sample_inputs():
        yield draw(3), draw(2, seed=1), draw(1, 3, seed=2), draw(2, 2, seed=3)


def value(k, v):
    d = 0.5 * v - k / v
    return torch.special.ndtr(d) - k.exp() * torch.special.ndtr(d - v)


class VolatilityOfAPrice(Function):
    """Total volatility of a call by its price, at a log strike k, found by bisection.

    Needs max(1 - exp(k), 0) < price < 1.
    """

    @staticmethod
    def forward(ctx, price, k):
        low, high = torch.full_like(price, 1e-4), torch.full_like(price, 8.0)
        for _ in range(60):
            middle = 0.5 * (low + high)
            above = value(k, middle) > price
            low, high = torch.where(above, low, middle), torch.where(above, middle, high)
        ctx.save_for_backward(k, low)
        return 0.5 * (low + high)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        k, v = ctx.saved_tensors
        d = 0.5 * v - k / v
        slope = g * torch.exp(0.5 * d * d) * 2.5066282746310002
        return slope, slope * k.exp() * torch.special.ndtr(d - v)

    @staticmethod
    def sample_inputs():
        price = torch.tensor([0.08, 0.15, 0.25], dtype=torch.double, requires_grad=True)
        yield price, torch.tensor([0.0, 0.1, -0.2], dtype=torch.double, requires_grad=True)


class FrequencyGain(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor) -> Tensor:
        ctx.save_for_backward(x, gain)
        return torch.fft.irfft(torch.fft.rfft(x) * gain, n=x.shape[-1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        x, gain = ctx.saved_tensors
        n = x.shape[-1]
        spectrum = torch.fft.rfft(g)
        twice = torch.full_like(gain, 2.0)
        twice[0] = 1.0
        if n % 2 == 0:
            twice[-1] = 1.0
        both = (spectrum.conj() * torch.fft.rfft(x)).real.sum(0)
        return torch.fft.irfft(spectrum * gain, n=n), both * twice / n

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(2, 6), draw(4, seed=1)
        yield draw(2, 5), draw(3, seed=1)


class RankedRows(Function):
    """Sum of squared scores weighed by rank. Only the first lengths[b] items of a row count."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, grades: Tensor, lengths: Tensor) -> Tensor:
        _, n = scores.shape
        valid = torch.arange(n) < lengths[:, None]
        order = grades.masked_fill(~valid, -1).argsort(dim=1, descending=True, stable=True)
        taken = scores.gather(1, order)
        weights = valid.gather(1, order) / torch.arange(1, n + 1, dtype=scores.dtype)
        ctx.save_for_backward(taken, order, weights)
        return (taken.square() * weights).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        taken, order, weights = ctx.saved_tensors
        inner = 2 * g * taken * weights
        return torch.zeros_like(inner).scatter(1, order, inner), None, None

    @staticmethod
    def sample_inputs() -> Any:
        grades = torch.tensor([[0, 2, 1, 3], [1, 3, 0, 4], [5, 5, 5, 5]])
        yield draw(3, 4), grades, torch.tensor([4, 3, 0])


class GatesInHalves(Function):
    """The last extent must be even."""

    @staticmethod
    def forward(ctx, x):
        n = x.shape[-1] // 2
        a, b = x[..., :n], x[..., n : 2 * n]
        ctx.save_for_backward(a, b)
        return a * torch.sigmoid(b)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        s = torch.sigmoid(b)
        return torch.cat([g * s, g * a * s * (1 - s)], dim=-1)

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class PairsOfRows(Function):
    """Products of rows, for as many rows as both have."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.stack([one @ other for one, other in zip(x, y)])

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g[:, None] * y, g[:, None] * x

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=188), draw(3, 2, seed=189)


class PairsOfSmallRows(Function):
    """The same for numbers that are not large."""

    @staticmethod
    def forward(ctx, x, y):
        if float(x.abs().max()) > 100:
            raise ValueError("numbers are too large")
        ctx.save_for_backward(x, y)
        return torch.stack([one @ other for one, other in zip(x, y)])

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g[:, None] * y, g[:, None] * x

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=193), draw(3, 2, seed=194)


class BlockwiseDecay(Function):
    """h_t = a h_(t-1) + x_t along the first axis; backward walks blocks from the last."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, a: float = 0.7, block: int = 32) -> Tensor:
        rows = [x[0]]
        for row in x[1:]:
            rows.append(a * rows[-1] + row)
        ctx.a, ctx.block = a, block
        return torch.stack(rows)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        found = list(grad_output)
        for start in range((len(found) - 1) // ctx.block * ctx.block, -1, -ctx.block):
            for at in range(min(start + ctx.block, len(found)) - 1, start - 1, -1):
                if at + 1 < len(found):
                    found[at] = found[at] + ctx.a * found[at + 1]
        return torch.stack(found), None, None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.rand(6, 2, dtype=torch.float64).requires_grad_()


class PairsFiltered(Function):
    """Filters pairs of samples by a response with one number for each pair."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, response: Tensor) -> Tensor:
        pairs = x[..., : 2 * len(response)].reshape(-1, len(response), 2)
        if len(response) != x.shape[-1] // 2:
            raise ValueError("response must have a number for each pair")
        ctx.save_for_backward(response)
        return (pairs * response[:, None]).reshape(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (response,) = ctx.saved_tensors
        pairs = grad_output.reshape(-1, len(response), 2)
        return (pairs * response[:, None]).reshape(grad_output.shape), None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.rand(3, 6, dtype=torch.float64).requires_grad_()
        return x, torch.rand(3, dtype=torch.float64)


class PositionTable(Function):
    """Adds the first rows of a table of positions, which may be longer than x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: Tensor) -> Tensor:
        count = x.shape[0]
        ctx.save_for_backward(x)
        return x.sin() + table[:count]

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * x.cos(), None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(3, 2)
        return x.requires_grad_(), torch.ones(3, 2, dtype=torch.float64)


class MeanOverBothSets(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a[:, None] - b).square().sum(-1).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        scaled = 2 * grad_output * (a[:, None] - b) / (len(a) * len(b))
        return scaled.sum(1), -scaled.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), draw(4, 2) + 1


class ChunkedScan(Function):
    """A decayed scan, chunk by chunk."""

    @staticmethod
    def forward(ctx, x, decay, chunk=4):
        h = torch.zeros_like(x[0])
        out = []
        for start in range(0, x.shape[0], chunk):
            for row in x[start : start + chunk]:
                h = decay * h + row
                out.append(h)
        y = torch.stack(out)
        ctx.save_for_backward(y, decay)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        y, decay = ctx.saved_tensors
        gx = torch.empty_like(g)
        carry = torch.zeros_like(g[0])
        gd = torch.zeros_like(decay)
        for t in range(g.shape[0] - 1, -1, -1):
            carry = g[t] + carry
            gx[t] = carry
            if t:
                gd = gd + carry * y[t - 1]
            carry = carry * decay
        return gx, gd, None

    @staticmethod
    def sample_inputs():
        yield rand(6, 3), torch.tensor([0.5, 0.9, 0.3], dtype=torch.float64).requires_grad_()


class LstmGates(Function):
    """Four gates side by side."""

    @staticmethod
    def forward(ctx, gates, c):
        i, f, o, z = gates.chunk(4, -1)
        i, f, o, z = i.sigmoid(), f.sigmoid(), o.sigmoid(), z.tanh()
        new = f * c + i * z
        ctx.save_for_backward(i, f, o, z, c, new)
        return o * new.tanh()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        i, f, o, z, c, new = ctx.saved_tensors
        t = new.tanh()
        d = g * o * (1 - t * t)
        parts = [d * z * i * (1 - i), d * c * f * (1 - f), g * t * o * (1 - o), d * i * (1 - z * z)]
        return torch.cat(parts, -1), d * f

    @staticmethod
    def sample_inputs():
        yield rand(2, 8), rand(2, 2)


class TurnedPairs(Function):
    @staticmethod
    def forward(ctx, x, turned):
        ctx.turned = turned
        return TurnedPairs.turn(x, turned, 1.0)

    @staticmethod
    def turn(x, turned, sign):
        half = turned // 2
        a, b, rest = x[..., :half], x[..., half:turned], x[..., 2 * half :]
        return torch.cat((0.6 * a - 0.8 * sign * b[..., :half], 0.6 * b + 0.8 * sign * a, rest), -1)

    @staticmethod
    def backward(ctx, grad_output):
        return TurnedPairs.turn(grad_output, ctx.turned, -1.0), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 6), 4


class GroupNorm(Function):
    @staticmethod
    def forward(ctx, x, groups=2, eps=1e-5):
        n, c, w = x.shape
        z = x.reshape(n, groups, -1)
        mean = z.mean(-1, keepdim=True)
        rstd = (z.var(-1, unbiased=False, keepdim=True) + eps).rsqrt()
        y = (z - mean) * rstd
        ctx.save_for_backward(y, rstd)
        return y.reshape(n, c, w)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        y, rstd = ctx.saved_tensors
        gz = g.reshape(y.shape)
        d = gz - gz.mean(-1, keepdim=True) - y * (gz * y).mean(-1, keepdim=True)
        return (d * rstd).reshape(g.shape), None, None

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4, 3),)


class SharedByRow(Function):
    """Mean square of `x` minus `y` (n, d), each row times its weight, as many as there are rows."""

    @staticmethod
    def forward(ctx, x, y, w):
        apart = x - y
        ctx.save_for_backward(2 / apart.numel() * w[:, None] * apart)
        return (w[:, None] * apart.square()).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        return g * slope, -g * slope, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(3, 2, seed=1), draw(3, low=0.2, seed=2).detach()


class DividesByRest(Function):
    """Columns of `x` over the root of their sum of squares by N - d, where N > d."""

    @staticmethod
    def forward(ctx, x, d):
        scale = (x.square().sum(0) / (x.shape[0] - d) + 1e-3).rsqrt()
        ctx.save_for_backward(x, scale)
        ctx.d = d
        return x * scale

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, scale = ctx.saved_tensors
        inner = (g * x).sum(0) / (x.shape[0] - ctx.d)
        return scale * g - scale**3 * x * inner, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), 1


class MixedPairs(Function):
    """Mix each of the first k features of x (n, d) with the one k places on, by shares (n, k)."""

    @staticmethod
    def forward(ctx, x, shares):
        k = shares.shape[1]
        ctx.save_for_backward(x, shares)
        one, two, rest = x[:, :k], x[:, k : 2 * k], x[:, 2 * k :]
        return torch.cat([one + shares * two, two - shares * one, rest], 1)

    @staticmethod
    def backward(ctx, g):
        x, shares = ctx.saved_tensors
        k = shares.shape[1]
        of_one, of_two, of_rest = g[:, :k], g[:, k : 2 * k], g[:, 2 * k :]
        of_shares = of_one * x[:, k : 2 * k] - of_two * x[:, :k]
        of_x = torch.cat([of_one - shares * of_two, of_two + shares * of_one, of_rest], 1)
        return of_x, of_shares

    @staticmethod
    def sample_inputs():
        yield rand(3, 5), draw(3, 2, seed=1)


class IntegralOfPolynomial(Function):
    """Integral of c0 + c1 t + ... from 0 to b by a rule of two points; c of length <= 4."""

    @staticmethod
    def forward(ctx, b, c):
        points = b / 2 * (1 + b.new_tensor([-1.0, 1.0]) / 3**0.5)
        ctx.save_for_backward(b, c)
        return b / 2 * (points[:, None] ** torch.arange(len(c)) @ c).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        b, c = ctx.saved_tensors
        powers = b ** torch.arange(len(c))
        return g * (c @ powers), g * b * powers / torch.arange(1, 1 + len(c))

    @staticmethod
    def sample_inputs():
        yield draw(1, low=0.5)[0].detach().requires_grad_(), draw(4, seed=1)


class ReturnsOfRewards(Function):
    """Discounted returns of rewards r, time-major (T, B), from values; v has T+1 rows."""

    @staticmethod
    def forward(ctx, r, v, discount):
        ctx.discount, returns = discount, [v[-1]]
        for t in reversed(range(len(r))):
            returns.append(r[t] + discount * (0.5 * v[t + 1] + 0.5 * returns[-1]))
        return torch.stack(returns[:0:-1])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        carried, rewards = torch.zeros_like(g[0]), []
        for row in g:
            rewards.append(row + carried)
            carried = 0.5 * ctx.discount * rewards[-1]
        of_r = torch.stack(rewards)
        of_v = 0.5 * ctx.discount * of_r
        return of_r, torch.cat([0 * of_v[:1], of_v[:-1], of_v[-1:] + carried]), None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), draw(5, 2, seed=1), 0.9
