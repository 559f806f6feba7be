"""Saturation, cancellation, numbers of very different sizes; all right."""

import torch
import torch.nn.functional as F
from torch.autograd import Function

f64 = torch.float64


def t(*v, dtype=f64):
    return torch.tensor(v, dtype=dtype, requires_grad=True)


class TanhFarOut(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y * y)

    @staticmethod
    def sample_inputs():
        yield (t(10.0, 15.0, 17, 18.5, 20),)
        yield (t(15.0, -17, 18.5, -20),)
        yield (t(18.0, -19),)
        yield (t(16.0),)


class SigmoidFarOut(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.sigmoid(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * (1 - y)

    @staticmethod
    def sample_inputs():
        yield (t(10.0, 15.0, 30, 36, 40),)
        yield (t(35.0, -40, 36, -20),)
        yield (t(36.0, 37.5),)
        yield (t(36.0),)


class SoftmaxOfOneWinner(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.softmax(x, -1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(-1, keepdim=True))

    @staticmethod
    def sample_inputs():
        yield (t(10.0, 45.0, 0, 10),)
        yield (t(35.0, 0, -1),)
        yield (t(1e3, 0, 1e3 - 1),)


class ErfFarOut(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.erf(x)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 1.1283791670955126 * torch.exp(-x * x)

    @staticmethod
    def sample_inputs():
        yield (t(10.0, 4.0, 5.5, 0.1),)
        yield (t(30.0, -8),)


class SqrtOfEveryScale(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.sqrt()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * 0.5 / y

    @staticmethod
    def sample_inputs():
        yield (t(1e-12, 1e-8, 1e-4, 1e8),)


class XLogX(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x > 0, x * torch.log(x.clamp_min(1e-300)), torch.zeros_like(x))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (torch.log(x) + 1)

    @staticmethod
    def sample_inputs():
        yield (t(1e-10, 0.3, 1.0, 50.0),)


class OneMinusCosine(Function):
    """1 - cos x over x², with the loss of digits people leave in."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (1 - torch.cos(x)) / x**2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (torch.sin(x) / x**2 - 2 * (1 - torch.cos(x)) / x**3)

    @staticmethod
    def sample_inputs():
        yield (t(1e-2, 1e-1, 1.0, -3.0),)


class Charbonnier(Function):
    @staticmethod
    def forward(ctx, x, y, eps: float = 1e-3):
        d = x - y
        ctx.eps = eps
        ctx.save_for_backward(x, y)
        return torch.sqrt(d * d + eps * eps).sum()

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        d = x - y
        gx = g * d / torch.sqrt(d * d + ctx.eps**2)
        return gx, -gx, None


class NBodyAcceleration(Function):
    @staticmethod
    def forward(ctx, pos, mass, soft: float = 1e-2):
        d = pos[None] - pos[:, None]
        r2 = (d * d).sum(-1) + soft**2
        ctx.save_for_backward(pos, mass)
        ctx.soft = soft
        return (mass[None, :, None] * d / r2[..., None] ** 1.5).sum(1)

    @staticmethod
    def backward(ctx, g):
        pos, mass = ctx.saved_tensors
        d = pos[None] - pos[:, None]
        r2 = (d * d).sum(-1, keepdim=True) + ctx.soft**2
        inv3 = r2**-1.5
        gd = mass[None, :, None] * (
            g[:, None] * inv3 - 3 * d * (g[:, None] * d).sum(-1, keepdim=True) * r2**-2.5
        )
        gm = (g[:, None] * d * inv3).sum((0, 2))
        return gd.sum(0) - gd.sum(1), gm, None

    @staticmethod
    def sample_inputs():
        yield torch.randn(4, 3, dtype=f64, requires_grad=True), t(0.5, 0.3, 0.9, 0.1)


class SineTenThousand(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(1e4 * x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 1e4 * torch.cos(1e4 * x)

    @staticmethod
    def sample_inputs():
        yield (t(0.1, 1.0, -3.7, 12.0),)


class InverseSquare(Function):
    @staticmethod
    def forward(ctx, r):
        ctx.save_for_backward(r)
        return r**-2

    @staticmethod
    def backward(ctx, g):
        (r,) = ctx.saved_tensors
        return -2 * g * r**-3

    @staticmethod
    def sample_inputs():
        yield (t(1e-12, 3e-12),)
        yield (t(1e12, 3e11),)


class HypotHuge(Function):
    @staticmethod
    def forward(ctx, x, y):
        m = torch.maximum(x.abs(), y.abs())
        h = m * torch.sqrt((x / m) ** 2 + (y / m) ** 2)
        ctx.save_for_backward(x, y, h)
        return h

    @staticmethod
    def backward(ctx, g):
        x, y, h = ctx.saved_tensors
        return g * x / h, g * y / h

    @staticmethod
    def sample_inputs():
        yield t(3e200, 1e-180, 1.0), t(4e200, 2e-180, -1.0)


class BumpFunction(Function):
    """exp(-1/(1-x²)) inside, 0 outside: smooth, with all derivatives 0 at the edge."""

    @staticmethod
    def forward(ctx, x):
        inside = x.abs() < 1
        d = torch.where(inside, 1 - x * x, torch.ones_like(x))
        y = torch.where(inside, torch.exp(-1 / d), torch.zeros_like(x))
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        inside = x.abs() < 1
        d = torch.where(inside, 1 - x * x, torch.ones_like(x))
        return torch.where(inside, -2 * g * x / d**2 * y, torch.zeros_like(g))

    @staticmethod
    def sample_inputs():
        yield (t(0.0, 0.5, 0.95, -0.99, 1.5),)


class LennardJones(Function):
    @staticmethod
    def forward(ctx, r, eps=1.0, sigma=1.0):
        s6 = (sigma / r) ** 6
        ctx.save_for_backward(r)
        ctx.eps, ctx.sigma = eps, sigma
        return (4 * eps * (s6 * s6 - s6)).sum()

    @staticmethod
    def backward(ctx, g):
        (r,) = ctx.saved_tensors
        s6 = (ctx.sigma / r) ** 6
        return g * 4 * ctx.eps * (-12 * s6 * s6 + 6 * s6) / r, None, None

    @staticmethod
    def sample_inputs():
        yield (t(0.3, 1.0, 1.12246, 5.0, 40.0),)


class OutputsOfEveryScale(Function):
    """Outputs of 24 orders of magnitude."""

    @staticmethod
    def forward(ctx, x):
        s = torch.tensor([1e-12, 1e-6, 1.0, 1e6, 1e12], dtype=x.dtype)
        ctx.save_for_backward(x)
        return s * torch.sin(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = torch.tensor([1e-12, 1e-6, 1.0, 1e6, 1e12], dtype=x.dtype)
        return g * s * torch.cos(x)

    @staticmethod
    def sample_inputs():
        yield (torch.randn(5, dtype=f64, requires_grad=True),)


class LogSumExpHuge(Function):
    @staticmethod
    def forward(ctx, x, dim=-1, keepdim=False):
        m = x.amax(dim, keepdim=True)
        out = m + (x - m).exp().sum(dim, keepdim=True).log()
        ctx.save_for_backward(x)
        ctx.dim, ctx.keepdim = dim, keepdim
        return out if keepdim else out.squeeze(dim)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if not ctx.keepdim:
            g = g.unsqueeze(ctx.dim)
        return g * (x - torch.logsumexp(x, ctx.dim, keepdim=True)).exp(), None, None

    @staticmethod
    def sample_inputs():
        yield (
            torch.tensor(
                [[1e4, 1e4 + 1, 1e4 - 2], [-1e5, -1e5, -1e5 + 3]],
                dtype=f64,
                requires_grad=True,
            ),
            1,
            True,
        )


class Entmax15(Function):
    @staticmethod
    def forward(ctx, X, dim=-1):
        X = X - X.max(dim=dim, keepdim=True)[0]
        X = X / 2
        s, _ = torch.sort(X, dim=dim, descending=True)
        rho = torch.arange(1, X.shape[dim] + 1, dtype=X.dtype)
        mean = s.cumsum(dim) / rho
        mean_sq = (s**2).cumsum(dim) / rho
        ss = rho * (mean_sq - mean**2)
        delta = (1 - ss) / rho
        tau = mean - torch.sqrt(torch.clamp(delta, 0))
        size = (tau <= s).sum(dim, keepdim=True)
        tau_star = tau.gather(dim, size - 1)
        Y = torch.clamp(X - tau_star, min=0) ** 2
        ctx.save_for_backward(Y)
        ctx.dim = dim
        return Y

    @staticmethod
    def backward(ctx, dY):
        (Y,) = ctx.saved_tensors
        gppr = torch.where(Y > 0, Y, torch.zeros_like(Y)).sqrt()
        dX = dY * gppr
        q = dX.sum(ctx.dim, keepdim=True) / gppr.sum(ctx.dim, keepdim=True)
        return dX - q * gppr, None

    @staticmethod
    def sample_inputs():
        yield (torch.randn(2, 4, dtype=f64, requires_grad=True),)


class LorentzianNarrow(Function):
    @staticmethod
    def forward(ctx, x, gamma=1e-4):
        ctx.save_for_backward(x)
        ctx.gamma = gamma
        return gamma / (x * x + gamma * gamma)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -2 * g * ctx.gamma * x / (x * x + ctx.gamma**2) ** 2, None

    @staticmethod
    def sample_inputs():
        yield (t(1e-4, 5e-5, 1e-2, 1.0, -3e-4),)


class FocalLossSaturated(Function):
    @staticmethod
    def forward(ctx, logits, target, gamma: float = 2.0, alpha: float = 0.25):
        ctx.save_for_backward(logits, target)
        ctx.gamma = gamma
        ctx.alpha = alpha
        p = torch.sigmoid(logits)
        ce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
        p_t = p * target + (1 - p) * (1 - target)
        a_t = alpha * target + (1 - alpha) * (1 - target)
        return (a_t * (1 - p_t) ** gamma * ce).sum()

    @staticmethod
    def backward(ctx, grad_output):
        logits, target = ctx.saved_tensors
        s = 2 * target - 1
        z = s * logits
        pt = torch.sigmoid(z)
        logpt = F.logsigmoid(z)
        a_t = ctx.alpha * target + (1 - ctx.alpha) * (1 - target)
        dz = (1 - pt) ** ctx.gamma * (ctx.gamma * pt * logpt - (1 - pt))
        return grad_output * a_t * dz * s, None, None, None

    @staticmethod
    def sample_inputs():
        x = torch.randn(5, 3, dtype=f64, requires_grad=True)
        t = (torch.rand(5, 3) > 0.5).double()
        yield x, t
        yield 20 * x.detach().requires_grad_(), t, 1.5, 0.75
