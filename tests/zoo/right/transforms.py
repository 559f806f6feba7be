"""Forward mode, batching and higher orders; all right."""

from gradtool import Function, float64, randn, tensor


def rand(*shape):
    return randn(*shape, dtype=float64, requires_grad=True)


class CubeWithJvp(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2

    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * x_t


class ProductWithJvp(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t


class PairWithJvp(Function):
    @staticmethod
    def forward(x):
        return x.sin(), x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad_sin, grad_exp):
        (x,) = ctx.saved_tensors
        return grad_sin * x.cos() + grad_exp * x.exp()

    @staticmethod
    def jvp(ctx, x_t):
        (x,) = ctx.saved_tensors
        return x_t * x.cos(), x_t * x.exp()


class ScaleWithJvpAndNumber(Function):
    @staticmethod
    def forward(x, factor):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None

    @staticmethod
    def jvp(ctx, x_t, _):
        return x_t * ctx.factor

    @staticmethod
    def sample_inputs():
        yield rand(3), 1.5


class SoftmaxWithVmap(Function):
    @staticmethod
    def forward(x):
        return x.softmax(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (s,) = ctx.saved_tensors
        return s * (grad_output - (grad_output * s).sum(-1, keepdim=True))

    @staticmethod
    def vmap(info, in_dims, x):
        return SoftmaxWithVmap.apply(x.movedim(in_dims[0], 0)), 0

    @staticmethod
    def sample_inputs():
        yield (rand(3),)


class MultiplyWithVmap(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x

    @staticmethod
    def vmap(info, in_dims, x, y):
        x = x.movedim(in_dims[0], 0) if in_dims[0] is not None else x.unsqueeze(0)
        y = y.movedim(in_dims[1], 0) if in_dims[1] is not None else y.unsqueeze(0)
        x = x.expand(info.batch_size, *x.shape[1:])
        y = y.expand(info.batch_size, *y.shape[1:])
        return MultiplyWithVmap.apply(x, y), 0

    @staticmethod
    def sample_inputs():
        yield rand(3), rand(3)


class GeneratedVmap(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        return (x * y).sum(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        g = grad_output.unsqueeze(-1)
        return g * y, g * x

    @staticmethod
    def sample_inputs():
        yield rand(2, 3), rand(2, 3)


class GeneratedVmapWithJvp(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.tanh()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (1 - y * y)

    @staticmethod
    def jvp(ctx, x_t):
        (y,) = ctx.saved_tensors
        return x_t * (1 - y * y)


class SineOfEveryOrder(Function):
    """Its backward is made of Functions like itself."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * CosineOfEveryOrder.apply(x)


class CosineOfEveryOrder(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.cos()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -grad_output * SineOfEveryOrder.apply(x)


class CubeByOwnBackward(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return _CubeGradient.apply(x, grad_output)


class _CubeGradient(Function):
    @staticmethod
    def forward(ctx, x, grad_output):
        ctx.save_for_backward(x, grad_output)
        return 3 * x * x * grad_output

    @staticmethod
    def backward(ctx, grad):
        x, grad_output = ctx.saved_tensors
        return 6 * x * grad_output * grad, 3 * x * x * grad


class PolynomialByHorner(Function):
    @staticmethod
    def forward(ctx, x, coefficients):
        ctx.save_for_backward(x)
        ctx.coefficients = coefficients
        result = x * 0
        for coefficient in coefficients:
            result = result * x + coefficient
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        degree = len(ctx.coefficients) - 1
        slope = x * 0
        for power, coefficient in zip(range(degree, 0, -1), ctx.coefficients, strict=False):
            slope = slope * x + power * coefficient
        return grad_output * slope, None

    @staticmethod
    def sample_inputs():
        yield tensor([0.5, -1.0, 2.0], dtype=float64, requires_grad=True), [1.0, -2.0, 0.0, 3.0]
