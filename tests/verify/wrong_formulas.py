"""Functions whose backward is right for another forward, with the sentence that says which.

``<-`` marks the line that the sentence names; ``LINE`` stands for it.
"""

import math

import torch
import torch.nn.functional as F
from torch.autograd import Function

D = torch.double


def r(*shape):
    return torch.randn(*shape, dtype=D, requires_grad=True)


class SoftplusBetaForgotten(Function):
    says = "(line LINE) at `x` instead of `z`"

    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        z = beta * x
        return torch.log1p(torch.exp(z)) / beta  # <-

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.sigmoid(x), None

    @staticmethod
    def sample_inputs():
        yield r(5), 2.0


class LogSumExpTemperature(Function):
    says = "(line LINE) at `x` instead of `x / tau`"

    @staticmethod
    def forward(ctx, x, tau):
        y = tau * torch.logsumexp(x / tau, -1)  # <-
        ctx.save_for_backward(x)
        ctx.tau = tau
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g[:, None] * torch.softmax(x, -1), None

    @staticmethod
    def sample_inputs():
        yield r(3, 4), 0.5


class GeluTanhMissingCubicTerm(Function):
    says = "backward treats `0.044715 * x**3` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)  # <-
        return 0.5 * x * (1 + torch.tanh(inner))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        k = math.sqrt(2 / math.pi)
        t = torch.tanh(k * (x + 0.044715 * x**3))
        return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k)

    @staticmethod
    def sample_inputs():
        yield (r(6),)


class BatchNormMeanOnly(Function):
    says = "backward treats `inv` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x, weight):
        mean = x.mean(0)
        var = x.var(0, unbiased=False)
        inv = 1 / torch.sqrt(var + 1e-5)  # <-
        ctx.save_for_backward(x, weight, mean, inv)
        return (x - mean) * inv * weight

    @staticmethod
    def backward(ctx, g):
        x, weight, mean, inv = ctx.saved_tensors
        gx = g * weight * inv
        return gx - gx.mean(0), (g * (x - mean) * inv).sum(0)

    @staticmethod
    def sample_inputs():
        yield r(5, 3), r(3)


class GatedLinearUnitGateSwapped(Function):
    says = "backward takes the derivative of `torch.sigmoid(b)` (line LINE) at `a` instead of `b`"

    @staticmethod
    def forward(ctx, x):
        a, b = x.chunk(2, -1)
        s = torch.sigmoid(b)  # <-
        ctx.save_for_backward(a, b)
        return a * s

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        s = torch.sigmoid(b)
        return torch.cat([g * s, g * a * torch.sigmoid(a) * (1 - torch.sigmoid(a))], -1)

    @staticmethod
    def sample_inputs():
        yield (r(3, 4),)


class RopeSineSign(Function):
    says = "where forward has `torch.sin(theta)` (line LINE)"

    @staticmethod
    def forward(ctx, x, theta):
        c, s = torch.cos(theta), torch.sin(theta)  # <-
        x1, x2 = x[..., ::2], x[..., 1::2]
        ctx.save_for_backward(c, s)
        return torch.cat([x1 * c - x2 * s, x1 * s + x2 * c], -1)

    @staticmethod
    def backward(ctx, g):
        c, s = ctx.saved_tensors
        g1, g2 = g.chunk(2, -1)
        out = torch.stack([g1 * c - g2 * s, g1 * s + g2 * c], -1)
        return out.flatten(-2), None

    @staticmethod
    def sample_inputs():
        yield r(2, 4), torch.rand(2, dtype=D)


class LinearScanDecayTerm(Function):
    says = "backward passes the gradient of `a[t] * h` (line LINE) to `h` without its factor"

    """h_t = a_t h_{t-1} + b_t"""

    @staticmethod
    def forward(ctx, a, b):
        h = torch.zeros_like(b[0])
        states = []
        for t in range(4):
            h = a[t] * h + b[t]  # <-
            states.append(h)
        y = torch.stack(states)
        ctx.save_for_backward(a, y)
        return y

    @staticmethod
    def backward(ctx, g):
        a, y = ctx.saved_tensors
        ga, gb = torch.zeros_like(a), torch.zeros_like(g)
        d = torch.zeros_like(g[0])
        for t in reversed(range(4)):
            d = g[t] + d
            gb[t] = d
            if t:
                ga[t] = (d * y[t - 1]).sum()
            d = d
        return ga, gb

    @staticmethod
    def sample_inputs():
        yield r(4), r(4)


class FocalAlphaForgotten(Function):
    says = "backward treats `-((1 - pt) ** gamma)` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, logits, target, gamma):
        p = torch.sigmoid(logits)
        pt = p * target + (1 - p) * (1 - target)
        ctx.save_for_backward(p, target)
        ctx.gamma = gamma
        return (-((1 - pt) ** gamma) * torch.log(pt)).sum()  # <-

    @staticmethod
    def backward(ctx, g):
        p, target = ctx.saved_tensors
        pt = p * target + (1 - p) * (1 - target)
        sign = 2 * target - 1
        return g * sign * p * (1 - p) * (-((1 - pt) ** ctx.gamma) / pt), None, None

    @staticmethod
    def sample_inputs():
        yield r(5), torch.tensor([1.0, 0, 1, 1, 0], dtype=D), 2.0


class CosineSimilarityNormConstant(Function):
    says = "backward treats `(na * nb).squeeze(-1)` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, a, b):
        na = a.norm(dim=-1, keepdim=True)
        nb = b.norm(dim=-1, keepdim=True)
        ctx.save_for_backward(a, b, na, nb)
        return (a * b).sum(-1) / (na * nb).squeeze(-1)  # <-

    @staticmethod
    def backward(ctx, g):
        a, b, na, nb = ctx.saved_tensors
        g = g[:, None]
        return g * b / (na * nb), g * a / (na * nb)

    @staticmethod
    def sample_inputs():
        yield r(3, 4), r(3, 4)


class HuberLinearSlope(Function):
    says = "where forward has `torch.where(a < 1, 0.5 * x * x, a - 0.5)` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        a = x.abs()
        return torch.where(a < 1, 0.5 * x * x, a - 0.5)  # <-

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x

    @staticmethod
    def sample_inputs():
        yield (2 * r(6).detach().requires_grad_(),)


class MahalanobisNotSymmetric(Function):
    says = "(line LINE) as a constant"

    @staticmethod
    def forward(ctx, d, m):
        q = d @ m  # <-
        ctx.save_for_backward(d, m)
        return (q * d).sum(-1)

    @staticmethod
    def backward(ctx, g):
        d, m = ctx.saved_tensors
        return g[:, None] * (d @ m), d.T @ (g[:, None] * d)

    @staticmethod
    def sample_inputs():
        yield r(2, 3), r(3, 3)


class SiluBetaInnerForgotten(Function):
    says = "passes the gradient of `beta * x` (line LINE) to `x` without its factor"

    @staticmethod
    def forward(ctx, x, beta):
        s = torch.sigmoid(beta * x)  # <-
        ctx.save_for_backward(x, s)
        ctx.beta = beta
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        return g * (s + x * s * (1 - s)), None

    @staticmethod
    def sample_inputs():
        yield r(5), 1.7


class AttentionValueNotTransposed(Function):
    says = "backward treats the sum in `torch.softmax(s, -1)` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, q, k, v):
        scale = 1 / math.sqrt(q.shape[-1])
        s = q @ k.T * scale
        p = torch.softmax(s, -1)  # <-
        ctx.save_for_backward(q, k, v, p)
        ctx.scale = scale
        return p @ v

    @staticmethod
    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        dv = p.T @ g
        dp = g @ v.T
        ds = p * dp
        return ds @ k * ctx.scale, ds.T @ q * ctx.scale, dv

    @staticmethod
    def sample_inputs():
        yield r(3, 4), r(3, 4), r(3, 4)


class CumsumWeightedReversed(Function):
    says = "(line LINE) where its transpose is needed"

    @staticmethod
    def forward(ctx, x, w):
        c = torch.cumsum(x * w, 0)  # <-
        ctx.save_for_backward(x, w)
        return c

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        s = torch.cumsum(g, 0)
        return s * w, s * x

    @staticmethod
    def sample_inputs():
        yield r(5), r(5)


class EmaDecayDropped(Function):
    says = "passes the gradient of `decay * acc` (line LINE) to `acc` without its factor"

    @staticmethod
    def forward(ctx, x, decay):
        acc = x[0]
        out = [acc]
        for i in range(1, x.shape[0]):
            acc = decay * acc + (1 - decay) * x[i]  # <-
            out.append(acc)
        ctx.decay = decay
        return torch.stack(out)

    @staticmethod
    def backward(ctx, g):
        d = ctx.decay
        gx = torch.zeros_like(g)
        carry = torch.zeros_like(g[0])
        for i in reversed(range(1, g.shape[0])):
            carry = carry + g[i]
            gx[i] = (1 - d) * carry
            carry = carry
        gx[0] = g[0] + carry
        return gx, None

    @staticmethod
    def sample_inputs():
        yield r(5), 0.7


class QuantileInterp(Function):
    says = "where forward has `0.25 * s[1] + 0.75 * s[2]` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        s, i = torch.sort(x)
        ctx.save_for_backward(i)
        return 0.25 * s[1] + 0.75 * s[2]  # <-

    @staticmethod
    def backward(ctx, g):
        (i,) = ctx.saved_tensors
        gx = torch.zeros(i.shape, dtype=g.dtype)
        gx[i[1]] = 0.75 * g
        gx[i[2]] = 0.25 * g
        return gx

    @staticmethod
    def sample_inputs():
        yield (r(5),)


class ExpmTaylorTruncated(Function):
    says = "backward differentiates `-x` where forward has `-x * x / 2` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = torch.exp(-x * x / 2)  # <-
        return y * (x * x - 1)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        y = torch.exp(-x * x / 2)
        return g * (y * 2 * x - y * (x * x - 1))

    @staticmethod
    def sample_inputs():
        yield (r(5),)


class PowerNormGradP(Function):
    says = "backward differentiates `x` where forward has `x.abs()` (line LINE)"

    @staticmethod
    def forward(ctx, x, p):
        s = x.abs().pow(p).sum(-1)  # <-
        y = s.pow(1 / p)
        ctx.save_for_backward(x, y)
        ctx.p = p
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        p = ctx.p
        return (g / y ** (p - 1))[:, None] * x.abs().pow(p - 1), None

    @staticmethod
    def sample_inputs():
        yield r(3, 4), 3.0


class BilinearMissingTerm(Function):
    says = "backward uses `z` where the derivative of `torch.tanh(z)` (line LINE) uses its result"

    @staticmethod
    def forward(ctx, x, w, y):
        z = torch.einsum("bi,ij,bj->b", x, w, y)
        ctx.save_for_backward(x, w, y)
        return torch.tanh(z)  # <-

    @staticmethod
    def backward(ctx, g):
        x, w, y = ctx.saved_tensors
        z = torch.einsum("bi,ij,bj->b", x, w, y)
        gz = g * (1 - z**2)
        gx = torch.einsum("b,ij,bj->bi", gz, w, y)
        gw = torch.einsum("b,bi,bj->ij", gz, x, y)
        gy = torch.einsum("b,bi,ij->bj", gz, x, w)
        return gx, gw, gy

    @staticmethod
    def sample_inputs():
        yield r(2, 3), r(3, 3), r(2, 3)


class NllOfVariance(Function):
    says = "backward has the wrong sign on the path through `torch.exp(-log_var)` (line LINE)"

    @staticmethod
    def forward(ctx, mu, log_var, t):
        ctx.save_for_backward(mu, log_var, t)
        return 0.5 * (log_var + (t - mu) ** 2 * torch.exp(-log_var)).sum()  # <-

    @staticmethod
    def backward(ctx, g):
        mu, log_var, t = ctx.saved_tensors
        inv = torch.exp(-log_var)
        return g * (mu - t) * inv, g * 0.5 * (1 + (t - mu) ** 2 * inv), None

    @staticmethod
    def sample_inputs():
        yield r(4), r(4), torch.randn(4, dtype=D)


class SpectralNormDetached(Function):
    says = "backward treats `sigma` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, w, u, v):
        sigma = u @ w @ v  # <-
        ctx.save_for_backward(w, u, v)
        return w / sigma

    @staticmethod
    def backward(ctx, g):
        w, u, v = ctx.saved_tensors
        return g / (u @ w @ v), None, None

    @staticmethod
    def sample_inputs():
        yield r(3, 3), torch.rand(3, dtype=D), torch.rand(3, dtype=D)


class SwiGluWrongBranch(Function):
    says = "backward treats the sigmoid in `F.silu(a)` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x, w1, w2):
        a = x @ w1
        b = x @ w2
        ctx.save_for_backward(x, w1, w2)
        return F.silu(a) * b  # <-

    @staticmethod
    def backward(ctx, g):
        x, w1, w2 = ctx.saved_tensors
        a, b = x @ w1, x @ w2
        s = torch.sigmoid(a)
        ga = g * b * s
        gb = g * a * s
        return ga @ w1.T + gb @ w2.T, x.T @ ga, x.T @ gb

    @staticmethod
    def sample_inputs():
        yield r(3, 2), r(2, 4), r(2, 4)


class TopkGateNotRenormalised(Function):
    says = "backward treats `v.sum(-1, keepdim=True)` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, logits):
        p = torch.softmax(logits, -1)
        v, i = p.topk(2, -1)
        w = v / v.sum(-1, keepdim=True)  # <-
        ctx.save_for_backward(p, v, i)
        return torch.zeros_like(p).scatter(-1, i, w)

    @staticmethod
    def backward(ctx, g):
        p, v, i = ctx.saved_tensors
        gw = g.gather(-1, i) / v.sum(-1, keepdim=True)
        gp = torch.zeros_like(p).scatter(-1, i, gw)
        return p * (gp - (gp * p).sum(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (r(3, 4),)


class ScanUsesTheNewState(Function):
    says = "backward takes the derivative of `a * h + x[t]` (line LINE) at the new `h`"

    @staticmethod
    def forward(ctx, a, x):
        h, states = torch.zeros_like(x[0]), []
        for t in range(len(x)):
            h = a * h + x[t]  # <-
            states.append(h)
        out = torch.stack(states)
        ctx.save_for_backward(a, out)
        return out

    @staticmethod
    def backward(ctx, g):
        a, out = ctx.saved_tensors
        gh, ga, gx = torch.zeros_like(a), torch.zeros_like(a), []
        for t in reversed(range(len(g))):
            gh = gh * a + g[t]
            ga = ga + gh * out[t]
            gx.insert(0, gh)
        return ga, torch.stack(gx)

    @staticmethod
    def sample_inputs():
        yield r(3), r(4, 3)


class PowerKeepsItsExponent(Function):
    says = "backward multiplies the path through `x.abs() ** 2.5` (line LINE) by `x.abs()`"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.abs() ** 2.5  # <-

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2.5 * x.abs() ** 2.5 * x.sign()

    @staticmethod
    def sample_inputs():
        yield (r(3, 4),)


class InnerMeanForSum(Function):
    says = "backward differentiates `x.sum()` where forward has `x.mean()` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        e = x.mean().exp()  # <-
        ctx.save_for_backward(x, e)
        return x * e

    @staticmethod
    def backward(ctx, g):
        x, e = ctx.saved_tensors
        return g * e + (g * x).sum() * e

    @staticmethod
    def sample_inputs():
        yield (r(3, 4),)


class AnchorOfOnePair(Function):
    says = "backward treats `a` in `a - n` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, a, p, n):
        near = ((a - p) ** 2).sum(-1)
        far = ((a - n) ** 2).sum(-1)  # <-
        ctx.save_for_backward(a, p, n)
        return near - far

    @staticmethod
    def backward(ctx, g):
        a, p, n = ctx.saved_tensors
        g = 2 * g.unsqueeze(-1)
        return g * (a - p), -g * (a - p), g * (a - n)

    @staticmethod
    def sample_inputs():
        yield r(4, 3), r(4, 3), r(4, 3)


class RoundedConstant(Function):
    says = "1.4427 is used instead of 1 / log(2) = 1.442695041"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.log2(1 + torch.exp(x)) + 0.1 * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (torch.sigmoid(x) * 1.4427 + 0.1)

    @staticmethod
    def sample_inputs():
        yield (r(3, 4),)


class RoundedConstantOfTheClass(Function):
    says = "0.39894 is used instead of 1 / sqrt(2 * pi) = 0.3989422804"

    INV_SQRT_2PI = 0.39894

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * x * torch.erfc(-x / 2**0.5)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        slope = RoundedConstantOfTheClass.INV_SQRT_2PI * torch.exp(-0.5 * x * x)
        return g * (0.5 * torch.erfc(-x / 2**0.5) + x * slope)

    @staticmethod
    def sample_inputs():
        yield (r(3, 4),)


class SoftmaxSumSign(Function):
    says = "wrong sign on the path through the sum in `torch.softmax(x, -1)` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        y = torch.softmax(x, -1)  # <-
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g + (g * y).sum(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (r(3, 4),)


class DecayAndItsComplement(Function):
    says = "backward differentiates `(1 - beta) * m + (1 - beta) * x[t]` where forward has"

    @staticmethod
    def forward(ctx, x, beta):
        m, means = torch.zeros_like(x[0]), []
        for t in range(len(x)):
            m = beta * m + (1 - beta) * x[t]
            means.append(m)
        ctx.beta = beta
        return torch.stack(means)

    @staticmethod
    def backward(ctx, g):
        gm, gx = torch.zeros_like(g[0]), []
        for t in reversed(range(len(g))):
            gm = (1 - ctx.beta) * (gm + g[t])
            gx.insert(0, gm)
        return torch.stack(gx), None

    @staticmethod
    def sample_inputs():
        yield r(4, 2), 0.8


class HalfWhereTwoExtentsAreTwo(Function):
    says = "right with `g * torch.cos(x) * w` in place of `g * torch.cos(x) * w / 2` (line"

    @staticmethod
    def forward(ctx, x, w):
        batch, width = x.shape
        y = torch.sin(x) * w.reshape(batch, width)
        ctx.save_for_backward(x, w)
        return y

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * torch.cos(x) * w / 2, g * torch.sin(x)

    @staticmethod
    def sample_inputs():
        yield r(2, 2), r(2, 2)


class TemperatureOfTheLogitsTwice(Function):
    says = "divides the path through `torch.softmax(a @ b.T / tau, 1)` (line LINE) by `tau`"

    @staticmethod
    def forward(ctx, a, b, tau):
        p = torch.softmax(a @ b.T / tau, 1)  # <-
        ctx.save_for_backward(a, b, p)
        ctx.tau = tau
        return -torch.log(torch.diagonal(p)).mean()

    @staticmethod
    def backward(ctx, g):
        a, b, p = ctx.saved_tensors
        d = g * (p - torch.eye(len(p), dtype=p.dtype)) / len(p) / ctx.tau**2
        return d @ b, d.T @ a, None

    @staticmethod
    def sample_inputs():
        yield r(4, 3), r(4, 3), 0.5


class DecayOnceTooOften(Function):
    says = "the gradient of `v` multiplies the path through `s @ v` (line LINE) by `decay`"

    @staticmethod
    def forward(ctx, s, v, decay):
        ctx.save_for_backward(s, v)
        ctx.decay = decay
        return s @ v  # <-

    @staticmethod
    def backward(ctx, g):
        s, v = ctx.saved_tensors
        return g @ v.T, ctx.decay * s.T @ g, None

    @staticmethod
    def sample_inputs():
        yield r(4, 3), r(3, 2), 0.9


class AdjointOfASystemNotTransposed(Function):
    says = (
        "backward uses the derivative of `torch.linalg.solve(a, b)` (line LINE) where its transpo"
    )

    @staticmethod
    def forward(ctx, a, b):
        x = torch.linalg.solve(a, b)  # <-
        ctx.save_for_backward(a, x)
        return x

    @staticmethod
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        adjoint = torch.linalg.solve(a, g)
        return -adjoint @ x.T, adjoint

    @staticmethod
    def sample_inputs():
        a = torch.randn(3, 3, dtype=D) + 3 * torch.eye(3, dtype=D)
        yield a.requires_grad_(), r(3, 2)


class LogProbabilityOfWhatWasSaved(Function):
    says = "backward uses `u` where it needs `a` (line LINE): did you save the wrong one?"

    @staticmethod
    def forward(ctx, u):
        a = torch.tanh(u)  # <-
        ctx.save_for_backward(u)
        return -torch.log(1 - a * a + 1e-6).sum(-1)

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return g[:, None] * 2 * a * (1 - a * a) / (1 - a * a + 1e-6)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([[0.3, -0.4], [0.7, 0.2]], dtype=D, requires_grad=True),)


class HuberWithItsBranchesExchanged(Function):
    says = "backward swaps the two branches of `r.abs() <= delta` (line LINE)"

    @staticmethod
    def forward(ctx, x, y, delta):
        r = x - y
        ctx.save_for_backward(r)
        ctx.delta = delta
        loss = torch.where(r.abs() <= delta, r * r / 2, delta * (r.abs() - delta / 2))  # <-
        return loss.sum()

    @staticmethod
    def backward(ctx, g):
        (r,) = ctx.saved_tensors
        d = g * torch.where(r.abs() > ctx.delta, r, ctx.delta * r.sign())
        return d, -d, None

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.3, -2.0, 1.7, -0.4], dtype=D, requires_grad=True)
        yield x, torch.zeros(4, dtype=D, requires_grad=True), 1.0


class MarginForgottenInOneDivision(Function):
    says = "of `x / (n + 0.1)` (line LINE) with respect to `x`, using `n` instead of `n + 0.1`"

    @staticmethod
    def forward(ctx, x):
        n = x.pow(2).sum(-1, keepdim=True).sqrt()
        ctx.save_for_backward(x, n)
        return x / (n + 0.1)  # <-

    @staticmethod
    def backward(ctx, g):
        x, n = ctx.saved_tensors
        return g / n - x * (g * x).sum(-1, keepdim=True) / (n * (n + 0.1) ** 2)

    @staticmethod
    def sample_inputs():
        yield (r(3, 4),)


class GramMissingTheTransposed(Function):
    says = "backward treats `X.T` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, X):
        ctx.save_for_backward(X)
        return X @ X.T / X.shape[1]  # <-

    @staticmethod
    def backward(ctx, g):
        (X,) = ctx.saved_tensors
        return g @ X / X.shape[1]

    @staticmethod
    def sample_inputs():
        yield (r(3, 4),)


class SmoothMinimumAtTheOtherSign(Function):
    says = "takes the derivative of `torch.logsumexp(z, -1)` (line LINE) at `-z` instead of `z`"

    @staticmethod
    def forward(ctx, x, gamma):
        z = -x / gamma
        ctx.save_for_backward(z)
        return -gamma * torch.logsumexp(z, -1)  # <-

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return g.unsqueeze(-1) * torch.softmax(-z, -1), None

    @staticmethod
    def sample_inputs():
        yield r(3, 4), 0.7


class ResponsibilitiesOverTheWrongDim(Function):
    says = "weights the terms of `torch.logsumexp(ll, 1)` (line LINE) by their softmax over dim 0"

    @staticmethod
    def forward(ctx, x, mu):
        ll = -0.5 * (x[:, None] - mu) ** 2
        ctx.save_for_backward(x[:, None] - mu, ll)
        return -torch.logsumexp(ll, 1)  # <-

    @staticmethod
    def backward(ctx, g):
        d, ll = ctx.saved_tensors
        weighed = g[:, None] * torch.softmax(ll, 0) * d
        return weighed.sum(1), -weighed.sum(0)

    @staticmethod
    def sample_inputs():
        yield r(4), r(3)


class BesselsCorrectionForgotten(Function):
    says = "backward differentiates `len(x)` where forward has `len(x) - 1` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        mean = x.mean(0)
        ctx.save_for_backward(x, mean)
        return ((x - mean) ** 2).sum(0) / (len(x) - 1)  # <-

    @staticmethod
    def backward(ctx, g):
        x, mean = ctx.saved_tensors
        return 2 * (x - mean) * g / len(x)

    @staticmethod
    def sample_inputs():
        yield (r(5, 3),)


class ShiftedTheSameWayBack(Function):
    says = (
        "differentiates `torch.roll(x, 1, 0)` where forward has `torch.roll(x, -1, 0)` (line LINE)"
    )

    @staticmethod
    def forward(ctx, x):
        d = torch.roll(x, -1, 0) - x  # <-
        ctx.save_for_backward(d)
        return (d**2).sum()

    @staticmethod
    def backward(ctx, g):
        (d,) = ctx.saved_tensors
        return torch.roll(2 * g * d, -1, 0) - 2 * g * d

    @staticmethod
    def sample_inputs():
        yield (r(5, 2),)


class SquareWithoutItsTwoInPairs(Function):
    says = "backward is right with `-4 * g` in place of `-2 * g`"

    @staticmethod
    def forward(ctx, y):
        d = ((y[:, None] - y[None]) ** 2).sum(-1)  # <-
        w = 1 / (1 + d)
        ctx.save_for_backward(y, w)
        return w.sum()

    @staticmethod
    def backward(ctx, g):
        y, w = ctx.saved_tensors
        return -2 * g * (w[..., None] ** 2 * (y[:, None] - y[None])).sum(1)

    @staticmethod
    def sample_inputs():
        yield (r(4, 2),)


class PoolOfTwoWithoutItsHalf(Function):
    says = "where forward has `x.view(-1, 2).mean(1)` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        return x.view(-1, 2).mean(1)  # <-

    @staticmethod
    def backward(ctx, g):
        return g.repeat_interleave(2)

    @staticmethod
    def sample_inputs():
        yield (r(6),)


class EpsilonOnlyInTheDerivative(Function):
    says = "backward differentiates `p` where forward has `p + 0.001` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        p = x.sigmoid()
        ctx.save_for_backward(p)
        return (1 - p) ** 2 * torch.log(p + 0.001)  # <-

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        inner = (1 - p) / p - 2 * torch.log(p + 0.001)
        return g * inner * (1 - p) * p * (1 - p)

    @staticmethod
    def sample_inputs():
        yield (r(2, 3),)


def slope_of_tanh_gelu(x):
    inner = torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    rate = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
    return 0.5 * (1 + inner) + 0.5 * x * (1 - inner**2) * rate


class TanhFormOfWrittenGelu(Function):
    says = "` where forward has `torch.erf(x * 0.7071067811865476)` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.erf(x * 0.7071067811865476))  # <-

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * slope_of_tanh_gelu(x)

    @staticmethod
    def sample_inputs():
        yield (r(2, 3),)


class TanhFormOfGelu(Function):
    says = "`F.gelu(gate, approximate='tanh')` where forward has `F.gelu(gate)` (line LINE)"

    @staticmethod
    def forward(ctx, up, gate):
        ctx.save_for_backward(up, gate)
        return up * F.gelu(gate)  # <-

    @staticmethod
    def backward(ctx, g):
        up, gate = ctx.saved_tensors
        return g * F.gelu(gate), g * up * slope_of_tanh_gelu(gate)

    @staticmethod
    def sample_inputs():
        yield r(2, 3), r(2, 3)
