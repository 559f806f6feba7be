"""Functions of matrices that are right for those with the properties they are made for."""

import torch
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


def balanced(n, seed=104):
    half = draw(n, n, seed=seed).detach()
    return (half + half.mT + 4 * torch.eye(n, dtype=torch.double)).requires_grad_()


class PseudoInverse(Function):
    """The pseudo-inverse of a matrix of full rank, high or wide."""

    @staticmethod
    def forward(ctx, a):
        inverse = torch.linalg.pinv(a)
        ctx.save_for_backward(a, inverse)
        return inverse

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, p = ctx.saved_tensors
        missed_rows = torch.eye(a.shape[0], dtype=a.dtype) - a @ p
        missed_columns = torch.eye(a.shape[1], dtype=a.dtype) - p @ a
        found = -p.mT @ g @ p.mT
        found = found + missed_rows @ g.mT @ (p @ p.mT)
        return found + (p.mT @ p) @ g.mT @ missed_columns

    @staticmethod
    def sample_inputs():
        a = torch.tensor([[1.0, 0.4, 0.0], [0.2, 1.5, -0.3], [0.0, 0.6, 0.8]], dtype=torch.double)
        yield (a.requires_grad_(),)


class NearestOrthonormal(Function):
    """The polar factor of a matrix (m, n) with m >= n and full rank."""

    @staticmethod
    def forward(ctx, matrix):
        u, s, vh = torch.linalg.svd(matrix, full_matrices=False)
        ctx.save_for_backward(u, s, vh)
        return u @ vh

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        u, s, vh = ctx.saved_tensors
        inner = u.mT @ g @ vh.mT
        turned = (inner - inner.mT) / (s[:, None] + s)
        across = g @ vh.mT
        return (u @ turned + (across - u @ (u.mT @ across)) / s) @ vh

    @staticmethod
    def sample_inputs():
        yield (draw(4, 3),)
        yield ((2 * torch.eye(3, dtype=torch.float64)).requires_grad_(),)


class QuadraticOfCovariance(Function):
    """The squared Mahalanobis distance for a covariance matrix."""

    @staticmethod
    def forward(ctx, sigma, x):
        solved = torch.linalg.solve(sigma, x)
        ctx.save_for_backward(sigma, x)
        return (x * solved).sum()

    @staticmethod
    def backward(ctx, g):
        sigma, x = ctx.saved_tensors
        solved = torch.linalg.solve(sigma, x)
        return -g * torch.outer(solved, solved), 2 * g * solved

    @staticmethod
    def sample_inputs():
        yield balanced(3), draw(3, seed=105)


class TraceOfAnyInverse(Function):
    """The trace of an inverse."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return torch.linalg.inv(a).diagonal().sum()

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        inverse = torch.linalg.inv(a)
        return -g * (inverse @ inverse).mT

    @staticmethod
    def sample_inputs():
        yield (balanced(3, seed=106),)


class InverseOfOrthogonal(Function):
    """The inverse of an orthogonal matrix is its transpose."""

    @staticmethod
    def forward(ctx, q, x):
        y = torch.linalg.solve(q, x)
        ctx.save_for_backward(q, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, y = ctx.saved_tensors
        gx = q @ g
        return -gx @ y.T, gx

    @staticmethod
    def sample_inputs():
        q = torch.linalg.qr(rand(3, 3).detach())[0]
        yield q.requires_grad_(), rand(3, 2)


class LogOfDeterminant(Function):
    """The logarithm of the determinant of a matrix's symmetric part, shifted to be positive."""

    @staticmethod
    def forward(ctx, a):
        part = 0.5 * (a + a.mT) + 4 * torch.eye(a.shape[-1], dtype=a.dtype)
        ctx.save_for_backward(a)
        return torch.linalg.eigvalsh(part).log().sum()

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        part = 0.5 * (a + a.mT) + 4 * torch.eye(a.shape[-1], dtype=a.dtype)
        return g * torch.linalg.inv(part)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 3),)


class LogDetOfFactors(Function):
    """Log-determinants.

    a: (n, n) symmetric positive definite, or a batch (B, n, n).
    """

    @staticmethod
    def forward(ctx, a):
        factor = torch.linalg.cholesky(a)
        ctx.save_for_backward(factor)
        return 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (factor,) = ctx.saved_tensors
        return grad_output[..., None, None] * torch.cholesky_inverse(factor)

    @staticmethod
    def sample_inputs():
        root = draw(3, 3).detach()
        eye = torch.eye(3, dtype=torch.double)
        yield ((root @ root.T + eye).requires_grad_(),)


class MahalanobisDistance(Function):
    """The squared distance under a symmetric matrix."""

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


class MatrixExponential(Function):
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
        middle = ((values[:, None] + values) / 2).exp()
        near = gaps.abs() < 1e-7
        half = torch.where(near, 1.0, gaps / 2)
        quotients = torch.where(near, middle, middle * torch.sinh(half) / half)
        inner = vectors.T @ ((grad_output + grad_output.T) / 2) @ vectors
        return vectors @ (quotients * inner) @ vectors.T

    @staticmethod
    def sample_inputs():
        matrix = normal(3, 3)
        yield (matrix + matrix.T,)


class LeastSquares(Function):
    """More rows than columns, of full rank."""

    @staticmethod
    def forward(ctx, a, b):
        x = torch.linalg.lstsq(a, b).solution if False else torch.linalg.solve(a.T @ a, a.T @ b)
        ctx.save_for_backward(a, b, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b, x = ctx.saved_tensors
        u = torch.linalg.solve(a.T @ a, g)
        r = b - a @ x
        return r @ u.T - a @ u @ x.T, a @ u

    @staticmethod
    def sample_inputs():
        yield rand(5, 2), rand(5, 1)


class SpdLogDet(Function):
    """Of a symmetric positive definite matrix."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return torch.linalg.slogdet(a)[1]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return g * torch.linalg.inv(a)

    @staticmethod
    def sample_inputs():
        a = rand(3, 3).detach()
        yield ((a @ a.T + torch.eye(3, dtype=torch.float64)).requires_grad_(),)


class FixedPoint(Function):
    """Implicit differentiation, right once the iteration has converged."""

    @staticmethod
    def forward(ctx, w, b):
        z = torch.zeros_like(b)
        for _ in range(60):
            z = torch.tanh(w @ z + b)
        ctx.save_for_backward(w, z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        w, z = ctx.saved_tensors
        s = 1 - z * z
        eye = torch.eye(len(z), dtype=z.dtype)
        u = torch.linalg.solve((eye - s[:, None] * w).T, g)
        return torch.outer(u * s, z), u * s

    @staticmethod
    def sample_inputs():
        yield (0.2 * rand(3, 3).detach()).requires_grad_(), rand(3)


class SpectralNorm(Function):
    """Power iteration until it stands."""

    @staticmethod
    def forward(ctx, w):
        v = torch.ones(w.shape[1], dtype=w.dtype)
        for _ in range(300):
            u = w @ v
            u = u / u.norm()
            v = w.T @ u
            v = v / v.norm()
        ctx.save_for_backward(u, v)
        return u @ w @ v

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        u, v = ctx.saved_tensors
        return g * torch.outer(u, v)

    @staticmethod
    def sample_inputs():
        yield (
            torch.tensor(
                [[3.0, 0.2], [0.1, 1.0], [0.3, 0.2]], dtype=torch.float64
            ).requires_grad_(),
        )


class DirichletEnergy(Function):
    """Half of the quadratic form of a graph Laplacian."""

    @staticmethod
    def forward(ctx, x, laplacian):
        product = laplacian @ x
        ctx.save_for_backward(product)
        return (x * product).sum() / 2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (product,) = ctx.saved_tensors
        return grad_output * product, None

    @staticmethod
    def sample_inputs():
        weights = draw(4, 4, low=0.1).detach()
        weights = weights + weights.T
        yield draw(4), torch.diag(weights.sum(1)) - weights


class TridiagonalSolve(Function):
    """A dominant diagonal."""

    @staticmethod
    def forward(ctx, d, b):
        n = d.shape[0]
        a = torch.diag(d) + torch.diag(torch.ones(n - 1, dtype=d.dtype), 1)
        x = torch.linalg.solve(a, b)
        ctx.save_for_backward(a, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        u = torch.linalg.solve(a.T, g)
        return -u * x, u

    @staticmethod
    def sample_inputs():
        yield (torch.rand(4, dtype=torch.float64) + 3).requires_grad_(), rand(4)


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


class RootOfMatrix(Function):
    """Principal square root of a matrix `a` with its spectrum in the right half plane."""

    @staticmethod
    def forward(ctx, a):
        root, inverse = a, torch.eye(len(a), dtype=a.dtype)
        for _ in range(20):
            next_root = (root + torch.linalg.inv(inverse)) / 2
            root, inverse = next_root, (inverse + torch.linalg.inv(root)) / 2
        ctx.save_for_backward(root)
        return root

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (root,) = ctx.saved_tensors
        unit = torch.eye(len(root), dtype=root.dtype)
        system = torch.kron(root.t().contiguous(), unit) + torch.kron(unit, root)
        return torch.linalg.solve(system, g.reshape(-1)).view_as(root)

    @staticmethod
    def sample_inputs():
        yield (
            (0.3 * rand(3, 3) + 2 * torch.eye(3, dtype=torch.float64)).detach().requires_grad_(),
        )


class GateOnAxis(Function):
    """Gate (2, 2) on axis `target` of a complex state (2,)*n."""

    @staticmethod
    def forward(ctx, state, gate, target):
        ctx.save_for_backward(state, gate)
        ctx.target = target
        return torch.tensordot(gate, state.movedim(target, 0), 1).movedim(0, target)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        state, gate = ctx.saved_tensors
        moved, first = g.movedim(ctx.target, 0), state.movedim(ctx.target, 0)
        of_state = torch.tensordot(gate.mH, moved, 1).movedim(0, ctx.target)
        return of_state, moved.reshape(2, -1) @ first.reshape(2, -1).mH, None

    @staticmethod
    def sample_inputs():
        state = torch.randn(2, 2, 2, dtype=torch.complex128, requires_grad=True)
        yield state, torch.randn(2, 2, dtype=torch.complex128, requires_grad=True), 1


class AngleOfRows(Function):
    """Angles between rows of x and y (n, d); x not proportional to y."""

    @staticmethod
    def forward(ctx, x, y):
        u, v = (each / each.norm(dim=1, keepdim=True) for each in (x, y))
        ctx.save_for_backward(x, y)
        return 2 * torch.atan2((u - v).norm(dim=1), (u + v).norm(dim=1))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        lengths = x.norm(dim=1, keepdim=True), y.norm(dim=1, keepdim=True)
        u, v = x / lengths[0], y / lengths[1]
        cosine = (u * v).sum(1, keepdim=True)
        along = -g[:, None] / (1 - cosine.square()).sqrt()
        return along * (v - cosine * u) / lengths[0], along * (u - cosine * v) / lengths[1]

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), draw(2, 3, seed=1)


class UndoneByTheAdjoint(Function):
    """Phases theta (K, d) and a fixed U (d, d) in turns; U must be unitary, and has no gradient."""

    @staticmethod
    def forward(ctx, z, theta, u):
        for row in theta:
            z = u @ (torch.polar(torch.ones_like(row), row) * z)
        ctx.save_for_backward(z, theta, u)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        z, theta, u = ctx.saved_tensors
        grad = torch.zeros_like(theta)
        for k in reversed(range(len(theta))):
            z, g = u.mH @ z, u.mH @ g
            grad[k] = (g.conj() * 1j * z).real
            back = torch.polar(torch.ones_like(theta[k]), -theta[k])
            z, g = z * back, g * back
        return g, grad, None

    @staticmethod
    def sample_inputs():
        z = torch.complex(draw(3).detach(), draw(3, seed=1).detach()).requires_grad_()
        u = torch.linalg.qr(torch.complex(draw(3, 3), draw(3, 3, seed=2)).detach())[0]
        yield z, draw(4, 3, seed=3), u


class LengthsFromPoints(Function):
    """Sum of (|q - p| - rest)^2 over edges of positive length; p, q: (J, 3), rest: (J,)."""

    @staticmethod
    def forward(ctx, p, q, rest):
        ctx.save_for_backward(p, q, rest)
        return (((q - p).norm(dim=1) - rest) ** 2).sum()

    @staticmethod
    def backward(ctx, g):
        p, q, rest = ctx.saved_tensors
        d = q - p
        n = d.norm(dim=1)
        grad = 2 * g * ((n - rest) / n)[:, None] * d
        return -grad, grad, -2 * g * (n - rest)

    @staticmethod
    def sample_inputs():
        yield draw(3, 3), draw(3, 3, seed=1), draw(3, seed=2)


class AreaChange(Function):
    """Squared norm less twice the determinant for each element, F (E, 2, 2)."""

    @staticmethod
    def forward(ctx, Fm):
        ctx.save_for_backward(Fm)
        return (Fm**2).sum((1, 2)) - 2 * torch.linalg.det(Fm)

    @staticmethod
    def backward(ctx, g):
        (Fm,) = ctx.saved_tensors
        a, b, c, d = Fm.flatten(1).unbind(1)
        cofactors = torch.stack([d, -c, -b, a], 1).reshape(Fm.shape)
        return g[:, None, None] * 2 * (Fm - cofactors)

    @staticmethod
    def sample_inputs():
        yield (draw(2, 2, 2),)


class AreaOfGradients(Function):
    """Determinant of each of the deformation gradients (elements, 2, 2)."""

    @staticmethod
    def forward(ctx, deformation):
        ctx.save_for_backward(deformation)
        return torch.linalg.det(deformation)

    @staticmethod
    def backward(ctx, g):
        (deformation,) = ctx.saved_tensors
        a, b, c, d = deformation.flatten(1).unbind(1)
        return g[:, None, None] * torch.stack([d, -c, -b, a], 1).reshape(deformation.shape)

    @staticmethod
    def sample_inputs():
        yield (draw(2, 2, 2),)


class RotationOfLayers(Function):
    """Sum of the off-diagonal entries of 2 x 2 layers, squared."""

    @staticmethod
    def forward(ctx, layers):
        ctx.save_for_backward(layers)
        return ((layers * (1 - torch.eye(layers.shape[-1], dtype=layers.dtype))) ** 2).sum()

    @staticmethod
    def backward(ctx, g):
        (layers,) = ctx.saved_tensors
        (b, c), zero = (layers[..., 0, 1], layers[..., 1, 0]), layers[..., 0, 0] * 0
        pairs = torch.stack([torch.stack([zero, b], -1), torch.stack([c, zero], -1)], -2)
        return 2 * g * pairs

    @staticmethod
    def sample_inputs():
        yield (draw(3, 2, 2),)
