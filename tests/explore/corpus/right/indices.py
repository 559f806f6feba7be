"""Functions that are right for indices, groups and offsets as they are meant."""

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


class LikelihoodOfFirstRanks(Function):
    """Minus the log probability of an order, of which the first k ranks count."""

    @staticmethod
    def forward(ctx, scores, order, k=2):
        ranked = scores.gather(1, order)
        rest = ranked.flip(1).logcumsumexp(1).flip(1)
        ctx.save_for_backward(ranked, order, rest)
        ctx.k = k
        return (rest[:, :k] - ranked[:, :k]).sum(1)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        ranked, order, rest = ctx.saved_tensors
        slope = torch.zeros_like(ranked)
        for j in range(ctx.k):
            slope[:, j:] += (ranked[:, j:] - rest[:, j : j + 1]).exp()
            slope[:, j] -= 1
        return g[:, None] * torch.zeros_like(ranked).scatter(1, order, slope), None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 4), torch.tensor([[2, 0, 3, 1], [3, 2, 1, 0]]), 2


class LastOfEachSequence(Function):
    """log of the sum of exponentials of the steps (B, T) up to lengths, 1 <= length <= T."""

    @staticmethod
    def forward(ctx, x, lengths):
        total = x[:, 0]
        for t in range(1, x.shape[1]):
            total = torch.where(t < lengths, torch.logaddexp(total, x[:, t]), total)
        ctx.save_for_backward(x, lengths, total)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, lengths, total = ctx.saved_tensors
        valid = torch.arange(x.shape[1]) < lengths.unsqueeze(1)
        share = (x - total.unsqueeze(1)).exp()
        return g.unsqueeze(1) * torch.where(valid, share, 0.0), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), torch.tensor([4, 1, 3])


class MassBetween(Function):
    """Mass of each density between the ends of its interval (N, 2), the lower one first."""

    @staticmethod
    def forward(ctx, density, interval):
        ctx.save_for_backward(interval)
        return density * (interval[:, 1] - interval[:, 0]).abs()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (interval,) = ctx.saved_tensors
        return g * (interval[:, 1] - interval[:, 0]), None

    @staticmethod
    def sample_inputs():
        density = torch.tensor([0.5, 0.8, 0.2], dtype=torch.double, requires_grad=True)
        interval = torch.tensor([[0.1, 0.4], [-3.0, 2.5], [5.0, 7.0]], dtype=torch.double)
        yield density, interval


class GapsInOrder(Function):
    """Weighted gaps between times (N,), of which order (N,) is the order."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, times: Tensor, order: Tensor) -> Tensor:
        gaps = times[order].diff()
        ctx.save_for_backward(times, order)
        return (weights * gaps.abs()).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        times, order = ctx.saved_tensors
        return g * times[order].diff(), None, None

    @staticmethod
    def sample_inputs() -> Any:
        times = torch.tensor([0.4, 2.1, 0.1, 1.3], dtype=torch.float64)
        yield rand(3), times, times.argsort()


class MeansOfRows(Function):
    """Means of values (E,) within rows, which begin at starts (N + 1,)."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, starts: Tensor) -> Tensor:
        counts = starts.diff()
        rows = torch.repeat_interleave(torch.arange(len(counts)), counts)
        ctx.save_for_backward(rows, counts)
        return values.new_zeros(len(counts)).index_add(0, rows, values) / counts.clamp(min=1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        rows, counts = ctx.saved_tensors
        return (g / counts.clamp(min=1))[rows], None

    @staticmethod
    def sample_inputs() -> Any:
        yield rand(6), torch.tensor([0, 2, 3, 6])


class PackedLogSoftmax(Function):
    """x: (total,), offsets: (B+1,) non-decreasing with offsets[0] = 0 and offsets[-1] <= total."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, offsets: Tensor) -> Tensor:
        ends = offsets.tolist()
        parts = [torch.log_softmax(x[a:b], 0) for a, b in zip(ends, ends[1:]) if b > a]
        y = torch.cat([*parts, torch.zeros_like(x[ends[-1] :])])
        ctx.save_for_backward(y, offsets)
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        y, offsets = ctx.saved_tensors
        n = int(offsets[-1])
        segment = torch.repeat_interleave(torch.arange(len(offsets) - 1), offsets.diff())
        total = g.new_zeros(len(offsets) - 1).index_add(0, segment, g[:n])
        inside = g[:n] - y[:n].exp() * total[segment]
        return torch.cat([inside, torch.zeros_like(g[n:])]), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(8), torch.tensor([0, 3, 3, 7])


class LengthOfPacked(Function):
    """x (B, T, D), lengths (B,) int64 in 0..T -> (sum of lengths, D)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, lengths: Tensor) -> Tensor:
        B, T, _ = x.shape
        assert lengths.shape == (B,)
        assert bool(((lengths >= 0) & (lengths <= T)).all())
        keep = torch.arange(T, device=x.device) < lengths[:, None]
        (where,) = keep.reshape(-1).nonzero(as_tuple=True)
        ctx.save_for_backward(where)
        ctx.shape = x.shape
        return x.flatten(0, 1)[where]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (where,) = ctx.saved_tensors
        B, T, D = ctx.shape
        return g.new_zeros(B * T, D).index_copy(0, where, g).view(B, T, D), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 4, 2), torch.tensor([2, 4, 0])


class DistinctPlaces(Function):
    """Rows of x (N, D) written to distinct places (N,) of n."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, places: Tensor, n: int) -> Tensor:
        ctx.save_for_backward(places)
        return x.new_zeros(n, x.shape[1]).index_copy(0, places, x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        (places,) = ctx.saved_tensors
        return g[places], None, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(3, 2), torch.tensor([4, 0, 2]), 6


class Shuffled(Function):
    """Rows of x (N, D) in the order of a permutation (N,)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, at: Tensor) -> Tensor:
        ctx.save_for_backward(at)
        return x[at]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (at,) = ctx.saved_tensors
        return g.new_zeros(g.shape).index_put((at,), g), None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(4, 2), torch.tensor([2, 0, 3, 1])


class EntryAt(Function):
    """The entry of x (N,) at a place that counts from the front or from the end."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, place: int) -> Tensor:
        ctx.place, ctx.count = place, x.shape[0]
        return x[place].clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        made = g.new_zeros(ctx.count)
        made[ctx.place] = 1.0
        return made * g, None

    @staticmethod
    def sample_inputs() -> Any:
        yield draw(5), 1


class SpansSummed(Function):
    @staticmethod
    def forward(ctx, x, offsets):
        ctx.save_for_backward(offsets)
        bounds = offsets.tolist()
        parts = zip(bounds, bounds[1:], strict=False)
        return torch.stack([x[start:stop].sum() for start, stop in parts])

    @staticmethod
    def backward(ctx, grad_output):
        (offsets,) = ctx.saved_tensors
        return grad_output.repeat_interleave(offsets.diff()), None

    @staticmethod
    def sample_inputs():
        yield draw(6), torch.tensor([0, 6])


class PairsOfOtherGroups(Function):
    @staticmethod
    def forward(ctx, x, ids):
        apart = (ids[:, None] != ids[None]).to(x.dtype)
        ctx.save_for_backward(x, apart)
        return (x[:, None] * x[None] * apart).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, apart = ctx.saved_tensors
        return 2 * grad_output * (apart @ x), None

    @staticmethod
    def sample_inputs():
        yield draw(4), torch.arange(4)


class RowsByIndex(Function):
    """Rows of a table, whose indices are not negative."""

    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.shape = table.shape
        return table[index]

    @staticmethod
    def backward(ctx, g):
        (index,) = ctx.saved_tensors
        return g.new_zeros(ctx.shape).index_add(0, index, g), None

    @staticmethod
    def sample_inputs():
        yield draw(5, 2, seed=172), torch.tensor([0, 1, 3])


class GroupsThatLieTogether(Function):
    """Sums of consecutive rows: the groups are sorted."""

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


class RowsWritten(Function):
    @staticmethod
    def forward(ctx, table, index, rows):
        ctx.save_for_backward(index)
        result = table.clone()
        result[index] = rows
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        of_table = grad_output.clone()
        of_table[index] = 0
        return of_table, None, grad_output[index]

    @staticmethod
    def sample_inputs():
        yield (normal(6, 2), torch.tensor([5, 0, 3]), normal(3, 2))


class RowsAdded(Function):
    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.rows = table.shape[0]
        return table.index_select(0, index)

    @staticmethod
    def backward(ctx, grad_output):
        (index,) = ctx.saved_tensors
        grad = grad_output.new_zeros(ctx.rows, grad_output.shape[1])
        return grad.index_add(0, index, grad_output), None

    @staticmethod
    def sample_inputs():
        yield (normal(6, 2), torch.tensor([5, 0, 3]))


class ShuffledBack(Function):
    @staticmethod
    def forward(ctx, x, order):
        ctx.save_for_backward(order)
        return x[order]

    @staticmethod
    def backward(ctx, grad_output):
        (order,) = ctx.saved_tensors
        return grad_output[torch.argsort(order)], None

    @staticmethod
    def sample_inputs():
        yield (normal(4, 2), torch.tensor([2, 0, 3, 1]))


class SegmentMeans(Function):
    @staticmethod
    def forward(ctx, x, ids):
        counts = torch.bincount(ids, minlength=3).clamp(min=1).to(x.dtype)
        ctx.save_for_backward(ids, counts)
        return x.new_zeros(3).index_add(0, ids, x) / counts

    @staticmethod
    def backward(ctx, grad_output):
        ids, counts = ctx.saved_tensors
        return (grad_output / counts)[ids], None

    @staticmethod
    def sample_inputs():
        yield (normal(6), torch.tensor([0, 0, 0, 1, 1, 2]))


class SegmentSum(Function):
    @staticmethod
    def forward(ctx, x, segment, count):
        ctx.save_for_backward(segment)
        return torch.zeros(count, x.shape[1], dtype=x.dtype).index_add(0, segment, x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (segment,) = ctx.saved_tensors
        return g[segment], None, None

    @staticmethod
    def sample_inputs():
        yield rand(5, 2), torch.tensor([0, 0, 1, 2, 2]), 3


class SegmentMeanByLengths(Function):
    """The lengths add up to the number of rows."""

    @staticmethod
    def forward(ctx, x, lengths):
        ctx.lengths = lengths.tolist()
        return torch.stack([part.mean(0) for part in x.split(ctx.lengths)])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        rows = [row.expand(n, -1) / n for row, n in zip(g, ctx.lengths)]
        return torch.cat(rows), None

    @staticmethod
    def sample_inputs():
        yield rand(5, 2), torch.tensor([2, 1, 2])


class PackedByOffsets(Function):
    """The offsets begin at zero and end at the number of rows."""

    @staticmethod
    def forward(ctx, x, offsets):
        ctx.offsets = offsets.tolist()
        ends = ctx.offsets
        assert ends[-1] == len(x)
        return torch.stack([x[a:b].sum(0) for a, b in zip(ends[:-1], ends[1:])])

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        ends = ctx.offsets
        return torch.cat([r.expand(b - a, -1) for r, a, b in zip(g, ends[:-1], ends[1:])]), None

    @staticmethod
    def sample_inputs():
        yield rand(6, 2), torch.tensor([0, 1, 4, 6])


class GroupMeans(Function):
    """Means of three groups, which all have members."""

    @staticmethod
    def forward(ctx, x, group):
        count = torch.bincount(group, minlength=3).to(x.dtype)
        ctx.save_for_backward(group, count)
        return x.new_zeros(3).index_add(0, group, x) / count

    @staticmethod
    def backward(ctx, grad_output):
        group, count = ctx.saved_tensors
        return (grad_output / count)[group], None

    @staticmethod
    def sample_inputs():
        yield draw(6), torch.tensor([0, 2, 1, 0, 1, 2])


class RowsByTwoOrders(Function):
    """The two orders undo each other."""

    @staticmethod
    def forward(ctx, x, order, inverse):
        ctx.save_for_backward(inverse)
        return x.gather(1, order)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (inverse,) = ctx.saved_tensors
        return grad_output.gather(1, inverse), None, None

    @staticmethod
    def sample_inputs():
        order = torch.tensor([[1, 2, 0], [2, 1, 0]])
        yield draw(2, 3), order, order.argsort(1)


class SpringEnergies(Function):
    """Energies of springs between the ends of edges (E, 2)."""

    @staticmethod
    def forward(ctx, position, edges):
        apart = position[edges[:, 0]] - position[edges[:, 1]]
        length = (apart * apart).sum(-1).sqrt()
        ctx.save_for_backward(apart, length, edges)
        ctx.count = position.shape[0]
        return (length - 1) ** 2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        apart, length, edges = ctx.saved_tensors
        force = (2 * grad_output * (length - 1) / length)[:, None] * apart
        grad = torch.zeros(ctx.count, apart.shape[1], dtype=apart.dtype)
        grad.index_add_(0, edges[:, 0], force)
        grad.index_add_(0, edges[:, 1], -force)
        return grad, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 2), torch.tensor([[0, 1], [1, 2], [3, 0]])


class MessagesOfNeighbors(Function):
    """Differences of features along edges, scattered to the first end; an end is not both ends."""

    @staticmethod
    def forward(ctx, x, edge_index):
        row, col = edge_index
        ctx.save_for_backward(row, col)
        y = x.clone()
        y[row] = x[col] * 2
        return y

    @staticmethod
    def backward(ctx, grad_output):
        row, col = ctx.saved_tensors
        grad = grad_output.clone()
        grad[row] = 0
        return grad.index_add(0, col, 2 * grad_output[row]), None

    @staticmethod
    def sample_inputs():
        yield draw(5, 2), torch.tensor([[0, 1, 4], [1, 2, 3]])


class LinkScores(Function):
    """Scores of links by the angle between the features of source and target."""

    @staticmethod
    def forward(ctx, z, source, target):
        apart = z[source] - z[target]
        length = apart.norm(dim=-1)
        ctx.save_for_backward(apart, length, source, target)
        ctx.count = z.shape[0]
        return length

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        apart, length, source, target = ctx.saved_tensors
        term = apart * (grad_output / length)[:, None]
        grad = torch.zeros(ctx.count, apart.shape[1], dtype=apart.dtype)
        return grad.index_add(0, source, term).index_add(0, target, -term), None, None

    @staticmethod
    def sample_inputs():
        yield draw(4, 3), torch.tensor([0, 1, 2]), torch.tensor([1, 2, 0])


class Embedding(Function):
    @staticmethod
    def forward(ctx, table, index, padding_idx=-1):
        ctx.save_for_backward(index)
        ctx.rows, ctx.padding = table.shape[0], padding_idx
        return table[index]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (index,) = ctx.saved_tensors
        out = torch.zeros(ctx.rows, g.shape[-1], dtype=g.dtype)
        return out.index_add(0, index.reshape(-1), g.reshape(-1, g.shape[-1])), None, None

    @staticmethod
    def sample_inputs():
        yield rand(5, 3), torch.tensor([[0, 2], [4, 2]])


class PermutedRows(Function):
    """The order is a permutation."""

    @staticmethod
    def forward(ctx, x, order):
        ctx.save_for_backward(torch.argsort(order))
        return x[order]

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (back,) = ctx.saved_tensors
        return g[back], None

    @staticmethod
    def sample_inputs():
        yield rand(4, 2), torch.tensor([2, 0, 3, 1])


class ScatteredOnce(Function):
    """Each place is written once."""

    @staticmethod
    def forward(ctx, x, at, size):
        ctx.save_for_backward(at)
        return torch.zeros(size, dtype=x.dtype).index_copy(0, at, x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (at,) = ctx.saved_tensors
        return g[at], None, None

    @staticmethod
    def sample_inputs():
        yield rand(3), torch.tensor([4, 0, 2]), 6


class LargestOfBags(Function):
    """Largest row of `table` in each bag of `ids`; `starts` rises from 0 to the number of ids."""

    @staticmethod
    def forward(ctx, table, ids, starts):
        ends = starts.tolist()
        rows, found = [], []
        for low, high in zip(ends[:-1], ends[1:]):
            if low == high:
                found.append(table.new_zeros(table.shape[1]))
                rows.append(ids.new_full((table.shape[1],), -1))
                continue
            entries = table[ids[low:high]]
            place = (entries == entries.max(dim=0).values).to(torch.int8).argmax(dim=0)
            found.append(entries.max(dim=0).values)
            rows.append(ids[low:high][place])
        ctx.save_for_backward(torch.stack(rows))
        ctx.shape = table.shape
        return torch.stack(found)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (rows,) = ctx.saved_tensors
        kept = g.masked_fill(rows < 0, 0.0)
        return g.new_zeros(ctx.shape).scatter_add_(0, rows.clamp(min=0), kept), None, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 2), torch.tensor([3, 1, 1, 0]), torch.tensor([0, 2, 2, 4])
