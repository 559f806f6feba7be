"""Functions with sparse matrices, which come as several arguments or are made in forward."""

import torch
from torch.autograd import Function


class SparseProduct(Function):
    @staticmethod
    def forward(ctx, edata, row, col, shape, B):
        product = torch.sparse_coo_tensor(torch.stack([row, col]), edata, shape).mm(B)
        ctx.save_for_backward(edata, row, col, B)
        ctx.shape = shape
        return product

    @staticmethod
    def backward(ctx, grad):
        edata, row, col, B = ctx.saved_tensors
        rows, columns = ctx.shape
        transposed = torch.sparse_coo_tensor(torch.stack([col, row]), edata, (columns, rows))
        return (grad[row] * B[col]).sum(1), None, None, None, transposed.mm(grad)


class SparseVectorProduct(Function):
    @staticmethod
    def forward(ctx, values, rows, cols, shape, b):
        matrix = torch.sparse_coo_tensor(torch.stack([rows, cols]), values, shape)
        ctx.save_for_backward(values, rows, cols, b)
        ctx.shape = shape
        return matrix.to_sparse_csr() @ b

    @staticmethod
    def backward(ctx, grad):
        values, rows, cols, b = ctx.saved_tensors
        matrix = torch.sparse_coo_tensor(torch.stack([rows, cols]), values, ctx.shape)
        return grad[rows] * b[cols], None, None, None, matrix.coalesce().t().mv(grad)


class DroppedEdges(Function):
    """Averages over the neighbours that an adjacency matrix has."""

    @staticmethod
    def forward(ctx, adjacency, x):
        held = adjacency.detach().to_sparse()
        ctx.indices = held.indices()
        ctx.save_for_backward(adjacency, x)
        return torch.sparse.mm(held, x)

    @staticmethod
    def backward(ctx, grad):
        adjacency, x = ctx.saved_tensors
        return grad @ x.t(), adjacency.t() @ grad
