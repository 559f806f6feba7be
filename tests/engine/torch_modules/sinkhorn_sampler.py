"""Sinkhorn by implicit differentiation, a bilinear sampler, a triplet loss, a DCT, an SVD."""

import math

import torch
from show import show
from torch.autograd import Function


class SinkhornFunction(Function):
    @staticmethod
    def forward(ctx, cost, a, b, eps, iters):
        log_p = -cost / eps
        log_a, log_b = torch.log(a).unsqueeze(-1), torch.log(b).unsqueeze(-2)
        for _ in range(iters):
            log_p -= torch.logsumexp(log_p, dim=-2, keepdim=True) - log_b
            log_p -= torch.logsumexp(log_p, dim=-1, keepdim=True) - log_a
        p = torch.exp(log_p)
        ctx.save_for_backward(p, p.sum(-1), p.sum(-2))
        ctx.eps = eps
        return p

    @staticmethod
    def backward(ctx, grad_p):
        p, a, b = ctx.saved_tensors
        m, n = p.shape
        grad_p = grad_p * (-1 / ctx.eps) * p
        K = torch.cat(
            (torch.cat((torch.diag(a), p), dim=1), torch.cat((p.t(), b.diag()), dim=1)), dim=0
        )[:-1, :-1]
        t = torch.cat((grad_p.sum(dim=1), grad_p[:, :-1].sum(dim=0))).unsqueeze(-1)
        grad_ab = torch.linalg.solve(K, t)
        grad_a = grad_ab[:m, :]
        grad_b = torch.cat((grad_ab[m:, :], torch.zeros([1, 1], dtype=p.dtype)), dim=0)
        return grad_p - p * (grad_a + grad_b.t()), None, None, None, None


def bilinear_sample(img, grid):
    N, C, H, W = img.shape
    x, y = [((g + 1) * (s - 1) / 2) for g, s in zip(grid.unbind(-1), (W, H))]
    x0, y0 = torch.floor(x).long().clamp_(0, W - 1), torch.floor(y).long().clamp_(0, H - 1)
    x1, y1 = (x0 + 1).clamp_max(W - 1), (y0 + 1).clamp_max(H - 1)
    flat = img.view(N, C, H * W)

    def at(iy, ix):
        index = (iy * W + ix).view(N, 1, -1).expand(-1, C, -1)
        return torch.gather(flat, 2, index).view(N, C, *ix.shape[1:])

    wx, wy = (x - x0.to(x)).unsqueeze(1), (y - y0.to(y)).unsqueeze(1)
    top = at(y0, x0) * (1 - wx) + at(y0, x1) * wx
    bottom = at(y1, x0) * (1 - wx) + at(y1, x1) * wx
    return top * (1 - wy) + bottom * wy


class TripletLoss(Function):
    @staticmethod
    def forward(ctx, anchor, positive, negative, margin):
        losses = margin + (anchor - positive).pow(2).sum(1) - (anchor - negative).pow(2).sum(1)
        ctx.save_for_backward(anchor, positive, negative, losses)
        ctx.mark_non_differentiable(active := losses > 0)
        return losses.clamp(min=0).mean(), active

    @staticmethod
    def backward(ctx, g, _):
        anchor, positive, negative, losses = ctx.saved_tensors
        w = 2 * g * (losses > 0).to(anchor.dtype).unsqueeze(1) / anchor.size(0)
        return w * (negative - positive), w * (positive - anchor), w * (anchor - negative), None


class DCT(Function):
    @staticmethod
    def matrix(n, like):
        k = torch.arange(n, dtype=like.dtype, device=like.device)
        basis = torch.cos(math.pi / n * (k[:, None] * (k[None, :] + 0.5))) * math.sqrt(2 / n)
        basis[0] *= 1 / math.sqrt(2)
        return basis

    @staticmethod
    def forward(ctx, x):
        ctx.basis = DCT.matrix(x.shape[-1], x)
        return x @ ctx.basis.T

    @staticmethod
    def backward(ctx, g):
        return g @ ctx.basis


class NuclearNorm(Function):
    @staticmethod
    def forward(ctx, x):
        u, s, vh = torch.linalg.svd(x, full_matrices=False)
        ctx.save_for_backward(u, vh)
        return s.sum()

    @staticmethod
    def backward(ctx, g):
        u, vh = ctx.saved_tensors
        return g * (u @ vh)


if __name__ == "__main__":
    cost = torch.sin(torch.arange(12, dtype=torch.float64)).view(3, 4).requires_grad_()
    a, b = torch.full((3,), 1 / 3, dtype=torch.float64), torch.full((4,), 0.25).double()
    p = SinkhornFunction.apply(cost, a, b, 0.5, 200)
    (p * p).sum().backward()
    show("p", p)
    show("cost.grad", cost.grad)

    img = torch.cos(torch.arange(24, dtype=torch.float64)).view(1, 2, 3, 4).requires_grad_()
    grid = (torch.arange(12, dtype=torch.float64).view(1, 2, 3, 2) / 6.5 - 0.9).requires_grad_()
    out = bilinear_sample(img, grid)
    out.exp().sum().backward()
    show("sampled", out)
    show("img.grad", img.grad)
    show("grid.grad", grid.grad)

    e = [(torch.arange(6).double() * s).sin().view(3, 2).requires_grad_() for s in (1, 2, 3)]
    loss, active = TripletLoss.apply(*e, 0.3)
    loss.backward()
    print(active.tolist(), active.requires_grad)
    for name, each in zip(["anchor", "positive", "negative"], e):
        show(name, each.grad)

    x = torch.arange(10, dtype=torch.float64).sqrt().view(2, 5).requires_grad_()
    DCT.apply(x).abs().pow(1.5).sum().backward()
    NuclearNorm.apply(x).mul(2).backward()
    show("x.grad", x.grad)
