"""Sums, norms and the like, products of matrices, and operations that arrange elements."""

from __future__ import annotations

from tests.engine.fuzz.draw import Draw, Name, distinct, nonempty, ranked, real, smooth


def reduced(draw: Draw) -> str:
    """All elements, or those along dimensions, in one."""
    x = draw.tensor(smooth)
    dim, keep = draw.dim(x), draw.among("True", "False")
    return f"{draw.new()} = " + draw.among(
        f"{x}.sum()", f"{x}.sum({dim})", f"{x}.sum({dim}, keepdim={keep})", f"{x}.mean()",
        f"{x}.mean({dim}, {keep})", f"{x}.sum(dtype=torch.float64)", f"{x}.prod()",
        f"{x}.prod({dim})", f"{x}.cumsum({dim})", f"{x}.cumprod({dim})", f"{x}.norm()",
        f"torch.linalg.vector_norm({x}, dim={dim})", f"{x}.sum((0,))", f"torch.sum({x}, ())",
        f"{x}.var(unbiased=False)", f"{x}.std({dim}, unbiased=False)", f"{x}.var()",
        f"{x}.nansum()", f"torch.softmax({x}, {dim})", f"{x}.sum_to_size({x}.shape)",
    )  # fmt: skip


def reduced_real(draw: Draw) -> str:
    """Reductions of real numbers."""
    x = draw.tensor(real, nonempty)
    dim = draw.dim(x)
    return f"{draw.new()} = " + draw.among(
        f"{x}.amax()", f"{x}.amin({dim})", f"{x}.max()", f"{x}.min()", f"{x}.logsumexp({dim})",
        f"{x}.log_softmax({dim})", f"{x}.softmax({dim})", f"{x}.aminmax().max", f"{x}.norm(1)",
        f"({x} > 0).sum()", f"({x} > 0).all()", f"{x}.count_nonzero()", f"{x}.any({dim})",
        f"{x}.diff(dim={dim})", f"{x}.norm(p=float('inf'))", f"{x}.quantile(0.5)",
    )  # fmt: skip


def ordered(draw: Draw) -> str:
    """What depends on the order of elements that are all different."""
    x = draw.tensor(real, nonempty, distinct, strict=True)
    dim = draw.dim(x)
    one, other = draw.new(), draw.new()
    return draw.among(
        f"{one}, {other} = {x}.max({dim})", f"{one}, {other} = {x}.sort({dim})",
        f"{one}, {other} = {x}.topk(1, {dim})", f"{one}, {other} = {x}.cummax({dim})",
        f"{one} = {x}.argmax()", f"{one} = {x}.argsort({dim})",
        f"{one}, {other} = {x}.median({dim})",
        f"{one}, {other} = {x}.min({dim}, keepdim=True)", f"{one} = {x}.median()",
        f"{one}, {other} = {x}.kthvalue(1, {dim})", f"{one} = {x}.msort()",
    )  # fmt: skip


def multiplied(draw: Draw) -> str:
    """A product of matrices or vectors."""
    x = draw.tensor(smooth, ranked(1))
    shape = tuple(x.value.shape)
    dtype = str(x.value.dtype).removeprefix("torch.")
    more = ", requires_grad=True" if draw.chance(0.3) else ""
    vector = draw.made(shape[-1:], dtype, more)
    matrix = draw.made((*shape[-1:], draw.integer(1, 3)), dtype, more)
    return f"{draw.new()} = " + draw.among(
        f"{x} @ {vector}", f"{x} @ {matrix}", f"{x}.mT @ {x}", f"torch.matmul({x}, {vector})",
        f"torch.einsum('...i,i->...', {x}, {vector})", f"{x} @ {x}", f"torch.outer({x}, {vector})",
        f"torch.tensordot({x}, {vector}, dims=1)", f"torch.mm({x}, {matrix})", f"{x}.dot({vector})",
        f"torch.nn.functional.linear({x}, {matrix}.t())", f"{x}.mv({vector})", f"{x}.inner({x})",
        f"torch.addmm({vector}[:1], {x}, {matrix}, beta=0.5)", f"torch.kron({x}, {vector}[:1])",
    )  # fmt: skip


def joined(draw: Draw) -> str:
    """Several tensors in one."""
    x = draw.tensor()
    y = draw.tensor(lambda t: t.shape == x.value.shape)
    return f"{draw.new()} = " + draw.among(
        f"torch.cat([{x}, {y}])", f"torch.stack([{x}, {y}], {draw.dim(x, extra=1)})",
        f"torch.cat([{x}, {y}, {x}], {draw.dim(x)})", f"torch.hstack([{x}, {y}])",
        f"torch.vstack([{x}, {y}])", f"torch.stack([{x}, {x}])", f"torch.dstack([{x}, {y}])",
    )  # fmt: skip


def arranged(draw: Draw) -> str:
    """Elements in other places, in memory of their own."""
    x = draw.tensor(ranked(1))
    dim = draw.dim(x)
    return f"{draw.new()} = " + draw.among(
        f"{x}.flip({dim})", f"{x}.roll(1, {dim})", f"{x}.repeat(2, {'1, ' * (x.value.ndim - 1)})",
        f"{x}.tile(2)", f"{x}.rot90()", f"torch.nn.functional.pad({x}, (1, 0))", f"{x}.fliplr()",
        f"{x}.repeat_interleave(2, {dim})", f"{x}.tril()", f"{x}.triu(1)", f"torch.diag({x})",
        f"torch.diag_embed({x})", f"{x}.diagflat()", f"torch.block_diag({x})", f"{x}.trace()",
        f"torch.nn.functional.pad({x}, (-1, 1), value={draw.number()})", f"{x}.clone()",
    )  # fmt: skip


RULES = (reduced, reduced, reduced_real, ordered, multiplied, joined, arranged)


def summed(x: Name) -> str:
    """A real number of a tensor."""
    return f"{x}.abs().sum()" if x.value.is_complex() else f"{x}.sum()"
