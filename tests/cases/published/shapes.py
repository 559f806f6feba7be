"""Shapes that are asserted, raised about, or shown by a test beside the module."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.autograd import Function


class BoxArea(Function):
    """The last extent is asserted."""

    @staticmethod
    def forward(ctx, boxes):
        assert boxes.dim() == 3 and boxes.size(2) == 5, "boxes must be (n, k, 5)"
        ctx.save_for_backward(boxes)
        return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1]) + boxes[..., 4]

    @staticmethod
    def backward(ctx, grad_output):
        (boxes,) = ctx.saved_tensors
        w, h = boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]
        return torch.stack([-h, -w, h, w, torch.ones_like(h)], -1) * grad_output[..., None]


class BoxAreaSignLost(Function):
    """A backward in which one sign is wrong."""

    @staticmethod
    def forward(ctx, boxes):
        assert boxes.dim() == 3 and boxes.size(2) == 5, "boxes must be (n, k, 5)"
        ctx.save_for_backward(boxes)
        return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1]) + boxes[..., 4]

    @staticmethod
    def backward(ctx, grad_output):
        (boxes,) = ctx.saved_tensors
        w, h = boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]
        return torch.stack([h, -w, h, w, torch.ones_like(h)], -1) * grad_output[..., None]


class PointwiseConv(Function):
    """Five dimensions with a weight that shares one."""

    @staticmethod
    def forward(ctx, x, w):
        n, c, d, h, width = x.shape
        out, inner = w.shape
        if inner != c:
            raise ValueError("w must have a column for each channel")
        ctx.save_for_backward(x, w)
        return torch.einsum("ncdhw,oc->nodhw", x, w)

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        grad_x = torch.einsum("nodhw,oc->ncdhw", grad_output, w)
        return grad_x, torch.einsum("nodhw,ncdhw->oc", grad_output, x)


class Transition(Function):
    """Square matrices in a batch, with a vector for each."""

    @staticmethod
    def forward(ctx, matrix, vector):
        b, s, t, u = matrix.shape
        if t != u:
            raise ValueError("matrix should be a batch of square matrices")
        assert vector.shape == (b, s, u)
        ctx.save_for_backward(matrix, vector)
        return (matrix @ vector[..., None])[..., 0]

    @staticmethod
    def backward(ctx, grad_output):
        matrix, vector = ctx.saved_tensors
        outer = grad_output[..., :, None] * vector[..., None, :]
        return outer, (matrix.transpose(-1, -2) @ grad_output[..., None])[..., 0]


class Interleave(Function):
    """A list of extents whose sum a test beside the module shows."""

    @staticmethod
    def forward(ctx, x, parts, order):
        if sum(parts) != x.shape[-1] or len(parts) != 3 or sorted(order) != [0, 1, 2]:
            raise ValueError("cannot interleave")
        ctx.parts, ctx.order = parts, order
        pieces = x.split(parts, -1)
        return torch.cat([pieces[at] for at in order], -1)

    @staticmethod
    def backward(ctx, grad_output):
        sizes = [ctx.parts[at] for at in ctx.order]
        pieces = grad_output.split(sizes, -1)
        return torch.cat([pieces[ctx.order.index(at)] for at in range(3)], -1), None, None


class OnlySymmetric(Function):
    """A matrix with a structure that a change of one entry would break."""

    @staticmethod
    def forward(ctx, a):
        assert torch.equal(a, a.transpose(-1, -2)), "a must be symmetric"
        assert a.shape[-1] > 1
        ctx.save_for_backward(a)
        return (a * a).sum()

    @staticmethod
    def backward(ctx, grad_output):
        (a,) = ctx.saved_tensors
        return 2 * a * grad_output


class Guessed(Function):
    """Nothing tells the shape of the filter, for which the backward may be meant or not."""

    @staticmethod
    def forward(ctx, image, filt):
        b, c, h, w = image.shape
        if filt.numel() not in (12, 20):
            raise ValueError("bad filter")
        ctx.save_for_backward(filt)
        return image * filt.sum()

    @staticmethod
    def backward(ctx, grad_output):
        (filt,) = ctx.saved_tensors
        return grad_output * filt.mean(), None


class GatedBack(Function):
    """Two layers side by side, one a gate, and one back; vectors are refused by backward only."""

    @staticmethod
    def forward(ctx, x, w1, b1, w2, b2, w3, b3):
        gate, value = F.linear(x, w1, b1), F.linear(x, w2, b2)
        ctx.save_for_backward(x, w1, w2, w3, gate, value)
        return F.linear(torch.sigmoid(gate) * value, w3, b3)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        x, w1, w2, w3, gate, value = ctx.saved_tensors
        s = torch.sigmoid(gate)
        of_value = g @ w3 * s
        of_gate = of_value * value * (1 - s)
        of_x = of_gate @ w1 + of_value @ w2
        of_back = g.T @ (s * value), g.sum(0)
        return of_x, of_gate.T @ x, of_gate.sum(0), of_value.T @ x, of_value.sum(0), *of_back


class TuckerProduct(Function):
    """A core tensor with a factor along each of its first two dimensions."""

    @staticmethod
    def forward(ctx, core, left, right, scale=1.0):
        ctx.save_for_backward(core, left, right)
        ctx.scale = scale
        return scale * torch.einsum("i j k, i p, j r -> p r k", core, left, right)

    @staticmethod
    def backward(ctx, grad_output):
        core, left, right = ctx.saved_tensors
        grad = grad_output * ctx.scale
        return (
            torch.einsum("prk,ip,jr->ijk", grad, left, right),
            torch.einsum("prk,ijk,jr->ip", grad, core, right),
            torch.einsum("prk,ijk,ip->jr", grad, core, left),
            None,
        )


class Filtered(Function):
    @staticmethod
    def forward(ctx, images, filters, bias, stride, padding):
        ctx.save_for_backward(images, filters)
        ctx.stride, ctx.padding = stride, padding
        return torch.nn.functional.conv2d(images, filters, bias, stride, padding)

    @staticmethod
    def backward(ctx, g):
        images, filters = ctx.saved_tensors
        geometry = {"stride": ctx.stride, "padding": ctx.padding}
        return (
            torch.nn.grad.conv2d_input(images.shape, filters, g, **geometry),
            torch.nn.grad.conv2d_weight(images, filters.shape, g, **geometry),
            g.sum((0, 2, 3)),
            None,
            None,
        )


class LowRankUpdate(Function):
    @staticmethod
    def forward(ctx, a, b, c, d):
        ctx.save_for_backward(a, b, c, d)
        return (b @ a) * (d @ c)

    @staticmethod
    def backward(ctx, g):
        a, b, c, d = ctx.saved_tensors
        left, right = g * (d @ c), g * (b @ a)
        return b.T @ left, left @ a.T, d.T @ right, right @ c.T


class FlatTable(Function):
    @staticmethod
    def forward(ctx, x, table):
        flat = table.view(-1)
        ctx.save_for_backward(x, flat)
        return x * flat[: x.shape[-1]]

    @staticmethod
    def backward(ctx, g):
        x, flat = ctx.saved_tensors
        width = x.shape[-1]
        first = (g * x).reshape(-1, width).sum(0)
        return g * flat[:width], torch.cat([first, torch.zeros_like(flat[width:])])


class GroupedConvolution(Function):
    @staticmethod
    def forward(
        ctx,
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        groups: int,
    ) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        ctx.options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        return torch.nn.functional.conv2d(
            x, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups
        )

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = torch.nn.grad.conv2d_input(x.shape, weight, grad_output, **ctx.options)
        grad_weight = torch.nn.grad.conv2d_weight(x, weight.shape, grad_output, **ctx.options)
        return grad_x, grad_weight, grad_output.sum((0, 2, 3)), None, None, None, None


class SmoothedRows(Function):
    """A recursion along each row, with a start and two factors of its own."""

    @staticmethod
    def forward(ctx, x, start, gain, decay):
        state, states = start, []
        for entry in x.T.numpy(force=True):
            state = decay[: len(x)] * state[: len(x)] + gain[: len(x)] * torch.from_numpy(entry)
            states.append(state)
        y = torch.stack(states, 1)
        ctx.save_for_backward(x, start, gain, decay, y)
        return y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        x, start, gain, decay, y = ctx.saved_tensors
        before = torch.cat([start[:, None], y[:, :-1]], 1)
        flow, flows = torch.zeros_like(start), []
        for grad in reversed(grad_output.unbind(1)):
            flow = grad + decay * flow
            flows.append(flow)
        total = torch.stack(flows[::-1], 1)
        return (
            gain[:, None] * total,
            decay * total[:, 0],
            (total * x).sum(1),
            (total * before).sum(1),
        )


class GroupedProduct(Function):
    """A product that takes single precision alone, and matrices that both have groups."""

    @staticmethod
    def forward(ctx, left, right, ends):
        assert ends is None or ends.dtype == torch.int32
        ctx.save_for_backward(left, right)
        return torch.nn.functional.grouped_mm(left, right, offs=ends)

    @staticmethod
    def backward(ctx, grad_output):
        left, right = ctx.saved_tensors
        return grad_output @ right.mT, left.mT @ grad_output, None
