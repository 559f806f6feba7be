"""Functions whose backward gets one step of forward wrong, with the sentence that says which.

``<-`` marks the line that the sentence names; ``LINE`` stands for it.
"""

from __future__ import annotations

import torch
from torch.autograd import Function


def _matrix(dtype=torch.double):
    return torch.randn(3, 4, dtype=dtype, requires_grad=True)


class OneInput(Function):
    @staticmethod
    def sample_inputs():
        yield (_matrix(),)


class LayerNormForgetsVariance(OneInput):
    says = "backward treats `var` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x):
        centred = x - x.mean(-1, keepdim=True)
        var = (centred * centred).mean(-1, keepdim=True)  # <-
        ctx.save_for_backward(var)
        return centred / torch.sqrt(var + 1e-5)

    @staticmethod
    def backward(ctx, grad_output):
        (var,) = ctx.saved_tensors
        centred = grad_output / torch.sqrt(var + 1e-5)
        return centred - centred.mean(-1, keepdim=True)


class LayerNormForgetsMean(OneInput):
    says = "backward treats `mean` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x):
        mean = x.mean(-1, keepdim=True)  # <-
        centred = x - mean
        rstd = ((centred * centred).mean(-1, keepdim=True) + 1e-5).rsqrt()
        y = centred * rstd
        ctx.save_for_backward(rstd, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        rstd, y = ctx.saved_tensors
        return rstd * (grad_output - y * (grad_output * y).mean(-1, keepdim=True))


class LayerNormForgetsBoth(OneInput):
    says = "backward treats `mean` (line LINE) and `var` (line NEXT) as constants"

    @staticmethod
    def forward(ctx, x):
        mean = x.mean(-1, keepdim=True)  # <-
        var = ((x - mean) ** 2).mean(-1, keepdim=True)
        ctx.save_for_backward(var)
        return (x - mean) / torch.sqrt(var + 1e-5)

    @staticmethod
    def backward(ctx, grad_output):
        (var,) = ctx.saved_tensors
        return grad_output / torch.sqrt(var + 1e-5)


class SoftmaxForgetsSum(OneInput):
    says = "backward treats `total` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x):
        e = torch.exp(x - x.max(-1, keepdim=True).values)
        total = e.sum(-1, keepdim=True)  # <-
        y = e / total
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y


class RmsNormForgetsRoot(Function):
    says = "backward treats `r` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x, weight):
        r = torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)  # <-
        ctx.save_for_backward(x, weight, r)
        return x * r * weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight, r = ctx.saved_tensors
        return grad_output * weight * r, (grad_output * x * r).sum(0)

    @staticmethod
    def sample_inputs():
        yield _matrix(), torch.randn(4, dtype=torch.double, requires_grad=True)


class WrongSignInside(OneInput):
    says = "backward has the wrong sign on the path through `torch.sigmoid(x)` (line LINE)"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x) + torch.tanh(2 * x)  # <-

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s, t = torch.sigmoid(x), torch.tanh(2 * x)
        return grad_output * (s - x * s * (1 - s) + 2 * (1 - t * t))


class CountsTwice(OneInput):
    says = "backward counts the path through `norm` (line LINE) twice"

    @staticmethod
    def forward(ctx, x):
        norm = (x * x).sum()  # <-
        ctx.save_for_backward(x, norm)
        return torch.sin(x) + torch.exp(-norm) * x

    @staticmethod
    def backward(ctx, grad_output):
        x, norm = ctx.saved_tensors
        along = (grad_output * x).sum()
        return grad_output * (torch.cos(x) + torch.exp(-norm)) - 4 * torch.exp(-norm) * along * x


class AttentionForgetsScale(Function):
    says = (
        "the gradient of `q` differentiates `q @ k.T` where forward has `q @ k.T / 3.0` (line LINE)"
    )

    @staticmethod
    def forward(ctx, q, k, v):
        scores = q @ k.T / 3.0  # <-
        p = torch.softmax(scores, -1)
        out = p @ v
        ctx.save_for_backward(q, k, v, p)
        return out

    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, p = ctx.saved_tensors
        dp = grad_output @ v.T
        ds = p * (dp - (dp * p).sum(-1, keepdim=True))
        return ds @ k, ds.T @ q / 3.0, p.T @ grad_output

    @staticmethod
    def sample_inputs():
        yield _matrix(), _matrix(), _matrix()


class InPlaceForgetsScale(OneInput):
    says = "backward treats `scale` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x):
        scale = torch.tanh(x).sum(-1, keepdim=True)  # <-
        y = x.clone()
        y.mul_(scale)
        y[:, 0] += 1.0
        ctx.save_for_backward(y.clone(), scale)
        return y.sin_()

    @staticmethod
    def backward(ctx, grad_output):
        y, scale = ctx.saved_tensors
        return grad_output * torch.cos(y) * scale


class ComplexForgetsModulus(Function):
    says = "backward treats `size` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, z):
        size = (z * z.conj()).real.sum(-1, keepdim=True)  # <-
        ctx.save_for_backward(size)
        return z * size

    @staticmethod
    def backward(ctx, grad_output):
        (size,) = ctx.saved_tensors
        return grad_output * size

    @staticmethod
    def sample_inputs():
        yield (_matrix(torch.cdouble),)


class BiasedGate(Function):
    says = "backward treats `m` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, x, gate):
        m = gate.mean(-1, keepdim=True)  # <-
        ctx.save_for_backward(x, gate, m)
        return x * torch.tanh(gate) * m

    @staticmethod
    def backward(ctx, grad_output):
        x, gate, m = ctx.saved_tensors
        t = torch.tanh(gate)
        return grad_output * t * m, grad_output * x * (1 - t * t) * m

    @staticmethod
    def sample_inputs():
        yield _matrix(), _matrix()


class NothingExplains(OneInput):
    says = None

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.exp(x) * torch.sin(x.sum())

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * torch.cos(x * x) + x.mean() * grad_output.sum()


class KeyOfOneUseForgotten(Function):
    says = "backward treats `k[t]` in `decayed @ k[t]` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, k, v):
        state, states = k.new_zeros(v.shape[1], k.shape[1]), []
        for t in range(len(k)):
            states.append(state)
            decayed = 0.9 * state
            state = decayed + torch.outer(v[t] - decayed @ k[t], k[t])  # <-
        ctx.save_for_backward(k, v, torch.stack(states))
        return state

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        k, v, states = ctx.saved_tensors
        of_k, of_v = torch.zeros_like(k), torch.zeros_like(v)
        for t in reversed(range(len(k))):
            decayed = 0.9 * states[t]
            of_v[t] = grad @ k[t]
            of_k[t] = grad.t() @ (v[t] - decayed @ k[t])
            grad = 0.9 * (grad - torch.outer(of_v[t], k[t]))
        return of_k, of_v

    @staticmethod
    def sample_inputs():
        generator = torch.Generator().manual_seed(1)
        yield (
            torch.randn(4, 3, dtype=torch.double, generator=generator).requires_grad_(),
            torch.randn(4, 2, dtype=torch.double, generator=generator).requires_grad_(),
        )


class KeyOfPredictionForgotten(Function):
    says = "backward treats `k[:, i]` (line LINE) as a constant"

    @staticmethod
    def forward(ctx, k):
        state, states = k.new_zeros(k.shape[0], k.shape[2], k.shape[2]), []
        for i in range(k.shape[1]):
            states.append(state)
            found = torch.einsum("bvk,bk->bv", state, k[:, i])  # <-
            state = state + (1 - found)[:, :, None] * k[:, i, None, :]
        ctx.save_for_backward(k, torch.stack(states, 1))
        return state

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        k, states = ctx.saved_tensors
        grad_k = torch.zeros_like(k)
        for i in reversed(range(k.shape[1])):
            error = 1 - torch.einsum("bvk,bk->bv", states[:, i], k[:, i])
            grad_k[:, i] = torch.einsum("bvk,bv->bk", grad, error)
            of_error = torch.einsum("bvk,bk->bv", grad, k[:, i])
            grad = grad - of_error[:, :, None] * k[:, i, None, :]
        return grad_k

    @staticmethod
    def sample_inputs():
        yield (torch.randn(2, 3, 2, dtype=torch.double, requires_grad=True),)


class TwoTermsForgotten(Function):
    says = "backward treats `r` in `r / (r + mu)` (line LINE) and `r` in `r + mu` (line LINE)"

    @staticmethod
    def forward(ctx, mu, r, k):
        ctx.save_for_backward(mu, r, k)
        counts = torch.lgamma(k + r) - torch.lgamma(r)
        return counts + r * torch.log(r / (r + mu)) + k * torch.log(mu / (r + mu))  # <-

    @staticmethod
    def backward(ctx, g):
        mu, r, k = ctx.saved_tensors
        d_counts = torch.digamma(k + r) - torch.digamma(r)
        d_r = d_counts + torch.log(r / (r + mu))
        return g * (k / mu - (k + r) / (r + mu)), g * d_r, None

    @staticmethod
    def sample_inputs():
        mu, r = (torch.rand(5, dtype=torch.double).add(0.2).requires_grad_() for _ in range(2))
        yield mu, r, torch.tensor([0.0, 2.0, 1.0, 5.0, 3.0], dtype=torch.double)
