"""Losses with targets, masks and reductions, in the manner of published packages."""

from __future__ import annotations

import torch
from torch.autograd import Function


class NLLWithLabels(Function):
    """Log-softmax and the negative log-likelihood; the rank of the labels is asserted."""

    @staticmethod
    def forward(ctx, logits, labels, reduction):
        n, c, length = logits.shape
        assert labels.shape == (n, length), "labels must be (N, L)"
        if reduction not in ("batchmean", "perpixel"):
            raise ValueError(f"unknown reduction {reduction!r}")
        ctx.weight = 1.0 / n if reduction == "batchmean" else 1.0 / (n * length)
        log_p = torch.log_softmax(logits, 1)
        ctx.save_for_backward(log_p, labels)
        return -log_p.gather(1, labels.unsqueeze(1)).sum() * ctx.weight

    @staticmethod
    def backward(ctx, grad_output):
        log_p, labels = ctx.saved_tensors
        one_hot = torch.zeros_like(log_p).scatter(1, labels.unsqueeze(1), 1.0)
        return grad_output * ctx.weight * (log_p.exp() - one_hot), None, None


class NLLForgetsWeight(NLLWithLabels):
    """The same with a backward that forgets the reduction."""

    @staticmethod
    def forward(ctx, logits, labels, reduction):
        n, c, length = logits.shape
        assert labels.shape == (n, length), "labels must be (N, L)"
        if reduction not in ("batchmean", "perpixel"):
            raise ValueError(f"unknown reduction {reduction!r}")
        ctx.weight = 1.0 / n if reduction == "batchmean" else 1.0 / (n * length)
        log_p = torch.log_softmax(logits, 1)
        ctx.save_for_backward(log_p, labels)
        return -log_p.gather(1, labels.unsqueeze(1)).sum() * ctx.weight

    @staticmethod
    def backward(ctx, grad_output):
        log_p, labels = ctx.saved_tensors
        one_hot = torch.zeros_like(log_p).scatter(1, labels.unsqueeze(1), 1.0)
        return grad_output * (log_p.exp() - one_hot), None, None


class MaskedHuber(Function):
    """A loss whose mask has the shape of a message."""

    @staticmethod
    def forward(ctx, pred, target, mask):
        if pred.dim() != 3 or pred.shape != target.shape:
            raise ValueError("pred and target must be (batch, time, channels)")
        if mask.dtype != torch.bool or mask.shape != pred.shape[:2]:
            raise ValueError("mask must be a bool tensor of shape (batch, time)")
        diff = (pred - target) * mask.unsqueeze(-1)
        ctx.save_for_backward(diff)
        return (diff**2).sum()

    @staticmethod
    def backward(ctx, grad_output):
        (diff,) = ctx.saved_tensors
        return 2 * grad_output * diff, -2 * grad_output * diff, None


class StackedList(Function):
    """A list of tensors, to which PyTorch gives no gradient."""

    @staticmethod
    def forward(ctx, tensors: list, dim: int):
        ctx.dim = dim
        return torch.stack([t.detach() for t in tensors], dim).exp().sum()

    @staticmethod
    def backward(ctx, grad_output):
        return None, None


class EvidenceOfExperts(Function):
    """The responsibilities of the experts come beside their log-probabilities."""

    @staticmethod
    def forward(ctx, log_p, responsibilities, dim):
        ctx.save_for_backward(responsibilities)
        ctx.dim = dim
        return torch.logsumexp(log_p, dim=dim)

    @staticmethod
    def backward(ctx, grad_output):
        (responsibilities,) = ctx.saved_tensors
        return grad_output.unsqueeze(ctx.dim) * responsibilities, None, None
