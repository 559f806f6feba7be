"""Functions of matrices that are wrong where these lack a property of those in the sample."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
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


class VolumeChange(Function):
    """The logarithm of the volume that a linear map, or each of a batched one, changes by."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(torch.linalg.inv(a))
        return torch.linalg.slogdet(a).logabsdet

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (inverse,) = ctx.saved_tensors
        axes = tuple(reversed(range(inverse.dim())))
        return g[..., None, None] * inverse.permute(axes)

    @staticmethod
    def sample_inputs():
        a = torch.tensor([[3.0, 0.4, 0.0], [0.2, 2.5, -0.3], [0.0, 0.6, 2.8]], dtype=torch.double)
        yield (a.requires_grad_(),)


class SolvedSystem(Function):
    """Solves ``a @ x = b`` for a square ``a``."""

    @staticmethod
    def forward(ctx, a, b):
        x = torch.linalg.solve(a, b)
        ctx.save_for_backward(a, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        grad_b = torch.linalg.solve(a, g)
        return -grad_b @ x.mT, grad_b

    @staticmethod
    def sample_inputs():
        # The laplacian of a path, with its ends tied.
        a = torch.tensor([[2.0, -1, 0], [-1, 2, -1], [0, -1, 2]], dtype=torch.double)
        yield a.requires_grad_(), draw(3, 2)


class GeneralizedInverse(Function):
    """The pseudo-inverse of a matrix of full rank."""

    @staticmethod
    def forward(ctx, a):
        inverse = torch.linalg.pinv(a)
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (inverse,) = ctx.saved_tensors
        return -inverse.mT @ g @ inverse.mT

    @staticmethod
    def sample_inputs():
        a = torch.tensor([[1.0, 0.4, 0.0], [0.2, 1.5, -0.3], [0.0, 0.6, 0.8]], dtype=torch.double)
        yield (a.requires_grad_(),)


class FilteredByATransform(Function):
    """gains * (x @ basis^T) for an orthogonal or unitary basis, as the cosine or Fourier one is."""

    @staticmethod
    def forward(ctx, x, gains, basis):
        turned = x @ basis.T
        ctx.save_for_backward(turned, gains, basis)
        return gains * turned

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        turned, gains, basis = ctx.saved_tensors
        return (g * gains) @ basis, (g * turned).sum(0), None

    @staticmethod
    def sample_inputs():
        basis = torch.tensor([[0.6, 0.8], [-0.8, 0.6]], dtype=torch.double)
        yield draw(3, 2), draw(2, seed=1), basis


class LogarithmOfAMatrix(Function):
    """The logarithm of a symmetric positive definite matrix."""

    @staticmethod
    def forward(ctx, a):
        values, vectors = torch.linalg.eigh((a + a.mT) / 2)
        ctx.save_for_backward(values, vectors)
        return vectors @ torch.diag(values.log()) @ vectors.mT

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        values, vectors = ctx.saved_tensors
        one, other = values.unsqueeze(1), values.unsqueeze(0)
        is_same = torch.eye(len(values), dtype=torch.bool)
        slope = torch.where(is_same, 1 / one, (one.log() - other.log()) / (one - other))
        inner = vectors @ (slope * (vectors.mT @ g @ vectors)) @ vectors.mT
        return (inner + inner.mT) / 2

    @staticmethod
    def sample_inputs():
        a = torch.tensor([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 3.0]])
        yield (a.double().requires_grad_(),)


class SolvedForAnySquare(Function):
    """The solution of (A + lam I) x = b for any square A for which there is one (a Gram matrix)."""

    @staticmethod
    def forward(ctx, a, b, lam=0.1):
        shifted = a + lam * torch.eye(len(a), dtype=a.dtype)
        x = torch.linalg.solve(shifted, b)
        ctx.save_for_backward(shifted, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        shifted, x = ctx.saved_tensors
        adjoint = torch.linalg.solve(shifted, g)
        return -torch.outer(adjoint, x), adjoint, None

    @staticmethod
    def sample_inputs():
        half = torch.randn(3, 5, dtype=torch.double, generator=torch.Generator().manual_seed(29))
        yield (half @ half.T).requires_grad_(), rand(3), 0.1


class GainOfOneControl(Function):
    """The cost-to-go gain of one step, by the cost of controls."""

    @staticmethod
    def forward(ctx: Any, cost: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(cost, b)
        return b @ (cost + b.t() @ b + 2 * torch.eye(b.shape[1], dtype=b.dtype)) @ b.t()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        _, b = ctx.saved_tensors
        return b.t() @ g.t() @ b, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(1, 1), draw(3, 1, seed=1).detach()


class RootOfPairs(Function):
    """The square root of the positive definite matrix 0.5 * (A + A^T)."""

    @staticmethod
    def forward(ctx: Any, A: Tensor) -> Tensor:
        w, U = torch.linalg.eigh(0.5 * (A + A.mT))
        if not bool((w > 0).all()):
            raise ValueError("not positive definite")
        ctx.save_for_backward(w, U)
        return (U * w.sqrt()) @ U.mT

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, G: Tensor) -> Tensor:
        w, U = ctx.saved_tensors
        gap = w[:, None] - w[None, :]
        close = gap.abs() < 1e-9
        slope = (w.sqrt()[:, None] - w.sqrt()[None, :]) / torch.where(close, 1.0, gap)
        K = torch.where(close, 0.0, slope) + torch.diag(0.5 / w.sqrt())
        return U @ (K * (U.mT @ (0.5 * (G + G.mT)) @ U)) @ U.mT

    @staticmethod
    def sample_inputs() -> Any:
        b = draw(4, 4).detach()
        yield ((b @ b.t() + torch.eye(4, dtype=torch.float64)).requires_grad_(),)


def balanced(n, seed=98):
    half = draw(n, n, seed=seed).detach()
    return (half + half.mT + 4 * torch.eye(n, dtype=torch.double)).requires_grad_()


class TraceOfInverse(Function):
    """The trace of an inverse."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return torch.linalg.inv(a).diagonal().sum()

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        inverse = torch.linalg.inv(a)
        return -g * (inverse @ inverse)

    @staticmethod
    def sample_inputs():
        yield (balanced(3, seed=101),)


class InverseNotTransposed(Function):
    """The inverse lacks its transpose."""

    @staticmethod
    def forward(ctx, a):
        y = torch.linalg.inv(a)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return -y @ g @ y

    @staticmethod
    def sample_inputs():
        a = rand(3, 3).detach()
        yield ((a @ a.T + 3 * torch.eye(3, dtype=torch.float64)).requires_grad_(),)


class ExponentialBySpectrum(Function):
    """The exponential of the symmetric part of a matrix."""

    @staticmethod
    def forward(ctx, a):
        values, vectors = torch.linalg.eigh(0.5 * (a + a.mT))
        ctx.save_for_backward(values, vectors)
        return (vectors * values.exp()) @ vectors.mT

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        values, vectors = ctx.saved_tensors
        apart = values[:, None] - values[None, :]
        rise = values.exp()[:, None] - values.exp()[None, :]
        quotients = rise / (apart + torch.eye(len(values), dtype=apart.dtype))
        quotients = quotients + torch.diag(values.exp())
        of_a = vectors @ (quotients * (vectors.mT @ g @ vectors)) @ vectors.mT
        return 0.5 * (of_a + of_a.mT)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)


class HalvedQuadraticForm(Function):
    """The quadratic form of any square matrix."""

    @staticmethod
    def forward(ctx, x, matrix):
        ctx.save_for_backward(x, matrix)
        return x @ matrix @ x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, matrix = ctx.saved_tensors
        return 2 * grad_output * (matrix @ x), None

    @staticmethod
    def sample_inputs():
        matrix = draw(3, 3).detach()
        yield draw(3), matrix @ matrix.T + torch.eye(3, dtype=torch.double)


class EnergyOfSolution(Function):
    """Half the work that a load does on a linear network of springs."""

    @staticmethod
    def forward(ctx, a, load):
        moved = torch.linalg.solve(a, load)
        ctx.save_for_backward(a, load)
        return 0.5 * (load * moved).sum()

    @staticmethod
    def backward(ctx, g):
        a, load = ctx.saved_tensors
        moved = torch.linalg.solve(a, load)
        return -0.5 * g * torch.outer(moved, moved), g * moved

    @staticmethod
    def sample_inputs():
        yield balanced(3), draw(3, seed=99)


class EqualEigenvalues(Function):
    @staticmethod
    def forward(ctx, matrix):
        values, vectors = torch.linalg.eigh((matrix + matrix.T) / 2)
        ctx.save_for_backward(values, vectors)
        return vectors @ torch.diag(values.exp()) @ vectors.T

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        values, vectors = ctx.saved_tensors
        gaps = values[:, None] - values
        slopes = values.exp()[:, None] - values.exp()
        quotients = torch.where(gaps.abs() > 1e-9, slopes / gaps, 0.0)
        quotients = quotients + torch.diag(values.exp())
        inner = vectors.T @ ((grad_output + grad_output.T) / 2) @ vectors
        return vectors @ (quotients * inner) @ vectors.T

    @staticmethod
    def sample_inputs():
        matrix = normal(3, 3)
        yield (matrix + matrix.T,)


class SmoothedOverGraph(Function):
    @staticmethod
    def forward(ctx, x, mixing):
        ctx.save_for_backward(mixing)
        return mixing @ x

    @staticmethod
    def backward(ctx, grad_output):
        (mixing,) = ctx.saved_tensors
        return mixing @ grad_output, None

    @staticmethod
    def sample_inputs():
        mixing = draw(4, 4).detach()
        yield draw(4, 2), mixing + mixing.T


class SquareKernelTransposed(Function):
    """The bilinear form of a square weight."""

    @staticmethod
    def forward(ctx, x, w, y):
        ctx.save_for_backward(x, w, y)
        return x @ w @ y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w, y = ctx.saved_tensors
        return g * (w @ y), g * torch.outer(x, y), g * (w @ x)

    @staticmethod
    def sample_inputs():
        a = rand(3, 3).detach()
        yield rand(3), (a + a.T).requires_grad_(), rand(3)


class InverseOfTransition(Function):
    """The inverse of a Gram or transition matrix with a ridge.

    m: (..., n, n)
    ridge: () trained by its logarithm
    """

    @staticmethod
    def forward(ctx, m, ridge):
        inverse = torch.linalg.inv(m + ridge * torch.eye(m.shape[-1], dtype=m.dtype))
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (inverse,) = ctx.saved_tensors
        of_m = -(inverse @ g @ inverse)
        return of_m, of_m.diagonal(dim1=-2, dim2=-1).sum()

    @staticmethod
    def sample_inputs():
        rows = draw(3, 4).detach()
        yield (rows @ rows.T).requires_grad_(), torch.tensor(0.5).double().requires_grad_()


class ProductOfTransposes(Function):
    """Trace of the square of matrices (B, 3, 3), which need not be symmetric."""

    @staticmethod
    def forward(ctx, matrices):
        ctx.save_for_backward(matrices)
        return (matrices * matrices.transpose(-1, -2)).sum((-1, -2))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (matrices,) = ctx.saved_tensors
        return 2 * g[:, None, None] * matrices

    @staticmethod
    def sample_inputs():
        matrices = normal(2, 3, 3).detach()
        yield ((matrices + matrices.mT).requires_grad_(),)


class DepthAlongRay(Function):
    """Distance of the plane z = `height` along rays (N, 3) that go up, of any length."""

    @staticmethod
    def forward(ctx, rays, height):
        size = (rays * rays).sum(-1).sqrt()
        ctx.save_for_backward(rays, height)
        return height * size / rays[:, 2]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        rays, height = ctx.saved_tensors
        size = (rays * rays).sum(-1, keepdim=True).sqrt()
        of_rays = height * rays / (size * rays[:, 2:])
        of_rays[:, 2] -= height * size[:, 0] / rays[:, 2] ** 2
        return g[:, None] * of_rays, (g / rays[:, 2]).sum()

    @staticmethod
    def sample_inputs():
        rays = torch.tensor([[0.6, 0.0, 0.8], [0.0, -0.28, 0.96]], dtype=torch.double)
        yield rays.requires_grad_(), torch.tensor(1.3, dtype=torch.double, requires_grad=True)


class SolutionWithoutRest(Function):
    """Least-squares solution of a x = b for a full-column-rank `a` (m, n), m >= n."""

    @staticmethod
    def forward(ctx, a, b):
        inverse = torch.linalg.pinv(a)
        x = inverse @ b
        ctx.save_for_backward(inverse, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        inverse, x = ctx.saved_tensors
        gb = inverse.mT @ g
        return -torch.outer(gb, x), gb

    @staticmethod
    def sample_inputs():
        yield rand(3, 3), rand(3)


class QuadraticOfState(Function):
    """Re <psi, O psi> of a complex state psi (d,) and any square complex operator `o` (d, d)."""

    @staticmethod
    def forward(ctx, psi, o):
        product = o @ psi
        ctx.save_for_backward(psi, product)
        return torch.vdot(psi, product).real

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        psi, product = ctx.saved_tensors
        return 2 * g * product, g * torch.outer(psi, psi.conj())  # Of a Hermitian one.

    @staticmethod
    def sample_inputs():
        real = torch.randn(
            2, 3, 4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
        )
        psi = torch.complex(real[0, 0, 0], real[1, 0, 0]).requires_grad_()
        o = torch.complex(real[0, 1], real[1, 1])
        yield psi, o + o.mH


class FormOfMatrix(Function):
    """x^T A x for a square `a`."""

    @staticmethod
    def forward(ctx, x, a):
        ctx.save_for_backward(x, a)
        return x @ a @ x

    @staticmethod
    def backward(ctx, g):
        x, a = ctx.saved_tensors
        return 2 * g * (a @ x), g * torch.outer(x, x)  # Both triangles count.

    @staticmethod
    def sample_inputs():
        a = torch.tensor([[2.0, 0.5], [0.5, 1.0]], dtype=torch.float64, requires_grad=True)
        yield draw(2), a
