"""Functions that are given objects whose methods compute, and what else their calls show."""

from collections.abc import Callable

import torch
from torch import nn
from torch.autograd import Function


class Transformed(Function):
    @staticmethod
    def forward(x, plan, adjoint):
        return plan.adjoint(x) if adjoint else plan.transform(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.plan, ctx.adjoint = inputs

    @staticmethod
    def backward(ctx, grad_output):
        return Transformed.apply(grad_output, ctx.plan, not ctx.adjoint), None, None


class TransformedNotBack(Function):
    @staticmethod
    def forward(ctx, x, plan):
        return plan.transform(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


class Solved(Function):
    """Solve a linear system whose matrix only its methods know."""

    @staticmethod
    def forward(ctx, b, matrix):
        ctx.matrix = matrix
        return matrix.solve_system(b)

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.matrix.solve_transposed(grad_output), None


class Projected(Function):
    @staticmethod
    def forward(ctx, images, project, back_project):
        ctx.back_project = back_project
        return project(images)

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.back_project(grad_output), None, None


class Weighted(Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, weigh: Callable[[torch.Tensor], torch.Tensor], note: str):
        ctx.save_for_backward(x)
        ctx.weigh = weigh
        return x * torch.linspace(1, 2, x.shape[-1])

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        weights = torch.linspace(2, 1, x.shape[-1]).to(x.dtype)
        return grad_output * ctx.weigh(weights), None, None


class SummedOverLevels(Function):
    @staticmethod
    def forward(ctx, x, sigma, dtype, device):
        levels = torch.linspace(0, 1, 4).to(device=device, dtype=dtype)
        ctx.save_for_backward(levels)
        ctx.sigma = sigma.item()
        return (x.to(dtype)[..., None] * levels).sum(-1) / ctx.sigma

    @staticmethod
    def backward(ctx, grad_output):
        (levels,) = ctx.saved_tensors
        return (grad_output[..., None] * levels).sum(-1) / ctx.sigma, None, None, None


class BlockProduct(Function):
    @staticmethod
    def forward(ctx, blocks, vectors):
        if blocks.ndim != 3 or blocks.shape[-1] != blocks.shape[-2]:
            raise ValueError(f"blocks must have shape [n, b, b]; got {tuple(blocks.shape)}")
        ctx.save_for_backward(blocks, vectors)
        return torch.einsum("nij,nj->ni", blocks, vectors)

    @staticmethod
    def backward(ctx, grad_output):
        blocks, vectors = ctx.saved_tensors
        of_blocks = torch.einsum("ni,nj->nij", grad_output, vectors)
        return of_blocks, torch.einsum("nij,ni->nj", blocks, grad_output)


class GroupedRows(Function):
    @staticmethod
    def forward(ctx, x, weight, groups, kind):
        if kind not in ("rows",):
            raise ValueError(f"unknown kind {kind!r}")
        assert x.shape[-1] == weight.shape[0] // groups
        ctx.save_for_backward(x, weight)
        ctx.groups = groups
        return x.repeat(1, groups) @ weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        of_x = sum((grad_output @ weight.T).chunk(ctx.groups, -1))
        return of_x, x.repeat(1, ctx.groups).T @ grad_output, None, None


class GroupedLinear(nn.Module):
    def __init__(self, in_features, out_features, num_groups):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_features * num_groups, out_features))
        self.groups = num_groups

    def forward(self, x):
        return GroupedRows.apply(x, self.weight, self.groups, "rows")


class QuaternionProduct(Function):
    """The first extents follow from a message of PyTorch alone."""

    @staticmethod
    def forward(ctx, x, r, i):
        weight = torch.cat([torch.cat([r, i], dim=0), torch.cat([-i, r], dim=0)], dim=1)
        ctx.save_for_backward(x, r, i)
        return torch.mm(x, weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        x, r, i = ctx.saved_tensors
        weight = torch.cat([torch.cat([r, i], dim=0), torch.cat([-i, r], dim=0)], dim=1)
        (a, b), (c, d) = (row.chunk(2, 1) for row in (x.T @ grad_output).chunk(2, 0))
        return grad_output @ weight.T, a + d, c - b


class NestedPlan(Function):
    @staticmethod
    def forward(ctx, x, model):
        ctx.model = model
        return model.physics.transform(x)

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.model.physics.adjoint(grad_output), None


class ScaledByClass(Function):
    """Labels are optional, but not by default."""

    @staticmethod
    def forward(ctx, x, scales, labels=None, uses_labels=True):
        rows = labels.reshape(-1) if uses_labels else torch.zeros(len(x), dtype=torch.int64)
        ctx.save_for_backward(x, scales, rows)
        return x * scales[rows][:, None]

    @staticmethod
    def backward(ctx, grad_output):
        x, scales, rows = ctx.saved_tensors
        of_scales = torch.zeros_like(scales).index_add(0, rows, (grad_output * x).sum(1))
        return grad_output * scales[rows][:, None], of_scales, None, None


class FrozenProduct(Function):
    """A product with weights that a function without arguments unpacks."""

    @staticmethod
    def forward(ctx, x, unpacked, bias):
        ctx.unpacked = unpacked
        out = x @ unpacked().t()
        return out if bias is None else out + bias

    @staticmethod
    def backward(ctx, grad_output):
        bias = grad_output.sum(0) if ctx.needs_input_grad[2] else None
        return grad_output @ ctx.unpacked(), None, bias


class OffloadedCall(Function):
    """A call whose options are the keys of a dict."""

    @staticmethod
    def forward(ctx, x, options):
        ctx.save_for_backward(x)
        ctx.slope = options["slope"] if options["scaled"] else 1.0
        return x * x * ctx.slope

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * ctx.slope * grad_output, None


class SyncedGradient(Function):
    """The identity; backward alone looks at the object that it is given."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x

    @staticmethod
    def backward(ctx, grad_output):
        if ctx.group.is_spread and grad_output is not None:
            grad_output = ctx.group.reduce_all(grad_output, op="sum")
        return grad_output, None


class SolvedBySolver(Function):
    """The name of its method was once that of one of Tensor's."""

    @staticmethod
    def forward(ctx, solver, b):
        ctx.solver = solver
        return solver.solve(b, backward=False)

    @staticmethod
    def backward(ctx, grad):
        return None, ctx.solver.solve(grad, backward=True)


class Configured(Function):
    @staticmethod
    def forward(ctx, x, cfg):
        ctx.scale = cfg.get("scale", 2.5)
        ctx.save_for_backward(x)
        return ctx.scale * x.sin() + (cfg.get("shift") or 0.5)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return ctx.scale * grad * x.cos(), None


class ProjectedFrom(Function):
    """The places of the source are constants, beside the tensor that is projected."""

    @staticmethod
    def forward(ctx, volume, scanner, sources):
        ctx.scanner, ctx.sources = scanner, sources
        return scanner.project_from(volume, sources)

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.scanner.project_back(grad_output, ctx.sources), None, None


class SolvedByConjugateGradients(Function):
    """Solve a system by conjugate gradients, whose matrix a function applies."""

    @staticmethod
    def forward(ctx, b, normal):
        ctx.normal = normal
        return SolvedByConjugateGradients.solve(b, normal)

    @staticmethod
    def backward(ctx, grad_output):
        return SolvedByConjugateGradients.solve(grad_output, ctx.normal), None

    @staticmethod
    def solve(b, normal):
        x, residual, direction = torch.zeros_like(b), b, b
        square = (residual * residual).sum()
        while square > 1e-28:
            applied = normal(direction)
            size = (direction * applied).sum()
            if size <= 0:
                raise RuntimeError("the function is not positive definite")
            x, residual = x + square / size * direction, residual - square / size * applied
            square, before = (residual * residual).sum(), square
            direction = residual + square / before * direction
        return x


class AppliedMatrix(Function):
    """The adjoint is given, since a sparse matrix is slow to transpose."""

    @staticmethod
    def forward(ctx, x, matrix, matrix_adjoint):
        ctx.save_for_backward(matrix_adjoint)
        return matrix @ x

    @staticmethod
    def backward(ctx, grad_output):
        (matrix_adjoint,) = ctx.saved_tensors
        return matrix_adjoint @ grad_output, None, None


class OverSlices(Function):
    @staticmethod
    def forward(ctx, images, scanner):
        ctx.scanner = scanner
        batch, channels, height, width = images.shape
        if (1, height, width) != scanner.image_shape:
            raise ValueError(f"expected {scanner.image_shape}, got {(1, height, width)}")
        out = torch.empty_like(images)
        for one in range(batch):
            for channel in range(channels):
                scanner(images[one, channel : channel + 1], out=out[one, channel : channel + 1])
        return out

    @staticmethod
    def backward(ctx, grad_output):
        return OverSlices.apply(grad_output, ctx.scanner.T), None


class TrackedProduct(Function):
    """The object counts, and its method is told of each gradient."""

    @staticmethod
    def forward(ctx, x, weight, tracker):
        ctx.save_for_backward(x, weight)
        ctx.tracker = tracker
        return x.reshape(-1, tracker.columns) @ weight.t()[: tracker.columns]

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        tracker = ctx.tracker
        rows = x.reshape(-1, tracker.columns)
        tracker.consume(grad_output)
        grad_weight = torch.zeros_like(weight)
        grad_weight[:, : tracker.columns] = grad_output.t() @ rows
        grad_x = grad_output @ weight[:, : tracker.columns]
        return grad_x.reshape(x.shape), grad_weight, None


class Deferred(Function):
    """Only the last call gets a gradient, and the store alone knows which one that is."""

    @staticmethod
    def forward(ctx, x, store):
        ctx.is_last = store.count_calls() == 7
        return x * 2.0

    @staticmethod
    def backward(ctx, grad_output):
        found = (None, None)
        if ctx.is_last:
            found = (2.0 * grad_output, None)
        return found


class CachedWeightLinear(Function):
    """The weight comes from a layer that keeps it in a cache, and that counts what it is told."""

    @staticmethod
    def forward(ctx, x, layer, bias):
        ctx.layer = layer
        ctx.save_for_backward(x)
        return torch.nn.functional.linear(x, layer.weight_on(x.device), bias)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        layer = ctx.layer
        weight = layer.weight_on(x.device)
        if layer.is_scored:
            grads = grad_output.reshape(-1, weight.shape[0]).t() @ x.reshape(-1, x.shape[-1])
            layer.score += (grads * layer.original.weight).abs().sum().item()
        return grad_output @ weight, None, None


class Located(Function):
    """A projector that also computes the gradients of two tensors at once."""

    @staticmethod
    def forward(ctx, volume, projector, sources, detectors):
        ctx.projector = projector
        ctx.save_for_backward(volume, sources, detectors)
        return projector.project(volume, sources, detectors)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        volume, sources, detectors = ctx.saved_tensors
        grad_volume = ctx.projector.project_back(grad_output, sources, detectors)
        grad_sources = grad_detectors = None
        if ctx.needs_input_grad[2] or ctx.needs_input_grad[3]:
            given = volume, grad_output, sources, detectors
            grad_sources, grad_detectors = ctx.projector.of_geometry(*given)
        return grad_volume, None, grad_sources, grad_detectors
