"""Functions whose docstrings say what their matrices are, or that their gradient is a surrogate."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class SolvedByCholesky(Function):
    """The x with k x = b for a symmetric positive definite matrix.

    k: (..., n, n) kernel matrix, of which the symmetric part is used
    b: (..., n, m) right-hand sides
    """

    @staticmethod
    def forward(ctx, k, b, jitter=1e-6):
        part = 0.5 * (k + k.transpose(-1, -2))
        low = torch.linalg.cholesky(part + jitter * torch.eye(k.shape[-1], dtype=k.dtype))
        x = torch.cholesky_solve(b, low)
        ctx.save_for_backward(low, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        low, x = ctx.saved_tensors
        of_b = torch.cholesky_solve(g, low)
        product = of_b @ x.transpose(-1, -2)
        return -0.5 * (product + product.transpose(-1, -2)), of_b, None


class RootOfCovariance(Function):
    """The square root of a symmetric positive definite matrix.

    cov: (B, d, d) covariance, symmetrized here
    """

    @staticmethod
    def forward(ctx, cov):
        values, vectors = torch.linalg.eigh(0.5 * (cov + cov.mT))
        root = values.clamp_min(1e-24).sqrt()
        ctx.save_for_backward(root, vectors)
        return (vectors * root.unsqueeze(-2)) @ vectors.mT

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        root, vectors = ctx.saved_tensors
        inner = vectors.mT @ (0.5 * (g + g.mT)) @ vectors
        inner = inner / (root.unsqueeze(-1) + root.unsqueeze(-2))
        return vectors @ inner @ vectors.mT


class Equilibrium(Function):
    """The z with z = tanh(z w^T + x).

    w: (d, d) weights, of a spectral norm below one so that the iteration contracts
    x: (n, d) inputs
    """

    @staticmethod
    def forward(ctx, w, x, most=300):
        z = torch.zeros_like(x)
        for _ in range(most):
            last, z = z, torch.tanh(z @ w.t() + x)
            if (z - last).abs().max() <= 1e-15:
                break
        ctx.save_for_backward(w, z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        w, z = ctx.saved_tensors
        slope = 1 - z * z
        system = torch.eye(w.shape[0], dtype=w.dtype) - slope.unsqueeze(-1) * w
        adjoint = torch.linalg.solve(system.mT, g.unsqueeze(-1)).squeeze(-1) * slope
        return adjoint.t() @ z, adjoint, None


class LearntStep(Function):
    """Quantize rows by learnt steps.

    Backward is a straight-through estimator: rounding counts as the identity.

    w: (C, K) weights
    step: (C,) positive steps
    """

    @staticmethod
    def forward(ctx, w, step, low, high):
        scaled = w / step[:, None]
        levels = torch.round(scaled).clamp(low, high)
        outside = (torch.round(scaled) < low) | (torch.round(scaled) > high)
        ctx.save_for_backward(scaled, levels, outside)
        return levels * step[:, None]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        scaled, levels, outside = ctx.saved_tensors
        of_step = levels - scaled.masked_fill(outside, 0.0)
        return g.masked_fill(outside, 0.0), (g * of_step).sum(1), None, None

    @staticmethod
    def sample_inputs():
        generator = torch.Generator().manual_seed(72)
        w = torch.randn(3, 6, dtype=torch.double, generator=generator).requires_grad_()
        yield w, torch.tensor([0.2, 0.3, 0.45], dtype=torch.double, requires_grad=True), -2, 1
