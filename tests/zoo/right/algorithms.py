"""Decompositions, transforms, complex numbers and unusual arguments; all right."""

import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

f64 = torch.float64
c128 = torch.complex128


def mk(*s, scale=1.0):
    return (scale * torch.randn(*s, dtype=f64)).requires_grad_()


class Cholesky(Function):
    @staticmethod
    def forward(ctx, A):
        L = torch.linalg.cholesky((A + A.mT) / 2)
        ctx.save_for_backward(L)
        return L

    @staticmethod
    def backward(ctx, G):
        (L,) = ctx.saved_tensors
        P = (L.mT @ G).tril()
        P = P - 0.5 * torch.diag(torch.diagonal(P))
        S = torch.linalg.solve_triangular(L.mT, P, upper=True)
        S = torch.linalg.solve_triangular(L, S, upper=False, left=False)
        return (S + S.mT) / 2

    @staticmethod
    def sample_inputs():
        yield ((torch.eye(3, dtype=f64) * 3 + 0.3).requires_grad_(),)


class EigenvaluesAndProjectors(Function):
    @staticmethod
    def forward(ctx, A):
        w, V = torch.linalg.eigh((A + A.mT) / 2)
        ctx.save_for_backward(w, V)
        # projectors carry no gauge
        return w, torch.stack([torch.outer(V[:, i], V[:, i]) for i in range(len(w))])

    @staticmethod
    @once_differentiable
    def backward(ctx, gw, gP):
        w, V = ctx.saved_tensors
        D = w[None] - w[:, None]
        Finv = torch.where(
            D.abs() > 1e-12, 1 / torch.where(D == 0, torch.ones_like(D), D), torch.zeros_like(D)
        )
        gV = torch.stack([(gP[i] + gP[i].mT) @ V[:, i] for i in range(len(w))], 1)
        M = torch.diag(gw) + Finv * (V.mT @ gV)
        g = V @ M @ V.mT
        return (g + g.mT) / 2

    @staticmethod
    def sample_inputs():
        q, _ = torch.linalg.qr(torch.randn(3, 3, dtype=f64))
        yield ((q @ torch.diag(torch.tensor([1.0, 2.5, 5.0], dtype=f64)) @ q.mT).requires_grad_(),)


class CirculantByFft(Function):
    @staticmethod
    def forward(ctx, c, x):
        ctx.save_for_backward(c, x)
        return torch.fft.irfft(torch.fft.rfft(c) * torch.fft.rfft(x), n=x.shape[-1])

    @staticmethod
    def backward(ctx, g):
        c, x = ctx.saved_tensors
        n = x.shape[-1]
        G = torch.fft.rfft(g)
        gc = torch.fft.irfft(G * torch.fft.rfft(x).conj(), n=n)
        gx = torch.fft.irfft(G * torch.fft.rfft(c).conj(), n=n)
        return gc, gx

    @staticmethod
    def sample_inputs():
        yield (
            torch.randn(6, dtype=f64, requires_grad=True),
            torch.randn(6, dtype=f64, requires_grad=True),
        )
        yield (
            torch.randn(5, dtype=f64, requires_grad=True),
            torch.randn(5, dtype=f64, requires_grad=True),
        )


class HouseholderProduct(Function):
    """x reflected by several vectors; recomputes the intermediates by reversing."""

    @staticmethod
    def forward(ctx, x, V):
        y = x
        for v in V:
            y = y - 2 * v * (v @ y) / (v @ v)
        ctx.save_for_backward(V, y)
        return y

    @staticmethod
    def backward(ctx, g):
        V, y = ctx.saved_tensors
        gV = [None] * len(V)
        for i in reversed(range(len(V))):
            v = V[i]
            n = v @ v
            y = y - 2 * v * (v @ y) / n
            a, b = v @ y, v @ g
            gV[i] = -2 * (b * y + a * g) / n + 4 * a * b * v / n**2
            g = g - 2 * v * b / n
        return g, torch.stack(gV)

    @staticmethod
    def sample_inputs():
        yield (
            torch.randn(4, dtype=f64, requires_grad=True),
            torch.randn(3, 4, dtype=f64, requires_grad=True),
        )


def cz(*s):
    return torch.randn(*s, dtype=c128, requires_grad=True)


class ModRelu(Function):
    @staticmethod
    def forward(ctx, z, b):
        r = z.abs()
        ctx.save_for_backward(z, b)
        return torch.relu(r + b) * z / r

    @staticmethod
    def backward(ctx, g):
        z, b = ctx.saved_tensors
        r = z.abs()
        u = z / r
        on = (r + b > 0).to(r.dtype)
        along = (g.conj() * u).real
        gz = on * (along * u + (r + b) / r * (g - along * u))
        return gz, (on * along).sum().reshape(b.shape)

    @staticmethod
    def sample_inputs():
        yield cz(5), torch.tensor([-0.3], dtype=torch.float64, requires_grad=True)


class QuantumExpectation(Function):
    """<psi|H|psi> with H Hermitian."""

    @staticmethod
    def forward(ctx, psi, H):
        ctx.save_for_backward(psi, H)
        return torch.vdot(psi, H @ psi).real

    @staticmethod
    def backward(ctx, g):
        psi, H = ctx.saved_tensors
        return g * (H @ psi + H.mH @ psi), (g * torch.outer(psi, psi.conj())).to(H.dtype)

    @staticmethod
    def sample_inputs():
        yield cz(3), cz(3, 3)


class InplaceTwoOutputs(Function):
    @staticmethod
    def forward(ctx, a, b):
        s = a + b
        d = a - b
        a.copy_(s)
        b.copy_(d)
        ctx.mark_dirty(a, b)
        return a, b

    @staticmethod
    def backward(ctx, ga, gb):
        return ga + gb, ga - gb


class ThirtyInputs(Function):
    @staticmethod
    def forward(ctx, *xs):
        ctx.save_for_backward(*xs)
        out = torch.zeros_like(xs[0])
        for i, x in enumerate(xs):
            out = out + (i + 1) * x.sin()
        return out

    @staticmethod
    def backward(ctx, g):
        return tuple(
            (i + 1) * g * x.cos() if need else None
            for i, (x, need) in enumerate(zip(ctx.saved_tensors, ctx.needs_input_grad))
        )

    @staticmethod
    def sample_inputs():
        yield tuple(mk(2) for _ in range(30))


class NumpySort(Function):
    """From the tutorial on vmap: NumPy inside, vmap by hand."""

    @staticmethod
    def to_numpy(t):
        return t.detach().cpu().numpy()

    @staticmethod
    def forward(x, dim):
        xn = NumpySort.to_numpy(x)
        ind = np.argsort(xn, axis=dim)
        ind_inv = np.argsort(ind, axis=dim)
        result = np.take_along_axis(xn, ind, axis=dim)
        return torch.tensor(result), torch.tensor(ind), torch.tensor(ind_inv)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, dim = inputs
        _, ind, ind_inv = output
        ctx.mark_non_differentiable(ind, ind_inv)
        ctx.save_for_backward(ind, ind_inv)
        ctx.dim = dim

    @staticmethod
    def backward(ctx, g, _0, _1):
        ind, ind_inv = ctx.saved_tensors
        return NumpyTake.apply(g, ind_inv, ind, ctx.dim), None

    @staticmethod
    def vmap(info, in_dims, x, dim):
        x_bdim, _ = in_dims
        x = x.movedim(x_bdim, 0)
        dim = dim if dim >= 0 else dim + x.dim() - 1
        return NumpySort.apply(x, dim + 1), (0, 0, 0)

    @staticmethod
    def sample_inputs():
        yield mk(3, 4), 1


class NumpyTake(Function):
    @staticmethod
    def forward(x, ind, ind_inv, dim):
        return torch.tensor(np.take_along_axis(x.detach().numpy(), ind.numpy(), dim))

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ind, ind_inv, dim = inputs
        ctx.save_for_backward(ind, ind_inv)
        ctx.dim = dim

    @staticmethod
    def backward(ctx, g):
        ind, ind_inv = ctx.saved_tensors
        return NumpyTake.apply(g, ind_inv, ind, ctx.dim), None, None, None

    @staticmethod
    def vmap(info, in_dims, x, ind, ind_inv, dim):
        xb, ib, iib, _ = in_dims
        d = dim if dim >= 0 else dim + (x.dim() if xb is None else x.dim() - 1)
        x = x.unsqueeze(0).expand(info.batch_size, *x.shape) if xb is None else x.movedim(xb, 0)
        ind = (
            ind.unsqueeze(0).expand(info.batch_size, *ind.shape)
            if ib is None
            else ind.movedim(ib, 0)
        )
        ind_inv = (
            ind_inv.unsqueeze(0).expand(info.batch_size, *ind_inv.shape)
            if iib is None
            else ind_inv.movedim(iib, 0)
        )
        return NumpyTake.apply(x, ind, ind_inv, d + 1), 0

    @staticmethod
    def sample_inputs():
        x = mk(3, 4)
        ind = torch.argsort(x.detach(), 1)
        yield x, ind, torch.argsort(ind, 1), 1
