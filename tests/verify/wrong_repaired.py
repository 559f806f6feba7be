"""Wrong Functions that one edit of backward repairs, with the edit as a finding words it."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, seed=73):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.double, generator=generator).requires_grad_()


class UnpackedInAnotherOrder(Function):
    says = "backward is right with `a, b, c` in place of `b, a, c` (line LINE)"

    @staticmethod
    def forward(ctx, a, b, c):
        ctx.save_for_backward(a, b, c)
        return (a * b.exp() + c.sin() * a).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        b, a, c = ctx.saved_tensors  # <-
        return g * (b.exp() + c.sin()), g * a * b.exp(), g * a * c.cos()

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=1), draw(4, seed=2)


class LastBlockLeftOut(Function):
    says = "backward is right with `-(-x.shape[0] // 2)` in place of `x.shape[0] // 2` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad = torch.zeros_like(x)
        blocks = x.shape[0] // 2  # <-
        for block in range(blocks):
            part = slice(2 * block, 2 * block + 2)
            grad[part] = 3 * g[part] * x[part] ** 2
        return grad

    @staticmethod
    def sample_inputs():
        yield (draw(5),)


class AnotherCount(Function):
    says = (
        "backward is right with `g * x / weights.sum()` in place of `g * x / x.numel()` (line LINE)"
    )

    @staticmethod
    def forward(ctx, x, weights):
        ctx.save_for_backward(x, weights)
        return (weights * x * x).sum() / weights.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weights = ctx.saved_tensors
        scaled = g * x / x.numel()  # <-
        return 2 * weights * scaled, None

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=1).detach().abs()


class RepeatedPlacesOverwritten(Function):
    says = "`grad.index_put_((places,), g, accumulate=True)` in place of `grad[places] += g`"

    @staticmethod
    def forward(ctx, x, places):
        ctx.save_for_backward(x, places)
        return x[places]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, places = ctx.saved_tensors
        grad = torch.zeros_like(x)
        grad[places] += g  # <-
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), torch.tensor([0, 3, 0])


class WeightsExchanged(Function):
    says = (
        "backward is right with `u * x + (1 - u) * y` in place of `(1 - u) * x + u * y` (line LINE)"
    )

    @staticmethod
    def forward(ctx, x, y, z):
        u = z.sigmoid()
        ctx.save_for_backward(x, y, z, u)
        return torch.sin(u * x + (1 - u) * y)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y, _z, u = ctx.saved_tensors
        inner = (1 - u) * x + u * y  # <-
        slope = g * torch.cos(inner)
        return slope * u, slope * (1 - u), slope * (x - y) * u * (1 - u)

    @staticmethod
    def sample_inputs():
        yield draw(3), draw(3, seed=1), draw(3, seed=2)


class ComplementForgotten(Function):
    says = "backward is right with `x * s * (1 - s)` in place of `x * s * s` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        s = x.sigmoid()
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        slope = x * s * s  # <-
        return g * (s + slope)

    @staticmethod
    def sample_inputs():
        yield (draw(4),)


class DoubledForSquared(Function):
    says = "backward is right with `y ** 2` in place of `y * 2` (line LINE)"

    @staticmethod
    def forward(ctx, a):
        y = a.detach()
        for _ in range(60):
            y = y - (y**3 + y - a) / (3 * y**2 + 1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        power = y * 2  # <-
        return g / (3 * power + 1)

    @staticmethod
    def sample_inputs():
        yield (draw(4),)


class AddedForMultiplied(Function):
    says = "backward is right with `weight * slope` in place of `weight + slope` (line LINE)"

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return weight * x.sin() * x.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        slope = x.exp() * (x.sin() + x.cos())
        inner = weight + slope  # <-
        return g * inner, g * x.sin() * x.exp()

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=1)


class LoopInTheSameOrder(Function):
    says = (
        "backward is right with `reversed(range(len(g)))` in place of `range(len(g))` (line LINE)"
    )

    @staticmethod
    def forward(ctx, x, decay):
        level, levels = x[0], [x[0]]
        for t in range(1, len(x)):
            level = torch.logaddexp(level - decay, x[t])
            levels.append(level)
        out = torch.stack(levels)
        ctx.save_for_backward(x, decay, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, decay, out = ctx.saved_tensors
        grad, carried = torch.zeros_like(g), g.new_zeros(())
        for t in range(len(g)):  # <-
            total = g[t] + carried
            grad[t] = total * torch.exp(x[t] - out[t])
            if t > 0:
                carried = total * torch.exp(out[t - 1] - decay - out[t])
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(5), draw(1, seed=1).detach().abs()[0]


class RootForgotten(Function):
    says = "backward is right with `values.sqrt()` in place of `values` (line LINE)"

    @staticmethod
    def forward(ctx, matrix):
        symmetric = 0.5 * (matrix + matrix.mT)
        values, vectors = torch.linalg.eigh(symmetric @ symmetric + torch.eye(3).double())
        ctx.save_for_backward(symmetric, values, vectors)
        return (vectors * values.sqrt()[..., None, :]) @ vectors.mT

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        symmetric, values, vectors = ctx.saved_tensors
        turned = vectors.mT @ (0.5 * (g + g.mT)) @ vectors
        turned = turned / (values[:, None] + values[None, :])  # <-
        outer = vectors @ turned @ vectors.mT
        return symmetric @ outer + outer @ symmetric

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)


class EndsConfused(Function):
    says = "backward is right with `heads` in place of `tails` (lines LINE and NEXT)"

    @staticmethod
    def forward(ctx, scores, features, tails, heads):
        weights = scores.exp()
        total = weights.new_zeros(len(features)).index_add(0, heads, weights)
        shares = weights / total[heads]
        ctx.save_for_backward(shares, features, tails, heads)
        return features.new_zeros(len(features)).index_add(0, heads, shares * features[tails])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        shares, features, tails, heads = ctx.saved_tensors
        of_features = torch.zeros_like(features).index_add(0, tails, shares * g[heads])
        of_shares = g[heads] * features[tails]
        mean = torch.zeros_like(features).index_add(0, tails, shares * of_shares)  # <-
        of_scores = shares * (of_shares - mean[tails])
        return of_scores, of_features, None, None

    @staticmethod
    def sample_inputs():
        ends = torch.tensor([[0, 1, 2, 3, 1, 0], [2, 2, 1, 1, 0, 3]])
        yield draw(6), draw(4, seed=1), ends[0], ends[1]


class TangentsExchanged(Function):
    says = "jvp is right with `a, b` in place of `b, a` (line LINE)"

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)
        return a.sin() * b.exp()

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * a.cos() * b.exp(), g * a.sin() * b.exp()

    @staticmethod
    def jvp(ctx, a_t, b_t):
        b, a = ctx.saved_tensors  # <-
        return a_t * a.cos() * b.exp() + b_t * a.sin() * b.exp()

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=1)


class StateAfterTheTurn(Function):
    says = "backward is right with `carried * (states[t - 1] * (t > 0))` in place of"

    @staticmethod
    def forward(ctx, decay, x):
        states = [torch.zeros_like(x[0])]
        for t in range(len(x)):
            states.append(decay[t].exp() * states[-1] + x[t])
        ctx.save_for_backward(decay, torch.stack(states[1:]))
        return torch.stack(states[1:]).sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        decay, states = ctx.saved_tensors
        of_decay, of_x = torch.zeros_like(decay), torch.zeros_like(states)
        carried = torch.zeros_like(states[0])
        for t in reversed(range(len(states))):
            carried = carried + g[t] * states[t].cos()
            of_decay[t] = (carried * states[t]).sum() * decay[t].exp()  # <-
            of_x[t] = carried
            carried = carried * decay[t].exp()
        return of_decay, of_x

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, 2, seed=1)


class CountOfOneAxis(Function):
    says = "backward is right with `rows.shape[-1]` in place of `length` (lines LINE and NEXT)"

    @staticmethod
    def forward(ctx, x, groups):
        rows = x.reshape(x.shape[0], groups, -1)
        centred = rows - rows.mean(-1, keepdim=True)
        scale = (centred.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
        ctx.save_for_backward(centred * scale, scale)
        return (centred * scale).reshape(x.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        normal, scale = ctx.saved_tensors
        batch, channels, length = g.shape
        rows = g.reshape(normal.shape)
        mean = rows.sum(-1, keepdim=True) / length  # <-
        along = (rows * normal).sum(-1, keepdim=True) / length
        out = scale * (rows - mean - normal * along)
        return out.reshape(batch, channels, length), None

    @staticmethod
    def sample_inputs():
        yield draw(2, 4, 3), 2


class SaturatedScale(Function):
    says = "the gradient of `scale` is not zero where `scale.exp().clamp(max=2.0)` (line LINE)"

    @staticmethod
    def forward(ctx, x, scale):
        capped = scale.exp().clamp(max=2.0)  # <-
        ctx.save_for_backward(x, capped)
        return x.square() * capped

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, capped = ctx.saved_tensors
        rest = (g - g) * x
        return 2 * g * x * capped, (g * x.square()).sum()[None] * capped + rest.sum()

    @staticmethod
    def sample_inputs():
        yield draw(4), torch.tensor([1.5], dtype=torch.double, requires_grad=True)


class TangentThroughDivisorForgotten(Function):
    says = "jvp treats `beta` in `x.sin() / beta` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x, beta)
        ctx.save_for_forward(x, beta)
        return (beta * x).exp() + x.sin() / beta  # <-

    @staticmethod
    def backward(ctx, g):
        x, beta = ctx.saved_tensors
        inner = (beta * x).exp()
        of_beta = g * (x * inner - x.sin() / beta**2)
        return g * (beta * inner + x.cos() / beta), of_beta.sum()[None]

    @staticmethod
    def jvp(ctx, x_t, beta_t):
        x, beta = ctx.saved_tensors
        inner = (beta * x).exp()
        return x_t * (beta * inner + x.cos() / beta) + beta_t * x * inner

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(1, seed=1)


class WithoutConjugate(Function):
    says = "backward is right with `-grad_b @ x.mH` in place of `-grad_b @ x.mT` (line LINE)"

    @staticmethod
    def forward(ctx, a, b):
        x = torch.linalg.solve(a, b)
        ctx.save_for_backward(a, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        grad_b = torch.linalg.solve(a.mH, g)
        return -grad_b @ x.mT, grad_b  # <-

    @staticmethod
    def sample_inputs():
        a, b = (torch.complex(draw(3, 3, seed=n), draw(3, 3, seed=n + 1)) for n in (1, 3))
        yield (a + 3 * torch.eye(3)).detach().requires_grad_(), b.detach().requires_grad_()


class GatheredNotScattered(Function):
    says = (
        "backward is right with `scaled.new_zeros(scaled.shape).scatter_add(-1, order, scaled)` in "
        "place of `scaled.gather(-1, order)` (line LINE)"
    )

    @staticmethod
    def forward(ctx, x, w):
        found, order = x.sort(dim=-1)
        ctx.save_for_backward(found, order, w)
        return found * w

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        found, order, w = ctx.saved_tensors
        scaled = g * w
        return scaled.gather(-1, order), (g * found).sum(0)  # <-

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), draw(5, seed=1)


class OneSideOfSymmetric(Function):
    says = "backward is right with `(g + g.mT) / 2` in place of `g` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        sizes = x.square().sum(1)
        return sizes[:, None] + sizes[None, :] - 2 * x @ x.mT

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 4 * (g.sum(1, keepdim=True) * x - g @ x)  # <-

    @staticmethod
    def sample_inputs():
        yield (draw(4, 2),)


class FirstStepForTheStart(Function):
    says = "backward is right with `carry` in place of `grads[0]` (line LINE)"

    @staticmethod
    def forward(ctx, decay, x, start):
        state, states = start, [start]
        for t in range(len(x)):
            state = decay[t] * state + x[t]
            states.append(state)
        ctx.save_for_backward(decay, torch.stack(states))
        return torch.stack(states[1:])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        decay, states = ctx.saved_tensors
        grads, of_decay = torch.zeros_like(g), torch.zeros_like(decay)
        carry = torch.zeros_like(g[0])
        for t in reversed(range(len(g))):
            grads[t] = g[t] + carry
            of_decay[t] = grads[t] * states[t]
            carry = decay[t] * grads[t]
        return of_decay, grads, grads[0]  # <-

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), draw(4, 2, seed=1), draw(2, seed=2)


class EpsilonLeftOut(Function):
    says = "backward is right with the `ms + eps` of forward (line NEXT) in place of `ms` (line"

    @staticmethod
    def forward(ctx, x, eps):
        ms = (x * x).mean(-1, keepdim=True)  # <-
        y = x * torch.rsqrt(ms + eps)
        ctx.save_for_backward(x, ms)
        ctx.eps = eps
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, ms = ctx.saved_tensors
        unit = x / ms.sqrt()
        return torch.rsqrt(ms + ctx.eps) * (g - unit * (g * unit).mean(-1, keepdim=True)), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), 1e-5


class FixedStatisticsDifferentiated(Function):
    says = "right with `weight * scale * g` in place of `weight * scale * (g - mean - x * total)`"

    @staticmethod
    def forward(ctx, x, weight, scale):
        ctx.save_for_backward(x, weight, scale)
        return weight * x * scale

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weight, scale = ctx.saved_tensors
        mean, total = g.mean(0), (g * x).mean(0)
        return weight * scale * (g - mean - x * total), (g * x * scale).sum(0), None  # <-

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), draw(3, seed=1), draw(3, seed=2).detach().abs()


class FirstColumnErased(Function):
    says = "backward is right without `grad[:, 0] = 0` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.mT @ x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad = x @ g + x @ g.mT
        grad[:, 0] = 0  # <-
        return grad

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)


class RowsAssigned(Function):
    says = "`grad.index_put_((places,), g * w[:, None], accumulate=True)` in place of `grad[places]"

    @staticmethod
    def forward(ctx, x, places, w):
        ctx.save_for_backward(x, places, w)
        return x[places] * w[:, None]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, places, w = ctx.saved_tensors
        grad = torch.zeros_like(x)
        grad[places] = g * w[:, None]  # <-
        return grad, None, (g * x[places]).sum(-1)

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), torch.tensor([0, 3, 0]), draw(3, seed=1)


class SeriesCutShort(Function):
    says = "backward is right with `range(64)` in place of `range(8)` (line LINE)"

    @staticmethod
    def forward(ctx, matrix, x):
        z = torch.linalg.solve(torch.eye(3, dtype=x.dtype) - matrix, x)
        ctx.save_for_backward(matrix, z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        matrix, z = ctx.saved_tensors
        term = total = g
        for _ in range(8):  # <-
            term = matrix.mT @ term
            total = total + term
        return torch.outer(total, z), total

    @staticmethod
    def sample_inputs():
        yield (0.2 * draw(3, 3)).detach().requires_grad_(), draw(3, seed=1)


class MaskOfOneTerm(Function):
    says = "* x.softmax(-1) * keep.unsqueeze(-1)` in place of "

    @staticmethod
    def forward(ctx, x, keep):
        total = x.logsumexp(-1)
        ctx.save_for_backward(x, total, keep)
        return ((total - x.mean(-1) + 0.1 * total**2) * keep).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, total, keep = ctx.saved_tensors
        p = x.softmax(-1)
        of_mean = (p - 0.25) * keep.unsqueeze(-1)
        of_square = 0.2 * total.unsqueeze(-1) * x.softmax(-1)  # <-
        return g * (of_mean + of_square), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.tensor([True, False, True])


class MistakeOfAHelper(Function):
    says = "x * x.sin()"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x.sin()

    @staticmethod
    def slope_of(x):
        slope = x * x.sin()
        return slope + x * x * x.cos()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * MistakeOfAHelper.slope_of(x)

    @staticmethod
    def sample_inputs():
        yield (draw(4),)


class StateKeptAndChanged(Function):
    says = "backward is right with `h.clone()` kept by forward in place of `h` (line LINE)"

    @staticmethod
    def forward(ctx, a, b):
        h, out, before = torch.zeros_like(b[0]), torch.empty_like(b), []
        for t in range(len(a)):
            before.append(h)  # <-
            h.mul_(a[t]).add_(b[t])
            out[t] = h
        ctx.before = before
        ctx.save_for_backward(a)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        carry, of_a, of_b = torch.zeros_like(g[0]), torch.empty_like(a), torch.empty_like(a)
        for t in reversed(range(len(a))):
            carry = carry + g[t]
            of_a[t], of_b[t] = carry * ctx.before[t], carry
            carry = carry * a[t]
        return of_a, of_b

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), draw(4, 2, seed=1)


class SlopeOfTheLastTurn(Function):
    says = (
        "`1 - e * torch.cos(y)` at the end of the loop of forward (line LINE) in place of `slope`"
    )

    @staticmethod
    def forward(ctx, m, e):
        y = m + e * torch.sin(m)
        for _ in range(3):
            slope = 1 - e * torch.cos(y)  # <-
            y = y - (y - e * torch.sin(y) - m) / slope
        ctx.save_for_backward(y, slope)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        y, slope = ctx.saved_tensors
        of_m = g / slope
        return of_m, of_m * torch.sin(y)

    @staticmethod
    def sample_inputs():
        yield draw(4), torch.full((4,), 0.3, dtype=torch.double, requires_grad=True)


class DifferenceQuotient(Function):
    says = "is an approximation: it is closer to the derivative with `step = 0.000125` in place of"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.special.i0(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        step = 0.001  # <-
        return g * (torch.special.i0(x + step) - torch.special.i0(x)) / step

    @staticmethod
    def sample_inputs():
        yield (draw(4),)


class DigammaByItsSeries(Function):
    says = "right with `torch.digamma(a)` in place of `torch.log(a) - 0.5 / a` (line LINE)"

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return torch.lgamma(a)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        slope = torch.log(a) - 0.5 / a  # <-
        return g * slope

    @staticmethod
    def sample_inputs():
        yield (draw(4).detach().abs().add(2).requires_grad_(),)


class StartWithoutItsFactor(Function):
    says = "right with `carry * decay[0]` in place of `carry` (line LINE)"

    @staticmethod
    def forward(ctx, decay, x, start):
        states = [start]
        for t in range(len(x)):
            states.append(decay[t] * states[-1] + x[t])
        out = torch.stack(states[1:])
        ctx.save_for_backward(decay, start, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        decay, start, out = ctx.saved_tensors
        grad_decay, grad_x = torch.zeros_like(decay), torch.zeros_like(out)
        carry = torch.zeros_like(start)
        for t in reversed(range(len(g))):
            carry = g[t] + (decay[t + 1] * carry if t + 1 < len(g) else 0)
            grad_decay[t] = carry * (out[t - 1] if t else start)
            grad_x[t] = carry
        return grad_decay, grad_x, carry  # <-

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), draw(4, 3), draw(3)


class TooFewRounds(Function):
    says = "right with `range(8 * rounds)` in place of `range(rounds)` (line LINE)"

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return torch.linalg.slogdet(a)[1]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        rounds = 7
        found = a.mT / (a.abs().sum(-1).amax() * a.abs().sum(-2).amax())
        for _ in range(rounds):  # <-
            found = 2 * found - found @ a @ found
        return g * found.mT

    @staticmethod
    def sample_inputs():
        a = torch.eye(3, dtype=torch.double) * torch.tensor([1.0, 2.0, 5.0]).double()
        yield ((a + 0.1).requires_grad_(),)


class SignsOfOneFewer(Function):
    says = "right with `signs[:n // 2]` in place of `signs[:n // 2 - 1]` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.n = len(x)
        half = ctx.n // 2
        return torch.cat([-x[:half], x[half:]])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        n = ctx.n
        signs = torch.ones_like(g)
        signs[: n // 2 - 1] = -1  # <-
        return g * signs

    @staticmethod
    def sample_inputs():
        yield (draw(10),)


class WrappedAround(Function):
    says = "right with zeros in place of what `torch.roll(g, -1)` moves across the end (line LINE)"

    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        y[1:] += 0.5 * x[:-1]
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g + 0.5 * torch.roll(g, -1)  # <-

    @staticmethod
    def sample_inputs():
        yield (draw(5),)


class ResetOneStepEarly(Function):
    says = "in place of `torch.where(reset[t], torch.zeros_like(total), total)` (line LINE)"

    @staticmethod
    def forward(ctx, x, reset):
        ctx.save_for_backward(reset)
        total, found = torch.zeros_like(x[0]), []
        for t in range(len(x)):
            total = torch.where(reset[t], torch.zeros_like(total), total) + x[t]
            found.append(total)
        return torch.stack(found)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (reset,) = ctx.saved_tensors
        total, found = torch.zeros_like(g[0]), []
        for t in reversed(range(len(g))):
            total = torch.where(reset[t], torch.zeros_like(total), total) + g[t]  # <-
            found.append(total)
        return torch.stack(found[::-1]), None

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), torch.tensor([False, False, True, False, False])[:, None].expand(5, 2)


class SampleDeviationAsOfAll(Function):
    says = "in place of `(g * scores).mean(0)` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        deviation = x.std(0)
        scores = (x - x.mean(0)) / deviation
        ctx.save_for_backward(scores, deviation)
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        scores, deviation = ctx.saved_tensors
        along = (g * scores).mean(0)  # <-
        return (g - g.mean(0) - scores * along) / deviation

    @staticmethod
    def sample_inputs():
        yield (draw(5, 2),)


class AsIfHolomorphic(Function):
    says = "lacks the part that goes with grad_output.conj(): forward is not holomorphic"

    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z / (1 + (z * z.conj()).real)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        size = (z * z.conj()).real
        return g / (1 + size) ** 2  # <-

    @staticmethod
    def sample_inputs():
        z = torch.complex(draw(4).detach(), draw(4, seed=2).detach())
        yield (z.requires_grad_(),)


class OrdersOfSeveralCalls(Function):
    says = (
        "backward is right with `torch.polygamma(0, x + y)` in place of `torch.polygamma(1, x + y)`"
        " (lines"
    )

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.lgamma(x) - torch.lgamma(x + y) + x * y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        of_sum = torch.polygamma(1, x + y)
        return g * (torch.polygamma(1, x) - of_sum + y), g * (x - torch.digamma(x + y))  # <-

    @staticmethod
    def sample_inputs():
        yield (
            draw(4).detach().abs().add(0.5).requires_grad_(),
            draw(4, seed=1).detach().abs().add(0.5).requires_grad_(),
        )


class DigitsExchanged(Function):
    says = "backward is right with `0.134145 * x` in place of `0.134415 * x` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.nn.functional.gelu(x, approximate="tanh")

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        k = 0.7978845608028654
        t = torch.tanh(k * (x + 0.044715 * x**3))
        slope = k * (1 + 0.134415 * x * x)  # <-
        return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)

    @staticmethod
    def sample_inputs():
        yield (draw(8),)


class FourthDigit(Function):
    says = (
        "backward is right with `2 * x * y - 1.128379` in place of `2 * x * y - 1.1286` (line LINE)"
    )

    @staticmethod
    def forward(ctx, x):
        y = torch.special.erfcx(x)
        ctx.save_for_backward(x, y)
        return y.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * (2 * x * y - 1.1286)  # <-

    @staticmethod
    def sample_inputs():
        yield (draw(6),)


class WeightNotSpread(Function):
    says = "backward is right with `ctx.weight / x.shape[-1]` in place of `ctx.weight` (line LINE)"

    @staticmethod
    def forward(ctx, x, weight=0.3):
        ctx.save_for_backward(x)
        ctx.weight = weight
        return -((1 - weight) * x.log_softmax(-1)[:, 0] + weight * x.log_softmax(-1).mean(-1))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        aim = torch.full_like(x, ctx.weight)  # <-
        aim[:, 0] += 1 - ctx.weight
        return g.unsqueeze(-1) * (x.softmax(-1) - aim), None

    @staticmethod
    def sample_inputs():
        yield (draw(3, 5),)


class WholeTriangleHalved(Function):
    says = "backward is right with only the diagonal of `torch.tril(low.mT @ g)` halved (line LINE)"

    @staticmethod
    def forward(ctx, x):
        low = torch.linalg.cholesky(x @ x.mT + torch.eye(len(x), dtype=x.dtype))
        ctx.save_for_backward(x, low)
        return low

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, low = ctx.saved_tensors
        part = 0.5 * torch.tril(low.mT @ g)  # <-
        inverse = torch.linalg.inv(low)
        whole = inverse.mT @ part @ inverse
        return (whole + whole.mT) @ x

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)


class OtherTriangle(Function):
    says = "backward is right with `torch.triu(scores.mT) @ q` in place of"

    @staticmethod
    def forward(ctx, q, k, v):
        ctx.save_for_backward(q, k, v)
        return torch.tril(q @ k.mT) @ v

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, k, v = ctx.saved_tensors
        scores = g @ v.mT
        of_k = torch.tril(scores.mT) @ q  # <-
        return torch.tril(scores) @ k, of_k, torch.triu(k @ q.mT) @ g

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), draw(4, 3, seed=1), draw(4, 2, seed=2)


class ShareOfSlope(Function):
    says = "backward is right with `1 + x * (1 - s)` in place of `1 + x` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return g * s * (1 + x)  # <-

    @staticmethod
    def sample_inputs():
        yield (draw(6),)


class OffTheLabel(Function):
    says = "most of the gradient of `x` is right with `ctx.share / n` in place of"

    @staticmethod
    def forward(ctx, x, label, share=0.3):
        ctx.save_for_backward(x, label)
        ctx.share = share
        logs = x.log_softmax(-1)
        return -((1 - share) * logs.gather(1, label[:, None])[:, 0] + share * logs.mean(-1))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, label = ctx.saved_tensors
        n = x.shape[-1]
        aim = torch.full_like(x, ctx.share / (n - 1))  # <-
        aim = aim.scatter(1, label[:, None], 1 - ctx.share)
        return g.unsqueeze(-1) * (x.softmax(-1) - aim), None, None

    @staticmethod
    def sample_inputs():
        yield draw(3, 5), torch.tensor([0, 3, 1])


class SumFromTheWrongEnd(Function):
    says = "backward is right with `torch.cumsum(g / total, 0)` in place of"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.flip(0).logcumsumexp(0).flip(0)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        total = torch.flip(torch.cumsum(torch.flip(x.exp(), [0]), 0), [0])
        later = torch.flip(torch.cumsum(torch.flip(g / total, [0]), 0), [0])  # <-
        return x.exp() * later

    @staticmethod
    def sample_inputs():
        yield (draw(5),)


class SumToTheWrongEnd(Function):
    says = "each.flip(-1).cumsum(-1).flip(-1)` in place of"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.logcumsumexp(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        each = g / x.exp().cumsum(-1)
        return x.exp() * each.cumsum(-1)  # <-

    @staticmethod
    def sample_inputs():
        yield (draw(2, 4),)


class SystemNotTransposed(Function):
    says = "backward is right with `torch.linalg.solve((eye - d[:, None] * a).mT, g)` in place of"

    @staticmethod
    def forward(ctx, a, b, d):
        eye = torch.eye(len(b), dtype=b.dtype)
        x = torch.linalg.solve(eye - d[:, None] * a, b)
        ctx.save_for_backward(a, x, d)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, x, d = ctx.saved_tensors
        eye = torch.eye(len(x), dtype=x.dtype)
        v = torch.linalg.solve(eye - d[:, None] * a, g)  # <-
        return torch.outer(d * v, x), v, None

    @staticmethod
    def sample_inputs():
        yield (
            (0.3 * draw(3, 3)).detach().requires_grad_(),
            draw(3, seed=1),
            draw(3, seed=2).detach(),
        )


class LoopInTheOrderOfForward(Function):
    says = "backward is right with `reversed(range(len(x)))` in place of `range(len(x))`"

    @staticmethod
    def forward(ctx, x, decay=0.5):
        ctx.decay, states = decay, [torch.zeros_like(x[0])]
        for row in x:
            states.append((decay * states[-1] + row).tanh())
        states = torch.stack(states[1:])
        ctx.save_for_backward(x, states)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, states = ctx.saved_tensors
        grad, carried = torch.zeros_like(x), torch.zeros_like(x[0])
        for t in range(len(x)):  # <-
            grad[t] = (g[t] + carried) * (1 - states[t] ** 2)
            carried = ctx.decay * grad[t]
        return grad, None

    @staticmethod
    def sample_inputs():
        yield (draw(4, 2),)


class OneOrderOfASymmetricProduct(Function):
    says = "backward is right with `-torch.outer(w, u.mT @ x) + -torch.outer(x, u.mT @ w)` in place"

    @staticmethod
    def forward(ctx, u, b):
        x = OneOrderOfASymmetricProduct.solve(u, b)
        ctx.save_for_backward(u, x)
        return x

    @staticmethod
    def solve(u, b):
        inner = torch.eye(u.shape[1], dtype=u.dtype) + u.mT @ (0.5 * u)
        return 0.5 * (b - u @ torch.linalg.solve(inner, u.mT @ (0.5 * b)))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        u, x = ctx.saved_tensors
        w = OneOrderOfASymmetricProduct.solve(u, g)
        return -torch.outer(w, u.mT @ x), w  # <-

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), draw(5, seed=1)


class ProductOfRootsForTheirSum(Function):
    says = "backward is right with `inner / (r[:, None] + r)` in place of `inner / (2 * r"

    @staticmethod
    def forward(ctx, a):
        values, vectors = torch.linalg.eigh(0.5 * (a + a.mT))
        ctx.save_for_backward(values.sqrt(), vectors)
        return vectors * values.sqrt() @ vectors.mT

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        r, q = ctx.saved_tensors
        inner = q.mT @ (0.5 * (g + g.mT)) @ q
        return q @ (inner / (2 * r[:, None] * r)) @ q.mT  # <-

    @staticmethod
    def sample_inputs():
        x = draw(3, 3)
        yield ((x @ x.mT + torch.eye(3, dtype=x.dtype)).detach().requires_grad_(),)


class UnscaledBesselOverScaled(Function):
    says = "backward is right with `torch.special.i0(kappa)` in place of `torch.special.i0e(kappa)`"

    @staticmethod
    def forward(ctx, angle, kappa):
        ctx.save_for_backward(angle, kappa)
        return torch.log(torch.special.i0e(kappa)) + kappa - kappa * torch.cos(angle)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        angle, kappa = ctx.saved_tensors
        scaled = torch.special.i0e(kappa)
        ratio = torch.special.i1(kappa) / scaled  # <-
        return g * kappa * torch.sin(angle), g * (ratio - torch.cos(angle))

    @staticmethod
    def sample_inputs():
        yield draw(5), draw(5, seed=1).detach().abs().add(0.5).requires_grad_()


class StateBeforeNotSubtracted(Function):
    says = "backward is right with `carried * (v[t] - states[t])` in place of `carried * v[t]`"

    @staticmethod
    def forward(ctx, z, v):
        states = [torch.zeros_like(v[0])]
        for t in range(len(z)):
            states.append(torch.lerp(states[-1], v[t], z[t]))
        states = torch.stack(states)
        ctx.save_for_backward(z, v, states)
        return states[1:].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        z, v, states = ctx.saved_tensors
        carried, of_z, of_v = torch.zeros_like(states[0]), torch.empty_like(z), torch.empty_like(v)
        for t in reversed(range(len(z))):
            carried = carried + g[t]
            of_z[t] = carried * v[t]  # <-
            of_v[t] = carried * z[t]
            carried = carried * (1 - z[t])
        return of_z, of_v

    @staticmethod
    def sample_inputs():
        yield draw(4, 2).sigmoid().detach().requires_grad_(), draw(4, 2, seed=1)


class ClippedWhateverTheSign(Function):
    says = "is right with `ratio <= 1.2` (line LINE) true for [3] and false for [1]"

    @staticmethod
    def forward(ctx, logp, advantage):
        ctx.save_for_backward(logp, advantage)
        ratio = logp.exp()
        return -torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()

    @staticmethod
    def backward(ctx, g):
        logp, advantage = ctx.saved_tensors
        ratio = logp.exp()
        passed = torch.where(ratio <= 1.2, -advantage * ratio, 0)  # <-
        return g * passed / advantage.numel(), None

    @staticmethod
    def sample_inputs():
        logp = torch.tensor([0.5, -0.6, 0.02, 0.7, -0.5], dtype=torch.double)
        advantage = torch.tensor([1.0, -1.2, 0.4, -0.8, 0.9], dtype=torch.double)
        yield logp.requires_grad_(), advantage


class LargerForTheMean(Function):
    says = "backward is right with `2 * ((s[:, None] + s) / 2)` in place of `2 * torch.maximum"

    @staticmethod
    def forward(ctx, a):
        u, s, vh = torch.linalg.svd(a)
        ctx.save_for_backward(u, s, vh)
        return u @ vh

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        u, s, vh = ctx.saved_tensors
        inner = u.mT @ g @ vh.mT
        sums = 2 * torch.maximum(s[:, None], s)  # <-
        return u @ ((inner - inner.mT) / sums) @ vh

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)
