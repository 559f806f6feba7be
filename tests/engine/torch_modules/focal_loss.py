"""Sigmoid focal loss with an analytic backward, and cross entropy in chunks to save memory."""

import torch
import torch.nn.functional as F
from show import show
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class FocalSigmoidLoss(Function):
    @staticmethod
    def forward(ctx, logits, label, alpha=0.25, gamma=2):
        prob = torch.sigmoid(logits)
        p_t = torch.where(label == 1, prob, 1 - prob)
        alpha_t = torch.full_like(prob, 1 - alpha)
        alpha_t[label == 1] = alpha
        log_p_t = p_t.clamp(min=torch.finfo(prob.dtype).tiny).log()
        ctx.save_for_backward(p_t, alpha_t, log_p_t, label)
        ctx.gamma = gamma
        return -alpha_t * (1 - p_t) ** gamma * log_p_t

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        p_t, alpha_t, log_p_t, label = ctx.saved_tensors
        gamma = ctx.gamma
        sign = label.type_as(p_t).mul_(2).sub_(1)
        grads = alpha_t * sign * (1 - p_t).pow(gamma) * (gamma * p_t * log_p_t - (1 - p_t))
        return grads.mul_(grad_output), None, None, None


class ChunkedCrossEntropy(Function):
    @staticmethod
    def forward(ctx, hidden, weight, target, n_chunks):
        grad_hidden = torch.empty_like(hidden)
        grad_weight = torch.zeros_like(weight)
        loss = hidden.new_zeros(())
        n = hidden.size(0)
        for h, t, g in zip(
            hidden.chunk(n_chunks), target.chunk(n_chunks), grad_hidden.chunk(n_chunks)
        ):
            logits = h @ weight.t()
            log_z = torch.logsumexp(logits, dim=-1, keepdim=True)
            loss += (log_z.squeeze(-1) - logits.gather(1, t[:, None]).squeeze(1)).sum()
            p = (logits - log_z).exp_()
            p[torch.arange(t.numel(), device=t.device), t] -= 1
            g.copy_(p @ weight)
            grad_weight.addmm_(p.t(), h)
        ctx.save_for_backward(grad_hidden.div_(n), grad_weight.div_(n))
        return loss / n

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_loss):
        grad_hidden, grad_weight = ctx.saved_tensors
        return grad_hidden * grad_loss, grad_weight * grad_loss, None, None


if __name__ == "__main__":
    logits = torch.linspace(-3, 3, 6, dtype=torch.double).reshape(2, 3).requires_grad_()
    label = torch.LongTensor([[0, 1, 0], [1, 1, 0]])
    loss = FocalSigmoidLoss.apply(logits, label)
    loss.sum().backward()
    show("focal", loss)
    show("grad", logits.grad)

    hidden = torch.cos(torch.arange(20, dtype=torch.double)).view(5, 4).requires_grad_()
    weight = torch.sin(torch.arange(12, dtype=torch.double)).view(3, 4).requires_grad_()
    target = torch.tensor([0, 2, 1, 1, 0])
    loss = ChunkedCrossEntropy.apply(hidden, weight, target, 2)
    (3 * loss).backward()
    expected = F.cross_entropy(hidden @ weight.t(), target)
    print(torch.allclose(loss, expected), "%.12f" % loss.item())
    show("hidden.grad", hidden.grad)
    show("weight.grad", weight.grad)
