"""The gradient is right, and what follows from it is not."""

from gradtool import Function, float64, no_grad, once_differentiable, randn, tensor


def rand(*shape):
    return randn(*shape, dtype=float64, requires_grad=True)


class ExpSavesIntermediate(Function):
    expect = {"GT202"}

    @staticmethod
    def forward(ctx, x):
        e = x.exp()
        ctx.save_for_backward(e)
        return e * e

    @staticmethod
    def backward(ctx, grad_output):
        (e,) = ctx.saved_tensors
        return grad_output * 2 * e * e


class LengthMaskedTooLate(Function):
    """The mask hides the division by zero from the gradient, but not from its derivative."""

    expect = {"GT201"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x * x).sum(1).sqrt()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        length = (x * x).sum(1, keepdim=True).sqrt()
        return grad_output[:, None] * (x / length).masked_fill(length == 0, 0.0)

    @staticmethod
    def sample_inputs():
        yield (tensor([[0.3, -0.5], [0.0, 0.0]], dtype=float64, requires_grad=True),)


class SigmoidOfScaled(Function):
    expect = {"GT202"}

    @staticmethod
    def forward(ctx, x, weight):
        s = (x * weight).sigmoid()
        ctx.save_for_backward(x, weight, s)
        return 2 * s - 1

    @staticmethod
    def backward(ctx, grad_output):
        x, weight, s = ctx.saved_tensors
        common = 2 * grad_output * s * (1 - s)
        return common * weight, common * x


class DetachedInBackward(Function):
    expect = {"GT202"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x.detach() ** 2


class DataInBackward(Function):
    expect = {"GT202"}

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y.data, grad_output * x.data


class NoGradInBackward(Function):
    expect = {"GT202"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with no_grad():
            return grad_output * x.cos()


class NumPyRoundTrip(Function):
    expect = {"GT202"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * tensor(2 * x.detach().numpy())


class FloatOfSaved(Function):
    """item() leaves autograd as well."""

    expect = {"GT202"}

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        return grad_output * scale.item(), (grad_output * x).sum()

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(())


class CubeInOneStep(Function):
    """Keeps a detached copy on ctx, with a right gradient."""

    expect = {"GT202"}

    @staticmethod
    def forward(ctx, x):
        ctx.slope = 3 * x.detach() ** 2
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.slope


class RaisesWhenDifferentiated(Function):
    expect = {"GT203"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return tensor(2 * x.numpy() * grad_output.numpy())  # <-


class InnerCubeBackward(Function):
    """A backward written as a Function of its own, whose backward has a wrong factor."""

    expect = {"GT201"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return _CubeGradient.apply(x, grad_output)


class _CubeGradient(Function):
    expect = {"GT101"}
    diagnosis = "factor"

    @staticmethod
    def forward(ctx, x, grad_output):
        ctx.save_for_backward(x, grad_output)
        return 3 * x * x * grad_output

    @staticmethod
    def backward(ctx, grad):
        x, grad_output = ctx.saved_tensors
        return 3 * x * grad_output * grad, 3 * x * x * grad


class InnerSineBackward(Function):
    expect = {"GT201"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return _SineGradient.apply(x, grad_output)


class _SineGradient(Function):
    expect = {"GT101"}
    diagnosis = "sign"

    @staticmethod
    def forward(ctx, x, grad_output):
        ctx.save_for_backward(x, grad_output)
        return x.cos() * grad_output

    @staticmethod
    def backward(ctx, grad):
        x, grad_output = ctx.saved_tensors
        return x.sin() * grad_output * grad, x.cos() * grad


class ThirdOrderCut(Function):
    """Right twice; the third derivative loses a term in the backward of the backward."""

    expect = {"GT204"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**4

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return _FourthGradient.apply(x, grad_output)


class _FourthGradient(Function):
    expect = {"GT202"}

    @staticmethod
    def forward(ctx, x, grad_output):
        square = x * x
        ctx.save_for_backward(x, grad_output, square)
        return 4 * x * square * grad_output

    @staticmethod
    def backward(ctx, grad):
        x, grad_output, square = ctx.saved_tensors
        return 12 * square * grad_output * grad, 4 * x**3 * grad


class ThirdOrderWrong(Function):
    expect = {"GT204"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return _ExpGradient.apply(x, grad_output)


class _ExpGradient(Function):
    expect = {"GT202"}

    @staticmethod
    def forward(ctx, x, grad_output):
        e = x.exp()
        ctx.save_for_backward(grad_output, e)
        return e * grad_output

    @staticmethod
    def backward(ctx, grad):
        grad_output, e = ctx.saved_tensors
        return e * grad_output * grad, e * grad


class TanhGradient(Function):
    """Not once differentiable as it says: nothing is wrong with what it computes first."""

    expect = {"GT101"}
    diagnosis = "sign"

    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (y * y - 1)
