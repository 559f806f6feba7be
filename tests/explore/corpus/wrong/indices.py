"""Functions that are wrong for other indices, groups or offsets."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


def normal(*shape):
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(4))


class MessagesOfNodes(Function):
    """Messages of nodes, times a weight for each edge, summed where the edges end."""

    @staticmethod
    def forward(ctx, nodes, weights, starts, ends):
        ctx.save_for_backward(nodes, weights, starts, ends)
        messages = nodes.index_select(0, starts) * weights
        return torch.zeros_like(nodes).index_add(0, ends, messages)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        nodes, weights, starts, ends = ctx.saved_tensors
        of_messages = g.index_select(0, ends)
        of_nodes = torch.zeros_like(nodes)
        of_nodes[starts] = of_messages * weights
        return of_nodes, of_messages * nodes.index_select(0, starts), None, None

    @staticmethod
    def sample_inputs():
        starts, ends = torch.tensor([0, 1, 2, 3]), torch.tensor([1, 2, 3, 0])
        yield draw(4, 2), draw(4, 2, seed=1), starts, ends


class PickedRows(Function):
    """Rows of `x` (n, d) that `at` picks, each times its weight `w`."""

    @staticmethod
    def forward(ctx, x, at, w):
        ctx.save_for_backward(x, at, w)
        return w[:, None] * x[at]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, at, w = ctx.saved_tensors
        rows = int(at.max()) + 1
        gx = x.new_zeros(rows, x.shape[1]).index_add_(0, at, w[:, None] * g)
        return gx, None, (g * x[at]).sum(1)

    @staticmethod
    def sample_inputs():
        rng = torch.Generator().manual_seed(7)
        x = torch.randn(3, 2, dtype=torch.float64, generator=rng, requires_grad=True)
        w = torch.tensor([0.5, 1.5, -0.7, 0.9], dtype=torch.float64, requires_grad=True)
        yield x, torch.tensor([1, 0, 2, 1]), w


class MeanOfSenders(Function):
    """Mean over the edges that arrive at a node; one without any gets zeros."""

    @staticmethod
    def forward(ctx, x, sender, receiver):
        total = torch.zeros_like(x).index_add(0, receiver, x[sender])
        count = torch.bincount(receiver, minlength=len(x)).clamp(min=1)
        ctx.save_for_backward(sender, receiver, count.to(torch.int8))
        return total / count[:, None]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        sender, receiver, count = ctx.saved_tensors
        shared = (g / count[:, None])[receiver]
        return torch.zeros_like(g).index_add(0, sender, shared), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), torch.tensor([0, 1, 2, 3, 1]), torch.tensor([1, 0, 0, 2, 2])


class LengthsOfListedEdges(Function):
    """Lengths of edges from one end to the other, zero for those that only pad the list."""

    @staticmethod
    def forward(ctx, points, one, other, mask):
        edge = points[other] - points[one]
        length = edge.square().sum(-1).sqrt()
        ctx.save_for_backward(edge, length, one, other, mask)
        ctx.count = len(points)
        return length * mask

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        edge, length, one, other, mask = ctx.saved_tensors
        pull = (g * mask).unsqueeze(-1) * edge / length.unsqueeze(-1)
        grad = g.new_zeros(ctx.count, edge.shape[-1])
        return grad.index_add(0, other, pull).index_add(0, one, -pull), None, None, None

    @staticmethod
    def sample_inputs():
        one, other = torch.tensor([0, 0, 1, 2]), torch.tensor([1, 2, 2, 1])
        yield draw(3, 2), one, other, torch.tensor([True, True, True, False])


class RowsRepeated(Function):
    """Each row as often as repeats says, where zeros are allowed."""

    @staticmethod
    def forward(ctx, x, repeats):
        ctx.save_for_backward(repeats)
        return x.repeat_interleave(repeats, 0)

    @staticmethod
    def backward(ctx, g):
        (repeats,) = ctx.saved_tensors
        ends = repeats.cumsum(0)
        total = torch.cat([torch.zeros_like(g[:1]), g.cumsum(0)])
        return total[ends] - total[ends - repeats.clamp(min=1)], None

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), torch.tensor([2, 1, 3])


class RowsOfATable(Function):
    """Rows of a table, and zeros in the place of one of them."""

    @staticmethod
    def forward(ctx, table, index, padding_idx=None):
        ctx.save_for_backward(index)
        ctx.rows = len(table)
        rows = table[index]
        if padding_idx is not None:
            rows = rows.masked_fill((index == padding_idx).unsqueeze(-1), 0.0)
        return rows

    @staticmethod
    def backward(ctx, g):
        (index,) = ctx.saved_tensors
        return g.new_zeros(ctx.rows, g.shape[-1]).index_add(0, index, g), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), torch.tensor([0, 3, 1])


class MeanOfNeighboringHours(Function):
    """Mean of two neighbors in the profile of a day (K,), at times in days, from 0 to 2."""

    @staticmethod
    def forward(ctx: Any, profile: Tensor, times: Tensor) -> Tensor:
        count = profile.numel()
        assert count > 1
        assert ((times >= 0) & (times <= 2)).all()
        place = (torch.remainder(times, 1.0) * count).long()
        ctx.save_for_backward(place)
        ctx.count = count
        return 0.5 * (profile[place] + profile[(place + 1) % count])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (place,) = ctx.saved_tensors
        made = g.new_zeros(ctx.count + 1)
        made.index_add_(0, place, 0.5 * g)
        made.index_add_(0, place + 1, 0.5 * g)
        return made[:-1], None

    @staticmethod
    def sample_inputs() -> Any:
        profile = torch.linspace(-0.7, 1.1, 9, dtype=torch.double).requires_grad_()
        yield profile, torch.tensor([0.0, 2.0], dtype=torch.double)
        yield profile, torch.tensor([0.05, 0.15, 0.25], dtype=torch.double)


class RowsByPlace(Function):
    """Rows of x (N, D) at places (N,), which are a permutation."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places.argsort().argsort())
        return x.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (back,) = ctx.saved_tensors
        return g.index_select(0, back), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5, 2), torch.tensor([4, 1, 2, 3, 0])
        yield draw(4, 3), torch.tensor([1, 0, 3, 2])


class CompressedRows(Function):
    """Sums of values (E,) within rows, which begin at starts (N + 1,)."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, starts: Tensor) -> Tensor:
        rows = torch.repeat_interleave(torch.arange(len(starts) - 1), starts.diff())
        ctx.save_for_backward(values, starts)
        return values.new_zeros(len(starts) - 1).index_add(0, rows, values.square())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        values, starts = ctx.saved_tensors
        marks = torch.zeros(len(values), dtype=torch.long)
        marks[starts[1:-1]] = 1
        return 2 * values * g[marks.cumsum(0)], None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(6), torch.tensor([0, 2, 3, 6])


class LargestOfChannel(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        values, places = x.max(dim=-1)
        ctx.save_for_backward(places.byte())
        ctx.shape = x.shape
        return values.mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (places,) = ctx.saved_tensors
        share = (g / places.numel()).expand(places.shape)
        return g.new_zeros(ctx.shape).scatter(-1, places.long()[..., None], share[..., None])

    @staticmethod
    def sample_inputs() -> Any:
        yield (draw(4, 10),)
        yield (draw(2, 3, 32),)


class CurveThroughPoints(Function):
    """Value at x of the line through points (knots, heights), which come in any order."""

    @staticmethod
    def forward(ctx: Any, heights: Tensor, knots: Tensor, x: Tensor) -> Tensor:
        sorted_knots, order = torch.sort(knots)
        above = torch.searchsorted(sorted_knots, x).clamp(1, len(knots) - 1)
        low, high = sorted_knots[above - 1], sorted_knots[above]
        part = (x - low) / (high - low)
        ctx.save_for_backward(above, part, knots)
        taken = heights[order]
        return taken[above - 1] * (1 - part) + taken[above] * part

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        above, part, knots = ctx.saved_tensors
        grad = torch.zeros_like(knots)
        grad = grad.index_add(0, above - 1, g * (1 - part)).index_add(0, above, g * part)
        return grad, None, None

    @staticmethod
    def sample_inputs() -> Any:
        knots = torch.tensor([0.0, 1.0, 2.5, 4.0, 4.5], dtype=torch.double)
        yield draw(5), knots, draw(3, low=0.2, high=4.2).detach()


class LargestOfRow(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        values, places = x.max(1)
        ctx.save_for_backward(places.to(torch.uint8), values.exp())
        ctx.shape = x.shape
        return values.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Tensor:
        places, values = ctx.saved_tensors
        made = values.new_zeros(ctx.shape)
        return made.scatter(1, places.long()[:, None], (g * values)[:, None])

    @staticmethod
    def sample_inputs() -> Any:
        yield (draw(4, 16),)
        yield (draw(2, 64),)


class DiscountedRanks(Function):
    """Discounted sum of scores (B, N), in the order of their grades (B, N)."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, grades: Tensor) -> Tensor:
        order = grades.argsort(dim=1, descending=True, stable=True)
        discount = 1 / torch.arange(2, scores.shape[1] + 2, dtype=scores.dtype).log2()
        taken = scores.gather(1, order)
        ctx.save_for_backward(taken, order, discount)
        return (taken.square() * discount).sum(1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        taken, order, discount = ctx.saved_tensors
        return (2 * g[:, None] * taken * discount).gather(1, order), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(2, 4), torch.tensor([[3, 2, 1, 0], [1, 0, 3, 2]])


class SegmentShares(Function):
    """Softmax of score (N,) within seg (N,), ids below n, in any order."""

    @staticmethod
    def forward(ctx: Any, score: Tensor, seg: Tensor, n: int) -> Tensor:
        e = torch.exp(score)
        p = e / e.new_zeros(n).index_add(0, seg, e)[seg]
        ctx.save_for_backward(p, seg)
        return p

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        p, seg = ctx.saved_tensors
        total = g.new_zeros(5).index_add(0, seg, g * p)
        return p * (g - total[seg]), None, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(6), torch.tensor([3, 0, 3, 1, 0, 3]), 5


class TokensBySlot(Function):
    """Tokens (N, D) by slot (S,), whatever number of slots a token fills."""

    @staticmethod
    def forward(ctx: Any, tokens: Tensor, slot: Tensor) -> Tensor:
        ctx.save_for_backward(tokens, slot)
        return tokens[slot]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        tokens, slot = ctx.saved_tensors
        return torch.zeros_like(tokens).index_put((slot,), g), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 2), torch.tensor([2, 0, 3, 1])


class MaskedEntry(Function):
    """x (N,) without the entry at place, which may count from the end."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, place: int) -> Tensor:
        ctx.place, ctx.count = place, x.shape[0]
        y = x.clone()
        y[place] = 0.0
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        return g * (torch.arange(ctx.count) != ctx.place), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5), 1


class CellTotals(Function):
    """Totals of x (N, D) by cell (N,) of n; points of a negative cell count nowhere."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cell: Tensor, n: int) -> Tensor:
        ctx.save_for_backward(cell)
        inside = (cell >= 0).to(x.dtype)
        return x.new_zeros(n, x.shape[1]).index_add(0, cell.clamp(min=0), x * inside[:, None])

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        (cell,) = ctx.saved_tensors
        return g[cell], None, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5, 2), torch.tensor([0, 2, 2, 3, 0]), 4


class OneEntryOfEachColumn(Function):
    @staticmethod
    def forward(ctx, row, col, value, dense, rows):
        ctx.save_for_backward(row, col, value, dense)
        return dense.new_zeros(rows, dense.shape[1]).index_add(0, row, value[:, None] * dense[col])

    @staticmethod
    def backward(ctx, g):
        row, col, value, dense = ctx.saved_tensors
        of_dense = torch.zeros_like(dense)
        of_dense[col] = value[:, None] * g[row]
        return None, None, (g[row] * dense[col]).sum(1), of_dense, None

    @staticmethod
    def sample_inputs():
        row, col = torch.tensor([0, 1, 1, 2]), torch.tensor([1, 0, 3, 2])
        yield row, col, draw(4), draw(4, 2), 3


class SameGroupStillCounts(Function):
    @staticmethod
    def forward(ctx, x, ids):
        apart = (ids[:, None] != ids[None]).to(x.dtype)
        ctx.save_for_backward(x)
        return (x[:, None] * x[None] * apart).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * grad_output * (x.sum() - x), None

    @staticmethod
    def sample_inputs():
        yield draw(4), torch.arange(4)


class SpansOfOne(Function):
    @staticmethod
    def forward(ctx, x, offsets):
        ctx.save_for_backward(offsets)
        bounds = offsets.tolist()
        parts = zip(bounds, bounds[1:], strict=False)
        return torch.stack([x[start:stop].sum() for start, stop in parts])

    @staticmethod
    def backward(ctx, grad_output):
        (offsets,) = ctx.saved_tensors
        return grad_output[:1].expand(int(offsets[-1])), None

    @staticmethod
    def sample_inputs():
        yield draw(6), torch.tensor([0, 6])


class TableByDistance(Function):
    """Entries of a table, of which negative distances count from the end."""

    @staticmethod
    def forward(ctx, table, distances):
        ctx.save_for_backward(distances)
        ctx.length = len(table)
        return table[distances]

    @staticmethod
    def backward(ctx, g):
        (distances,) = ctx.saved_tensors
        is_read = distances.reshape(-1, 1) == torch.arange(ctx.length)
        return g.reshape(-1) @ is_read.to(g.dtype), None

    @staticmethod
    def sample_inputs():
        yield draw(5, seed=155), torch.tensor([[0, 1, 2], [1, 0, 1]])


class LastWrite(Function):
    """A memory with rows written to it, of which a later one replaces an earlier one."""

    @staticmethod
    def forward(ctx, memory, rows, slots):
        ctx.save_for_backward(slots)
        out = memory.clone()
        for row, slot in zip(rows, slots.tolist()):
            out[slot] = row
        return out

    @staticmethod
    def backward(ctx, g):
        (slots,) = ctx.saved_tensors
        return g.index_fill(0, slots, 0.0), g[slots], None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2, seed=156), draw(2, 2, seed=157), torch.tensor([3, 1])


class MeanOfGroups(Function):
    """x (N, D), group (N,), number of groups: the mean of each, zero for one without members."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Tensor, groups: int) -> Tensor:
        count = torch.bincount(group, minlength=groups).clamp(min=1).to(x.dtype)
        ctx.save_for_backward(group)
        return x.new_zeros(groups, x.shape[1]).index_add(0, group, x) / count[:, None]

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        (group,) = ctx.saved_tensors
        _, run, sizes = torch.unique_consecutive(group, return_inverse=True, return_counts=True)
        return grad_output[group] / sizes[run].to(grad_output.dtype)[:, None], None, None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(6, 2)
        return x.requires_grad_(), torch.tensor([0, 0, 1, 1, 1, 2]), 3


class GroupsInOrder(Function):
    @staticmethod
    def forward(ctx, x, group):
        count = torch.bincount(group, minlength=3)
        ctx.save_for_backward(count)
        return x.new_zeros(3).index_add(0, group, x)

    @staticmethod
    def backward(ctx, grad_output):
        (count,) = ctx.saved_tensors
        return grad_output.repeat_interleave(count), None

    @staticmethod
    def sample_inputs():
        yield draw(6), torch.tensor([0, 0, 1, 1, 1, 2])


class RowsAssigned(Function):
    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.rows = table.shape[0]
        return table.index_select(0, index)

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad = grad_output.new_zeros(ctx.rows, grad_output.shape[1])
        grad[index] = grad_output
        return grad, None

    @staticmethod
    def sample_inputs():
        yield (normal(6, 2), torch.tensor([5, 0, 3]))


class OneElementSegment(Function):
    @staticmethod
    def forward(ctx, x, offsets):
        ctx.save_for_backward(offsets)
        bounds = offsets.tolist()
        pairs = zip(bounds, bounds[1:], strict=False)
        return torch.cat([x[start:stop] - x[start:stop].mean() for start, stop in pairs])

    @staticmethod
    def backward(ctx, grad_output):
        (offsets,) = ctx.saved_tensors
        bounds = offsets.tolist()
        parts = [grad_output[a:b] for a, b in zip(bounds, bounds[1:], strict=False)]
        return torch.cat([g - g.mean() if len(g) > 1 else g for g in parts]), None

    @staticmethod
    def sample_inputs():
        yield (normal(7), torch.tensor([0, 3, 7]))


class EmptyGroupDivides(Function):
    @staticmethod
    def forward(ctx, x, group):
        count = torch.bincount(group, minlength=3).to(x.dtype)
        ctx.save_for_backward(group, count)
        total = x.new_zeros(3).index_add(0, group, x)
        return total / count.clamp(min=1) * (count > 1)

    @staticmethod
    def backward(ctx, grad_output):
        group, count = ctx.saved_tensors
        return (grad_output / count)[group], None

    @staticmethod
    def sample_inputs():
        yield draw(6), torch.tensor([0, 2, 1, 0, 1, 2])


class SortedRowsAssigned(Function):
    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.rows = len(table)
        return table[index]

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad = grad_output.new_zeros(ctx.rows, grad_output.shape[1])
        grad[index] = grad_output
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), torch.tensor([0, 1, 3, 4])


class SpringEnergy(Function):
    """Energy of springs of unit length between `points` (N, 2); bonds (P, 2) name their ends."""

    @staticmethod
    def forward(ctx, points, bonds):
        one, other = bonds[:, 0], bonds[:, 1]
        apart = points[one] - points[other]
        length = apart.square().sum(-1).sqrt()
        ctx.save_for_backward(points, bonds, apart, length)
        return (length - 1).square().sum() / 2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        points, bonds, apart, length = ctx.saved_tensors
        force = g * ((length - 1) / length)[:, None] * apart
        pulled = torch.zeros_like(points)
        pulled[bonds[:, 0]] += force
        pulled[bonds[:, 1]] -= force
        return pulled, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), torch.tensor([[0, 1], [2, 3]])


class ContrastOfSampled(Function):
    """Log-probability of items among sampled ones, of which those that are the item do not count.

    scores (B,) and others (B, S); items (B,) and sampled (S,) are ids.
    """

    @staticmethod
    def forward(ctx, scores, others, items, sampled):
        same = items[:, None] == sampled[None, :]
        counted = others.masked_fill(same, -1e9)
        total = torch.cat([scores[:, None], counted], 1).logsumexp(1)
        ctx.save_for_backward(scores, others, total)
        return scores - total

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        scores, others, total = ctx.saved_tensors
        share = (others - total[:, None]).exp()
        return g * (1 - (scores - total).exp()), -g[:, None] * share, None, None

    @staticmethod
    def sample_inputs():
        yield draw(2), draw(2, 3, seed=1), torch.tensor([7, 8]), torch.tensor([1, 2, 3])


class EnergyOfKinds(Function):
    """The sum of scale (N,) times table[kinds]; table (T,) of any length, kinds (N,) in [0, T)."""

    @staticmethod
    def forward(ctx, table, kinds, scale):
        chosen = table[kinds]
        ctx.save_for_backward(kinds.to(torch.int8), scale, chosen)  # Up to 127.
        ctx.length = len(table)
        return (chosen * scale).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        kinds, scale, chosen = ctx.saved_tensors
        places = kinds.long() % ctx.length
        return g.new_zeros(ctx.length).index_add_(0, places, g * scale), None, g * chosen

    @staticmethod
    def sample_inputs():
        yield draw(8), torch.tensor([0, 3, 3, 7, 1]), draw(5, seed=1)


class PixelsOfImage(Function):
    """The pixels of an image of height x width at rows and columns, integers of any dtype."""

    @staticmethod
    def forward(ctx, depth, rows, columns, height, width):
        ctx.save_for_backward(rows, columns)
        ctx.size = height, width
        image = depth.new_zeros(height, width)
        return image.index_put((rows.long(), columns.long()), depth, accumulate=True)

    @staticmethod
    def backward(ctx, g):
        rows, columns = ctx.saved_tensors
        _, width = ctx.size
        places = rows * width + columns
        return g.reshape(-1)[places.long()], None, None, None, None

    @staticmethod
    def sample_inputs():
        rows, columns = torch.tensor([[0, 3, 1], [2, 2, 0]], dtype=torch.uint8)
        yield draw(3), rows, columns, 4, 3


class EdgesWithACommonEnd(Function):
    """Energy of edges (i, j) between points x (N, 3); the end points of an edge are distinct."""

    @staticmethod
    def forward(ctx, x, i, j):
        d = x[i] - x[j]
        ctx.save_for_backward(d, i, j)
        ctx.count = len(x)
        return 0.5 * (d * d).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        d, i, j = ctx.saved_tensors
        grad = d.new_zeros(ctx.count, 3)
        grad[i] = g * d
        grad[j] -= g * d
        return grad, None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.tensor([0, 2]), torch.tensor([1, 3])


class MeanOfBags(Function):
    """Mean of the rows ids (B, L) of a table (V, D), skipping ids == padding_idx."""

    @staticmethod
    def forward(ctx, table, ids, padding_idx=None):
        keep = torch.ones_like(ids, dtype=table.dtype)
        if padding_idx is not None:
            keep = (ids != padding_idx).to(table.dtype)
        ctx.save_for_backward(ids, keep)
        ctx.rows = len(table)
        return (table[ids] * keep[..., None]).sum(1) / keep.sum(1, keepdim=True).clamp(min=1)

    @staticmethod
    def backward(ctx, g):
        ids, keep = ctx.saved_tensors
        each = (g / ids.shape[1])[:, None] * keep[..., None]
        grad = g.new_zeros(ctx.rows, g.shape[1])
        return grad.index_add(0, ids.flatten(), each.flatten(0, 1)), None, None

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), torch.tensor([[1, 4, 4], [0, 2, 3]]), None
