"""Right while every input asks for its gradient, wrong or raising when only some do."""

from gradtool import Function, float64, randn, zeros_like


def rand(*shape):
    return randn(*shape, dtype=float64, requires_grad=True)


class SavesOnlyIfFirstNeeds(Function):
    expect = {"GT109"}

    @staticmethod
    def forward(ctx, x, weight):
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors  # <-
        return grad_output * weight, grad_output * x


class AsksForTheOthersNeed(Function):
    expect = {"GT109"}

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = grad_weight = None
        if ctx.needs_input_grad[1]:  # <-
            grad_x = grad_output * weight
        if ctx.needs_input_grad[0]:
            grad_weight = grad_output * x
        return grad_x, grad_weight


class WeightBehindNumberIndex(Function):
    """The bias asks at the place of the weight, which always needs its gradient here."""

    expect = {"GT109"}

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight + bias

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_x = grad_output @ weight.t()
        if ctx.needs_input_grad[1]:  # <-
            grad_weight = x.t() @ grad_output
            grad_bias = grad_output.sum(0)
        return grad_x, grad_weight, grad_bias

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(3, 2), rand(2)


class FrozenWeightFirst(Function):
    """A shortcut for frozen weights that forgets the input's own gradient."""

    expect = {"GT109"}

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight.exp()

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        if not ctx.needs_input_grad[1]:
            return zeros_like(x), None
        return grad_output * weight.exp(), grad_output * x * weight.exp()


class ReturnsInOrderOfNeed(Function):
    """A list that holds the wanted gradients only."""

    expect = {"GT109"}

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        grads = []
        if ctx.needs_input_grad[0]:
            grads.append(grad_output * b)
        if ctx.needs_input_grad[1]:
            grads.append(grad_output * a)
        return (*grads, *[None] * (2 - len(grads)))


class ScaleAttributeOnlyIfNeeded(Function):
    expect = {"GT109"}

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        if ctx.needs_input_grad[0] and ctx.needs_input_grad[1]:
            ctx.inverse = True
        return x / scale.exp()

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        if not ctx.inverse:  # <-
            return None, None
        grad = grad_output / scale.exp()
        return grad, -x * grad
