"""Shapes, the order of dimensions, broadcasting, windows, repetition and diagonals."""

from __future__ import annotations

from tests.engine.ops.cases.case import SHAPES, OpCase, exactly, integers, normal, over, strided

MATRICES = [(normal(3, 4),), (normal(4, 2),), (normal(2, 3, 3),), (normal(0, 3),), (normal(1, 1),)]
ANY = [(normal(*shape),) for shape in SHAPES]

COUNTED = "the size of the result depends on values"

RESHAPES = [
    OpCase("reshape", lambda t, x: x.reshape(4, 3), (normal(3, 4),)),
    OpCase("reshape", lambda t, x: t.reshape(x, (-1, 2)), (normal(3, 4),)),
    OpCase("reshape of a transpose", lambda t, x: x.t().reshape(-1), (normal(3, 4),)),
    OpCase("reshape", lambda t, x: x.reshape(6, -1), (strided(normal(3, 4)),)),
    OpCase("reshape", lambda t, x: x.reshape(0, 5), (normal(2, 0, 3),)),
    OpCase("reshape", lambda t, x: x.reshape(()), (normal(1, 1),)),
    OpCase("reshape", lambda t, x: x.reshape(1, 1), (normal(),)),
    OpCase("view", lambda t, x: x.view(2, 6).exp(), (normal(3, 4),)),
    OpCase("view", lambda t, x: x.view((-1, 4)), (normal(2, 2, 2),)),
    OpCase("view_as", lambda t, x, y: x.view_as(y) * y, (normal(3, 4), normal(2, 6))),
    OpCase("reshape_as", lambda t, x, y: x.t().reshape_as(y), (normal(3, 4), normal(2, 6))),
    *over("ravel", lambda t, x: t.ravel(x), ANY),
    *over("flatten", lambda t, x: x.flatten(), ANY),
    OpCase("flatten", lambda t, x: t.flatten(x, 1, 2), (normal(2, 3, 2, 2),)),
    OpCase("flatten", lambda t, x: x.flatten(start_dim=-2), (normal(2, 3, 2),)),
    OpCase("unflatten", lambda t, x: x.unflatten(1, (2, -1)), (normal(3, 6),)),
    OpCase("unflatten", lambda t, x: t.unflatten(x, -1, (3, 2)), (normal(2, 6),)),
    *over("unsqueeze", lambda t, x: x.unsqueeze(0), ANY),
    *over("unsqueeze", lambda t, x: t.unsqueeze(x, -1), ANY),
    OpCase("unsqueeze", lambda t, x: x.unsqueeze(1) ** 2, (normal(3, 4),)),
    *over("squeeze", lambda t, x: x.squeeze(), [*ANY, (normal(1, 3, 1, 2),)]),
    OpCase("squeeze", lambda t, x: x.squeeze(0), (normal(1, 3, 1),)),
    OpCase("squeeze", lambda t, x: x.squeeze(1), (normal(1, 3, 1),)),
    OpCase("squeeze", lambda t, x: t.squeeze(x, (0, -1)), (normal(1, 3, 1),)),
    OpCase("numel", lambda t, x: t.numel(x), (normal(3, 4),)),
]

AXES = [
    *over("t", lambda t, x: x.t(), [(normal(3, 4),), (normal(5),), (normal(),), (normal(0, 3),)]),
    *over("transpose", lambda t, x: x.transpose(0, -1), ANY),
    OpCase("transpose", lambda t, x: t.transpose(x, 1, 2) ** 2, (normal(2, 3, 4),)),
    OpCase("swapaxes", lambda t, x: t.swapaxes(x, 0, 1), (normal(2, 3, 4),)),
    OpCase("permute", lambda t, x: x.permute(2, 0, 1).exp(), (normal(2, 3, 4),)),
    OpCase("permute", lambda t, x: t.permute(x, (1, -1, 0)), (normal(2, 3, 4),)),
    OpCase("permute", lambda t, x: t.permute(x, dims=()), (normal(),)),
    OpCase("movedim", lambda t, x: x.movedim(0, -1), (normal(2, 3, 4),)),
    OpCase("movedim", lambda t, x: t.movedim(x, (0, 1), (2, 0)), (normal(2, 3, 4),)),
    OpCase("moveaxis", lambda t, x: t.moveaxis(x, (1, -1), (0, 1)), (normal(2, 3, 4, 1),)),
    *over("mT", lambda t, x: x.mT, MATRICES),
    *over("mH", lambda t, x: x.mH, MATRICES),
    OpCase("adjoint", lambda t, x: t.adjoint(x), (normal(2, 3, 4),)),
    OpCase("T", lambda t, x: x.T @ x, (normal(3, 4),)),
    OpCase("H", lambda t, x: x.H, (normal(3, 4),)),
]

EXPANSION = [
    OpCase("expand", lambda t, x: x.expand(3, 4), (normal(1, 4),)),
    OpCase("expand", lambda t, x: x.expand(2, -1, 4) ** 2, (normal(3, 1),)),
    OpCase("expand", lambda t, x: x.expand((3,)), (normal(),)),
    OpCase("expand", lambda t, x: x.expand(0, 3), (normal(1, 3),)),
    OpCase("expand", lambda t, x: x.expand(3, 4), (normal(3, 4),)),
    OpCase("expand", lambda t, x: x.expand(()), (normal(),)),
    OpCase("expand_as", lambda t, x, y: x.expand_as(y) * y, (normal(4), normal(3, 4))),
    OpCase("broadcast_to", lambda t, x: t.broadcast_to(x, (2, 3)), (normal(2, 1),)),
    OpCase("broadcast_tensors", lambda t, x, y: t.broadcast_tensors(x, y),
           (normal(3, 1), normal(1, 4))),
    OpCase("broadcast_tensors", lambda t, x, y: t.broadcast_tensors(x, y), (normal(), normal(0))),
    OpCase("broadcast_shapes", lambda t: tuple(t.broadcast_shapes((3, 1), (2, 1, 4), 4)), ()),
    OpCase("sum_to_size", lambda t, x: x.sum_to_size(1, 4), (normal(3, 4),)),
    OpCase("sum_to_size", lambda t, x: x.sum_to_size((4,)) ** 2, (normal(2, 3, 4),)),
    OpCase("sum_to_size", lambda t, x: x.sum_to_size(()), (normal(2, 3),)),
    OpCase("sum_to_size", lambda t, x: x.sum_to_size(1), (normal(0),)),
    OpCase("sum_to_size", lambda t, x: x.sum_to_size(1, 3), (integers(0, 9, 2, 3, dtype="int32"),)),
]  # fmt: skip

WINDOWS = [
    OpCase("unfold", lambda t, x: x.unfold(0, 3, 1), (normal(6),)),
    OpCase("unfold", lambda t, x: x.unfold(1, 2, 3) ** 2, (normal(2, 7, 3),)),
    OpCase("unfold", lambda t, x: x.unfold(-1, 3, 2), (normal(2, 6),)),
    OpCase("unfold twice", lambda t, x: x.unfold(0, 2, 1).unfold(1, 2, 1).exp(), (normal(3, 4),)),
    OpCase("unfold", lambda t, x: x.unfold(0, 1, 1), (normal(),)),
]

REPETITION = [
    *over("clone", lambda t, x: x.clone(), ANY),
    OpCase("clone in channels_last", lambda t, x: x.clone(memory_format=t.channels_last),
           (normal(1, 2, 3, 2),)),
    *over("contiguous", lambda t, x: x.contiguous(), [*ANY, (strided(normal(3, 4)),)]),
    OpCase("repeat", lambda t, x: x.repeat(2, 3), (normal(3, 4),)),
    OpCase("repeat", lambda t, x: x.repeat((2, 1, 3)) ** 2, (normal(3, 4),)),
    OpCase("repeat", lambda t, x: x.repeat(3), (normal(),)),
    OpCase("repeat", lambda t, x: x.repeat(0, 2), (normal(3, 4),)),
    OpCase("repeat", lambda t, x: x.repeat(2, 2), (normal(0, 3),)),
    OpCase("tile", lambda t, x: t.tile(x, (2,)), (normal(3, 4),)),
    OpCase("tile", lambda t, x: x.tile(2, 1, 2), (normal(3, 4),)),
    OpCase("repeat_interleave", lambda t, x: x.repeat_interleave(2), (normal(3, 4),)),
    OpCase("repeat_interleave", lambda t, x: t.repeat_interleave(x, 3, dim=1), (normal(3, 4),)),
    OpCase("repeat_interleave", lambda t, x, n: x.repeat_interleave(n, 0),
           (normal(3, 2), exactly([2, 0, 1], "int64")), not_batched=COUNTED),
    OpCase("repeat_interleave", lambda t, n: t.repeat_interleave(n),
           (exactly([2, 0, 1], "int64"),), not_batched=COUNTED),
    OpCase("flip", lambda t, x: x.flip(0), (normal(3, 4),)),
    OpCase("flip", lambda t, x: x.flip(-1), (normal(),)),
    OpCase("flip", lambda t, x: t.flip(x, (0, -1)) ** 2, (normal(3, 4),)),
    OpCase("flip", lambda t, x: t.flip(x, dims=(1,)), (normal(2, 0, 3),)),
    OpCase("roll", lambda t, x: x.roll(1), (normal(3, 4),)),
    OpCase("roll", lambda t, x: t.roll(x, (1, -2), (0, 1)) ** 2, (normal(3, 4),)),
    OpCase("roll", lambda t, x: x.roll(shifts=5, dims=-1), (normal(3, 4),)),
    OpCase("roll", lambda t, x: x.roll(2, 0), (normal(0, 3),)),
]  # fmt: skip

DIAGONALS = [
    *over("tril", lambda t, x: x.tril(), MATRICES),
    *over("triu", lambda t, x: t.triu(x, diagonal=1), MATRICES),
    OpCase("tril", lambda t, x: t.tril(x, -1) ** 2, (normal(2, 4, 4),)),
    *over("diagonal", lambda t, x: x.diagonal(), MATRICES),
    OpCase("diagonal", lambda t, x: x.diagonal(1, 0, 2) ** 2, (normal(3, 2, 4),)),
    OpCase("diagonal", lambda t, x: t.diagonal(x, offset=-2), (normal(4, 3),)),
    OpCase("diagonal", lambda t, x: x.diagonal(7), (normal(4, 3),)),
    OpCase("diag_embed", lambda t, x: t.diag_embed(x), (normal(2, 3),)),
    OpCase("diag_embed", lambda t, x: t.diag_embed(x, -1, 0, 2) ** 2, (normal(2, 3),)),
    OpCase("diag_embed", lambda t, x: t.diag_embed(x, 2, 1, 0), (normal(2, 3),)),
    *over("diag", lambda t, x: t.diag(x), [(normal(3),), (normal(3, 4),), (normal(0),)]),
    OpCase("diag", lambda t, x: x.diag(-1), (normal(3),)),
    *over("trace", lambda t, x: x.trace(), [(normal(3, 3),), (normal(2, 4),), (normal(0, 3),)]),
]

CASES = [*RESHAPES, *AXES, *EXPANSION, *WINDOWS, *REPETITION, *DIAGONALS]
