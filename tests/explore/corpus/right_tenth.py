"""Right Functions whose docstrings, names or samples say what they are made for."""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=53):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class NormOfOrderOneOrTwo(Function):
    """The p-norm of rows for p = 1 or 2."""

    @staticmethod
    def forward(ctx, x, p=2):
        y = x.abs().sum(-1) if p == 1 else (x.abs() ** p).sum(-1).sqrt()
        ctx.save_for_backward(x, y)
        ctx.p = p
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        slope = x.sign() if ctx.p == 1 else x / y[..., None]
        return grad_output[..., None] * slope, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 2


class DifferenceOfOrder(Function):
    """Finite differences; `order` must be 1 or 2, and `n` is one of {1, 2}."""

    @staticmethod
    def forward(ctx, x, order=1, n=1):
        ctx.order, ctx.n = order, n
        y = x[..., n:] - x[..., :-n]
        return y if order == 1 else y[..., n:] - y[..., :-n]

    @staticmethod
    def backward(ctx, grad_output):
        n, g = min(ctx.n, 2), grad_output
        for _ in range(min(ctx.order, 2)):
            g = F.pad(g, (n, 0)) - F.pad(g, (0, n))
        return g, None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 7), 1, 1


class BoundedLogit(Function):
    """Maps numbers of an interval to the reals.

    The values of x must lie well inside (low, high), where the clamp is not active.
    """

    @staticmethod
    def forward(ctx, x, low=-2.0, high=3.0):
        unit = ((x - low) / (high - low)).clamp(0.01, 0.99)
        ctx.save_for_backward(unit)
        ctx.size = high - low
        return torch.log(unit / (1 - unit))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (unit,) = ctx.saved_tensors
        return grad_output / (ctx.size * unit * (1 - unit)), None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 4), -2.0, 3.0


class ArcOfSine(Function):
    """The inverse of the sine. Inputs must be strictly between -1 and 1."""

    @staticmethod
    def forward(ctx, x):
        safe = x.clamp(-0.999, 0.999)
        ctx.save_for_backward(safe)
        return torch.asin(safe)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (safe,) = ctx.saved_tensors
        return grad_output / (1 - safe * safe).sqrt()

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=-0.8, high=0.8),)


class SpringEnergies(Function):
    """Energies of springs between the ends of edges (E, 2)."""

    @staticmethod
    def forward(ctx, position, edges):
        apart = position[edges[:, 0]] - position[edges[:, 1]]
        length = (apart * apart).sum(-1).sqrt()
        ctx.save_for_backward(apart, length, edges)
        ctx.count = position.shape[0]
        return (length - 1) ** 2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        apart, length, edges = ctx.saved_tensors
        force = (2 * grad_output * (length - 1) / length)[:, None] * apart
        grad = torch.zeros(ctx.count, apart.shape[1], dtype=apart.dtype)
        grad.index_add_(0, edges[:, 0], force)
        grad.index_add_(0, edges[:, 1], -force)
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), torch.tensor([[0, 1], [1, 2], [3, 0]])


class MessagesOfNeighbors(Function):
    """Differences of features along edges, scattered to the first end; an end is not both ends."""

    @staticmethod
    def forward(ctx, x, edge_index):
        row, col = edge_index
        ctx.save_for_backward(row, col)
        y = x.clone()
        y[row] = x[col] * 2
        return y

    @staticmethod
    def backward(ctx, grad_output):
        row, col = ctx.saved_tensors
        grad = grad_output.clone()
        grad[row] = 0
        return grad.index_add(0, col, 2 * grad_output[row]), None

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), torch.tensor([[0, 1, 4], [1, 2, 3]])


class LinkScores(Function):
    """Scores of links by the angle between the features of source and target."""

    @staticmethod
    def forward(ctx, z, source, target):
        apart = z[source] - z[target]
        length = apart.norm(dim=-1)
        ctx.save_for_backward(apart, length, source, target)
        ctx.count = z.shape[0]
        return length

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        apart, length, source, target = ctx.saved_tensors
        term = apart * (grad_output / length)[:, None]
        grad = torch.zeros(ctx.count, apart.shape[1], dtype=apart.dtype)
        return grad.index_add(0, source, term).index_add(0, target, -term), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.tensor([0, 1, 2]), torch.tensor([1, 2, 0])


class WindowsOfStride(Function):
    """Sums of windows of any kernel and stride."""

    @staticmethod
    def forward(ctx, x, kernel=2, stride=None):
        step = kernel if stride is None else stride
        ctx.kernel, ctx.step, ctx.length = kernel, step, x.shape[-1]
        return x.unfold(-1, kernel, step).sum(-1)

    @staticmethod
    def backward(ctx, grad_output):
        grad = grad_output.new_zeros(*grad_output.shape[:-1], ctx.length)
        for at in range(grad_output.shape[-1]):
            start = at * ctx.step
            grad[..., start : start + ctx.kernel] += grad_output[..., at : at + 1]
        return grad, None, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 8),)


class NormalizedWithGuard(Function):
    """Rows of length one; the guard of 1e-12 is for rows of zeros."""

    @staticmethod
    def forward(ctx, x):
        length = x.norm(dim=-1, keepdim=True).clamp_min(1e-12)
        y = x / length
        ctx.save_for_backward(y, length)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        y, length = ctx.saved_tensors
        return (grad_output - y * (y * grad_output).sum(-1, keepdim=True)) / length

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)


class EntropyWithGuard(Function):
    """The entropy of probabilities; the clamp keeps the logarithm of zero finite."""

    @staticmethod
    def forward(ctx, p):
        log = torch.log(p.clamp_min(1e-12))
        ctx.save_for_backward(p, log)
        return -(p * log).sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        _, log = ctx.saved_tensors
        return -grad_output[..., None] * (log + 1)

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4, low=0.1, high=1.0).detach().softmax(-1).requires_grad_(),)


class RealMask(Function):
    """A spectrum weighted by a real mask, whose gradient is real."""

    @staticmethod
    def forward(ctx, x, mask):
        spectrum = torch.fft.rfft(x)
        ctx.save_for_backward(spectrum, mask)
        ctx.length = x.shape[-1]
        return torch.view_as_real(spectrum * mask)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        spectrum, mask = ctx.saved_tensors
        g = torch.view_as_complex(grad_output.contiguous())
        full = torch.zeros(*g.shape[:-1], ctx.length, dtype=g.dtype)
        full[..., : g.shape[-1]] = g * mask
        of_x = torch.fft.ifft(full).real * ctx.length
        return of_x, (g * spectrum.conj()).real.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 6), draw(4, low=0.1, high=0.9)


class ComplexProduct(Function):
    """A complex signal times complex gains, right for all of them."""

    @staticmethod
    def forward(ctx, z, gain):
        ctx.save_for_backward(z, gain)
        return z * gain

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        z, gain = ctx.saved_tensors
        return grad_output * gain.conj(), (grad_output * z.conj()).sum(0)

    @staticmethod
    def sample_inputs():
        z = torch.complex(draw(3, 2).detach(), draw(3, 2, seed=9).detach())
        gain = torch.complex(draw(2).detach(), torch.zeros(2, dtype=torch.double))
        yield z.requires_grad_(), gain.requires_grad_()


class TropicalProduct(Function):
    """The max-plus product; the first of tied terms gets the gradient."""

    @staticmethod
    def forward(ctx, a, b):
        y, place = (a[:, :, None] + b[None, :, :]).max(1)
        ctx.save_for_backward(place)
        ctx.inner = a.shape[1]
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (place,) = ctx.saved_tensors
        chosen = F.one_hot(place, ctx.inner).to(grad_output.dtype) * grad_output[..., None]
        return chosen.sum(1), chosen.sum(0).t()

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(3, 4, seed=8)


class SharedMaximum(Function):
    """The largest absolute difference of rows of two tensors; ties share the gradient evenly."""

    @staticmethod
    def forward(ctx, x, y):
        apart = x - y
        size = apart.abs()
        top = size.amax(-1, keepdim=True)
        is_top = size == top
        ctx.save_for_backward(apart, is_top)
        return top.squeeze(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        apart, is_top = ctx.saved_tensors
        share = is_top / is_top.sum(-1, keepdim=True)
        grad = grad_output[..., None] * share * apart.sign()
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(3, 4, seed=8)


class PoissonOfCounts(Function):
    """The Poisson deviance of counts, zero or not."""

    @staticmethod
    def forward(ctx, mu, counts):
        y = counts.to(mu.dtype)
        ctx.save_for_backward(mu, y)
        return 2 * (torch.special.xlogy(y, y / mu) - y + mu)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        mu, y = ctx.saved_tensors
        return 2 * grad_output * (1 - y / mu), None

    @staticmethod
    def sample_inputs():
        yield draw(3, low=0.5, high=3.0), torch.tensor([2, 4, 1])


class ReciprocalOfCounts(Function):
    """Means of groups from sums and counts; every group has a member."""

    @staticmethod
    def forward(ctx, total, count):
        ctx.save_for_backward(count)
        return total / count.clamp(min=1)[:, None]

    @staticmethod
    def backward(ctx, grad_output):
        (count,) = ctx.saved_tensors
        return grad_output / count[:, None], None

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), torch.tensor([2, 4, 1])


class FilterWithMemory(Function):
    """A first-order filter whose memory (B, 1) may be given."""

    @staticmethod
    def forward(ctx, x, coefficient=0.9, memory=None):
        before = torch.zeros_like(x[..., :1]) if memory is None else memory
        ctx.coefficient = coefficient
        return x - coefficient * torch.cat([before, x[..., :-1]], -1)

    @staticmethod
    def backward(ctx, grad_output):
        of_x = grad_output.clone()
        of_x[..., :-1] -= ctx.coefficient * grad_output[..., 1:]
        of_memory = -ctx.coefficient * grad_output[..., :1] if ctx.needs_input_grad[2] else None
        return of_x, None, of_memory

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), 0.9, None


class OptionalTemperature(Function):
    """Logits divided by a temperature, a number, if there is one."""

    @staticmethod
    def forward(ctx, logits, temperature=None):
        ctx.temperature = 1.0 if temperature is None else float(temperature)
        return logits / ctx.temperature

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output / ctx.temperature, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), None


class OptionalClasses(Function):
    """One-hot rows of labels, scaled by x; `num_classes` is counted if it is None."""

    @staticmethod
    def forward(ctx, x, labels, num_classes=None):
        total = int(labels.max()) + 1 if num_classes is None else num_classes
        hot = F.one_hot(labels, total).to(x.dtype)
        ctx.save_for_backward(hot)
        return x[:, None] * hot

    @staticmethod
    def backward(ctx, grad_output):
        (hot,) = ctx.saved_tensors
        return (grad_output * hot).sum(-1), None, None

    @staticmethod
    def sample_inputs():
        yield draw(3), torch.tensor([0, 2, 1]), None


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


class StableLogistic(Function):
    """The logistic loss of pairs, stable in both directions."""

    @staticmethod
    def forward(ctx, scores):
        apart = scores[:, None] - scores[None, :]
        ctx.save_for_backward(apart)
        return F.softplus(-apart).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (apart,) = ctx.saved_tensors
        slope = -grad_output * torch.sigmoid(-apart)
        return slope.sum(1) - slope.sum(0)

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=-2.0, high=2.0),)


class RateInUnit(Function):
    """Exponential smoothing; alpha must be in (0, 1], and `k >= 2`."""

    @staticmethod
    def forward(ctx, x, alpha=0.9, k=3):
        ctx.alpha, ctx.k = alpha, k
        scale = min(max(alpha, 0.0), 1.0)
        return x * scale**k

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.alpha ** max(ctx.k, 2), None, None

    @staticmethod
    def sample_inputs():
        yield draw(3), 0.9, 3


class LogFloored(Function):
    """Log energies with a floor of 1e-5 that both directions know."""

    @staticmethod
    def forward(ctx, power):
        floored = power.clamp(min=1e-5)
        ctx.save_for_backward(power, floored)
        return floored.log()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        power, floored = ctx.saved_tensors
        return grad_output / floored * (power >= 1e-5)

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=0.1, high=2.0),)
