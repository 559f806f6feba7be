"""Complex numbers through what is not elementwise, and their parts, magnitudes and phases."""

from __future__ import annotations

from typing import Any

from tests.engine.ops.cases.case import (
    OpCase,
    complex_normal,
    exactly,
    integers,
    mask,
    nonzero,
    normal,
    over,
    positive,
    strided,
)

COMPLEX = complex_normal(3, 4)
SOME = [(COMPLEX,), (strided(COMPLEX),), (complex_normal(),), (complex_normal(0),)]
PRODUCTS = [
    (complex_normal(3, 4), complex_normal(4, 2)), (complex_normal(3), complex_normal(3)),
    (complex_normal(3, 4), complex_normal(4)), (complex_normal(3), complex_normal(3, 4)),
    (complex_normal(2, 1, 3, 4), complex_normal(3, 4, 2)), (complex_normal(0, 3), COMPLEX),
]  # fmt: skip


def set_parts(t: Any, x: Any, y: Any) -> Any:
    changed = x * 1
    changed.real.add_(y)
    changed.imag.mul_(2)
    t.view_as_real(changed).neg_()
    return changed


def changed_conjugate(t: Any, x: Any, y: Any) -> Any:
    changed = x * y
    turned = changed.conj()
    turned.mul_(1j)
    turned.imag.add_(y)
    turned[:1] = x[:1]
    return changed


CASES: list[OpCase] = [
    *over("parts", lambda t, x: (
        x.real, x.imag, t.real(x) * t.imag(x), x.conj(), t.conj(x) * x, x.conj_physical(),
        t.conj_physical(x), x.resolve_conj(), x.resolve_neg(), x.mH if x.ndim > 1 else x,
        t.is_complex(x), x.is_neg(), t.is_conj(x),
    ), SOME),
    *over("parts of conjugates", lambda t, x: (
        x.conj().real, x.conj().imag, t._neg_view(x), t._neg_view(x.conj()).conj(),
    ), SOME),
    OpCase("change of a conjugate", changed_conjugate, (COMPLEX, normal(3, 4))),
    OpCase("parts of real numbers", lambda t, x: (
        x.real * 1, x.conj() * 1, t.conj_physical(x), x.angle(), t.angle(x), t.abs(x), t.sgn(x),
        t.is_complex(x),
    ), (nonzero(3, 4),)),
    OpCase("phase of integers", lambda t, n: (n.angle(), n.conj(), n.real), (integers(-3, 4, 9),)),
    OpCase("phase of special numbers", lambda t, x: t.angle(x),
           (exactly([0.0, -0.0, float("inf"), -float("inf"), float("nan"), -1.0]),)),
    *over("phase and magnitude", lambda t, x: (
        x.angle(), t.angle(x) ** 2, x.abs(), abs(x) ** 2, x.sgn(), t.sgn(x) * x,
    ), SOME),
    OpCase("phase and magnitude at zero", lambda t, x: (t.angle(x), t.abs(x), t.sgn(x)),
           (exactly([0, 1, -1, 1j, -1j, -1 - 1j], "complex128"),), second_order=False),
    *over("view_as_real", lambda t, x: (
        t.view_as_real(x), t.view_as_real(x).exp(), t.view_as_complex(t.view_as_real(x) * 2),
    ), SOME[:3]),
    *over("view_as_complex", lambda t, x: (t.view_as_complex(x), t.view_as_complex(x).exp()), [
        (normal(3, 4, 2),), (normal(2),),
    ]),
    OpCase("written parts", set_parts, (COMPLEX, normal(4))),
    *over("complex", lambda t, x, y: (t.complex(x, y), t.complex(x, y).exp()), [
        (normal(3, 4), normal(3, 4)), (normal(), normal()), (normal(0), normal(0)),
        (normal(3, 1), normal(4)),
    ]),
    OpCase("complex of infinities", lambda t, x, y: t.complex(x, y),
           (exactly([float("inf"), 1.0]), exactly([0.0, float("nan")])), second_order=False),
    *over("polar", lambda t, x, y: (t.polar(x, y), t.polar(x, y) ** 2), [
        (positive(3, 4), normal(3, 4)), (positive(), normal()), (positive(0), normal(0)),
    ]),
    OpCase("into complex", lambda t, x: (
        x.to(t.complex128), x.to(t.complex128) * (1 + 2j), t.complex(x, x.exp()).abs(),
    ), (normal(3, 4),)),
    # Products.
    *over("matmul", lambda t, x, y: x @ y, PRODUCTS),
    OpCase("mm", lambda t, x, y: (t.mm(x, y), x.mH.mm(x), x.mm(y).abs()),
           (COMPLEX, complex_normal(4, 2))),
    OpCase("bmm", lambda t, x, y: t.bmm(x, y), (complex_normal(2, 3, 4), complex_normal(2, 4, 2))),
    OpCase("mv", lambda t, x, y: x.mv(y), (COMPLEX, complex_normal(4))),
    OpCase("dot", lambda t, x, y: (t.dot(x, y), t.vdot(x, y), t.outer(x, y), t.vdot(x, x).real),
           (complex_normal(3), complex_normal(3))),
    OpCase("addmm", lambda t, b, x, y: t.addmm(b, x, y, beta=2j, alpha=1 - 1j),
           (complex_normal(2), COMPLEX, complex_normal(4, 2))),
    # Reductions.
    *over("reductions", lambda t, x: (
        x.sum(), x.mean(-1), x.prod(), x.prod(0), x.cumsum(0), x.norm(), x.norm(3), x.var(),
        x.std(0, correction=0), t.var_mean(x, -1),
    ), [(COMPLEX,), (strided(COMPLEX),)]),
    OpCase("product with zeros", lambda t, x: x.prod(0),
           (exactly([[0, 1j], [2 + 1j, 0], [1j, 0]], "complex128"),)),
    OpCase("norm at zero", lambda t, x: (x.norm(), x.norm(1), x.norm(3), x.norm(dim=0)),
           (exactly([[0, 0j], [0, 1j]], "complex128"),), second_order=False),
    # Elements moved about.
    OpCase("shapes", lambda t, x: (
        x.T, x.mH, x.reshape(4, 3), x.flip(0), x.roll(1, 1), t.cat([x, x.conj()]), t.stack([x, x]),
        x.unsqueeze(0).expand(2, 3, 4), x.diagonal(), t.diag_embed(x), x.tril(), x.triu(1),
        x.repeat(2, 1), x.split(2, 1), x.unfold(1, 2, 1), x.trace(), t.tile(x, (2,)),
    ), (COMPLEX,)),
    OpCase("Fourier transforms", lambda t, x, z: (
        t.fft.fft(x, dim=0), t.fft.ifft(x, norm="ortho"), t.fft.ihfft(x), t.fft.rfftn(x),
        t.fft.irfft(z), t.fft.irfft(z, 5, norm="forward"), t.fft.hfftn(z, (2, 5)), t.fft.ifft2(z),
    ), (normal(3, 4), complex_normal(2, 4))),
    OpCase("elements", lambda t, x, i, m: (
        x[1], x[:, ::2], x[i], x[m], x[..., None], x.gather(0, i.unsqueeze(1)),
        x.index_select(1, i), x.take(i), x.masked_fill(m, 2j), t.where(m, x, 0),
    ), (COMPLEX, integers(0, 3, 2), mask(3, 4)),
        not_batched="how many elements a mask picks depends on its values"),
    OpCase("elements added", lambda t, x, y, i: (
        x.index_add(0, i, y), x.scatter_add(0, i.unsqueeze(1).expand(2, 4), y),
        x.index_put((i,), y),
    ), (COMPLEX, complex_normal(2, 4), exactly([2, 0], "int64"))),
    OpCase("parts of two dtypes", lambda t, x, y: (
        t.cat([x, y]), t.stack([x, y]), x * y, y - x, x / y,
    ), (normal(3), complex_normal(3))),
]  # fmt: skip
