# ruff: noqa: A001, A002, RUF012 - names as users have them; the lists are only read
"""Functions with the signatures that people write, for the search for arguments to find.

``ACCEPTED`` says, for each, the arguments of every case that should be found.
"""

from typing import List, Optional, Tuple  # noqa: UP035 - as many published modules spell it

import gradtool.engine as torch
from gradtool import Function, once_differentiable


class Swish(Function):
    EXPECTED = [["i: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, i):
        ctx.save_for_backward(i)
        return i * i.sigmoid()

    @staticmethod
    def backward(ctx, grad_output):
        (i,) = ctx.saved_tensors
        s = i.sigmoid()
        return grad_output * (s * (1 + i * (1 - s)))


class Linear(Function):
    EXPECTED = [
        ["input: float64[3, 4]", "weight: float64[5, 4]"],
        ["input: float64[3, 4]", "weight: float64[5, 4]", "bias: float64[5]"],
    ]

    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        return output if bias is None else output + bias

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_bias = grad_output.sum(0) if bias is not None else None
        return grad_output.mm(weight), grad_output.t().mm(input), grad_bias


class RequiredBias(Function):
    EXPECTED = [["x: float64[3, 4]", "w: float64[5, 4]", "b: float64[5]"]]

    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        return torch.addmm(b, x, w.t())

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w, g.t() @ x, g.sum(0)


class InputOutputWeight(Function):
    """Weight as (in, out)."""

    EXPECTED = [["x: float64[3, 4]", "weight: float64[4, 5]", "bias: float64[5]"]]

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight + bias

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g @ weight.t(), x.t() @ g, g.sum(0)


class Perceptron(Function):
    EXPECTED = [
        [
            "x: float64[3, 4]",
            "w1: float64[5, 4]",
            "b1: float64[5]",
            "w2: float64[6, 5]",
            "b2: float64[6]",
        ]
    ]

    @staticmethod
    def forward(ctx, x, w1, b1, w2, b2):
        h = (x @ w1.t() + b1).tanh()
        ctx.save_for_backward(x, w1, b1, w2)
        return h @ w2.t() + b2

    @staticmethod
    def backward(ctx, g):
        x, w1, b1, w2 = ctx.saved_tensors
        h = (x @ w1.t() + b1).tanh()
        gh = (g @ w2) * (1 - h * h)
        return gh @ w1, gh.t() @ x, gh.sum(0), g.t() @ h, g.sum(0)


class Matmul(Function):
    EXPECTED = [["a: float64[3, 4]", "b: float64[4, 5]"]]

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b.t(), a.t() @ g


class BatchedMatmul(Function):
    EXPECTED = [["a: float64[2, 3, 4]", "b: float64[2, 4, 5]"]]

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return torch.bmm(a, b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return torch.bmm(g, b.transpose(1, 2)), torch.bmm(a.transpose(1, 2), g)


class Product(Function):
    EXPECTED = [["x: float64[3, 4]", "y: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


class ForgottenGradient(Function):
    """A saved argument is a tensor, whatever backward says of it."""

    EXPECTED = [["x: float64[3, 4]", "y: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        _, y = ctx.saved_tensors
        return g * y, None


class TensorsOnCtx(Function):
    """Kept in the wrong place, yet tensors: backward has gradients for them."""

    EXPECTED = [["x: float64[3, 4]", "y: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, x, y):
        ctx.x = x
        ctx.y = y
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y, g * ctx.x


class Dot(Function):
    EXPECTED = [["x: float64[4]", "y: float64[4]"]]

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.dot(x, y)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


class Outer(Function):
    EXPECTED = [["u: float64[3]", "v: float64[4]"]]

    @staticmethod
    def forward(ctx, u, v):
        ctx.save_for_backward(u, v)
        return torch.outer(u, v)

    @staticmethod
    def backward(ctx, g):
        u, v = ctx.saved_tensors
        return torch.mv(g, v), torch.mv(g.t(), u)


class MatrixVector(Function):
    EXPECTED = [["m: float64[3, 4]", "v: float64[4]"]]

    @staticmethod
    def forward(ctx, m, v):
        ctx.save_for_backward(m, v)
        return torch.mv(m, v)

    @staticmethod
    def backward(ctx, g):
        m, v = ctx.saved_tensors
        return torch.outer(g, v), torch.mv(m.t(), g)


class MulConstant(Function):
    EXPECTED = [["tensor: float64[3, 4]", "constant: 0.75"]]

    @staticmethod
    def forward(ctx, tensor, constant):
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.constant, None


class UnknownScalar(Function):
    """Only the source says that ``zeta`` is a number."""

    EXPECTED = [["x: float64[3, 4]", "zeta: 0.75"]]

    @staticmethod
    def forward(x, zeta):
        return x * zeta

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, factor = inputs
        ctx.factor = factor

    @staticmethod
    def backward(ctx, g):
        nothing = None
        return g * ctx.factor, nothing


class Power(Function):
    EXPECTED = [["x: float64[3, 4]", "exponent: 3"]]

    @staticmethod
    def forward(ctx, x, exponent):
        ctx.save_for_backward(x)
        ctx.exponent = exponent
        return x**exponent

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.exponent * x ** (ctx.exponent - 1), None


class ClampTo(Function):
    EXPECTED = [["x: float64[3, 4]", "min_val: -0.5", "max_val: 0.75"]]

    @staticmethod
    def forward(ctx, x, min_val: float, max_val: float):
        ctx.save_for_backward((x > min_val) & (x < max_val))
        return x.clamp(min_val, max_val)

    @staticmethod
    def backward(ctx, g):
        (inside,) = ctx.saved_tensors
        return g * inside, None, None


class SumOver(Function):
    EXPECTED = [["x: float64[3, 4]", "dim: 1", "keepdim: True"]]

    @staticmethod
    def forward(ctx, x, dim, keepdim):
        ctx.shape, ctx.dim, ctx.keepdim = x.shape, dim, keepdim
        return x.sum(dim, keepdim=keepdim)

    @staticmethod
    def backward(ctx, g):
        if not ctx.keepdim:
            g = g.unsqueeze(ctx.dim)
        return g.expand(ctx.shape), None, None


class Reshape(Function):
    EXPECTED = [["x: float64[3, 4]", "shape: [4, 3]"]]

    @staticmethod
    def forward(ctx, x, shape: Tuple[int, ...]):  # noqa: UP006
        ctx.shape = x.shape
        return x.reshape(shape)

    @staticmethod
    def backward(ctx, g):
        return g.reshape(ctx.shape), None


class Permute(Function):
    EXPECTED = [["x: float64[3, 4]", "dims: [1, 0]"]]

    @staticmethod
    def forward(ctx, x, dims):
        ctx.back = sorted(range(len(dims)), key=dims.__getitem__)
        return x.permute(dims)

    @staticmethod
    def backward(ctx, g):
        return g.permute(ctx.back), None


class LayerNorm(Function):
    EXPECTED = [["x: float64[3, 4]", "gamma: float64[4]", "beta: float64[4]", "eps: 1e-05"]]

    @staticmethod
    def forward(ctx, x, gamma, beta, eps):
        centred = x - x.mean(-1, keepdim=True)
        rstd = (centred.square().mean(-1, keepdim=True) + eps).rsqrt()
        ctx.save_for_backward(centred * rstd, rstd, gamma)
        return centred * rstd * gamma + beta

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        hat, rstd, gamma = ctx.saved_tensors
        gh = g * gamma
        along = gh - gh.mean(-1, keepdim=True) - hat * (gh * hat).mean(-1, keepdim=True)
        return along * rstd, (g * hat).sum(0), g.sum(0), None


class ChannelScale(Function):
    EXPECTED = [["x: float64[2, 3, 4]", "weight: float64[3]"]]

    @staticmethod
    def forward(ctx, x: torch.Tensor, weight: torch.Tensor):
        if x.dim() != 3:
            raise ValueError("expected (batch, channels, length)")
        ctx.save_for_backward(x, weight)
        return x * weight.view(1, -1, 1)

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g * weight.view(1, -1, 1), (g * x).sum(2).sum(0)


class ImagesOnly(Function):
    EXPECTED = [["x: float64[2, 3, 4, 5]"]]

    @staticmethod
    def forward(ctx, x):
        n, c, h, w = x.shape
        ctx.shape = n, c, h, w
        return x.reshape(n, c, h * w).mean(-1)

    @staticmethod
    def backward(ctx, g):
        n, c, h, w = ctx.shape
        return (g / (h * w)).reshape(n, c, 1, 1).expand(n, c, h, w)


class Attention(Function):
    EXPECTED = [["q: float64[3, 4]", "k: float64[5, 4]", "v: float64[5, 6]"]]

    @staticmethod
    def forward(ctx, q, k, v):
        p = (q @ k.t()).softmax(-1)
        ctx.save_for_backward(q, k, v, p)
        return p @ v

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        gp = g @ v.t()
        gs = p * (gp - (gp * p).sum(-1, keepdim=True))
        return gs @ k, gs.t() @ q, p.t() @ g


class LstmCell(Function):
    EXPECTED = [
        [
            "input: float64[3, 4]",
            "weights: float64[20, 9]",
            "bias: float64[20]",
            "old_h: float64[3, 5]",
            "old_cell: float64[3, 5]",
        ]
    ]

    @staticmethod
    def forward(ctx, input, weights, bias, old_h, old_cell):
        gates = torch.addmm(bias, torch.cat([old_h, input], dim=1), weights.t())
        i, f, o, c = gates.chunk(4, dim=1)
        cell = f.sigmoid() * old_cell + i.sigmoid() * c.tanh()
        return o.sigmoid() * cell.tanh(), cell

    @staticmethod
    def backward(ctx, grad_h, grad_cell):
        raise NotImplementedError("only its signature matters here")


class EmbeddingLookup(Function):
    EXPECTED = [["indices: int64[5]", "weight: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, indices, weight):
        ctx.save_for_backward(indices)
        ctx.shape = weight.shape
        return weight.index_select(0, indices)

    @staticmethod
    def backward(ctx, g):
        (indices,) = ctx.saved_tensors
        grad = torch.zeros(ctx.shape, dtype=g.dtype)
        return None, grad.index_add(0, indices, g)


class Gather(Function):
    EXPECTED = [["x: float64[3, 4]", "dim: 1", "index: int64[3, 4]"]]

    @staticmethod
    def forward(ctx, x, dim: int, index: torch.Tensor):
        ctx.save_for_backward(index)
        ctx.shape, ctx.dim = x.shape, dim
        return x.gather(dim, index)

    @staticmethod
    def backward(ctx, g):
        (index,) = ctx.saved_tensors
        return torch.zeros(ctx.shape, dtype=g.dtype).scatter_add(ctx.dim, index, g), None, None


class CrossEntropy(Function):
    EXPECTED = [["logits: float64[3, 4]", "target: int64[3]"]]

    @staticmethod
    def forward(ctx, logits, target):
        logp = logits.log_softmax(1)
        ctx.save_for_backward(logp, target)
        return -logp[torch.arange(len(target)), target].mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        logp, target = ctx.saved_tensors
        grad = logp.exp()
        rows = torch.arange(len(target))
        grad[rows, target] = grad[rows, target] - 1
        return g * grad / len(target), None


class SquaredError(Function):
    """A floating target that backward declares to have no gradient."""

    EXPECTED = [["input: float64[3, 4]", "target: float64[3, 4] (no gradient)"]]

    @staticmethod
    def forward(ctx, input, target):
        if input.shape != target.shape:
            raise ValueError("shapes differ")
        ctx.save_for_backward(input, target)
        return ((input - target) ** 2).mean()

    @staticmethod
    def backward(ctx, g):
        input, target = ctx.saved_tensors
        return 2 * g * (input - target) / input.numel(), None


class MaskedFill(Function):
    EXPECTED = [["x: float64[3, 4]", "mask: bool[3, 4]", "value: 0.75"]]

    @staticmethod
    def forward(ctx, x, mask, value):
        ctx.save_for_backward(mask)
        return x.masked_fill(mask, value)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g.masked_fill(mask, 0), None, None


class Log(Function):
    EXPECTED = [["x: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.log()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / x


class Logit(Function):
    EXPECTED = [["p: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, p):
        ctx.save_for_backward(p)
        return (p / (1 - p)).log()

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return g / (p * (1 - p))


class RefusesNegative(Function):
    EXPECTED = [["x: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, x):
        if (x <= 0).any():
            raise ValueError("x must be positive")
        ctx.save_for_backward(x)
        return x.sqrt()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / (2 * x.sqrt())


class Sort(Function):
    """Backward scatters along one dimension, so it decides the shape."""

    EXPECTED = [["x: float64[4]"]]

    @staticmethod
    def forward(ctx, x):
        values, order = x.sort()
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(x, order)
        return values, order

    @staticmethod
    @once_differentiable
    def backward(ctx, g1, g2):
        x, order = ctx.saved_tensors
        grad = torch.zeros_like(x)
        grad.index_add_(0, order, g1)
        return grad


class AddInPlace(Function):
    EXPECTED = [["x: float64[3, 4]", "y: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, x, y):
        x.add_(y)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g, g


class Concatenate(Function):
    EXPECTED = [["dim: 1", "tensors[0]: float64[3, 4]", "tensors[1]: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, dim, *tensors):
        ctx.dim, ctx.sizes = dim, [t.shape[dim] for t in tensors]
        return torch.cat(tensors, dim)

    @staticmethod
    def backward(ctx, g):
        return (None, *g.split(ctx.sizes, ctx.dim))


class Solve(Function):
    """A square is accepted where nothing else is."""

    EXPECTED = [["a: float64[3, 3]", "b: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, a, b):
        if a.dim() != 2 or a.shape[0] != a.shape[1]:
            raise RuntimeError("a must be square")
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b.t(), a.t() @ g


class TransposedGradient(Function):
    """A wrong shape in backward must not push the search to a square that hides it."""

    EXPECTED = [["x: float64[3, 4]", "w: float64[5, 4]"]]

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x.mm(w.t())

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g.mm(w), x.t().mm(g)


class OptionalMask(Function):
    EXPECTED = [
        ["x: float64[3, 4]"],
        ["x: float64[3, 4]", "scale: 0.5", "mask: bool[3, 4]"],
    ]

    @staticmethod
    def forward(
        ctx,
        x: torch.Tensor,
        scale: float = 0.5,
        mask: Optional[torch.Tensor] = None,  # noqa: UP045
    ):
        ctx.scale = scale
        ctx.save_for_backward(mask)
        return x * scale if mask is None else (x * scale).masked_fill(mask, 0)

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return (g if mask is None else g.masked_fill(mask, 0)) * ctx.scale, None, None


class OptionalPlain(Function):
    """``dim=None`` is no tensor."""

    EXPECTED = [["x: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, x, dim=None, dtype=None):
        ctx.shape = x.shape
        return x.sum() if dim is None else x.sum(dim)

    @staticmethod
    def backward(ctx, g):
        return g.expand(ctx.shape), None, None


class Sizes(Function):
    EXPECTED = [["x: float64[4]", "repeats: 2"]]

    @staticmethod
    def forward(ctx, x, repeats: int):
        ctx.repeats = repeats
        return torch.cat([x] * repeats)

    @staticmethod
    def backward(ctx, g):
        return g.reshape(ctx.repeats, -1).sum(0), None


class Reduce(Function):
    EXPECTED = [["x: float64[3, 4]", "reduction: 'mean'"]]

    @staticmethod
    def forward(ctx, x, reduction):
        if reduction not in ("mean", "sum"):
            raise ValueError(f"unknown reduction {reduction}")
        ctx.shape = x.shape
        ctx.factor = 1 / x.numel() if reduction == "mean" else 1.0
        return x.sum() * ctx.factor

    @staticmethod
    def backward(ctx, g):
        return (g * ctx.factor).expand(ctx.shape), None


class ShapeList(Function):
    EXPECTED = [["x: float64[3, 4]", "sizes: [2, 3, 4]"]]

    @staticmethod
    def forward(ctx, x, sizes: List[int]):  # noqa: UP006
        return x.expand(sizes)

    @staticmethod
    def backward(ctx, g):
        return g.sum(0), None


class GatedLinearUnit(Function):
    """Halves the first dimension that it can."""

    EXPECTED = [["x: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, x):
        a, b = x.chunk(2, -1)
        ctx.save_for_backward(a, b)
        return a * b.sigmoid()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        s = b.sigmoid()
        return torch.cat([g * s, g * a * s * (1 - s)], -1)


class AsksForEveryArgument(Function):
    """Backward fails where an optional argument is left away, so it is not."""

    EXPECTED = [["X_: float64[3, 4]", "Alpha_: 1.5", "table: {'shape': [2]}"]]

    @staticmethod
    def forward(ctx, X_, Alpha_=1.5, table={"shape": [2]}):  # noqa: B006 - only read
        assert table == {"shape": [2]}
        ctx.alpha = Alpha_
        return X_ * Alpha_

    @staticmethod
    def backward(ctx, g):
        return g * ctx.alpha, None if not ctx.needs_input_grad[1] else g.sum(), None


class OneHot(Function):
    """``num_classes`` is a number, though ``classes`` would not be."""

    EXPECTED = [["x: float64[3, 4]", "target: int64[3]", "num_classes: 3"]]

    @staticmethod
    def forward(ctx, x, target, num_classes):
        if num_classes < 3:
            raise IndexError("fewer classes than targets")
        ctx.save_for_backward(target)
        ctx.shape = x.shape
        return x[torch.arange(len(target)), target]

    @staticmethod
    def backward(ctx, g):
        (target,) = ctx.saved_tensors
        grad = torch.zeros(ctx.shape, dtype=g.dtype)
        return grad.scatter_add(1, target.unsqueeze(1), g.unsqueeze(1)), None, None


class QuadraticForm(Function):
    """forward broadcasts matrices, too; backward wants two vectors."""

    EXPECTED = [["left: float64[4]", "mat: float64[4, 5]", "right: float64[5]"]]

    @staticmethod
    def forward(ctx, left, mat, right):
        ctx.save_for_backward(left, mat, right)
        return left @ mat @ right

    @staticmethod
    def backward(ctx, g):
        left, mat, right = ctx.saved_tensors
        return g * (mat @ right), g * torch.outer(left, right), g * (left @ mat)


class RotatedPairs(Function):
    EXPECTED = [["q: float64[3, 8]", "cos: float64[3, 4]", "sin: float64[3, 4]"]]

    @staticmethod
    def forward(ctx, q, cos, sin):
        ctx.save_for_backward(q, cos, sin)
        a, b = q.chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)

    @staticmethod
    def backward(ctx, g):
        q, cos, sin = ctx.saved_tensors
        a, b = q.chunk(2, -1)
        ga, gb = g.chunk(2, -1)
        turned = torch.cat([ga * cos + gb * sin, gb * cos - ga * sin], -1)
        return turned, ga * a + gb * b, gb * a - ga * b


class GatedLinear(Function):
    """A vector would do for each weight in forward, but not in backward."""

    EXPECTED = [["x: float64[3, 4]", "w1: float64[4, 5]", "w2: float64[4, 5]"]]

    @staticmethod
    def forward(ctx, x, w1, w2):
        ctx.save_for_backward(x, w1, w2)
        return (x @ w1) * (x @ w2)

    @staticmethod
    def backward(ctx, g):
        x, w1, w2 = ctx.saved_tensors
        first, second = g * (x @ w2), g * (x @ w1)
        return first.mm(w1.t()) + second.mm(w2.t()), x.t().mm(first), x.t().mm(second)


class GruWithoutBiases(Function):
    EXPECTED = [
        ["x: float64[3, 4]", "h: float64[3, 5]", "w_ih: float64[15, 4]", "w_hh: float64[15, 5]"]
    ]

    @staticmethod
    def forward(ctx, x, h, w_ih, w_hh):
        ctx.save_for_backward(x, h, w_ih, w_hh)
        i_r, i_z, i_n = (x @ w_ih.t()).chunk(3, 1)
        h_r, h_z, h_n = (h @ w_hh.t()).chunk(3, 1)
        return (i_r + h_r) + (i_z + h_z) * h + i_n * h_n

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, h, w_ih, w_hh = ctx.saved_tensors
        _, i_z, i_n = (x @ w_ih.t()).chunk(3, 1)
        _, h_z, h_n = (h @ w_hh.t()).chunk(3, 1)
        for_i = torch.cat([g, g * h, g * h_n], 1)
        for_h = torch.cat([g, g * h, g * i_n], 1)
        return for_i @ w_ih, for_h @ w_hh + g * (i_z + h_z), for_i.t() @ x, for_h.t() @ h


class RotatedQueriesAndKeys(Function):
    """The tables are made once: backward has no gradient for them."""

    EXPECTED = [
        [
            "q: float64[3, 4]",
            "k: float64[3, 4]",
            "cos: float64[3, 4] (no gradient)",
            "sin: float64[3, 4] (no gradient)",
        ]
    ]

    @staticmethod
    def forward(ctx, q, k, cos, sin):
        ctx.save_for_backward(cos, sin)
        return q * cos + k * sin, k * cos - q * sin

    @staticmethod
    def backward(ctx, for_q, for_k):
        cos, sin = ctx.saved_tensors
        return for_q * cos - for_k * sin, for_q * sin + for_k * cos, None, None


class PairOfParts(Function):
    EXPECTED = [["z: complex128[3, 4]"]]

    @staticmethod
    def forward(ctx, z):
        return torch.view_as_real(z).clone()

    @staticmethod
    def backward(ctx, g):
        return torch.view_as_complex(g.contiguous())


class SingleOnly(Function):
    EXPECTED = [["x: float32[3, 4]"]]

    @staticmethod
    def forward(ctx, x):
        assert x.dtype == torch.float32
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g


class LookUpWithPadding(Function):
    """The place of the padding is a number, not a tensor of indices."""

    EXPECTED = [["weight: float64[3, 4]", "indices: int64[5]"]]

    @staticmethod
    def forward(ctx, weight, indices, padding_idx=None):
        ctx.save_for_backward(indices)
        ctx.rows, ctx.padding_idx = weight.shape[0], padding_idx
        return weight[indices]

    @staticmethod
    def backward(ctx, g):
        (indices,) = ctx.saved_tensors
        grad = torch.zeros(ctx.rows, g.shape[-1], dtype=g.dtype)
        return grad.index_add(0, indices, g), None, None


class RefusesNothingToSum(Function):
    """A test for no elements refuses them."""

    EXPECTED = [["x: float64[3, 4]", "mask: bool[3, 4]"]]

    @staticmethod
    def forward(ctx, x, mask, gamma=2.0):
        if mask.dtype != torch.bool or mask.shape != x.shape:
            raise TypeError("mask must be a bool tensor shaped like x")
        if not x.is_floating_point() or x.numel() == 0:
            raise TypeError("real entries expected")
        ctx.save_for_backward(x, mask)
        ctx.gamma = gamma
        return torch.where(mask, x, gamma * x).sum()

    @staticmethod
    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        return g * torch.where(mask, 1.0, ctx.gamma).to(x.dtype), None, None


class Powers(Function):
    """Apply a matrix again and again."""

    EXPECTED = [["K: float64[3, 3]", "z0: float64[3]", "T: 2"]]

    @staticmethod
    def forward(ctx, K, z0, T):
        """Return the states.

        Parameters
        ----------
        K  : Tensor [n, n]  - transition matrix
        z0 : Tensor [n]     - initial state
        T  : int            - number of steps
        """
        Z = torch.empty(T + 1, z0.shape[0], dtype=z0.dtype)
        Z[0] = z0
        for t in range(T):
            Z[t + 1] = K @ Z[t]
        ctx.save_for_backward(K, Z)
        ctx.T = T
        return Z

    @staticmethod
    def backward(ctx, grad_Z):
        K, Z = ctx.saved_tensors
        grad_K, a = torch.zeros_like(K), grad_Z[ctx.T]
        for t in range(ctx.T - 1, -1, -1):
            grad_K = grad_K + torch.outer(a, Z[t])
            a = grad_Z[t] + K.t() @ a
        return grad_K, a, None


def _applied(name):
    def forward(ctx, x, op, args, kwargs):
        ctx.save_for_backward(x)
        ctx.op, ctx.args, ctx.kwargs = op, args, kwargs
        return op(x, *args, **kwargs)

    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            y = ctx.op(x, *ctx.args, **ctx.kwargs)
            (grad_x,) = torch.autograd.grad(y, x, grad_output, create_graph=True)
        return grad_x, None, None, None

    expected = [f"x: float64[{shape}]" for shape in ("3, 4", "6, 8")]
    others = ["op: a smooth function", "args: []", "kwargs: {}"]
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(name, (Function,), {**methods, "EXPECTED": [[each, *others] for each in expected]})


Applied = _applied("Applied")
