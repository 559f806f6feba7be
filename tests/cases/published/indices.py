"""Gathers, scatters and segments, which take integer tensors of several ranks."""

from __future__ import annotations

import torch
from torch.autograd import Function


class GroupingOperation(Function):
    """Shapes are stated in the docstring only."""

    @staticmethod
    def forward(ctx, features, idx):
        """
        Args:
            features: (B, C, N) tensor of features to group
            idx: (B, npoint, nsample) tensor of indices
        """
        b, npoint, nsample = idx.size()
        _, c, n = features.size()
        ctx.save_for_backward(idx)
        ctx.n = n
        flat = idx.reshape(b, 1, npoint * nsample).expand(-1, c, -1)
        return features.gather(2, flat).reshape(b, c, npoint, nsample)

    @staticmethod
    def backward(ctx, grad_output):
        (idx,) = ctx.saved_tensors
        b, c, npoint, nsample = grad_output.shape
        flat = idx.reshape(b, 1, npoint * nsample).expand(-1, c, -1)
        grad = torch.zeros(b, c, ctx.n, dtype=grad_output.dtype)
        return grad.scatter_add(2, flat, grad_output.reshape(b, c, -1)), None


class GroupingAssigns(Function):
    """A backward that assigns where it should add: entries that repeat are lost."""

    @staticmethod
    def forward(ctx, features, idx):
        """
        Args:
            features: (B, C, N) tensor of features to group
            idx: (B, npoint, nsample) tensor of indices
        """
        b, npoint, nsample = idx.size()
        _, c, n = features.size()
        ctx.save_for_backward(idx)
        ctx.n = n
        flat = idx.reshape(b, 1, npoint * nsample).expand(-1, c, -1)
        return features.gather(2, flat).reshape(b, c, npoint, nsample)

    @staticmethod
    def backward(ctx, grad_output):
        (idx,) = ctx.saved_tensors
        b, c, npoint, nsample = grad_output.shape
        flat = idx.reshape(b, 1, npoint * nsample).expand(-1, c, -1)
        grad = torch.zeros(b, c, ctx.n, dtype=grad_output.dtype)
        return grad.scatter(2, flat, grad_output.reshape(b, c, -1)), None


class SegmentSum(Function):
    """Pieces of rows between offsets."""

    @staticmethod
    def forward(ctx, src, indptr):
        assert src.dim() == 3 and indptr.dim() == 1
        if int(indptr[0]) != 0 or int(indptr[-1]) > src.size(0):
            raise ValueError("indptr must start at 0 and end at the number of rows")
        ctx.save_for_backward(indptr)
        ctx.rows = src.size(0)
        ends = indptr.tolist()
        return torch.stack([src[a:b].sum(0) for a, b in zip(ends[:-1], ends[1:])])

    @staticmethod
    def backward(ctx, grad_output):
        (indptr,) = ctx.saved_tensors
        ends = indptr.tolist()
        parts = [g.expand(b - a, *g.shape) for g, a, b in zip(grad_output, ends[:-1], ends[1:])]
        rest = ctx.rows - ends[-1]
        zero = torch.zeros(rest, *grad_output.shape[1:], dtype=grad_output.dtype)
        return torch.cat([*parts, zero]), None


class TakeAlongLast(Function):
    """One index for each row."""

    @staticmethod
    def forward(ctx, x, choice):
        if x.ndim != 3:
            raise ValueError("expected 3 dimensions")
        if choice.shape != x.shape[:2]:
            raise ValueError("choice has one entry for each row")
        ctx.save_for_backward(choice)
        ctx.shape = x.shape
        return x.gather(-1, choice[..., None])[..., 0]

    @staticmethod
    def backward(ctx, grad_output):
        (choice,) = ctx.saved_tensors
        grad = torch.zeros(ctx.shape, dtype=grad_output.dtype)
        return grad.scatter(-1, choice[..., None], grad_output[..., None]), None


class LogProbabilityOf(Function):
    """The log-probability of one class of each row; more at a time are not meant."""

    @staticmethod
    def forward(ctx, pred, target):
        log_prob = pred.log_softmax(1)
        ctx.save_for_backward(log_prob, target)
        return log_prob.gather(1, target)

    @staticmethod
    def backward(ctx, grad_output):
        log_prob, target = ctx.saved_tensors
        return (log_prob.exp() * -grad_output).scatter_add(1, target, grad_output), None


class Shuffled(Function):
    """Columns in another order; their gradients are put back, and none is summed."""

    @staticmethod
    def forward(ctx, x, permutation):
        ctx.save_for_backward(permutation)
        return x[:, permutation]

    @staticmethod
    def backward(ctx, grad_output):
        (permutation,) = ctx.saved_tensors
        grad = torch.empty_like(grad_output)
        grad[:, permutation] = grad_output
        return grad, None


class Sorted(Function):
    """Rows in another order, which its inverse puts back."""

    @staticmethod
    def forward(ctx, rows, order, inverse_order, out):
        ctx.inverse_order = inverse_order
        if out is not None:
            return torch.index_select(rows, 0, order, out=out)
        return torch.index_select(rows, 0, order)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.index_select(0, ctx.inverse_order), None, None, None


class SortedNotBack(Function):
    """A backward that sorts the gradient again."""

    @staticmethod
    def forward(ctx, rows, order, order_inv):
        ctx.save_for_backward(order, order_inv)
        return rows[order]

    @staticmethod
    def backward(ctx, grad_output):
        order, _ = ctx.saved_tensors
        return grad_output[order], None, None


def _put_back_rows(rows, places, *, count):
    if count == 0:
        return rows.new_empty((0, rows.shape[1]))
    places = places.to(dtype=torch.int64)
    is_given = (places >= 0) & (places < rows.shape[0])
    found = rows.index_select(0, torch.where(is_given, places, torch.zeros_like(places)))
    return found * is_given.unsqueeze(-1)


def _dispatched(rows, places, *, count, kernel):
    if kernel == "plain":
        return _put_back_rows(rows, places, count=count)
    raise ValueError(f"no such kernel: {kernel}")


class PutBackRows(Function):
    """What the places are shows two calls below, where they are passed by name."""

    @staticmethod
    def forward(ctx, rows, places, count, kernel):
        ctx.save_for_backward(places)
        ctx.rows = rows.shape[0]
        return _dispatched(rows, places=places, count=count, kernel=kernel)

    @staticmethod
    def backward(ctx, grad_output):
        (places,) = ctx.saved_tensors
        grad = grad_output.new_zeros(ctx.rows, grad_output.shape[1])
        return grad.index_add(0, places.long(), grad_output), None, None, None


class PickedProducts(Function):
    """The axes before the picked ones are those of both operands, as only their ends are stated."""

    @staticmethod
    def forward(ctx, x, y, first, second, target, constants, dim):
        """
        Args:
            x: (..., dim) tensor
            y: (..., dim) tensor
            first, second, target: (entries,) index tensors
            constants: (entries,) float tensor
            dim: the number of components
        """
        ctx.save_for_backward(x, y, first, second, target, constants)
        ctx.dim = dim
        of_x = x[..., first]
        of_y = y[..., second]
        terms = of_x * of_y * constants
        result = x.new_zeros(*x.shape[:-1], dim)
        return result.scatter_add_(-1, target.expand_as(terms), terms)

    @staticmethod
    def backward(ctx, grad_output):
        x, y, first, second, target, constants = ctx.saved_tensors
        scaled = grad_output[..., target] * constants
        of_x, of_y = y[..., second] * scaled, x[..., first] * scaled
        grad_x = x.new_zeros(*x.shape[:-1], ctx.dim)
        grad_x = grad_x.scatter_add(-1, first.expand_as(of_x), of_x)
        grad_y = y.new_zeros(*y.shape[:-1], ctx.dim)
        grad_y = grad_y.scatter_add(-1, second.expand_as(of_y), of_y)
        return grad_x, grad_y, None, None, None, None, None


def _sending(pair, j):
    return pair if isinstance(pair, torch.Tensor) else pair[1][j]


def _summed(values, index, rows):
    index = index.unsqueeze(-1) if values.dim() > index.dim() else index
    result = values.new_zeros(rows, *values.shape[1:])
    return result.scatter_add_(0, index.expand(values.size()), values)


class WeightedNeighbours(Function):
    """What `i` and `j` are shows in helpers; the equation leaves the axes of one operand open."""

    @staticmethod
    def forward(ctx, weights_i, weights_j, values_i, values_j, i: torch.Tensor, j: torch.Tensor):
        weights, values = (weights_i, weights_j), (values_i, values_j)
        ctx.save_for_backward(weights_j, values_j, i, j)
        ctx.rows = weights_i.shape[0]
        products = torch.einsum("n..., n -> n...", _sending(values, j), _sending(weights, j))
        return _summed(products, i, ctx.rows)

    @staticmethod
    def backward(ctx, grad_output):
        weights, values, i, j = ctx.saved_tensors
        grad = grad_output[i]
        of_weights = torch.einsum("n..., n... -> n", values[j], grad)
        of_values = torch.einsum("n..., n -> n...", grad, weights[j])
        of_weights = torch.zeros_like(weights).index_add(0, j, of_weights)
        return (
            None,
            of_weights,
            None,
            torch.zeros_like(values).index_add(0, j, of_values),
            None,
            None,
        )


class DividedNeighbours(Function):
    """An operand of one axis is computed from several arguments, which have one axis, too."""

    @staticmethod
    def forward(ctx, masses, densities, weights, values, i, j, rows: int):
        ctx.save_for_backward(masses, densities, weights, values, i, j)
        scale = masses[j] / densities[j] * weights
        products = torch.einsum("n..., n -> n...", values[j], scale)
        return values.new_zeros(rows, *values.shape[1:]).index_add(0, i, products)

    @staticmethod
    def backward(ctx, grad_output):
        masses, densities, weights, values, i, j = ctx.saved_tensors
        grad = grad_output[i]
        scale = masses[j] / densities[j] * weights
        of_scale = torch.einsum("n..., n... -> n", values[j], grad)
        of_values = torch.einsum("n..., n -> n...", grad, scale)
        return (
            torch.zeros_like(masses).index_add(0, j, of_scale * weights / densities[j]),
            torch.zeros_like(densities).index_add(0, j, -of_scale * scale / densities[j]),
            of_scale * masses[j] / densities[j],
            torch.zeros_like(values).index_add(0, j, of_values),
            None,
            None,
            None,
        )
