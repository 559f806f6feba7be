"""Softmax cross-entropy over class indices, with an ignored index and a non-tensor argument."""

import torch
import torch.nn.functional as F
from show import show


class SoftmaxCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, ignore_index=-100):
        log_prob = F.log_softmax(logits, dim=1)
        mask = target.ne(ignore_index)
        safe = target.masked_fill(~mask, 0)
        picked = log_prob.gather(1, safe.unsqueeze(1)).squeeze(1)
        count = mask.sum().clamp(min=1).to(logits.dtype)
        loss = -(picked * mask).sum() / count
        ctx.save_for_backward(log_prob, safe, mask)
        ctx.count = count
        ctx.mark_non_differentiable(mask)
        return loss, mask

    @staticmethod
    def backward(ctx, grad_loss, _grad_mask):
        log_prob, safe, mask = ctx.saved_tensors
        grad = log_prob.exp()
        one_hot = torch.zeros_like(grad).scatter_(1, safe.unsqueeze(1), 1.0)
        grad = (grad - one_hot) * mask.unsqueeze(1).type_as(grad)
        return grad_loss * grad / ctx.count, None, None


if __name__ == "__main__":
    logits = torch.tensor(
        [[2.0, -1.0, 0.5], [0.1, 0.2, 0.3], [-3.0, 4.0, 1.0], [1.0, 1.0, 1.0]],
        dtype=torch.double,
        requires_grad=True,
    )
    target = torch.tensor([0, 2, -100, 1])
    loss, mask = SoftmaxCrossEntropy.apply(logits, target)
    loss.backward()
    print(mask.requires_grad, mask.tolist(), loss.grad_fn.name())
    show("loss", loss)
    show("logits.grad", logits.grad)
    show("probabilities", F.softmax(logits, -1))
