"""Promises to autograd that are not kept."""

import time

from gradtool import Function, float64, randn, zeros


def rand(*shape):
    return randn(*shape, dtype=float64, requires_grad=True)


class InputDoubledInPlace(Function):
    expect = {"GT501"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output


class TargetShiftedInPlace(Function):
    """An argument that needs no gradient is changed: the caller's data."""

    expect = {"GT501"}
    at = "forward"

    @staticmethod
    def forward(ctx, x, target):
        target -= target.mean()
        ctx.save_for_backward(x, target)
        return ((x - target) ** 2).sum()

    @staticmethod
    def backward(ctx, grad_output):
        x, target = ctx.saved_tensors
        return 2 * grad_output * (x - target), None

    @staticmethod
    def sample_inputs():
        yield rand(4), randn(4, dtype=float64)


class MaskNormalisedInPlace(Function):
    """An argument without a gradient is changed, not declared."""

    expect = {"GT501"}
    at = "forward"

    @staticmethod
    def forward(ctx, x, weights):
        weights.div_(weights.sum())
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output, None

    @staticmethod
    def sample_inputs():
        yield rand(4), randn(4, dtype=float64).exp()


class DirtyNotReturned(Function):
    expect = {"GT502"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output


class CotangentDoubledInPlace(Function):
    expect = {"GT503"}

    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.mul_(2)


class CotangentMaskedInPlace(Function):
    """Relu of the tutorials with the clone forgotten."""

    expect = {"GT503"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_output[x < 0] = 0
        return grad_output

    @staticmethod
    def sample_inputs():
        x = randn(6, dtype=float64)
        x[0], x[1] = 1.0, -1.0
        yield (x.requires_grad_(),)


class SavedChangedThroughData(Function):
    expect = {"GT504"}

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = x * grad_output
        x.data.mul_(0.5)
        return grad


class MaskOnCtxConsumed(Function):
    """The second backward of a retained graph finds an emptied mask."""

    expect = {"GT504"}

    @staticmethod
    def forward(ctx, x):
        mask = (x > 0).double()
        ctx.save_for_backward(mask)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        grad = grad_output * mask.clone()
        mask.data.zero_()
        return grad

    @staticmethod
    def sample_inputs():
        x = randn(6, dtype=float64)
        x[0], x[1] = 1.0, -1.0
        yield (x.requires_grad_(),)


class InputOnCtx(Function):
    expect = {"GT505"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2 * ctx.x


class WeightOnCtx(Function):
    expect = {"GT505"}
    at = "forward"

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x)
        ctx.weight = weight
        return x * weight

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.weight, grad_output * x


class InputsInListOnCtx(Function):
    expect = {"GT505"}
    at = "forward"

    @staticmethod
    def forward(ctx, x, y):
        ctx.inputs = [x, y]
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.inputs
        return grad_output * y, grad_output * x


class OutputOnCtx(Function):
    """A reference cycle as well, which is a consequence of the same line."""

    expect = {"GT505"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.y = y
        return y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.y


class BothBackwardAndVjp(Function):
    expect = {"GT507"}

    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output

    @staticmethod
    def vjp(ctx, grad_output):
        return 2 * grad_output


class CounterInForward(Function):
    expect = {"GT508"}
    at = "forward"
    calls = 0

    @staticmethod
    def forward(ctx, x):
        CounterInForward.calls += 1
        return 2 * x + 1e-3 * (CounterInForward.calls % 7)

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output


class ClockInForward(Function):
    expect = {"GT508"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        return 2 * x + 1e-6 * (time.perf_counter_ns() % 1_000_003)

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output


class DataReturned(Function):
    """The output shares the input's memory, and autograd takes it for a tensor of its own."""

    expect = {"GT509"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.data[1:]

    @staticmethod
    def backward(ctx, grad_output):
        grad = zeros(ctx.shape, dtype=grad_output.dtype)
        grad[1:] = grad_output
        return grad

    @staticmethod
    def sample_inputs():
        yield (rand(5),)


class DataReturnedAndInputSaved(Function):
    """Whoever changes the first output in place changes what backward reads."""

    expect = {"GT509"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.data.view_as(x), x.exp()

    @staticmethod
    def backward(ctx, grad_same, grad_exp):
        (x,) = ctx.saved_tensors
        return grad_same + grad_exp * x.exp()


class CtxRefersToItself(Function):
    expect = {"GT510"}
    at = "forward"

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.finish = lambda grad: grad * ctx.scale
        ctx.scale = 2
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.finish(grad_output)


class ContextsKept(Function):
    """Every ctx ends in a list, with all that it saved."""

    expect = {"GT510"}
    at = "forward"
    contexts = []

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ContextsKept.contexts.append(ctx)
        return x.sin()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.cos()
