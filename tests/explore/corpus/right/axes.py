"""Functions that are right along each axis that they are made for."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class ShadowsOnASphere(Function):
    """Squared distance from a centre to the rays origin + t * direction, of any length."""

    @staticmethod
    def forward(ctx, origin, direction, centre):
        away = origin - centre
        along = (away * direction).sum(-1) / (direction * direction).sum(-1)
        ctx.save_for_backward(away, direction, along)
        return ((away - along.unsqueeze(-1) * direction) ** 2).sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        away, direction, along = ctx.saved_tensors
        left = 2 * g[:, None] * (away - along[:, None] * direction)
        return left, -along[:, None] * left, -left.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(3, 3), draw(3, 3, seed=1), draw(3, seed=2)


class InverseDistances(Function):
    """Sum of inverse distances of all pairs of points, which are distinct."""

    @staticmethod
    def forward(ctx, points):
        one, other = torch.triu_indices(len(points), len(points), 1)
        along = points[one] - points[other]
        distance = along.norm(dim=1)
        ctx.save_for_backward(along, distance, one, other)
        ctx.count = len(points)
        return (1 / distance).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        along, distance, one, other = ctx.saved_tensors
        force = -g * along / distance[:, None] ** 3
        found = along.new_zeros(ctx.count, 3)
        return found.index_add(0, one, force).index_add(0, other, -force)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)


class SquaresOfMatrix(Function):
    """Running totals of the squares along an axis of a matrix."""

    @staticmethod
    def forward(ctx, x, dim=0):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.square().sum(dim).cumsum(0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        left = g.flip(0).cumsum(0).flip(0)
        return 2 * x * (left if ctx.dim in (0, -2) else left[:, None]), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, seed=186), 0
        yield draw(3, 4, seed=187), 1


class AnyAxisFromEitherEnd(Function):
    @staticmethod
    def forward(ctx, x, dim=1):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.square().sum(dim)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output.unsqueeze(ctx.dim), None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), 1


class SoftmaxAlongAny(Function):
    @staticmethod
    def forward(ctx, x, dim=1):
        y = x.softmax(dim)
        ctx.save_for_backward(y)
        ctx.dim = dim
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * (grad_output - (grad_output * y).sum(ctx.dim, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 1


class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x, dim=-1):
        m = x.amax(dim, keepdim=True)
        e = (x - m).exp()
        s = e.sum(dim, keepdim=True)
        ctx.save_for_backward(e / s)
        ctx.dim = dim
        return (s.log() + m).squeeze(dim)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return g.unsqueeze(ctx.dim) * p, None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class SquareImages(Function):
    """Rotates square images (N, S, S) by a quarter."""

    @staticmethod
    def forward(ctx, images):
        return torch.rot90(images, 1, (1, 2)) + images

    @staticmethod
    def backward(ctx, grad_output):
        return torch.rot90(grad_output, -1, (1, 2)) + grad_output

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4, 4),)


class TileOfSide(Function):
    """Tiles of two by two of an image of any even height and width."""

    @staticmethod
    def forward(ctx, x):
        h, w = x.shape
        ctx.shape = x.shape
        return x.reshape(h // 2, 2, w // 2, 2).permute(0, 2, 1, 3).reshape(-1, 4)

    @staticmethod
    def backward(ctx, grad_output):
        h, w = ctx.shape
        return grad_output.reshape(h // 2, w // 2, 2, 2).permute(0, 2, 1, 3).reshape(h, w)

    @staticmethod
    def sample_inputs():
        yield (draw(4, 4),)


class PixelShuffle(Function):
    """Channels are a multiple of the squared factor."""

    @staticmethod
    def forward(ctx, x, r=2):
        c, h, w = x.shape
        ctx.r = r
        y = x.reshape(c // r**2, r, r, h, w).permute(0, 3, 1, 4, 2)
        return y.reshape(c // r**2, h * r, w * r)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        r = ctx.r
        c, h, w = g.shape
        y = g.reshape(c, h // r, r, w // r, r).permute(0, 2, 4, 1, 3)
        return y.reshape(c * r**2, h // r, w // r), None

    @staticmethod
    def sample_inputs():
        yield (rand(4, 2, 3),)


class Chroma(Function):
    """Largest minus smallest ink of each row of CMY (N, 3)."""

    @staticmethod
    def forward(ctx, cmy):
        high, most = cmy.max(-1)
        low, least = cmy.min(-1)
        ctx.save_for_backward(most, least)
        return high - low

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        most, least = ctx.saved_tensors
        signs = torch.nn.functional.one_hot(most, 3) - torch.nn.functional.one_hot(least, 3)
        return grad_output[:, None] * signs

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3, low=0.1, high=0.9),)
