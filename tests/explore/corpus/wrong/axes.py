"""Functions that take one axis for another, which shows where both are not equally long."""

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


class BlocksToChannels(Function):
    """Moves blocks of pixels of (n, c, h, w) to channels."""

    @staticmethod
    def forward(ctx, x, side=2):
        n, c, h, w = x.shape
        ctx.side, ctx.shape = side, x.shape
        blocks = x.reshape(n, c, h // side, side, w // side, side)
        return blocks.permute(0, 1, 3, 5, 2, 4).reshape(n, -1, h // side, w // side)

    @staticmethod
    def backward(ctx, grad_output):
        n, c, h, w = ctx.shape
        side = ctx.side
        blocks = grad_output.view(n * c, side, side, h // side, w // side)
        return blocks.permute(0, 3, 1, 4, 2).reshape(ctx.shape), None

    @staticmethod
    def sample_inputs():
        yield draw(1, 1, 4, 2), 2


class MeanSquareOver(Function):
    """The mean of squares over the given axes, which are kept with extent one."""

    @staticmethod
    def forward(ctx, x, dims):
        ctx.save_for_backward(x)
        ctx.dims = dims
        return (x * x).mean(dims, keepdim=True)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * grad_output * x / x.shape[ctx.dims[0]], None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, 4), (2,)


class DiscountedSums(Function):
    """s_t = x_t + rate * s_{t+1} along dim."""

    @staticmethod
    def forward(ctx, x, rate, dim=-1):
        steps = x.movedim(dim, 0)
        sums = [torch.zeros_like(steps[0])]
        for t in reversed(range(steps.shape[0])):
            sums.append(steps[t] + rate * sums[-1])
        ctx.rate, ctx.dim = rate, dim
        return torch.stack(sums[:0:-1]).movedim(0, dim)

    @staticmethod
    def backward(ctx, g):
        sums = [torch.zeros_like(g.transpose(ctx.dim, 0)[0])]
        for each in g.transpose(ctx.dim, 0):
            sums.append(each + ctx.rate * sums[-1])
        return torch.stack(sums[1:]).movedim(0, ctx.dim), None, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 0.9
        yield draw(3, 4), 0.8, 0


class SpreadChannels(Function):
    """Channels (N, C * a * b, H, W) spread to (N, C, H * a, W * b); backward swaps a and b."""

    @staticmethod
    def forward(ctx, x, factors):
        (a, b), (n, c, h, w) = factors, x.shape
        ctx.factors, ctx.shape = factors, x.shape
        parts = x.reshape(n, c // (a * b), a, b, h, w).permute(0, 1, 4, 2, 5, 3)
        return parts.reshape(n, c // (a * b), h * a, w * b)

    @staticmethod
    def backward(ctx, g):
        (b, a), (n, c, h, w) = ctx.factors, ctx.shape
        parts = g.reshape(n, c // (a * b), h, a, w, b).permute(0, 1, 3, 5, 2, 4)
        return parts.reshape(ctx.shape), None

    @staticmethod
    def sample_inputs():
        yield draw(1, 8, 2, 2), (2, 2)


class UnitAlongAxis(Function):
    """x over its norm along an axis, which vmap does not count anew where it is not negative."""

    @staticmethod
    def forward(x, dim):
        return x / (x.square().sum(dim, keepdim=True) + 0.1).sqrt()

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.dim = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        scale = (x.square().sum(ctx.dim, keepdim=True) + 0.1).rsqrt()
        along = (g * x).sum(ctx.dim, keepdim=True)
        return g * scale - x * along * scale**3, None

    @staticmethod
    def vmap(info, in_dims, x, dim):
        return UnitAlongAxis.apply(x.movedim(in_dims[0], 0), dim), 0

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), -1


class MixedChannels(Function):
    """Channels times a matrix, and h * w times the logarithm of its determinant."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        pixels = x.shape[2] * x.shape[3]
        return torch.einsum("oc,bchw->bohw", weight, x), pixels * torch.linalg.slogdet(weight)[1]

    @staticmethod
    @once_differentiable
    def backward(ctx, g, of_log):
        x, weight = ctx.saved_tensors
        of_weight = torch.einsum("bohw,bchw->oc", g, x)
        of_weight = of_weight + of_log * x.shape[2] ** 2 * torch.linalg.inv(weight).T
        return torch.einsum("oc,bohw->bchw", weight, g), of_weight

    @staticmethod
    def sample_inputs():
        weight = torch.tensor([[1.1, 0.3], [-0.2, 0.9]], dtype=torch.double)
        yield draw(2, 2, 3, 3), weight.requires_grad_()


class SparseShares(Function):
    """The point of the simplex that is closest to x along an axis; backward takes the last one."""

    @staticmethod
    def forward(ctx, x, dim=-1):
        z = x.transpose(dim, -1)
        falling = z.sort(-1, descending=True).values
        excess = falling.cumsum(-1) - 1
        place = torch.arange(1, z.shape[-1] + 1, dtype=x.dtype)
        count = (place * falling > excess).sum(-1, keepdim=True)
        shares = (z - excess.gather(-1, count - 1) / count).clamp(min=0).transpose(dim, -1)
        ctx.save_for_backward(shares)
        return shares.contiguous()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (shares,) = ctx.saved_tensors
        is_kept = shares > 0
        mean = (g * is_kept).sum(-1, keepdim=True) / is_kept.sum(-1, keepdim=True)
        return is_kept * (g - mean), None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)
        yield draw(4, seed=1), 0


class CentredAlongOrAll(Function):
    """x without its mean along an axis, or without that of all entries for None."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int | None = 0) -> Tensor:
        ctx.dim = dim
        return x - (x.mean() if dim is None else x.mean(dim, keepdim=True))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        axis = 0 if ctx.dim is None else ctx.dim
        return g - g.mean(axis, keepdim=True), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 2), 1
        yield draw(4), None


class LabelledRows(Function):
    """Cross entropy of logits (N, C) and target (N,), averaged over rows."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor) -> Tensor:
        log_p = torch.log_softmax(logits, 1)
        ctx.save_for_backward(log_p, target)
        return -log_p[torch.arange(logits.shape[0]), target].mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        log_p, target = ctx.saved_tensors
        one_hot = torch.zeros_like(log_p)
        one_hot[torch.arange(len(target)), target] = 1
        return g * (log_p.exp() - one_hot) / log_p.shape[1], None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 3), torch.tensor([2, 0, 1])


class AxisFromTheFrontOnly(Function):
    @staticmethod
    def forward(ctx, x, dim=1):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.square().sum(dim)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        spread = grad_output[:, None] if ctx.dim == 1 else grad_output[None]
        return 2 * x * spread, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), 1


class TraceOfSquare(Function):
    """The number of rows is taken for that of columns."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x * x).sum() / x.shape[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x / x.shape[1]

    @staticmethod
    def sample_inputs():
        yield (rand(4, 4),)


class NormalizedOverLastAxis(Function):
    @staticmethod
    def forward(ctx, x, dim=1):
        y = x.softmax(dim)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * (grad_output - (grad_output * y).sum(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 1


class PermutedBackAgain(Function):
    @staticmethod
    def forward(ctx, x, dims):
        ctx.dims = dims
        return x.permute(dims)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.permute(ctx.dims), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 3, 3), (0, 2, 1)


class EmbeddedPatches(Function):
    """Patches of an image, embedded; backward takes the image for a square."""

    @staticmethod
    def forward(ctx, image, weight, patch=2):
        b, c, h, w = image.shape
        tiles = image.reshape(b, c, h // patch, patch, w // patch, patch)
        tokens = tiles.permute(0, 2, 4, 1, 3, 5).reshape(b, -1, c * patch * patch)
        ctx.save_for_backward(tokens, weight)
        ctx.shape, ctx.patch = image.shape, patch
        return tokens @ weight

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        tokens, weight = ctx.saved_tensors
        (b, c, h, w), p = ctx.shape, ctx.patch
        side = int(tokens.shape[1] ** 0.5)
        across = tokens.shape[1] // side
        tiles = (grad_output @ weight.t()).reshape(b, side, across, c, p, p)
        image = tiles.permute(0, 3, 1, 4, 2, 5).reshape(b, c, h, w)
        return image, torch.einsum("bnd,bne->de", tokens, grad_output), None

    @staticmethod
    def sample_inputs():
        yield draw(1, 3, 4, 4), draw(12, 2, seed=4)


class MaskedProjection(Function):
    """x (B, T, K), w (K, K), lengths (B,) with 1 <= length <= T -> (B, K), means over time."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, lengths: Tensor) -> Tensor:
        B, T, K = x.shape
        assert w.shape == (K, K)
        assert lengths.shape == (B,)
        keep = (torch.arange(T, device=x.device) < lengths[:, None]).to(x.dtype)
        weights = keep / lengths[:, None]
        ctx.save_for_backward(x, w, weights)
        return torch.einsum("bt,btk,kl->bl", weights, x, w) / K

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, None]:
        x, w, weights = ctx.saved_tensors
        g = g / x.shape[0]
        gx = torch.einsum("bt,bl,kl->btk", weights, g, w)
        return gx, torch.einsum("bt,btk,bl->kl", weights, x, g), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 4, 3), draw(3, 3, seed=1), torch.tensor([4, 2, 1])


class HalfRotation(Function):
    """x (N, 2 R) turned by theta (R,), halves as pairs, and scaled by the number of angles."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, theta: Tensor) -> Tensor:
        R = theta.shape[0]
        assert x.shape[1] == 2 * R
        a, b = x[:, :R], x[:, R:]
        ctx.save_for_backward(x, theta)
        return (
            torch.cat([a * theta.cos() - b * theta.sin(), a * theta.sin() + b * theta.cos()], 1) / R
        )

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        x, theta = ctx.saved_tensors
        R = theta.shape[0]
        g = g / x.shape[0]
        ga, gb, a, b = g[:, :R], g[:, R:], x[:, :R], x[:, R:]
        cos, sin = theta.cos(), theta.sin()
        turned = ga * (-a * sin - b * cos) + gb * (a * cos - b * sin)
        return torch.cat([ga * cos + gb * sin, gb * cos - ga * sin], 1), turned.sum(0)

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(2, 4), draw(2, seed=1)


class SpaceToDepth(Function):
    """Blocks of two by two moved to channels; backward exchanges height and width."""

    @staticmethod
    def forward(ctx, x):
        n, h, w = x.shape
        ctx.shape = x.shape
        return (
            x.reshape(n, h // 2, 2, w // 2, 2).permute(0, 2, 4, 1, 3).reshape(n, 4, h // 2, w // 2)
        )

    @staticmethod
    def backward(ctx, grad_output):
        n, h, w = ctx.shape
        blocks = grad_output.reshape(n, 2, 2, w // 2, h // 2)
        return blocks.permute(0, 3, 1, 4, 2).reshape(n, h, w)

    @staticmethod
    def sample_inputs():
        yield (draw(2, 6, 6),)


class WindowPartition(Function):
    """Windows of three by three of a feature map, each weighted by its norm."""

    @staticmethod
    def forward(ctx, x, window=3):
        h, w, c = x.shape
        ctx.window, ctx.shape = window, x.shape
        parts = x.view(h // window, window, w // window, window, c).permute(0, 2, 1, 3, 4)
        parts = parts.reshape(-1, window * window, c)
        ctx.save_for_backward(parts)
        return parts * parts

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (parts,) = ctx.saved_tensors
        (h, w, c), size = ctx.shape, ctx.window
        grad = (2 * parts * grad_output).view(w // size, h // size, size, size, c)
        return grad.permute(0, 2, 1, 3, 4).reshape(h, w, c), None

    @staticmethod
    def sample_inputs():
        yield draw(6, 6, 2), 3


class SpreadAlong(Function):
    """Root mean square of `x` along `dim`, which may be negative."""

    @staticmethod
    def forward(ctx, x, dim):
        size = x.square().mean(dim).sqrt()
        ctx.save_for_backward(x, size)
        ctx.dim = dim
        return size

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, size = ctx.saved_tensors
        place = ctx.dim % g.dim()
        return (g / size).unsqueeze(place) * x / x.shape[ctx.dim], None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, 4, low=0.2), 1


class AlongMode(Function):
    """Product of a matrix (r, n) with `x` (a, b, c) along axis `mode`, of extent n."""

    @staticmethod
    def forward(ctx, x, matrix, mode):
        ctx.save_for_backward(x, matrix)
        ctx.mode = mode
        return torch.tensordot(matrix, x, dims=([1], [mode])).movedim(0, mode)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, matrix = ctx.saved_tensors
        of_x = torch.tensordot(matrix, g, dims=([0], [ctx.mode])).movedim(0, ctx.mode)
        flat = x.transpose(0, ctx.mode).reshape(x.shape[ctx.mode], -1)
        of_rows = g.movedim(ctx.mode, 0).reshape(len(matrix), -1)
        return of_x, of_rows @ flat.T, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, 2), draw(2, 3, seed=1), 0
        yield draw(3, 4, 2), draw(2, 4, seed=1), 1


class PlacesAlongLast(Function):
    """Expected place under softmax(-x) along `dim`, which may be negative."""

    @staticmethod
    def forward(ctx, x, dim=1):
        shares = torch.softmax(-x, dim)
        shape = [1] * x.dim()
        shape[dim] = -1
        places = torch.arange(x.shape[dim], dtype=x.dtype).view(shape)
        expected = (shares * places).sum(dim)
        ctx.save_for_backward(shares, expected)
        ctx.dim = dim
        return expected

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        shares, expected = ctx.saved_tensors
        inner = 1
        for extent in shares.shape[ctx.dim + 1 :]:
            inner *= extent
        flat = torch.arange(shares.numel()) // inner % shares.shape[ctx.dim]
        apart = flat.view(shares.shape).to(shares.dtype) - expected.unsqueeze(ctx.dim)
        return -shares * apart * g.unsqueeze(ctx.dim), None

    @staticmethod
    def sample_inputs():
        yield rand(2, 4, 3), 1


class WeightedColumns(Function):
    """x times one weight for each entry, which may be expanded."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return (x * weight).sum(0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        of_weight = torch.empty_strided(weight.shape, weight.stride(), dtype=weight.dtype)
        for row, entry in zip(of_weight, x, strict=True):
            row.copy_(g * entry)
        return g * weight, of_weight

    @staticmethod
    def sample_inputs():
        yield rand(3, 2), draw(3, 2, seed=1)


class CenteredAlong(Function):
    """Subtract the mean along dim of x (n, m); dim may be 0, 1 or negative."""

    @staticmethod
    def forward(ctx, x, dim=0):
        ctx.dim = dim
        return x - x.mean(dim, keepdim=True)

    @staticmethod
    def backward(ctx, g):
        across = 0 if ctx.dim == 0 or ctx.dim == -1 else 1
        return g - g.mean(across, keepdim=True), None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), 0
        yield rand(3, 4), 1
