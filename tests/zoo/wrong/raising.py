"""Code that does not get through."""

from gradtool import Function, float64, randn


def rand(*shape):
    return randn(*shape, dtype=float64, requires_grad=True)


class ForwardWrongShapes(Function):
    expect = {"GT003"}

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight  # <-

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return grad_output @ weight.t(), x.t() @ grad_output

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(4, 3)


class ForwardReturnsNothing(Function):
    expect = {"GT003"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        raise ValueError("x must be positive")  # <-

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output

    @staticmethod
    def sample_inputs():
        yield (rand(3),)


class AttributeNeverSet(Function):
    expect = {"GT004"}

    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None  # <-

    @staticmethod
    def sample_inputs():
        yield rand(3), 2.0


class TooManyUnpacked(Function):
    expect = {"GT004"}

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors  # <-
        return grad_output * y, grad_output * x


class BackwardShapesDoNotFit(Function):
    expect = {"GT004"}

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = grad_output @ weight  # <-
        return grad_x, x.t() @ grad_output

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 4)


class BackwardTakesTooFew(Function):
    expect = {"GT004"}

    @staticmethod
    def forward(ctx, x):
        return 2 * x, 3 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output


class NameMisspelt(Function):
    expect = {"GT004"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_ouput * x.cos()  # noqa: F821  # <-


class NoBackward(Function):  # <-
    expect = {"GT011"}

    @staticmethod
    def forward(ctx, x):
        return x.sin()
