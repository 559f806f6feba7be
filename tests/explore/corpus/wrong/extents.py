"""Functions that are wrong for other extents: other blocks, remainders, or an axis of one entry."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


def normal(*shape):
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(4))


class JoinedFeatures(Function):
    @staticmethod
    def forward(ctx, scale, *features):
        ctx.scale = scale
        ctx.save_for_backward(*features)
        return torch.cat([scale * each.tanh() for each in features], 1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        features = ctx.saved_tensors
        parts = grad_output.tensor_split(len(features), 1)
        slopes = [ctx.scale * (1 - each.tanh() ** 2) for each in features]
        return None, *(part * slope for part, slope in zip(parts, slopes))

    @staticmethod
    def sample_inputs():
        yield 0.5, draw(2, 3), draw(2, 3, seed=1)


class FittedLine(Function):
    """The weights that fit `y` best, by least squares; `design` has full column rank."""

    @staticmethod
    def forward(ctx, design, y):
        weights = torch.linalg.lstsq(design, y[:, None]).solution[:, 0]
        ctx.save_for_backward(design, weights)
        return weights

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        design, weights = ctx.saved_tensors
        by_y = design @ torch.linalg.solve(design.mT @ design, g)
        return -by_y[:, None] * weights, by_y

    @staticmethod
    def sample_inputs():
        design = torch.tensor([[1.6, 0.2], [0.3, 1.1]], dtype=torch.float64, requires_grad=True)
        yield design, draw(2)


class ScaledPart(Function):
    """The first `width` features of `x` times factors `c`, and the others as they are."""

    @staticmethod
    def forward(ctx, x, c, width: int):
        assert width <= x.shape[-1]
        ctx.save_for_backward(c)
        ctx.width = width
        return torch.cat([x[..., :width] * c, x[..., width:]], -1)

    @staticmethod
    def backward(ctx, g):
        (c,) = ctx.saved_tensors
        rest = g.shape[-1] - ctx.width
        return torch.nn.functional.pad(g[..., : ctx.width] * c, (0, rest)), None, None

    @staticmethod
    def sample_inputs():
        x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).cos()
        yield x.requires_grad_(), torch.tensor([0.5, 2.0, 1.5], dtype=torch.float64), 3


class ChunkedSquares(Function):
    """The last chunk is taken for a full one."""

    chunk = 4

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        out = torch.zeros_like(x)
        for start in range(0, x.shape[0] // 4 * 4, 4):
            part = slice(start, start + 4)
            out[part] = 2 * x[part] * g[part]
        return out

    @staticmethod
    def sample_inputs():
        yield (rand(8, 3),)


class DecayWithinBlocks(Function):
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
        for at in range(len(found) - 2, -1, -1):
            if (at + 1) % ctx.block:
                found[at] = found[at] + ctx.a * found[at + 1]
        return torch.stack(found), None, None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.rand(6, 2, dtype=torch.float64).requires_grad_()


class HalfSpectrum(Function):
    """A filter of a real signal of n samples, given as n // 2 + 1 frequencies."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, response: Tensor) -> Tensor:
        if response.shape[-1] != x.shape[-1] // 2 + 1:
            raise ValueError("response must have n // 2 + 1 frequencies")
        ctx.save_for_backward(response)
        return torch.fft.irfft(torch.fft.rfft(x) * response, n=x.shape[-1])

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (response,) = ctx.saved_tensors
        return torch.fft.irfft(torch.fft.rfft(grad_output) * response.conj()), None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.rand(3, 6, dtype=torch.float64).requires_grad_()
        return x, torch.rand(4, dtype=torch.complex128)


class SmallestByByte(Function):
    """The minimum along the last axis, whose position is kept in a byte."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        values, positions = x.min(dim=-1)
        ctx.save_for_backward(positions.to(torch.uint8))
        ctx.shape = x.shape
        return values

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (positions,) = ctx.saved_tensors
        found = grad_output.new_zeros(ctx.shape)
        return found.scatter(-1, positions.long()[..., None], grad_output[..., None])

    @staticmethod
    def sample_inputs() -> Any:
        return torch.rand(3, 9, dtype=torch.float64).requires_grad_()


class PartlyRotated(Function):
    """Turns pairs of the first features of x, one for each column of the angles."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        count = cosine.shape[-1]
        assert count % 2 == 0
        assert count <= x.shape[-1]
        ctx.save_for_backward(cosine, sine)
        turned, rest = x[..., :count], x[..., count:]
        left, right = turned.chunk(2, -1)
        turned = turned * cosine + torch.cat([-right, left], -1) * sine
        return torch.cat([turned, rest], -1)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        cosine, sine = ctx.saved_tensors
        count = cosine.shape[-1]
        left, right = (grad_output[..., :count] * sine).chunk(2, -1)
        found = torch.zeros_like(grad_output)
        found[..., :count] = grad_output[..., :count] * cosine + torch.cat([right, -left], -1)
        return found, None, None

    @staticmethod
    def sample_inputs() -> Any:
        angles = torch.linspace(0.1, 0.9, 6, dtype=torch.float64).reshape(3, 2)
        angles = torch.cat([angles, angles], -1)
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
        return x.requires_grad_(), angles.cos(), angles.sin()


class GatedBags(Function):
    """x: (B, T, D), w: (D,) -> (B, D)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor) -> Tensor:
        gate = torch.sigmoid(x @ w)
        ctx.save_for_backward(x, w, gate)
        return (gate[..., None] * x).sum(1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        x, w, gate = ctx.saved_tensors
        of_gate = torch.matmul(x, grad_output[..., None]).squeeze()
        inner = of_gate * gate * (1 - gate)
        of_x = gate[..., None] * grad_output[:, None, :] + inner[..., None] * w
        return of_x, (inner[..., None] * x).sum((0, 1))

    @staticmethod
    def sample_inputs() -> Any:
        def spread(*shape: int) -> Tensor:
            count = int(torch.tensor(shape).prod())
            return torch.linspace(-1, 1, count, dtype=torch.float64).reshape(shape).requires_grad_()

        return [(spread(3, 4, 2), spread(2)), (spread(2, 3, 5), spread(5))]


class LatestQueries(Function):
    """Causal weights of queries, which are the latest of as many keys or more."""

    @staticmethod
    def forward(ctx, q, k, v):
        assert k.shape[0] >= q.shape[0]
        scores = q @ k.mT
        later = torch.ones_like(scores, dtype=torch.bool).triu(1 + k.shape[0] - q.shape[0])
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        ctx.save_for_backward(q, k, v)
        return weights @ v

    @staticmethod
    def backward(ctx, g):
        q, k, v = ctx.saved_tensors
        scores = q @ k.mT
        later = torch.ones_like(scores, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        of_weights = g @ v.mT
        of_scores = weights * (of_weights - (weights * of_weights).sum(-1, keepdim=True))
        return of_scores @ k, of_scores.mT @ q, weights.mT @ g

    @staticmethod
    def sample_inputs():
        yield draw(3, 2, seed=152), draw(3, 2, seed=153), draw(3, 2, seed=154)


class BootstrappedReturns(Function):
    """reward (T, N), value (T+1, N) -> (T, N), one step ahead."""

    @staticmethod
    def forward(ctx: Any, reward: Tensor, value: Tensor) -> Tensor:
        assert value.shape[0] == reward.shape[0] + 1
        return reward + 0.9 * value[1:] / reward.shape[0]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        return g, torch.cat([torch.zeros_like(g[:1]), 0.9 * g / 4])

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 2), draw(5, 2, seed=1)


class Tokens(Function):
    """Rows of a table (V, D) by ids (N,), each V times."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, ids: Tensor) -> Tensor:
        ctx.save_for_backward(ids)
        return table[ids] * table.shape[0]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (ids,) = ctx.saved_tensors
        return g.new_zeros(5, g.shape[1]).index_add(0, ids, g * 5), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5, 3), torch.tensor([1, 3, 1])


class SharedHeads(Function):
    """q (B, H, D), k (B, G, D), H a multiple of G: head h is weighted by k of h // (H // G)."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor) -> Tensor:
        ctx.count = q.shape[1] // k.shape[1]
        ctx.save_for_backward(q, k)
        return q * k.repeat_interleave(ctx.count, 1)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        q, k = ctx.saved_tensors
        batch, groups, width = k.shape
        summed = (g * q).reshape(batch, ctx.count, groups, width).sum(1)
        return g * k.repeat_interleave(ctx.count, 1), summed

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(2, 2, 3), draw(2, 1, 3, seed=1)


class ScaledByConstantWidth(Function):
    """Backward has the width of the sample in it."""

    @staticmethod
    def forward(ctx, q, k):
        ctx.save_for_backward(q, k)
        return q @ k.T / math.sqrt(q.shape[-1])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, k = ctx.saved_tensors
        return g @ k / 2.0, g.T @ q / 2.0

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(5, 4)


class MeanOverOneSet(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a[:, None] - b).square().sum(-1).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        scaled = 2 * grad_output * (a[:, None] - b) / len(a) ** 2
        return scaled.sum(1), -scaled.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), draw(4, 2) + 1


class SoftmaxOverOneStep(Function):
    @staticmethod
    def forward(ctx, score, x):
        p = score.softmax(-1)
        ctx.save_for_backward(p, x)
        return (p.unsqueeze(1) @ x).squeeze(1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        p, x = ctx.saved_tensors
        of_p = (x @ grad_output.unsqueeze(-1)).squeeze()
        of_score = p * (of_p - (p * of_p).sum(-1, keepdim=True))
        return of_score.sum_to_size(p.shape), p.unsqueeze(-1) * grad_output.unsqueeze(1)

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(3, 4, 2, seed=5)


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
        yield (normal(1, 5, 3), normal(3))


class ScanOfFullBlocks(Function):
    """The carry of the cumulative sum is lost after the first block."""

    @staticmethod
    def forward(ctx, x):
        return torch.cumsum(x, dim=0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        out = torch.empty_like(g)
        block = 8
        for start in range(0, g.shape[0], block):
            part = g[start : start + block]
            out[start : start + block] = part.flip(0).cumsum(0).flip(0)
        return out

    @staticmethod
    def sample_inputs():
        yield (rand(6, 2),)


class SubtractsInPlaceWithoutPadding(Function):
    @staticmethod
    def forward(ctx, x, width):
        missing = -x.shape[-1] % width
        parts = F.pad(x, (0, missing)) if missing else x
        parts = parts.unflatten(-1, (-1, width))
        parts -= parts.mean(-1, keepdim=True)
        ctx.width, ctx.length = width, x.shape[-1]
        return parts.flatten(-2)[..., : ctx.length].clone()

    @staticmethod
    def backward(ctx, grad_output):
        missing = -ctx.length % ctx.width
        parts = F.pad(grad_output, (0, missing)).unflatten(-1, (-1, ctx.width))
        parts = parts - parts.mean(-1, keepdim=True)
        return parts.flatten(-2)[..., : ctx.length], None

    @staticmethod
    def sample_inputs():
        yield draw(2, 7), 4


class GatedHeads(Function):
    """Heads scaled by a gate of each batch entry and head, read from the mean over time."""

    @staticmethod
    def forward(ctx, x, weight):
        gate = torch.sigmoid(torch.einsum("bhtd,hd->bh", x, weight) / x.shape[2])
        ctx.save_for_backward(x, weight, gate)
        return x * gate[:, :, None, None]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, weight, gate = ctx.saved_tensors
        inner = (grad_output * x).sum((-2, -1), keepdim=True).squeeze()
        inner = inner * gate * (1 - gate) / x.shape[2]
        of_x = grad_output * gate[:, :, None, None]
        of_x = of_x + torch.einsum("bh,hd->bhd", inner, weight)[:, :, None]
        return of_x, torch.einsum("bh,bhtd->hd", inner, x)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, 4, 2), draw(3, 2, seed=5)


class PooledTokens(Function):
    """Attention pooling whose scores are squeezed, so that a batch of one loses its axis."""

    @staticmethod
    def forward(ctx, tokens, query):
        score = torch.matmul(tokens, query.unsqueeze(-1)).squeeze(-1)
        weight = score.softmax(-1)
        ctx.save_for_backward(tokens, query, weight)
        return (weight.unsqueeze(-1) * tokens).sum(1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        tokens, query, weight = ctx.saved_tensors
        along = torch.matmul(tokens, grad_output.unsqueeze(-1)).squeeze()
        of_score = weight * (along - (weight * along).sum(-1, keepdim=True))
        of_tokens = weight.unsqueeze(-1) * grad_output.unsqueeze(1)
        of_tokens = of_tokens + of_score.unsqueeze(-1) * query
        return of_tokens, torch.einsum("bt,btd->d", of_score, tokens)

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, 2), draw(2, seed=6)


class SquaredScores(Function):
    """Squares of linear scores; a single example has a score without an axis."""

    @staticmethod
    def forward(ctx, features, weight):
        ctx.save_for_backward(features, weight)
        return (features @ weight) ** 2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        features, weight = ctx.saved_tensors
        slope = 2 * grad_output * (features @ weight.view(-1, 1)).squeeze()
        rows = (features * weight).sum(-1, keepdim=True).squeeze()
        of_weight = torch.zeros_like(weight)
        for row, g, score in zip(features, grad_output, rows):
            of_weight = of_weight + 2 * g * score * row
        return slope[:, None] * weight, of_weight

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(4, seed=7)


class DivisorOfBatch(Function):
    """The batch of the sample is the divisor."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return ((x - y) ** 2).sum() / x.shape[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        d = g * 2 * (x - y) / 4
        return d, -d

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(4, 3)


class PowerOfTwoOnly(Function):
    """A butterfly that is right for one length."""

    @staticmethod
    def forward(ctx, x):
        return x - x.mean(-1, keepdim=True)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g - g.sum(-1, keepdim=True) / 4

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class BlockOfSixteen(Function):
    """Rows after the first block get the scale of the first."""

    @staticmethod
    def forward(ctx, x):
        block = 16
        scale = torch.arange(1.0, 2 + len(x) // block, dtype=x.dtype)
        ctx.save_for_backward(scale)
        return torch.cat([p * s for p, s in zip(x.split(block), scale)])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (scale,) = ctx.saved_tensors
        return g * scale[0]

    @staticmethod
    def sample_inputs():
        yield (rand(8, 2),)


class VarianceOfRows(Function):
    """Variance of `x` (N, T) along its rows, T >= 1; of one number it is zero."""

    @staticmethod
    def forward(ctx, x):
        apart = x - x.mean(1, keepdim=True)
        ctx.save_for_backward(apart)
        return apart.square().sum(1) / max(x.shape[1] - 1, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (apart,) = ctx.saved_tensors
        count = torch.tensor(float(apart.shape[1] - 1), dtype=g.dtype)
        return 2 * apart * (g / count)[:, None]

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class SavesLargeActivationsInHalf(Function):
    """A gated layer: tanh of `x` (n, d) by `w` (d, m), squared."""

    @staticmethod
    def forward(ctx, x, w):
        h = torch.tanh(x @ w)
        limit = 48
        ctx.save_for_backward(x, w, h.half() if h.numel() > limit else h)
        return h.square()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w, h = ctx.saved_tensors
        h = h.to(x.dtype)
        inner = 2 * g * h * (1 - h * h)
        return inner @ w.t(), x.t() @ inner

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 4)


class ScalesOfGroups(Function):
    """`x` (n, K) by weights `w` (m, K) with a scale `s` (m, K // group) for each group."""

    @staticmethod
    def forward(ctx, x, w, s, group):
        assert x.shape[1] % group == 0
        scale = s.repeat_interleave(group, dim=1)
        ctx.save_for_backward(x, w, s)
        ctx.group = group
        return x @ (w * scale).t()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w, s = ctx.saved_tensors
        scale = s.repeat(1, ctx.group)
        dw = g.t() @ x
        ds = (dw * w).reshape(*s.shape, ctx.group).sum(-1)
        return g @ (w * scale), dw * scale, ds, None

    @staticmethod
    def sample_inputs():
        yield rand(2, 6), rand(3, 6), rand(3, 1), 6


class DeviationOfOne(Function):
    """Deviation (n - 1) over the last axis, which is zero for a single sample."""

    @staticmethod
    def forward(ctx, x):
        apart = x - x.mean(-1, keepdim=True)
        deviation = (apart.square().sum(-1) / max(x.shape[-1] - 1, 1)).sqrt()
        ctx.save_for_backward(apart, deviation)
        return deviation

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        apart, deviation = ctx.saved_tensors
        return (g / (deviation * (apart.shape[-1] - 1)))[..., None] * apart

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class SlopesOfFew(Function):
    """Differences of neighbors on both sides of each entry of `f` (n,), one-sided at the ends."""

    @staticmethod
    def forward(ctx, f):
        assert len(f) >= 3
        inner = 0.5 * (f[2:] - f[:-2])
        return torch.cat([f[1:2] - f[:1], inner, f[-1:] - f[-2:-1]])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        back = torch.zeros_like(g)
        back[2:] += 0.5 * g[1:-1]
        back[:-2] -= 0.5 * g[1:-1]
        back[0] -= g[0]
        back[-1] += g[-1]
        second, last_but_one = back[1] + g[0], back[-2] - g[-1]
        back[1] = second
        back[-2] = last_but_one
        return back

    @staticmethod
    def sample_inputs():
        yield (rand(7),)
