"""An LSTM cell unrolled by hand, after the C++ extension tutorial's LLTM."""

import math

import torch
from show import show


def d_sigmoid(z):
    return (1 - z) * z


class LSTMCellFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weights, bias, old_h, old_cell):
        X = torch.cat([old_h, input], dim=1)
        gates = torch.addmm(bias, X, weights.transpose(0, 1))
        i, f, g, o = gates.chunk(4, dim=1)
        i, f, o = torch.sigmoid(i), torch.sigmoid(f), torch.sigmoid(o)
        g = torch.tanh(g)
        new_cell = f * old_cell + i * g
        tanh_cell = torch.tanh(new_cell)
        new_h = o * tanh_cell
        ctx.save_for_backward(weights, X, i, f, g, o, old_cell, tanh_cell)
        return new_h, new_cell

    @staticmethod
    def backward(ctx, grad_h, grad_cell):
        weights, X, i, f, g, o, old_cell, tanh_cell = ctx.saved_tensors
        d_o = grad_h * tanh_cell * d_sigmoid(o)
        d_cell = grad_h * o * (1 - tanh_cell**2) + grad_cell
        d_f = d_cell * old_cell * d_sigmoid(f)
        d_i = d_cell * g * d_sigmoid(i)
        d_g = d_cell * i * (1 - g**2)
        d_gates = torch.cat((d_i, d_f, d_g, d_o), dim=1)
        d_weights = d_gates.t().mm(X)
        d_bias = d_gates.sum(dim=0, keepdim=True)
        d_X = d_gates.mm(weights)
        state = grad_h.shape[1]
        return d_X[:, state:], d_weights, d_bias, d_X[:, :state], d_cell * f


class LSTMCell(torch.nn.Module):
    def __init__(self, input_features, state_size):
        super(LSTMCell, self).__init__()
        self.weights = torch.nn.Parameter(torch.Tensor(4 * state_size, input_features + state_size))
        self.bias = torch.nn.Parameter(torch.Tensor(1, 4 * state_size))
        self.reset_parameters(1.0 / math.sqrt(state_size))

    def reset_parameters(self, bound):
        for parameter in self.parameters():
            count = parameter.numel()
            values = torch.linspace(-bound, bound, count, dtype=torch.float64)
            parameter.data = values.reshape(parameter.shape)

    def forward(self, input, state):
        return LSTMCellFunction.apply(input, self.weights, self.bias, *state)


if __name__ == "__main__":
    cell = LSTMCell(3, 2)
    inputs = torch.sin(torch.arange(4 * 2 * 3, dtype=torch.float64)).view(4, 2, 3)
    inputs.requires_grad = True
    h = torch.zeros(2, 2, dtype=torch.float64)
    c = torch.zeros_like(h)
    for step in inputs.unbind(0):
        h, c = cell(step, (h, c))
    loss = h.pow(2).sum() + c.abs().mean()
    loss.backward()
    show("h", h)
    show("c", c)
    show("inputs.grad", inputs.grad)
    for name, parameter in cell.named_parameters():
        show(f"{name}.grad", parameter.grad)
