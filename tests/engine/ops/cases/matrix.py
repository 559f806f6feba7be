"""Functions of matrices, alone and in batches, of real and complex numbers.

Factorizations are compared in what does not depend on the sign or phase of a vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.cases.case import Arg, OpCase, complex_normal, exactly, normal, over

NOT_THE_QUOTIENT = "PyTorch's forward mode is not what its difference quotient tends to"
TOLERANCE = 1e-9
"""Of derivatives that divide by gaps between eigenvalues, twice in the second order."""


def regular(*shape: int, dtype: str = "float64") -> Arg:
    """Square matrices that are far from singular."""

    def draw(rng: np.random.Generator) -> Any:
        noise = rng.standard_normal(shape)
        if dtype == "complex128":
            noise = noise + 1j * rng.standard_normal(shape)
        return noise + 3 * np.eye(shape[-1])

    return Arg(f"regular {dtype} {'x'.join(map(str, shape))}", draw)


def apart(*shape: int, dtype: str = "float64") -> Arg:
    """Matrices whose singular values lie well apart."""

    def draw(rng: np.random.Generator) -> Any:
        noise = rng.standard_normal(shape) * 0.3
        if dtype == "complex128":
            noise = noise + 0.3j * rng.standard_normal(shape)
        return noise + np.eye(*shape[-2:]) * np.arange(1.0, shape[-1] + 1)

    return Arg(f"apart {dtype} {'x'.join(map(str, shape))}", draw)


SQUARE = [
    (regular(3, 3),), (regular(2, 3, 3),), (regular(3, 3, dtype="complex128"),), (regular(1, 1),),
    (regular(2, 2, 2, 2, dtype="complex128"),),
]  # fmt: skip
OBLONG = [
    (apart(4, 3),), (apart(3, 4),), (apart(2, 4, 2),), (apart(3, 3),),
    (apart(4, 3, dtype="complex128"),), (apart(2, 2, 3, dtype="complex128"),),
]  # fmt: skip
SYSTEMS = [
    (regular(3, 3), normal(3, 2)), (regular(3, 3), normal(3)), (regular(2, 3, 3), normal(3, 2)),
    (regular(3, 3), normal(2, 3, 1)), (regular(2, 3, 3), normal(2, 3)),
    (regular(3, 3, dtype="complex128"), complex_normal(3, 2)),
    (regular(2, 1, 2, 2, dtype="complex128"), complex_normal(3, 2, 2)),
]  # fmt: skip
TRIANGLES = [
    (regular(3, 3), normal(3, 2)), (regular(2, 3, 3), normal(3, 2)),
    (regular(3, 3, dtype="complex128"), complex_normal(2, 3, 3)),
]  # fmt: skip
SINGULAR = exactly([[1.0, 2.0], [2.0, 4.0]])


def hermitian(x: Any) -> Any:
    """A Hermitian matrix with eigenvalues apart, made of any."""
    return x + x.mH


def definite(x: Any) -> Any:
    """A positive definite matrix, made of any."""
    return x @ x.mH + x.mH @ x


INVERSES = [
    *over("inv", lambda t, x: (t.linalg.inv(x), x.inverse(), t.inverse(x)), SQUARE),
    OpCase("inv_ex", lambda t, x: t.linalg.inv_ex(x).inverse, (regular(3, 3),)),
    *over("solve", lambda t, x, y: t.linalg.solve(x, y), SYSTEMS),
    *over("solve_ex", lambda t, x, y: t.linalg.solve_ex(x, y), SYSTEMS[::3]),
    OpCase("tensorinv", lambda t, x: t.linalg.tensorinv(x.reshape(2, 2, 4)), (regular(4, 4),)),
    OpCase("tensorsolve", lambda t, x, y: (
        t.linalg.tensorsolve(x.reshape(2, 2, 4), y),
        t.linalg.tensorsolve(x.reshape(2, 4, 2), y, dims=(1,)),
    ), (regular(4, 4), normal(2, 2))),
    OpCase("pinv within tolerances", lambda t, x: (
        t.linalg.pinv(x, atol=t.tensor([1e-9, 1e-3], dtype=t.float64)),
        t.linalg.pinv(x, rtol=t.tensor(1e-9, dtype=t.float64)), t.linalg.pinv(x, atol=1e-9),
    ), (apart(2, 3, 3),), tolerance=TOLERANCE),
    OpCase("solve from the right", lambda t, x, y: t.linalg.solve(x, y, left=False),
           (regular(3, 3), normal(2, 3))),
    *[
        case
        for upper in (True, False)
        for unit in (True, False)
        for case in over(
            f"solve_triangular upper={upper} unit={unit}",
            lambda t, x, y, upper=upper, unit=unit: t.linalg.solve_triangular(
                x, y, upper=upper, unitriangular=unit
            ),
            TRIANGLES,
        )
    ],
    OpCase("solve_triangular from the right", lambda t, x, y: t.linalg.solve_triangular(
        x, y, upper=True, left=False), (regular(3, 3), normal(2, 3))),
    OpCase("triangular_solve", lambda t, y, x: (
        t.triangular_solve(y, x)[0], y.triangular_solve(x, upper=False, transpose=True)[0],
    ), (normal(3, 2), regular(3, 3)), not_pushed=NOT_THE_QUOTIENT),
    *over("cholesky_solve", lambda t, y, x: (
        t.cholesky_solve(y, x.tril()), y.cholesky_solve(x.triu(), upper=True),
    ), [(normal(3, 2), regular(3, 3)), (complex_normal(3, 2), regular(3, 3, dtype="complex128"))]),
    *over("cholesky_inverse", lambda t, x: t.cholesky_inverse(x.tril()),
          [(regular(3, 3),), (regular(2, 2, 2),)], not_pushed=NOT_THE_QUOTIENT),
    *over("pinv", lambda t, x: (t.linalg.pinv(x), t.pinverse(x)), [*OBLONG, (normal(0, 3),)],
          tolerance=TOLERANCE),
    OpCase("pinv of a symmetric matrix", lambda t, x: t.linalg.pinv(hermitian(x), hermitian=True),
           (apart(3, 3),), tolerance=TOLERANCE),
    OpCase("lstsq", lambda t, x, y: t.linalg.lstsq(x, y).solution, (apart(4, 3), normal(4, 2)),
           tolerance=TOLERANCE, not_batched="PyTorch's rank shows in the shape of the residuals"),
    *over("matrix_rank", lambda t, x: t.linalg.matrix_rank(x), [*OBLONG, (SINGULAR,)]),
    OpCase("matrix_rank within a tolerance", lambda t, x: (
        t.linalg.matrix_rank(x, atol=1.0), t.linalg.matrix_rank(x, rtol=0.6),
        t.linalg.matrix_rank(hermitian(x), hermitian=True), t.linalg.matrix_rank(x, 1.5),
    ), (apart(3, 3),)),
]  # fmt: skip

DETERMINANTS = [
    *over("det", lambda t, x: (t.linalg.det(x), x.det()), SQUARE),
    OpCase("det of a singular matrix", lambda t, x: t.det(x), (SINGULAR,), tolerance=TOLERANCE,
           not_pushed=NOT_THE_QUOTIENT),
    OpCase("det of a larger singular matrix", lambda t, x: t.det(x),
           (exactly([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]),), tolerance=TOLERANCE,
           not_pushed=NOT_THE_QUOTIENT),
    *over("slogdet", lambda t, x: t.linalg.slogdet(x), SQUARE),
    *over("logdet", lambda t, x: t.logdet(x @ x.mH), SQUARE),
    OpCase("logdet of a negative determinant", lambda t, x: x.detach().logdet(),
           (exactly([[-1.0, 0.0], [0.0, 1.0]]),)),
    OpCase("slogdet of a singular matrix", lambda t, x: x.detach().slogdet(),
           (exactly([[0.0, 0.0], [0.0, 1.0]]),)),
]  # fmt: skip

FACTORIZATIONS = [
    *over("cholesky", lambda t, x: (
        t.linalg.cholesky(definite(x)), t.linalg.cholesky(definite(x), upper=True),
    ), SQUARE, tolerance=TOLERANCE),
    *over("cholesky_ex", lambda t, x: (
        t.linalg.cholesky_ex(definite(x)), t.linalg.cholesky_ex(definite(x), upper=True),
    ), SQUARE[:3], tolerance=TOLERANCE),
    OpCase("old cholesky", lambda t, x: (t.cholesky(definite(x)), definite(x).cholesky(upper=True)),
           (regular(3, 3),), not_pushed="PyTorch has no forward mode of it"),
    *over("qr", lambda t, x: (*t.linalg.qr(x), *x.qr()), OBLONG, tolerance=TOLERANCE),
    OpCase("complete qr", lambda t, x: t.linalg.qr(x, mode="complete"), (apart(3, 4),),
           tolerance=TOLERANCE),
    OpCase("qr without derivative", lambda t, x: (
        *t.linalg.qr(x.detach(), mode="complete"), t.linalg.qr(x.detach(), mode="r")[1],
    ), (apart(4, 3),)),
    *over("eigh", lambda t, x: (
        t.linalg.eigvalsh(hermitian(x)), t.linalg.eigh(hermitian(x)).eigenvalues,
        t.linalg.eigh(hermitian(x), "U")[1].abs(),
    ), [(apart(3, 3),), (apart(2, 3, 3),), (apart(3, 3, dtype="complex128"),)],
        tolerance=TOLERANCE),
    *over("eig", lambda t, x: (
        t.linalg.eigvals(x), t.linalg.eig(x)[0] ** 2, t.linalg.eig(x).eigenvectors.abs(),
    ), [
        (apart(3, 3),), (apart(2, 3, 3),), (apart(3, 3, dtype="complex128"),),
        (exactly([[0.0, -1.0, 0.3], [1.0, 0.1, 0.2], [0.0, 0.4, 2.0]]),),
    ], tolerance=TOLERANCE),
    OpCase("function of eigenvalues", lambda t, x: (
        (lambda values, vectors: (vectors * values.exp().unsqueeze(-2)) @ vectors.mH)(
            *t.linalg.eigh(hermitian(x))
        )
    ), (apart(3, 3, dtype="complex128"),), tolerance=TOLERANCE),
    *over("svd", lambda t, x: (
        t.linalg.svdvals(x), t.linalg.svd(x, full_matrices=False)[0].abs(),
        t.linalg.svd(x, full_matrices=False).Vh.abs(), t.svd(x).S, t.svd(x)[2].abs(),
    ), OBLONG, tolerance=TOLERANCE),
    *over("svd put together", lambda t, x: (
        (lambda u, s, vh: (u * s.square().unsqueeze(-2)) @ vh)(
            *t.linalg.svd(x, full_matrices=False)
        )
    ), OBLONG, tolerance=TOLERANCE),
    OpCase("full svd", lambda t, x: (
        t.linalg.svd(x)[0][:, :3].abs(), t.linalg.svd(x).S, t.linalg.svd(x)[2].abs(),
    ), (apart(4, 3),), tolerance=TOLERANCE),
    OpCase("svd values of equals", lambda t, x: t.linalg.svdvals(x),
           (exactly([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]),), second_order=False,
           not_pushed="PyTorch divides zero by the gap, zero"),
]  # fmt: skip

ORDERS = ("fro", "nuc", 2, -2, 1, -1, float("inf"), -float("inf"))
NORMS = [
    *[
        case
        for order in ORDERS
        for case in over(
            f"matrix_norm {order}",
            lambda t, x, order=order: (
                t.linalg.matrix_norm(x, order), t.linalg.norm(x, order, (-2, -1), keepdim=True)
            ),
            [(apart(4, 3),), (apart(2, 3, 3),), (apart(3, 3, dtype="complex128"),)],
            tolerance=TOLERANCE,
        )
    ],
    OpCase("matrix_norm over dimensions", lambda t, x: (
        t.linalg.matrix_norm(x, "nuc", dim=(0, 2), keepdim=True),
        t.linalg.matrix_norm(x, 1, (0, 1)),
        t.linalg.norm(x, dim=(0, 1)), t.linalg.norm(x), t.linalg.norm(x, 3, dim=1),
    ), (normal(4, 2, 3),), tolerance=TOLERANCE),
    OpCase("norm of a vector", lambda t, x: (
        t.linalg.norm(x), t.linalg.norm(x, 1), t.linalg.vector_norm(x, 3), t.linalg.vector_norm(x),
    ), (normal(4),)),
    *over("vector_norm", lambda t, x: (
        t.linalg.vector_norm(x), t.linalg.vector_norm(x, float("inf"), dim=0),
        t.linalg.vector_norm(x, 1, dim=(0, 1), keepdim=True),
    ), [(normal(3, 4),), (complex_normal(3, 4),)]),
    *[
        OpCase(f"cond {p}", lambda t, x, p=p: t.linalg.cond(x, p), (apart(3, 3),),
               tolerance=TOLERANCE)
        for p in (None, 2, -2)
    ],
    OpCase("cond by an inverse", lambda t, x: [
        t.linalg.cond(x.detach(), p) for p in ("fro", 1, float("inf"))
    ], (apart(3, 3),)),
]  # fmt: skip

CASES = [*INVERSES, *DETERMINANTS, *FACTORIZATIONS, *NORMS]
