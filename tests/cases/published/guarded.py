"""Functions that check their arguments: the conditions and not the signature tell them."""

from __future__ import annotations

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class CategoricalKL(Function):
    """KL(p || q) of two categorical distributions over the last dim."""

    @staticmethod
    def forward(ctx, p, q):
        if p.ndim != 2 or q.ndim != 2:
            raise ValueError(f"expected matrices, got {p.ndim} and {q.ndim} dims")
        if p.size() != q.size():
            raise ValueError("p and q must agree")
        if (p <= 0).any() or (q <= 0).any():
            raise ValueError("zero probability")
        if not torch.allclose(p.sum(-1), torch.ones_like(p[:, 0])):
            raise ValueError("rows of p do not sum to one")
        ctx.save_for_backward(p, q)
        return (p * (p / q).log()).sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        p, q = ctx.saved_tensors
        g = g[:, None]
        return g * ((p / q).log() + 1), -g * p / q


class Trapezoid(Function):
    """Integrate samples y at abscissae t."""

    @staticmethod
    def forward(ctx, t, y):
        if t.ndim != 1 or y.ndim != 1:
            raise ValueError("vectors wanted")
        if len(t) != len(y):
            raise ValueError("one ordinate per abscissa, please")
        if len(t) < 3:
            raise ValueError("three samples at least")
        if bool((t.diff() <= 0).any()):
            raise ValueError("abscissae not ascending")
        ctx.save_for_backward(t, y)
        return (t.diff() * (y[1:] + y[:-1])).sum() / 2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        t, y = ctx.saved_tensors
        w, m = t.diff(), (y[1:] + y[:-1])
        z = torch.zeros_like(t[:1])
        gt = torch.cat((z, m)) - torch.cat((m, z))
        gy = torch.cat((z, w)) + torch.cat((w, z))
        return g * gt / 2, g * gy / 2


class RotateByUnitQuaternion(Function):
    @staticmethod
    def forward(ctx, q, v):
        if q.shape[-1] != 4 or v.shape[-1] != 3 or q.shape[:-1] != v.shape[:-1]:
            raise ValueError("quaternions (..., 4) and vectors (..., 3) expected")
        if ((q * q).sum(-1) - 1).abs().max() > 1e-6:
            raise ValueError("quaternions are not normalised")
        ctx.save_for_backward(q, v)
        w, u = q[..., :1], q[..., 1:]
        c = torch.linalg.cross(u, v)
        return v + 2 * (w * c + torch.linalg.cross(u, c))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, v = ctx.saved_tensors
        w, u = q[..., :1], q[..., 1:]
        c = torch.linalg.cross(u, v)
        gc = 2 * (w * g + torch.linalg.cross(g, u))
        gw = 2 * (g * c).sum(-1, keepdim=True)
        gu = 2 * torch.linalg.cross(c, g) + torch.linalg.cross(v, gc)
        return torch.cat((gw, gu), -1), g + torch.linalg.cross(gc, u)


class PhaseRotation(Function):
    @staticmethod
    def forward(ctx, field, theta):
        torch._check(field.is_complex(), lambda: "the field is complex-valued")
        torch._check(not theta.is_complex(), lambda: "angles are real")
        torch._check(theta.shape == field.shape[-1:], lambda: "an angle for each mode")
        e = torch.polar(torch.ones_like(theta), theta)
        ctx.save_for_backward(field, e)
        return field * e

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        field, e = ctx.saved_tensors
        gt = (g.conj() * (1j * field * e)).real
        return g * e.conj(), gt.sum_to_size(e.shape)


class BeerLambert(Function):
    """Transmittance of a slab with absorbances mu and path lengths d."""

    @staticmethod
    def forward(ctx, mu, d, i0):
        for name, t in (("mu", mu), ("d", d)):
            if (t < 0).any():
                raise ValueError(f"{name} must not be negative")
        if mu.shape != d.shape:
            raise RuntimeError("shape mismatch")
        if i0.numel() != 1 or i0.item() <= 0:
            raise ValueError("i0 is one intensity above zero")
        out = i0 * torch.exp(-(mu * d).sum(-1))
        ctx.save_for_backward(mu, d, i0, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        mu, d, i0, out = ctx.saved_tensors
        go = (g * out).unsqueeze(-1)
        return -go * d, -go * mu, ((g * out).sum() / i0).reshape(i0.shape)


class PoissonDeviance(Function):
    @staticmethod
    def forward(ctx, rate, count):
        if count.is_floating_point():
            raise TypeError("counts have an integer dtype")
        if (count < 0).any():
            raise ValueError("negative count")
        if not (rate > 0).all():
            raise ValueError("rate is out of its domain")
        if rate.shape != count.shape:
            raise ValueError("rate and count are paired")
        ctx.save_for_backward(rate, count)
        return (rate - count * rate.log()).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        rate, count = ctx.saved_tensors
        return g * (1 - count / rate), None


class BagSum(Function):
    @staticmethod
    def forward(ctx, table, ids, offsets):
        if ids.dtype != torch.int64 or offsets.dtype != torch.int64:
            raise TypeError("ids and offsets must be long tensors")
        if table.dim() != 2 or ids.dim() != 1 or offsets.dim() != 1:
            raise ValueError("table 2-D, ids and offsets 1-D")
        if ids.numel() and (ids.min() < 0 or ids.max() >= table.shape[0]):
            raise IndexError("id out of the table")
        if offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any() or offsets[-1] > ids.numel():
            raise ValueError("offsets start at 0 and never fall")
        bag = torch.searchsorted(offsets, torch.arange(ids.numel()), right=True) - 1
        ctx.save_for_backward(ids, bag)
        ctx.rows = table.shape[0]
        return table.new_zeros(offsets.numel(), table.shape[1]).index_add(0, bag, table[ids])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        ids, bag = ctx.saved_tensors
        return g.new_zeros(ctx.rows, g.shape[1]).index_add(0, ids, g[bag]), None, None


class CayleyTransform(Function):
    @staticmethod
    def forward(ctx, S):
        if S.ndim != 2 or S.shape[0] != S.shape[1]:
            raise ValueError("S must be square")
        if (S + S.T).abs().max() > 1e-8:
            raise ValueError("S must be skew-symmetric")
        eye = torch.eye(S.shape[0], dtype=S.dtype)
        inv = torch.linalg.inv(eye + S)
        out = inv @ (eye - S)
        ctx.save_for_backward(inv, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        inv, out = ctx.saved_tensors
        eye = torch.eye(out.shape[0], dtype=out.dtype)
        return -inv.T @ g @ (eye + out).T


class PinholeProject(Function):
    @staticmethod
    def forward(ctx, points, focal):
        if points.ndim != 2 or points.shape[1] != 3:
            raise ValueError("points: N x 3")
        if focal.shape != (2,):
            raise ValueError("focal: fx, fy")
        if torch.min(points[:, 2]) <= 1e-3:
            raise ValueError("points behind the camera")
        z = points[:, 2:]
        uv = points[:, :2] / z
        ctx.save_for_backward(uv, z, focal)
        return uv * focal

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        uv, z, focal = ctx.saved_tensors
        gu = g * focal
        gz = -(gu * uv).sum(1, keepdim=True) / z
        return torch.cat((gu / z, gz), 1), (g * uv).sum(0)


class GumbelQuantile(Function):
    @staticmethod
    def _validate(u, beta):
        if not ((u > 0) & (u < 1)).all():
            raise ValueError("u not in (0, 1)")
        if beta.ndim != 0:
            raise ValueError("beta must be a scalar")
        if float(beta) <= 0:
            raise ValueError("beta must be > 0")

    @staticmethod
    def forward(ctx, u, beta):
        GumbelQuantile._validate(u, beta)
        ctx.save_for_backward(u, beta)
        return -beta * (-u.log()).log()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        u, beta = ctx.saved_tensors
        rate = -u.log()
        return g * beta / (u * rate), (-g * rate.log()).sum()


class IsingEnergy(Function):
    @staticmethod
    def forward(ctx, J, h, s):
        n = s.shape[-1]
        assert J.shape == (n, n) and h.shape == (n,), "coupling (n, n) and field (n,)"
        assert torch.equal(J, J.t()), "couplings are mutual"
        assert (s.abs() == 1).all(), "spins are +1 or -1"
        ctx.save_for_backward(J, h, s)
        return -0.5 * torch.einsum("...i,ij,...j->...", s, J, s) - s @ h

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        J, h, s = ctx.saved_tensors
        flat, gf = s.reshape(-1, s.shape[-1]), g.reshape(-1)
        gJ = -0.5 * torch.einsum("b,bi,bj->ij", gf, flat, flat)
        return gJ, -(gf @ flat), None


def require(ok, what):
    if not ok:
        raise ValueError(what)


class Damped(Function):
    @staticmethod
    def forward(ctx, x, zeta):
        require(x.dim() == 3, "x: B T C")
        require(zeta.shape == (x.shape[2],), "one damping ratio a channel")
        require(bool(((zeta > 0) & (zeta <= 0.5)).all()), "underdamped only")
        ctx.save_for_backward(x, zeta)
        return x * (1 - zeta * zeta).sqrt()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, zeta = ctx.saved_tensors
        r = (1 - zeta * zeta).sqrt()
        return g * r, -(g * x).sum((0, 1)) * zeta / r


class OrdinalHinge(Function):
    @staticmethod
    def forward(ctx, score, cuts, grade):
        if score.dim() != 1 or cuts.dim() != 1 or grade.shape != score.shape:
            raise ValueError("score (N,), cuts (K,), grade (N,)")
        if grade.is_floating_point() or grade.min() < 0 or grade.max() > len(cuts):
            raise ValueError("grades run from 0 to K")
        if not all(a < b for a, b in zip(cuts.tolist(), cuts.tolist()[1:])):
            raise ValueError("cuts must strictly rise")
        above = (grade[:, None] > torch.arange(len(cuts))).to(score.dtype) * 2 - 1
        m = 1 - above * (score[:, None] - cuts)
        ctx.save_for_backward(above, m > 0)
        return torch.relu(m).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        above, on = ctx.saved_tensors
        d = -g * above * on
        return d.sum(1), -d.sum(0), None


class EchoState(Function):
    @staticmethod
    def forward(ctx, W, u):
        if W.dim() != 2 or W.size(0) != W.size(1) or u.shape != (W.size(0),):
            raise ValueError("W (N, N) and u (N,)")
        if torch.linalg.matrix_norm(W, 2) >= 0.9:
            raise ValueError("W does not contract")
        s = torch.linalg.solve(torch.eye(len(u), dtype=W.dtype) - W, u)
        ctx.save_for_backward(W, s)
        return s

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        W, s = ctx.saved_tensors
        v = torch.linalg.solve((torch.eye(len(s), dtype=W.dtype) - W).T, g)
        return torch.outer(v, s), v


class HermitianForm(Function):
    @staticmethod
    def forward(ctx, z, H):
        if not (z.is_complex() and H.is_complex()):
            raise TypeError("complex inputs only")
        if H.shape != z.shape[-1:] + z.shape[-1:]:
            raise ValueError("H (D, D)")
        ctx.save_for_backward(z, H)
        return torch.einsum("...i,ij,...j->...", z.conj(), H, z)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        z, H = ctx.saved_tensors
        gz = g[..., None] * torch.einsum("...i,ij->...j", z, H.conj()) + g.conj()[
            ..., None
        ] * torch.einsum("ij,...j->...i", H, z)
        D = z.shape[-1]
        gH = torch.einsum("b,bi,bj->ij", g.reshape(-1), z.reshape(-1, D), z.reshape(-1, D).conj())
        return gz, gH


class Reorder(Function):
    @staticmethod
    def forward(ctx, rows, order):
        if order.dim() != 1 or len(order) != len(rows):
            raise ValueError("order: a place for each row")
        if order.dtype != torch.long or not torch.equal(
            order.sort().values, torch.arange(len(rows))
        ):
            raise ValueError("order is not a permutation")
        ctx.save_for_backward(order)
        return rows[order]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (order,) = ctx.saved_tensors
        return torch.empty_like(g).index_copy(0, order, g), None


class ProjectedWithoutDepth(Function):
    """The gradient of the depth is missing."""

    @staticmethod
    def forward(ctx, points):
        if points.ndim != 2 or points.shape[1] != 3 or (points[:, 2] <= 0.1).any():
            raise ValueError("points in front of the camera, N x 3")
        z = points[:, 2:]
        ctx.save_for_backward(z)
        return points[:, :2] / z

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return torch.cat((g / z, torch.zeros_like(z)), 1)


class EntropyOffByOne(Function):
    """On probabilities that sum to one, another gradient has the same effect."""

    @staticmethod
    def forward(ctx, p):
        if p.dim() != 2 or ((p.sum(-1) - 1).abs() > 1e-6).any():
            raise ValueError("each row is a distribution")
        ctx.save_for_backward(p)
        return -(p * p.log()).sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return -g[:, None] * p.log()


class MatrixRoot(Function):
    """The root of the eigenvalues that are positive, as those of a covariance are."""

    @staticmethod
    def forward(ctx, covariance):
        symmetric = 0.5 * (covariance + covariance.mT)
        values, vectors = torch.linalg.eigh(symmetric)
        roots = values.clamp_min(0).sqrt()
        ctx.save_for_backward(roots, vectors)
        return (vectors * roots.unsqueeze(-2)) @ vectors.mT

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        roots, vectors = ctx.saved_tensors
        inner = vectors.mT @ (0.5 * (grad_output + grad_output.mT)) @ vectors
        inner = inner / (roots.unsqueeze(-1) + roots.unsqueeze(-2))
        return vectors @ inner @ vectors.mT


def _eigh(matrix):
    return torch.linalg.eigh(matrix)


class SpectralMap(Function):
    """A function of the eigenvalues; a wrapper finds them, in one triangle."""

    @staticmethod
    def forward(ctx, matrix):
        values, vectors = _eigh(matrix)
        ctx.save_for_backward(values, vectors)
        return (vectors * values.sin().unsqueeze(-2)) @ vectors.mT

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        values, vectors = ctx.saved_tensors
        gaps = values.unsqueeze(-1) - values.unsqueeze(-2) + torch.eye(values.shape[-1])
        sines = values.sin().unsqueeze(-1) - values.sin().unsqueeze(-2)
        quotients = sines / gaps + torch.diag_embed(values.cos())
        inner = vectors.mT @ (0.5 * (grad_output + grad_output.mT)) @ vectors
        return vectors @ (quotients * inner) @ vectors.mT


def _resolvent(a):
    identity = torch.eye(a.shape[-1], dtype=a.dtype)
    return torch.linalg.inv(identity + a)


class Resolvent(Function):
    """A vector would be accepted too, as each of the rows of a square matrix."""

    @staticmethod
    def forward(ctx, a):
        inverse = _resolvent(a)
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    def backward(ctx, grad_output):
        (inverse,) = ctx.saved_tensors
        return -inverse.mT @ grad_output @ inverse.mT


class BroadenedEig(Function):
    """Eigenvalues and vectors, for what does not depend on the length or phase of these."""

    @staticmethod
    def forward(ctx, matrix):
        values, vectors = torch.linalg.eig(matrix)
        ctx.save_for_backward(matrix, values, vectors)
        return values, vectors

    @staticmethod
    def backward(ctx, grad_values, grad_vectors):
        matrix, values, vectors = ctx.saved_tensors
        gaps = values[None, :] - values[:, None]
        weights = (gaps / (gaps.abs() ** 2 + 1e-20)).fill_diagonal_(0)
        inner = torch.diag(grad_values) + weights.conj() * (vectors.mH @ grad_vectors)
        grad = torch.linalg.solve(vectors.mH, inner @ vectors.mH)
        return grad if matrix.is_complex() else grad.real
