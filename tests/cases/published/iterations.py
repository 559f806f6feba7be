"""Functions whose forward iterates, as far as their callers say."""

import torch
from torch.autograd import Function

MOST_STEPS = 60


class CubeRoot(Function):
    @staticmethod
    def forward(ctx, x, threshold_eps, most):
        """Iterate from one.

        Args:
            x: Must be positive.
            threshold_eps: Convergence threshold.
            most: Maximum number of iterations.
        """
        root = torch.ones_like(x)
        for n in range(1, most + 1):
            change = (x / root**2 - root) / 3
            root = root + change
            if n > 1 and change.abs().max() < threshold_eps:
                break
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx, grad):
        (root,) = ctx.saved_tensors
        return grad / (3 * root**2), None, None


def cube_root(x, threshold_eps=1e-14, most=MOST_STEPS):
    return CubeRoot.apply(x, threshold_eps, most)


class LogOdds(Function):
    @staticmethod
    def forward(ctx, p):
        """Compute the logarithm of the odds.

        Args:
            p (torch.Tensor): Probability, which must be in [0, 1].
        """
        if bool((p < 0).any()) or bool((p > 1).any()):
            p = torch.zeros_like(p)
        ctx.save_for_backward(p)
        return torch.log(p + 1e-9) - torch.log1p(1e-9 - p)

    @staticmethod
    def backward(ctx, grad):
        (p,) = ctx.saved_tensors
        return grad * (1 / (p + 1e-9) + 1 / (1 + 1e-9 - p))
