"""Products of matrices, and functions of one matrix or of a batch of them."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st

from tests.engine.ops.cases.case import Arg, Shape, normal
from tests.engine.ops.cases.matrix import apart, definite, hermitian, regular
from tests.engine.ops.drawn.language import (
    BOOL,
    SMOOTH,
    WIDE,
    Call,
    Op,
    Pick,
    among,
    broadcastable,
    by_shape,
    each,
    of_several,
    op,
    shapes,
    typed,
)
from tests.engine.ops.drawn.shapes import spread

TOLERANCE = 1e-8
NOT_THE_QUOTIENT = "PyTorch's forward mode is not what its difference quotient tends to"
DTYPES = among("float64", "complex128")

# ---- products -------------------------------------------------------------------------------


def product(
    *ranks: str, extra: Any = None, dtypes: tuple[str, ...] = SMOOTH, smallest: int = 0
) -> st.SearchStrategy[Call]:
    """Tensors by the names of their dimensions, each name one extent."""

    sides = [side for side in (2, 3, 1, 0) if side >= smallest]

    def build(pick: Pick, _: Shape) -> Call:
        dtype = pick(st.sampled_from(dtypes))
        extents = {name: pick(among(*sides)) for name in sorted({*"".join(ranks)})}
        tensors = [typed(normal(*[extents[name] for name in rank]), dtype) for rank in ranks]
        return Call(tuple(tensors), (), {} if extra is None else pick(extra))

    return by_shape(build, most=0)


def _matmul(pick: Pick, _: Shape) -> Call:
    """Vectors, matrices, and batches that broadcast."""
    rows, inner, columns = (pick(among(2, 3, 1, 0)) for _ in range(3))
    left, right = pick(broadcastable(2, most=2))
    dtype = pick(st.sampled_from(SMOOTH))
    first = (inner,) if pick(BOOL) and not left else (*left, rows, inner)
    second = (inner,) if pick(BOOL) and not right else (*right, inner, columns)
    return Call((typed(normal(*first), dtype), typed(normal(*second), dtype)))


SCALED = st.fixed_dictionaries({}, optional={"beta": among(0, 0.5), "alpha": among(1, 2)})

PRODUCTS: dict[str, Op] = {
    **each("matmul linalg.matmul", op(by_shape(_matmul, most=0))),
    "Tensor.__rmatmul__": op(product("jk", "ij"), lambda t, x, y: x.__rmatmul__(y)),
    "mm": op(product("ij", "jk")),
    "bmm": op(product("bij", "bjk")),
    "mv": op(product("ij", "j")),
    **each("dot vdot inner", op(product("i", "i"))),
    "ger": op(product("i", "j")),
    "addmm": op(product("ik", "ij", "jk", extra=SCALED)),
    "addmv": op(product("i", "ij", "j", extra=SCALED)),
    "addr": op(product("ij", "i", "j", extra=SCALED)),
    "baddbmm": op(product("bik", "bij", "bjk", extra=SCALED)),
    "addbmm": op(product("ik", "bij", "bjk", extra=SCALED)),
    "kron": op(by_shape(lambda pick, shape: Call((normal(*shape), normal(*pick(shapes()))))),
               tolerance=1e-10),
    "tensordot": op(product("ijk", "jkl")),
    "chain_matmul": op(product("ij", "jk", "kl"), spread("chain_matmul")),
    "linalg.multi_dot": op(product("ij", "jk", "kl"),
                           lambda t, *tensors: t.linalg.multi_dot(tensors)),
    "cross": op(by_shape(lambda pick, shape: Call((normal(*shape, 3), normal(*shape, 3)), (),
                                                  {"dim": -1}))),
    "linalg.cross": op(by_shape(lambda pick, shape: Call((normal(*shape, 3), normal(*shape, 3))))),
    "linalg.vecdot": op(of_several(normal, normal, dtypes=SMOOTH)),
    "matrix_power": op(by_shape(lambda pick, shape: Call(
        (square(pick, shape),), (pick(among(0, 1, 2, 3, -1)),)), most=1), tolerance=TOLERANCE),
    "nn.functional.linear": op(product("bi", "oi", "o")),
    "nn.functional.bilinear": op(product("bi", "bj", "oij", "o", dtypes=WIDE, smallest=1)),
}  # fmt: skip

# ---- functions of matrices ------------------------------------------------------------------


def square(pick: Pick, batch: Shape) -> Arg:
    """Batches of square matrices far from singular."""
    extent = pick(among(2, 3, 1))
    return regular(*batch, extent, extent, dtype=pick(DTYPES))


def squares(smallest: int = 0) -> st.SearchStrategy[Call]:
    """One batch of square matrices."""
    return by_shape(lambda pick, batch: Call((square(pick, batch),)), most=2, smallest=smallest)


def oblong(tall: bool = False) -> st.SearchStrategy[Call]:
    """One batch of matrices of full rank, whose singular values lie apart."""

    def build(pick: Pick, batch: Shape) -> Call:
        rows, columns = pick(among((2, 2), (3, 2), (1, 1), *(() if tall else ((2, 3), (1, 2)))))
        return Call((apart(*batch, rows, columns, dtype=pick(DTYPES)),))

    return by_shape(build, most=1)


def distinct_eigenvalues() -> st.SearchStrategy[Call]:
    """One batch of square matrices whose eigenvalues lie apart."""

    def build(pick: Pick, batch: Shape) -> Call:
        extent = pick(among(2, 3, 1))
        return Call((apart(*batch, extent, extent, dtype=pick(DTYPES)),))

    return by_shape(build, most=1)


def systems() -> st.SearchStrategy[Call]:
    """A batch of square matrices and right-hand sides whose batches broadcast."""

    def build(pick: Pick, _: Shape) -> Call:
        extent, dtype = pick(among(2, 3, 1)), pick(DTYPES)
        left, right = pick(broadcastable(2, most=2))
        columns = pick(among(1, 2, 0))
        return Call(
            (
                regular(*left, extent, extent, dtype=dtype),
                typed(normal(*right, extent, columns), dtype),
            )
        )

    return by_shape(build, most=0)


def loose(calls: st.SearchStrategy[Call], function: Any = None, **options: Any) -> Op:
    """Where dividing by gaps and inverting takes digits."""
    return op(calls, function, **{"tolerance": TOLERANCE, **options})


FUNCTIONS: dict[str, Op] = {
    **each("inverse det linalg.slogdet slogdet", loose(squares())),
    "logdet": loose(squares(), lambda t, x: t.logdet(definite(x))),
    "linalg.inv_ex": loose(squares(), lambda t, x: t.linalg.inv_ex(x).inverse),
    **each("linalg.pinv pinverse", loose(oblong())),
    **each("linalg.solve linalg.solve_ex", loose(systems())),
    "linalg.tensorinv": loose(squares(), lambda t, x: t.linalg.tensorinv(
        x[(0,) * (x.ndim - 2)], ind=1)),
    "linalg.tensorsolve": loose(systems(), lambda t, x, y: t.linalg.tensorsolve(
        x[(0,) * (x.ndim - 2)], x[(0,) * (x.ndim - 2)][0])),
    "linalg.solve_triangular": loose(systems(), lambda t, x, y: (
        t.linalg.solve_triangular(x, y, upper=True), t.linalg.solve_triangular(
            x, y, upper=False, unitriangular=True))),
    "triangular_solve": loose(systems(), lambda t, x, y: t.triangular_solve(y, x)[0],
                              not_pushed=NOT_THE_QUOTIENT),
    "cholesky_solve": loose(systems(), lambda t, x, y: t.cholesky_solve(y, x.tril())),
    "cholesky_inverse": loose(squares(), lambda t, x: t.cholesky_inverse(
        t.linalg.cholesky(definite(x))),
                              not_pushed=NOT_THE_QUOTIENT),
    "linalg.lstsq": loose(oblong(tall=True), lambda t, x: t.linalg.lstsq(x, x[..., :1] * 2 + 1)
                          .solution, not_batched="PyTorch's rank shows in the shape"),
    "linalg.cholesky": loose(squares(), lambda t, x: t.linalg.cholesky(definite(x))),
    "linalg.cholesky_ex": loose(squares(), lambda t, x: t.linalg.cholesky_ex(definite(x))),
    "linalg.ldl_factor": op(squares(smallest=1), lambda t, x: t.linalg.ldl_factor(x.detach())),
    "linalg.ldl_factor_ex": op(squares(smallest=1), lambda t, x: t.linalg.ldl_factor_ex(
        x.detach(), hermitian=True)),
    "linalg.ldl_solve": loose(squares(smallest=1), lambda t, x: t.linalg.ldl_solve(
        *t.linalg.ldl_factor(x.detach()), x.detach() + 2)),
    "cholesky": loose(squares(), lambda t, x: t.cholesky(definite(x), True),
                      not_pushed="PyTorch has no forward mode of it"),
    **each("linalg.qr qr", loose(oblong())),
    "linalg.eigh": loose(squares(), lambda t, x: (
        t.linalg.eigh(hermitian(x))[0], t.linalg.eigh(hermitian(x))[1].abs())),
    "linalg.eigvalsh": loose(squares(), lambda t, x: t.linalg.eigvalsh(hermitian(x))),
    "linalg.eig": loose(distinct_eigenvalues(), lambda t, x: (
        t.linalg.eig(x)[0], t.linalg.eig(x)[1].abs())),
    "linalg.eigvals": loose(distinct_eigenvalues()),
    **each("linalg.svdvals", loose(oblong())),
    "svd": loose(oblong(), lambda t, x: (t.svd(x)[0].abs(), t.svd(x)[1])),
    "linalg.svd": loose(oblong(), lambda t, x: (
        (lambda u, s, v: (u * s.square().unsqueeze(-2)) @ v)(*t.linalg.svd(x, False)))),
    "linalg.matrix_norm": loose(by_shape(lambda pick, batch: Call(
        (apart(*batch, 3, 2, dtype=pick(DTYPES)),), (),
        {"ord": pick(among("fro", "nuc", 2, -2, 1, float("inf"))), "keepdim": pick(BOOL)}),
        most=1)),
    "linalg.norm": loose(by_shape(lambda pick, batch: Call(
        (apart(*batch, 3, 2),), (), {"ord": pick(among("fro", "nuc", 2, 1)), "dim": (-2, -1)}),
        most=1)),
    "linalg.cond": loose(squares(smallest=1), lambda t, x: t.linalg.cond(x)),
    "linalg.matrix_rank": op(oblong()),
}  # fmt: skip

TABLE: dict[str, Op] = {**PRODUCTS, **FUNCTIONS}
