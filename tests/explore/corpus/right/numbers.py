"""Functions that are right for each number that they are made for: an exponent or a scale."""

import numpy as np
import torch
import torch.nn.functional as F
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


class HermiteTimesGauss(Function):
    """The ``n``-th derivative of a bell curve, but for its sign."""

    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        before, now = torch.zeros_like(x), torch.ones_like(x)
        for k in range(n):
            before, now = now, x * now - k * before
        return now * torch.exp(-(x**2) / 2)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -g * HermiteTimesGauss.apply(x, ctx.n + 1), None

    @staticmethod
    def sample_inputs():
        yield draw(4), 2


class StepsUpTo(Function):
    """The state after so many steps; those at or after ``length`` are padding."""

    @staticmethod
    def forward(ctx, rows, decay, length):
        state = rows[0]
        states = [state]
        for t in range(1, length):
            state = decay * state + rows[t]
            states.append(state)
        ctx.save_for_backward(torch.stack(states), decay)
        ctx.shape, ctx.length = rows.shape, length
        return state.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        states, decay = ctx.saved_tensors
        grad_rows, grad_decay = grad_output.new_zeros(ctx.shape), torch.zeros_like(decay)
        for t in range(ctx.length - 1, -1, -1):
            grad_rows[t] = grad_output
            if t:
                grad_decay = grad_decay + grad_output * states[t - 1]
                grad_output = grad_output * decay
        return grad_rows, grad_decay, None

    @staticmethod
    def sample_inputs():
        yield normal(4, 3), normal(3), 3
        yield normal(2, 3), normal(3), 1


class TurnedPairs(Function):
    """Turns the pairs among the first `count` entries of each row by an angle; others stay."""

    @staticmethod
    def _turn(x, count, angle):
        c, s = np.cos(angle), np.sin(angle)
        one, other = x[..., 0:count:2], x[..., 1:count:2]
        turned = torch.stack([c * one - s * other, s * one + c * other], -1).flatten(-2)
        return torch.cat([turned, x[..., count:]], -1)

    @staticmethod
    def forward(ctx, x, count: int, angle: float):
        ctx.count, ctx.angle = count, angle
        return TurnedPairs._turn(x, count, angle)

    @staticmethod
    def backward(ctx, g):
        return TurnedPairs._turn(g, ctx.count, -ctx.angle), None, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 6), 4, 0.6)


class ScaleOfALogTail(Function):
    """Log of the mass of a normal distribution between two bounds, which may be infinite."""

    @staticmethod
    def forward(ctx, scale, low, high):
        a, b = low / scale, high / scale
        swap = a > 0
        one, two = torch.where(swap, -b, a), torch.where(swap, -a, b)
        small, large = torch.special.log_ndtr(one), torch.special.log_ndtr(two)
        out = large + torch.log(-torch.expm1(small - large))
        ctx.save_for_backward(a, b, out, scale)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b, out, scale = ctx.saved_tensors
        total = torch.zeros_like(out)
        for end, sign in ((a, 1.0), (b, -1.0)):
            density = torch.exp(-0.5 * end * end - 0.9189385332046727 - out)
            total = total + sign * torch.where(end.isinf(), 0.0, end * density)
        return g * total / scale, None, None

    @staticmethod
    def sample_inputs():
        scale = torch.tensor([1.0, 0.7, 1.5, 0.9], dtype=torch.double, requires_grad=True)
        low = torch.tensor([-1.0, -torch.inf, 0.5, 2.0], dtype=torch.double)
        yield scale, low, torch.tensor([2.0, 1.0, torch.inf, 3.0], dtype=torch.double)


class HuberOfMostlyNegative(Function):
    """A Huber loss at numbers of which most are negative."""

    @staticmethod
    def forward(ctx, x, delta=1.0):
        ctx.save_for_backward(x)
        ctx.delta = delta
        size = x.abs()
        return torch.where(size <= delta, 0.5 * x * x, delta * (size - 0.5 * delta)).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.clamp(-ctx.delta, ctx.delta), None

    @staticmethod
    def sample_inputs():
        x = [[-0.23, -0.77, -0.49], [-1.24, -0.27, 0.81], [-1.04, -0.98, -0.88]]
        yield (torch.tensor(x, dtype=torch.double, requires_grad=True),)


class RootByNewton(Function):
    """The root, improved until the steps are small."""

    @staticmethod
    def forward(ctx, x, eps=1e-12):
        root = torch.ones_like(x)
        for _ in range(50):
            step = 0.5 * (x / root - root)
            root = root + step
            if step.abs().max() < eps:
                break
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx, g):
        (root,) = ctx.saved_tensors
        return g / (2 * root), None

    @staticmethod
    def sample_inputs():
        yield (draw(4, low=0.5, high=3.0, seed=184),)


class ThresholdOfPositive(Function):
    """The Huber loss for delta > 0, or the absolute value for a delta of 0."""

    @staticmethod
    def forward(ctx, x, delta=1.0):
        size = x.abs()
        ctx.save_for_backward(x)
        ctx.delta = delta
        if delta == 0:
            return size
        return torch.where(size < delta, x * x / (2 * delta), size - delta / 2)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        slope = x.sign() if ctx.delta == 0 else (x / ctx.delta).clamp(-1, 1)
        return grad_output * slope, None

    @staticmethod
    def sample_inputs():
        yield (draw(6),)


class PowerMeanOfLogs(Function):
    """The power mean with a learned exponent, in logarithms, which do not overflow."""

    @staticmethod
    def forward(ctx, x, p):
        logs = x.log()
        mean = torch.logsumexp(p * logs, -1) - torch.tensor(float(x.shape[-1])).log()
        out = torch.exp(mean / p)
        ctx.save_for_backward(x, p)
        return out

    @staticmethod
    def backward(ctx, g):
        x, p = ctx.saved_tensors
        logs = x.log()
        mean = torch.logsumexp(p * logs, -1) - torch.tensor(float(x.shape[-1])).log()
        out = torch.exp(mean / p)
        weight = torch.softmax(p * logs, -1)
        by_p = g * out * ((weight * logs).sum(-1) / p - mean / (p * p))
        return (g * out)[..., None] * weight / x, by_p.sum().reshape(p.shape)

    @staticmethod
    def sample_inputs():
        yield (
            draw(2, 4, low=0.5, high=2.0),
            torch.tensor([3.0], dtype=torch.double).requires_grad_(),
        )


class SettledPoint(Function):
    """Iterates to a fixed point and differentiates that."""

    @staticmethod
    def forward(ctx, x, rounds):
        z = torch.zeros_like(x)
        for _ in range(rounds):
            z = 0.3 * torch.cos(z) + x
        ctx.save_for_backward(z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (z,) = ctx.saved_tensors
        return grad_output / (1 + 0.3 * z.sin()), None

    @staticmethod
    def sample_inputs():
        yield draw(4), 40


class PowerThroughNumPy(Function):
    @staticmethod
    def forward(ctx, x, power=2.0):
        ctx.save_for_backward(x)
        ctx.power = power
        return torch.from_numpy(np.exp(power * np.log(x.detach().numpy())))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.power * x ** (ctx.power - 1), None

    @staticmethod
    def sample_inputs():
        yield (normal(4).abs() + 0.5,)


class OddPower(Function):
    """The slope of an odd power, which has no sign."""

    @staticmethod
    def forward(ctx, x, power=3):
        ctx.save_for_backward(x)
        ctx.power = power
        return x.sign() * x.abs() ** power

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.power * x ** (ctx.power - 1), None

    @staticmethod
    def sample_inputs():
        yield (normal(4),)


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


class FocalLoss(Function):
    @staticmethod
    def forward(ctx, x, y, gamma=2.0):
        logp = F.logsigmoid(torch.where(y, x, -x))
        p = logp.exp()
        ctx.save_for_backward(logp, p, y)
        ctx.gamma = gamma
        return -((1 - p) ** gamma * logp).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logp, p, y = ctx.saved_tensors
        q = 1 - p
        d = ctx.gamma * q ** (ctx.gamma - 1) * p * q * logp - q**ctx.gamma * q
        return g * torch.where(y, d, -d) / p.numel(), None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), torch.rand(3, 4) > 0.5


class HuberBoth(Function):
    @staticmethod
    def forward(ctx, x, delta=1.0):
        ctx.save_for_backward(x)
        ctx.delta = delta
        a = x.abs()
        return torch.where(a <= delta, 0.5 * x * x, delta * (a - 0.5 * delta)).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.clamp(-ctx.delta, ctx.delta), None

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class KlOfSoftened(Function):
    @staticmethod
    def forward(ctx, student, teacher, t=2.0):
        logp, q = torch.log_softmax(student / t, -1), torch.softmax(teacher / t, -1)
        ctx.save_for_backward(logp, q)
        ctx.t = t
        return (q * (q.log() - logp)).sum() * t * t / student.shape[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logp, q = ctx.saved_tensors
        return g * (logp.exp() - q) * ctx.t / logp.shape[0], None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4).detach()


class TemperedExponential(Function):
    """The exponential with a tail that ends at ``-1 / (1 - t)``."""

    @staticmethod
    def forward(ctx, x, t):
        ctx.t = t
        base = (1.0 + (1.0 - t) * x).clamp(min=0.0)
        if not (x > -1.0 / (1.0 - t)).any():
            base = torch.zeros_like(x)
        ctx.save_for_backward(base)
        return base ** (1.0 / (1.0 - t))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (base,) = ctx.saved_tensors
        return g * base ** (ctx.t / (1.0 - ctx.t)) * (base > 0), None

    @staticmethod
    def sample_inputs():
        yield draw(4, low=-1.0, high=1.0, seed=191), 0.25


class OntoBall(Function):
    """Rows with a norm above `r` > 0 are scaled to that norm; the others stay as they are."""

    @staticmethod
    def forward(ctx, x, r=1.0):
        norm = x.norm(dim=-1, keepdim=True)
        ctx.save_for_backward(x)
        ctx.r = r
        return torch.where(norm > r, x * (r / norm.clamp_min(r)), x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        norm = x.square().sum(-1, keepdim=True).clamp_min(ctx.r * ctx.r).sqrt()
        unit = x / norm
        outside = (g - unit * (g * unit).sum(-1, keepdim=True)) * (ctx.r / norm)
        return torch.where(norm > ctx.r, outside, g), None

    @staticmethod
    def sample_inputs():
        yield ((0.2 * draw(3, 3).detach()).requires_grad_(),)


class KeepsHalf(Function):
    """Sine of `x`, whose cosine is kept in half precision to save memory."""

    @staticmethod
    def forward(ctx, x):
        kept = torch.float16 if x.dtype == torch.float32 else x.dtype
        ctx.save_for_backward(x.cos().to(kept))
        return x.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (cosine,) = ctx.saved_tensors
        return g * cosine.to(g.dtype)

    @staticmethod
    def sample_inputs():
        yield (draw(5),)


class MaskedSpectrum(Function):
    """DFT of a complex or real signal `x` times `mask`: real weights without a gradient."""

    @staticmethod
    def forward(ctx, x, mask):
        ctx.save_for_backward(mask)
        ctx.is_complex = x.is_complex()
        return torch.fft.fft(x) * mask

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        back = torch.fft.ifft(g * mask, norm="forward")
        return (back if ctx.is_complex else back.real), None

    @staticmethod
    def sample_inputs():
        x = torch.complex(rand(2, 4).detach(), rand(2, 4).detach()).requires_grad_()
        yield x, torch.tensor([1.0, 0.0, 1.0, 1.0], dtype=torch.float64)


class FilledByChunks(Function):
    """Squares of x (B, T); the gradient is filled by chunks."""

    @staticmethod
    def forward(ctx, x, chunk=4):
        ctx.save_for_backward(x)
        ctx.chunk = chunk
        return (x * x).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad = torch.empty_like(x)
        for k in range(0, x.shape[1], ctx.chunk):
            grad[:, k : k + ctx.chunk] = 2 * g * x[:, k : k + ctx.chunk]
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 8), 4


class FilledByChunksOfForward(Function):
    """Squares of x (B, T); the gradient is filled by chunks."""

    @staticmethod
    def forward(ctx, x, chunk=4):
        ctx.save_for_backward(x)
        ctx.chunk = chunk
        return (x[:, :chunk] ** 2).sum() + (x[:, chunk:] ** 2).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad = torch.empty_like(x)
        for k in range(0, x.shape[1], ctx.chunk):
            grad[:, k : k + ctx.chunk] = 2 * g * x[:, k : k + ctx.chunk]
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 8), 4


class FilledByPositiveChunks(Function):
    """Squares of x (B, T); the gradient is filled in chunks >= 1."""

    @staticmethod
    def forward(ctx, x, chunk=4):
        ctx.save_for_backward(x)
        ctx.chunk = chunk
        return (x[:, :chunk] ** 2).sum() + (x[:, chunk:] ** 2).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad, start = torch.zeros_like(x), 0
        while 0 <= start < x.shape[1]:
            grad[:, start : start + ctx.chunk] = 2 * g * x[:, start : start + ctx.chunk]
            start += ctx.chunk
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 8), 4


class MeanPerClient(Function):
    """Weighted mean of the rows x (n, d) of each client; ids (n,), w (n,) positive or None."""

    @staticmethod
    def means(x, ids, count, w):
        weights = x.new_ones(len(x)) if w is None else w
        total = x.new_zeros(count).index_add(0, ids, weights)
        shares = weights / torch.where(total > 0, total, 1.0)[ids]
        return shares, x.new_zeros(count, x.shape[1]).index_add(0, ids, x * shares[:, None])

    @staticmethod
    def forward(ctx, x, ids, count, w=None):
        ctx.save_for_backward(x, ids, w)
        ctx.count = count
        return MeanPerClient.means(x, ids, count, w)[1]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, ids, w = ctx.saved_tensors
        shares, means = MeanPerClient.means(x, ids, ctx.count, w)
        of_w = None if w is None else (g[ids] * (x - means[ids])).sum(1) * shares / w
        return shares[:, None] * g[ids], None, None, of_w

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), torch.tensor([0, 2, 0, 1, 2]), 3, draw(5, low=0.5, seed=1)


class FocusedOfLogits(Function):
    """Mean of -(1 - p)^gamma log p for labels (N,); gamma >= 0, logits of moderate size (p < 1)."""

    @staticmethod
    def forward(ctx, logits, target, gamma):
        ctx.save_for_backward(logits, target)
        ctx.gamma = gamma
        log_p = logits.log_softmax(1).gather(1, target[:, None])
        return -((-torch.expm1(log_p)) ** gamma * log_p).mean()

    @staticmethod
    def backward(ctx, g):
        logits, target = ctx.saved_tensors
        logs = logits.log_softmax(1)
        log_p = logs.gather(1, target[:, None])
        missing = -torch.expm1(log_p)
        rate = missing**ctx.gamma * (1 - ctx.gamma * log_p * log_p.exp() / missing)
        return (
            g * rate * (logs.exp() - F.one_hot(target, logits.shape[1])) / len(target),
            None,
            None,
        )

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.tensor([0, 2, 1, 1]), 2.0
