"""Memory: right for contiguous tensors, wrong for transposed or expanded ones."""

from gradtool import Function, float64, once_differentiable, randn
from gradtool.engine import as_strided


def rand(*shape):
    return randn(*shape, dtype=float64, requires_grad=True)


class CotangentViewed(Function):
    expect = {"GT112"}

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return (2 * grad_output.view(-1)).view(ctx.shape)  # <-

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)


class CotangentStrided(Function):
    expect = {"GT112"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        rows, columns = x.shape
        flat = as_strided(grad_output, (rows, columns), (columns, 1))
        return flat * x.cos()

    @staticmethod
    def sample_inputs():
        yield (rand(3, 3),)


class InputStrided(Function):
    expect = {"GT112"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        rows, columns = x.shape
        ctx.save_for_backward(x)
        flat = as_strided(x.detach(), (rows, columns), (columns, 1))
        return flat.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.exp()

    @staticmethod
    def sample_inputs():
        yield (rand(3, 3),)


class CotangentAssertedContiguous(Function):
    """As extensions do that call a kernel."""

    expect = {"GT112"}

    @staticmethod
    def forward(ctx, x):
        return 5 * x

    @staticmethod
    def backward(ctx, grad_output):
        if not grad_output.is_contiguous():
            raise RuntimeError("grad_output must be contiguous")  # <-
        return 5 * grad_output

    @staticmethod
    def sample_inputs():
        yield (rand(2, 3),)


class CotangentWithStridesOfInput(Function):
    expect = {"GT112"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return as_strided(grad_output, x.shape, x.stride()) * x.cos()

    @staticmethod
    def sample_inputs():
        yield (rand(2, 4),)


class InputReadInOrderOfMemory(Function):
    """Forward reads the memory of its input from the first element on, as kernels do."""

    expect = {"GT112"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        flat = as_strided(x, (x.numel(),), (1,), x.storage_offset())
        return flat.reshape(x.shape) ** 2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * grad_output * x

    @staticmethod
    def sample_inputs():
        yield (rand(3, 4),)
