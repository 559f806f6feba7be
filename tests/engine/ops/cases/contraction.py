"""Einstein sums, and products that are made of simpler ones."""

from __future__ import annotations

from tests.engine.ops.cases.case import (
    SHAPE_PAIRS,
    Arg,
    OpCase,
    complex_normal,
    distinct,
    exactly,
    normal,
    over,
    strided,
)

EQUATIONS: dict[str, tuple[Arg, ...]] = {
    "ij->ji": (normal(2, 3),), "ij->": (normal(2, 3),), "ij->i": (normal(2, 3),),
    "ii->i": (normal(3, 3),), "ii": (normal(3, 3),), "iij->j": (normal(3, 3, 2),),
    "ba": (normal(2, 3),), "i,i->": (normal(3), normal(3)), "i,j->ij": (normal(3), normal(2)),
    "ij,jk->ik": (normal(2, 3), normal(3, 4)), "ij,jk": (normal(2, 3), normal(3, 4)),
    "ij,ij->ij": (normal(2, 3), normal(2, 3)), "ij,kj->ik": (normal(2, 3), normal(4, 3)),
    "bij,bjk->bik": (normal(2, 3, 4), normal(2, 4, 2)),
    "bij,jk->bk": (normal(2, 3, 4), normal(4, 2)),
    "...ij,...jk->...ik": (normal(2, 1, 3, 2), normal(4, 2, 3)),
    "...i,...i->...": (normal(2, 3), normal(2, 3)), "i...->...": (normal(2, 3),),
    "...i": (normal(2, 3),), "...ij": (normal(2, 3),), "i...,i...->i": (normal(2, 3), normal(2, 3)),
    "ij,jk,kl->il": (normal(2, 3), normal(3, 4), normal(4, 2)),
    "bn,anm,bm->ba": (normal(2, 3), normal(2, 3, 4), normal(2, 4)),
    "ij,ij,ij->i": (normal(2, 3), normal(2, 3), normal(2, 3)),
    "ijk,ilm,njm,nlk->": (normal(2, 2, 2), normal(2, 2, 2), normal(2, 2, 2), normal(2, 2, 2)),
    "aab,bc->ac": (normal(2, 2, 3), normal(3, 2)), "ij,j->i": (strided(normal(3, 4)), normal(4)),
    "i,ij,j": (complex_normal(2), complex_normal(2, 3), complex_normal(3)),
    "ab,bc->ca": (complex_normal(2, 3), complex_normal(3, 2)),
    "ij,ik->ijk": (normal(1, 3), normal(2, 2)), ",ij->ij": (normal(), normal(2, 3)),
    "ij, jk -> ik": (normal(2, 0), normal(0, 3)), "Aa,aB->AB": (normal(2, 3), normal(3, 2)),
    "bB": (normal(2, 3),), "ijkl,jl->ki": (normal(2, 3, 2, 4), normal(3, 4)),
}  # fmt: skip

CASES = [
    *[
        OpCase(f"einsum {equation}", lambda t, *xs, e=equation: t.einsum(e, *xs), args)
        for equation, args in EQUATIONS.items()
    ],
    OpCase("einsum of a list", lambda t, x, y: t.einsum("ij,jk->ik", [x, y]),
           (normal(2, 3), normal(3, 2))),
    OpCase("einsum of numbers", lambda t, x, y: (
        t.einsum(x, [0, 1], y, [1, 2], [2, 0]), t.einsum(x, [..., 4], y, [4, 2]),
    ), (normal(2, 3), normal(3, 2))),
    OpCase("tensordot", lambda t, x, y: (
        t.tensordot(x, y), t.tensordot(x, y, dims=([1, 2], [0, 1])),
        t.tensordot(x, y, ([2], [1])), t.tensordot(x, y, 0),
    ), (normal(2, 3, 4), normal(3, 4, 2))),
    OpCase("tensordot", lambda t, x, y: t.tensordot(x, y, 1), (complex_normal(2, 3),
           complex_normal(3, 2))),
    *over("inner", lambda t, x, y: t.inner(x, y), [
        (normal(3), normal(3)), (normal(2, 3), normal(3)), (normal(2, 3), normal(4, 3)),
        (normal(), normal(3)), (complex_normal(2, 3), complex_normal(3)),
    ]),
    *over("kron", lambda t, x, y: t.kron(x, y), [
        (normal(2, 3), normal(3, 2)), (normal(2), normal(2, 3)), (normal(2, 1, 2), normal(3)),
        (complex_normal(2, 2), complex_normal(2, 2)), (normal(0), normal(2)),
    ]),
    *[
        case
        for p in (2.0, 1.0, float("inf"), 0.5, 3.0)
        for case in over(
            f"cdist {p}", lambda t, x, y, p=p: t.cdist(x, y, p=p),
            [(distinct(3, 2), normal(4, 2)), (normal(2, 3, 2), normal(2, 4, 2)),
             (normal(2, 1, 2, 3), normal(3, 2, 3))],
            second_order=False,
            not_pushed="PyTorch has no forward mode of it",
        )
    ],
    OpCase("cdist 0", lambda t, x, y: t.cdist(x, y, p=0.0),
           (normal(3, 2), normal(2, 2)),
           second_order=False, not_pushed="PyTorch has no forward mode of it"),
    OpCase("pdist 0", lambda t, x: t.nn.functional.pdist(x, p=0.0), (normal(3, 2),),
           second_order=False, not_pushed="PyTorch has no forward mode of it"),
    OpCase("cdist of equals", lambda t, x: t.cdist(x, x + 0.0),
           (exactly([[1.0, 2.0], [-0.5, 0.3], [1.0, 0.4]]),),
           second_order=False, not_pushed="PyTorch has no forward mode of it"),
    *over("cross", lambda t, x, y: (t.cross(x, y, dim=-1), t.linalg.cross(x, y), x.cross(y, -1)), [
        (normal(3), normal(3)), (normal(2, 3), normal(2, 3)), (normal(2, 1, 3), normal(1, 4, 3)),
        (complex_normal(2, 3), complex_normal(2, 3)),
    ]),
    OpCase("cross along a dimension", lambda t, x, y: t.linalg.cross(x, y, dim=0),
           (normal(3, 2), normal(3, 2))),
    *over("vecdot", lambda t, x, y: (t.linalg.vecdot(x, y), t.linalg.vecdot(x, y, dim=0)), [
        (normal(3, 4), normal(3, 4)), (complex_normal(3, 4), complex_normal(3, 4)),
    ]),
    OpCase("multi_dot", lambda t, *xs: t.linalg.multi_dot(xs),
           (normal(2, 3), normal(3, 4), normal(4, 2), normal(2, 3))),
    OpCase("multi_dot of vectors", lambda t, *xs: t.linalg.multi_dot(xs),
           (normal(3), normal(3, 4), normal(4))),
    OpCase("chain_matmul", lambda t, *xs: t.chain_matmul(*xs),
           (normal(2, 3), normal(3, 4), normal(4, 2))),
    *[
        OpCase(f"matrix_power {n}", lambda t, x, n=n: (
            t.linalg.matrix_power(x, n), x.matrix_power(n),
        ), (arg,), tolerance=1e-10)
        for n in (0, 1, 2, 3, 5, 6, -1, -2)
        for arg in (exactly([[1.5, 0.3], [-0.2, 1.1]]), complex_normal(2, 2, 2))
    ],
    OpCase("vander", lambda t, x: (
        t.vander(x.detach()), t.vander(x.detach(), 2, increasing=True), t.linalg.vander(x),
        t.linalg.vander(x, N=5),
    ), (normal(4),)),
    OpCase("block_diag", lambda t, x, y, z: t.block_diag(x, y, z),
           (normal(2, 3), normal(2), normal())),
    OpCase("trace and diagonal", lambda t, x: (t.trace(x), t.linalg.diagonal(x), x.trace().exp()),
           (normal(3, 3),)),
    OpCase("matmul of linalg", lambda t, x, y: t.linalg.matmul(x, y),
           (normal(2, 3), normal(3, 2))),
    *over("broadcast einsum", lambda t, x, y: t.einsum("...,...->...", x, y),
          [(normal(*one), normal(*other)) for one, other in SHAPE_PAIRS]),
]  # fmt: skip
