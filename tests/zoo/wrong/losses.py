"""Losses and metrics whose backward was derived in a hurry."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


class DiceWithoutQuotientRule(Function):
    """Differentiates the numerator only."""

    expect = {"GT101"}
    diagnosis = "places"
    says = "treats `p.sum() + target.sum()`"

    @staticmethod
    def forward(ctx, p, target):
        intersection, union = (p * target).sum(), p.sum() + target.sum()
        ctx.save_for_backward(target, union)
        return 1 - 2 * intersection / union

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        target, union = ctx.saved_tensors
        return -2 * grad_output * target / union, None

    @staticmethod
    def sample_inputs():
        p = torch.rand(6, dtype=torch.float64).requires_grad_()
        yield p, torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0, 0.0], dtype=torch.float64)


class FocalWithoutPowerTerm(Function):
    expect = {"GT101"}
    diagnosis = "term"
    says = "treats `-((1 - p) ** gamma)`"

    @staticmethod
    def forward(ctx, p, gamma):
        ctx.save_for_backward(p)
        ctx.gamma = gamma
        return -((1 - p) ** gamma) * p.log()

    @staticmethod
    def backward(ctx, grad_output):
        (p,) = ctx.saved_tensors
        return -grad_output * (1 - p) ** ctx.gamma / p, None

    @staticmethod
    def sample_inputs():
        p = (torch.rand(5, dtype=torch.float64) * 0.8 + 0.1).requires_grad_()
        yield p, 2.0


class CrossEntropyMeanForgotten(Function):
    """The forward averages over the batch."""

    expect = {"GT101"}
    diagnosis = "mean"

    @staticmethod
    def forward(ctx, logits, target):
        p = logits.softmax(1)
        ctx.save_for_backward(p, target)
        return -p.gather(1, target[:, None]).log().mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        p, target = ctx.saved_tensors
        grad = p.clone()
        grad[torch.arange(len(target)), target] -= 1
        return grad_output * grad, None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), torch.tensor([0, 2, 1, 1])


class IgnoredTokensCounted(Function):
    """Divides by all tokens in backward, by those that count in forward."""

    expect = {"GT101"}
    diagnosis = "factor"

    @staticmethod
    def forward(ctx, log_p, target):
        kept = target >= 0
        ctx.save_for_backward(kept, target.clamp(min=0))
        ctx.shape = log_p.shape
        picked = log_p.gather(1, target.clamp(min=0)[:, None])[:, 0]
        return -(picked * kept).sum() / kept.sum()

    @staticmethod
    def backward(ctx, grad_output):
        kept, target = ctx.saved_tensors
        hot = grad_output.new_zeros(ctx.shape).scatter(1, target[:, None], 1.0)
        return -grad_output * hot * kept[:, None] / len(kept), None

    @staticmethod
    def sample_inputs():
        yield rand(4, 3), torch.tensor([0, -1, 2, 1])


class HuberSignLost(Function):
    """Beyond delta the slope is delta, whatever the sign."""

    expect = {"GT101"}
    diagnosis = "mask"

    @staticmethod
    def forward(ctx, error, delta):
        ctx.save_for_backward(error)
        ctx.delta = delta
        size = error.abs()
        return torch.where(size < delta, 0.5 * size**2, delta * (size - 0.5 * delta))

    @staticmethod
    def backward(ctx, grad_output):
        (error,) = ctx.saved_tensors
        slope = torch.where(error.abs() < ctx.delta, error, torch.full_like(error, ctx.delta))
        return grad_output * slope, None

    @staticmethod
    def sample_inputs():
        error = [-2.0, -1.5, -0.3, 0.2, 0.7, 1.6, 2.5]
        yield torch.tensor(error, dtype=torch.float64, requires_grad=True), 1.0


class TripletAnchorHalf(Function):
    """The anchor's gradient has the negative's part only."""

    expect = {"GT101"}
    diagnosis = "swapped"
    says = "treats `anchor` in `anchor - positive`"

    @staticmethod
    def forward(ctx, anchor, positive, negative):
        ctx.save_for_backward(anchor, positive, negative)
        near, far = (anchor - positive).square().sum(1), (anchor - negative).square().sum(1)
        return near - far

    @staticmethod
    def backward(ctx, grad_output):
        anchor, positive, negative = ctx.saved_tensors
        g = 2 * grad_output[:, None]
        return -g * (anchor - negative), -g * (anchor - positive), g * (anchor - negative)

    @staticmethod
    def sample_inputs():
        yield rand(3, 2), rand(3, 2), rand(3, 2)


class KlForTheOther(Function):
    """Gives the gradient by the student to the teacher as well."""

    expect = {"GT101"}
    diagnosis = "swapped"

    @staticmethod
    def forward(ctx, student, teacher):
        ctx.save_for_backward(student, teacher)
        p = teacher.softmax(-1)
        return (p * (teacher.log_softmax(-1) - student.log_softmax(-1))).sum()

    @staticmethod
    def backward(ctx, grad_output):
        student, teacher = ctx.saved_tensors
        grad = grad_output * (student.softmax(-1) - teacher.softmax(-1))
        return grad, grad

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(2, 3)


class LabelSmoothingForgotten(Function):
    expect = {"GT101"}
    diagnosis = "other"
    says = "differentiates `hot` where forward has"

    @staticmethod
    def forward(ctx, logits, hot, smoothing):
        target = hot * (1 - smoothing) + smoothing / hot.shape[-1]
        ctx.save_for_backward(logits, hot)
        return -(target * logits.log_softmax(-1)).sum(-1)

    @staticmethod
    def backward(ctx, grad_output):
        logits, hot = ctx.saved_tensors
        return grad_output[..., None] * (logits.softmax(-1) - hot), None, None

    @staticmethod
    def sample_inputs():
        yield rand(3, 4), torch.eye(3, 4, dtype=torch.float64), 0.1


class CosineWithoutNormTerm(Function):
    """Treats the norms as constants."""

    expect = {"GT101"}
    diagnosis = "term"
    says = "treats `a.norm(dim=-1) * b.norm(dim=-1)`"

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        scale = (grad_output / (a.norm(dim=-1) * b.norm(dim=-1)))[:, None]
        return scale * b, scale * a

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(2, 3)


class ReductionNoneOnlyFirst(Function):
    """With reduction="none" the cotangent is a vector; backward takes its mean."""

    expect = {"GT101"}
    diagnosis = "places"
    says = "the mean of grad_output over all its entries"

    @staticmethod
    def forward(ctx, prediction, target):
        ctx.save_for_backward(prediction, target)
        return (prediction - target) ** 2

    @staticmethod
    def backward(ctx, grad_output):
        prediction, target = ctx.saved_tensors
        grad = 2 * (prediction - target) * grad_output.mean()
        return grad, -grad

    @staticmethod
    def sample_inputs():
        yield rand(4), rand(4)
