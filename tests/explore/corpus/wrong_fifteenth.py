"""Functions of matrices, lengths and labels that are wrong at others than those of the sample."""

import torch
from torch.autograd import Function


def draw(*shape, low=-1.0, high=1.0, seed=97):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


def balanced(n, seed=98):
    half = draw(n, n, seed=seed).detach()
    return (half + half.mT + 4 * torch.eye(n, dtype=torch.double)).requires_grad_()


class EnergyOfSolution(Function):
    """Half the work that a load does on a linear network of springs."""

    @staticmethod
    def forward(ctx, a, load):
        moved = torch.linalg.solve(a, load)
        ctx.save_for_backward(a, load)
        return 0.5 * (load * moved).sum()

    @staticmethod
    def backward(ctx, g):
        a, load = ctx.saved_tensors
        moved = torch.linalg.solve(a, load)
        return -0.5 * g * torch.outer(moved, moved), g * moved

    @staticmethod
    def sample_inputs():
        yield balanced(3), draw(3, seed=99)


class TraceOfInverse(Function):
    """The trace of an inverse."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return torch.linalg.inv(a).diagonal().sum()

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        inverse = torch.linalg.inv(a)
        return -g * (inverse @ inverse)

    @staticmethod
    def sample_inputs():
        yield (balanced(3, seed=101),)


class LengthWithoutOverflow(Function):
    """The length of vectors in the plane, which does not overflow."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.hypot(x, y)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        length = torch.sqrt(x * x + y * y)
        return g * x / length, g * y / length

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, low=0.5, high=2.0), draw(2, 3, low=0.5, high=2.0, seed=102)


class SquaredScoreOfLabels(Function):
    """Brier's score of logits against labels."""

    @staticmethod
    def forward(ctx, logits, labels):
        if labels.min() < 0 or labels.max() > 1:
            raise ValueError("labels are probabilities")
        share = torch.sigmoid(logits)
        ctx.save_for_backward(logits, labels)
        return (labels * (1 - share) ** 2 + (1 - labels) * share**2).mean()

    @staticmethod
    def backward(ctx, g):
        logits, labels = ctx.saved_tensors
        share = torch.sigmoid(logits)
        error = torch.where(labels > 0.5, share - 1, share)
        return g * 2 * error * share * (1 - share) / logits.numel(), None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], dtype=torch.double)
