"""A one-dimensional convolution as a matrix product over unfolded windows."""

import torch
from show import show
from torch.autograd import Function


class Conv1d(Function):
    @staticmethod
    def forward(ctx, input, weight, bias, stride=1, padding=0):
        batch, channels, length = input.shape
        out_channels, _, kernel = weight.shape
        padded = input.new_zeros(batch, channels, length + 2 * padding)
        padded[:, :, padding : padding + length] = input
        windows = padded.unfold(2, kernel, stride)
        columns = windows.permute(0, 2, 1, 3).reshape(batch, -1, channels * kernel)
        output = columns.matmul(weight.view(out_channels, -1).t()) + bias
        ctx.save_for_backward(columns, weight)
        ctx.sizes = (batch, channels, length, kernel, stride, padding)
        return output.transpose(1, 2).contiguous()

    @staticmethod
    def backward(ctx, grad_output):
        columns, weight = ctx.saved_tensors
        batch, channels, length, kernel, stride, padding = ctx.sizes
        grad = grad_output.transpose(1, 2)
        grad_weight = torch.bmm(grad.transpose(1, 2), columns).sum(0).view_as(weight)
        grad_bias = grad.sum((0, 1))
        grad_columns = grad @ weight.reshape(weight.size(0), -1)
        grad_columns = grad_columns.view(batch, -1, channels, kernel)
        grad_padded = grad_output.new_zeros((batch, channels, length + 2 * padding))
        for position in range(grad_columns.size(1)):
            start = position * stride
            grad_padded[:, :, start : start + kernel] += grad_columns[:, position]
        grad_input = grad_padded.narrow(2, padding, length)
        return grad_input, grad_weight, grad_bias, None, None


if __name__ == "__main__":
    x = torch.sin(torch.arange(2 * 3 * 7).double()).reshape(2, 3, 7).requires_grad_()
    w = torch.cos(torch.arange(4 * 3 * 3).double()).reshape(4, 3, 3).requires_grad_()
    b = torch.tensor([0.1, 0.2, 0.3, 0.4]).double().requires_grad_()
    y = Conv1d.apply(x, w, b, 2, 1)
    (y * y).sum().backward()
    show("y", y)
    for name, tensor in [("x", x), ("w", w), ("b", b)]:
        show(f"{name}.grad", tensor.grad)
