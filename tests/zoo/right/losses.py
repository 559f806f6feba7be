"""Losses with weights, masks and ways to reduce, as training code has them; all right."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class DiceLoss(Function):
    """Of a segmentation; the ratio of two sums, differentiated by the quotient rule."""

    @staticmethod
    def forward(ctx, prediction, target, smooth=1.0):
        probabilities = prediction.sigmoid()
        intersection = (probabilities * target).sum()
        union = probabilities.sum() + target.sum()
        ctx.save_for_backward(probabilities, target)
        ctx.intersection, ctx.union, ctx.smooth = intersection.item(), union.item(), smooth
        return 1 - (2 * intersection + smooth) / (union + smooth)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        p, target = ctx.saved_tensors
        bottom = ctx.union + ctx.smooth
        top = 2 * ctx.intersection + ctx.smooth
        grad_p = -(2 * target * bottom - top) / bottom**2
        return grad_output * grad_p * p * (1 - p), None, None

    @staticmethod
    def sample_inputs():
        target = (torch.rand(2, 3, 4) > 0.5).double()
        yield rand(2, 3, 4), target
        yield rand(5), torch.ones(5, dtype=torch.float64), 0.1


class FocalLoss(Function):
    """Focal loss for gamma >= 1: for less, its slope has a pole where a class is certain."""

    @staticmethod
    def forward(ctx, logits, target, gamma, reduction):
        ctx.save_for_backward(logits, target)
        ctx.gamma, ctx.reduction = gamma, reduction
        log_p = torch.log_softmax(logits, dim=1)
        chosen = log_p.gather(1, target[:, None]).squeeze(1)
        loss = -((1 - chosen.exp()) ** gamma) * chosen
        return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss

    @staticmethod
    def backward(ctx, grad_output):
        logits, target = ctx.saved_tensors
        p = torch.softmax(logits, dim=1)
        index = target[:, None]
        pt = p.gather(1, index)
        slope = ctx.gamma * (1 - pt) ** (ctx.gamma - 1) * pt * pt.log() - (1 - pt) ** ctx.gamma
        hot = torch.zeros_like(logits).scatter(1, index, 1.0)
        if ctx.reduction == "mean":
            grad_output = grad_output / len(target)
        if ctx.reduction == "none":
            grad_output = grad_output[:, None]
        return grad_output * slope * (hot - p), None, None, None

    @staticmethod
    def sample_inputs():
        target = torch.tensor([0, 2, 1, 2])
        for reduction in ("mean", "sum", "none"):
            yield rand(4, 3), target, 2.0, reduction


class NllWithIgnoredIndex(Function):
    """Padding tokens have the target -100 and take no part."""

    @staticmethod
    def forward(ctx, log_p, target, ignore_index=-100):
        kept = target != ignore_index
        safe = torch.where(kept, target, torch.zeros_like(target))
        ctx.save_for_backward(kept, safe)
        ctx.shape = log_p.shape
        picked = log_p.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
        return -(picked * kept).sum() / kept.sum()

    @staticmethod
    def backward(ctx, grad_output):
        kept, safe = ctx.saved_tensors
        grad = grad_output.new_zeros(ctx.shape)
        values = -(grad_output / kept.sum()) * kept
        return grad.scatter(-1, safe.unsqueeze(-1), values.unsqueeze(-1).to(grad.dtype)), None, None

    @staticmethod
    def sample_inputs():
        target = torch.tensor([[1, 0, -100], [2, -100, -100]])
        yield rand(2, 3, 4), target


class KlOfLogits(Function):
    @staticmethod
    def forward(ctx, student, teacher, temperature):
        ctx.save_for_backward(student, teacher)
        ctx.temperature = temperature
        p = torch.softmax(teacher / temperature, -1)
        log_q = torch.log_softmax(student / temperature, -1)
        log_p = torch.log_softmax(teacher / temperature, -1)
        return (p * (log_p - log_q)).sum() * temperature**2 / len(student)

    @staticmethod
    def backward(ctx, grad_output):
        student, teacher = ctx.saved_tensors
        t = ctx.temperature
        p, q = torch.softmax(teacher / t, -1), torch.softmax(student / t, -1)
        scale = grad_output * t / len(student)
        ratio = torch.log_softmax(teacher / t, -1) - torch.log_softmax(student / t, -1)
        inner = (p * ratio).sum(-1, keepdim=True)
        return scale * (q - p), scale * p * (ratio - inner), None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4), 2.0


class TripletMargin(Function):
    @staticmethod
    def forward(ctx, anchor, positive, negative, margin=1.0):
        near = ((anchor - positive) ** 2).sum(1)
        far = ((anchor - negative) ** 2).sum(1)
        active = near - far + margin > 0
        ctx.save_for_backward(anchor, positive, negative, active)
        return ((near - far + margin) * active).mean()

    @staticmethod
    def backward(ctx, grad_output):
        anchor, positive, negative, active = ctx.saved_tensors
        scale = 2 * grad_output / len(anchor) * active[:, None]
        return (
            scale * (negative - positive),
            scale * (positive - anchor),
            scale * (anchor - negative),
            None,
        )

    @staticmethod
    def sample_inputs():
        yield rand(5, 3), rand(5, 3), rand(5, 3)


class SmoothL1(Function):
    """Quadratic near zero, linear beyond; both branches in one mask."""

    @staticmethod
    def forward(ctx, prediction, target, beta):
        difference = prediction - target
        ctx.save_for_backward(difference)
        ctx.beta = beta
        size = difference.abs()
        return torch.where(size < beta, 0.5 * size**2 / beta, size - 0.5 * beta).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (difference,) = ctx.saved_tensors
        inside = difference.abs() < ctx.beta
        grad = torch.where(inside, difference / ctx.beta, difference.sign()) * grad_output
        return grad, -grad, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), rand(3, 4), 1.0


class GaussianNll(Function):
    @staticmethod
    def forward(ctx, mean, variance, target):
        ctx.save_for_backward(mean, variance, target)
        return 0.5 * (variance.log() + (target - mean) ** 2 / variance).mean()

    @staticmethod
    def backward(ctx, grad_output):
        mean, variance, target = ctx.saved_tensors
        scale = grad_output / mean.numel()
        error = mean - target
        grad_mean = scale * error / variance
        grad_variance = 0.5 * scale * (1 / variance - error**2 / variance**2)
        return grad_mean, grad_variance, -grad_mean

    @staticmethod
    def sample_inputs():
        variance = (torch.rand(6, dtype=torch.float64) + 0.5).requires_grad_()
        yield rand(6), variance, rand(6)


class ContrastivePairs(Function):
    """Similarities of all pairs, with the matching ones on the diagonal."""

    @staticmethod
    def forward(ctx, image, text, scale):
        logits = scale * image @ text.T
        ctx.save_for_backward(image, text, scale)
        log_p = torch.log_softmax(logits, dim=1)
        return -torch.diagonal(log_p).mean()

    @staticmethod
    def backward(ctx, grad_output):
        image, text, scale = ctx.saved_tensors
        similar = image @ text.T
        n = len(image)
        p = torch.softmax(scale * similar, dim=1)
        grad_logits = (p - torch.eye(n, dtype=p.dtype)) * grad_output / n
        return (
            scale * grad_logits @ text,
            scale * grad_logits.T @ image,
            (grad_logits * similar).sum(),
        )

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), rand(4, 3), torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
