"""Functions that are wrong for one row, far floors, overlapping windows, sides, states and ties."""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def draw(*shape, low=-1.0, high=1.0, seed=47):
    generator = torch.Generator().manual_seed(seed)
    unit = torch.rand(*shape, dtype=torch.double, generator=generator)
    return (low + (high - low) * unit).requires_grad_()


class GatedHeads(Function):
    """Heads scaled by a gate of each batch entry and head, read from the mean over time."""

    @staticmethod
    def forward(ctx, x, weight):
        gate = torch.sigmoid(torch.einsum("bhtd,hd->bh", x, weight) / x.shape[2])
        ctx.save_for_backward(x, weight, gate)
        return x * gate[:, :, None, None]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, weight, gate = ctx.saved_tensors
        inner = (grad_output * x).sum((-2, -1), keepdim=True).squeeze()
        inner = inner * gate * (1 - gate) / x.shape[2]
        of_x = grad_output * gate[:, :, None, None]
        of_x = of_x + torch.einsum("bh,hd->bhd", inner, weight)[:, :, None]
        return of_x, torch.einsum("bh,bhtd->hd", inner, x)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3, 4, 2), draw(3, 2, seed=5)


class PooledTokens(Function):
    """Attention pooling whose scores are squeezed, so that a batch of one loses its axis."""

    @staticmethod
    def forward(ctx, tokens, query):
        score = torch.matmul(tokens, query.unsqueeze(-1)).squeeze(-1)
        weight = score.softmax(-1)
        ctx.save_for_backward(tokens, query, weight)
        return (weight.unsqueeze(-1) * tokens).sum(1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        tokens, query, weight = ctx.saved_tensors
        along = torch.matmul(tokens, grad_output.unsqueeze(-1)).squeeze()
        of_score = weight * (along - (weight * along).sum(-1, keepdim=True))
        of_tokens = weight.unsqueeze(-1) * grad_output.unsqueeze(1)
        of_tokens = of_tokens + of_score.unsqueeze(-1) * query
        return of_tokens, torch.einsum("bt,btd->d", of_score, tokens)

    @staticmethod
    def sample_inputs():
        yield draw(3, 4, 2), draw(2, seed=6)


class SquaredScores(Function):
    """Squares of linear scores; a single example has a score without an axis."""

    @staticmethod
    def forward(ctx, features, weight):
        ctx.save_for_backward(features, weight)
        return (features @ weight) ** 2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        features, weight = ctx.saved_tensors
        slope = 2 * grad_output * (features @ weight.view(-1, 1)).squeeze()
        rows = (features * weight).sum(-1, keepdim=True).squeeze()
        of_weight = torch.zeros_like(weight)
        for row, g, score in zip(features, grad_output, rows):
            of_weight = of_weight + 2 * g * score * row
        return slope[:, None] * weight, of_weight

    @staticmethod
    def sample_inputs():
        yield draw(3, 4), draw(4, seed=7)


class LogBands(Function):
    """Log energies of filter banks with a floor of 1e-5."""

    @staticmethod
    def forward(ctx, power, bank):
        bands = power @ bank
        ctx.save_for_backward(bank, bands)
        return torch.log(torch.clamp(bands, min=1e-5))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        bank, bands = ctx.saved_tensors
        return (grad_output / bands) @ bank.t(), None

    @staticmethod
    def sample_inputs():
        yield draw(3, 5, low=0.2, high=1.0), draw(5, 2, low=0.1, high=0.9).detach()


class Decibels(Function):
    """An amplitude in decibels, not below the floor of -80."""

    @staticmethod
    def forward(ctx, amplitude, floor_db=-80.0):
        db = 20 * torch.log10(amplitude.abs().clamp(min=1e-12))
        ctx.save_for_backward(amplitude)
        return torch.maximum(db, torch.full_like(db, floor_db))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (amplitude,) = ctx.saved_tensors
        return grad_output * 20 / (2.302585092994046 * amplitude), None

    @staticmethod
    def sample_inputs():
        yield (draw(6, low=0.2, high=1.0),)


class FlooredVariance(Function):
    """A Gaussian log-likelihood of which the variance has a floor that is an argument."""

    @staticmethod
    def forward(ctx, x, log_var, min_var=1e-4):
        var = log_var.exp().clamp(min=min_var)
        ctx.save_for_backward(x, var)
        return -0.5 * (x * x / var + var.log())

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, var = ctx.saved_tensors
        return -grad_output * x / var, 0.5 * grad_output * (x * x / var - 1), None

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=3)


class PowerPooledFrames(Function):
    """The p-norm of frames; backward writes each frame back instead of adding it."""

    @staticmethod
    def forward(ctx, x, kernel, stride):
        frames = x.unfold(-1, kernel, stride)
        y = (frames.abs() ** 3).sum(-1) ** (1 / 3)
        ctx.save_for_backward(x, y)
        ctx.kernel, ctx.stride = kernel, stride
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        grad = torch.zeros_like(x)
        for at in range(y.shape[-1]):
            part = slice(at * ctx.stride, at * ctx.stride + ctx.kernel)
            frame = x[..., part]
            slope = frame * frame.abs() / y[..., at, None] ** 2
            grad[..., part] = grad_output[..., at, None] * slope
        return grad, None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 9), 3, 3


class FrameMeans(Function):
    """Means of frames of a signal, one after the other unless `hop` says otherwise."""

    @staticmethod
    def forward(ctx, signal, size=4, hop=None):
        step = size if hop is None else hop
        count = (signal.shape[-1] - size) // step + 1
        ctx.shape, ctx.size, ctx.step, ctx.count = signal.shape, size, step, count
        starts = [signal[..., k * step : k * step + size].mean(-1) for k in range(count)]
        return torch.stack(starts, -1)

    @staticmethod
    def backward(ctx, grad_output):
        wide = (grad_output / ctx.size).repeat_interleave(ctx.size, -1)
        missing = ctx.shape[-1] - wide.shape[-1]
        return F.pad(wide, (0, missing)), None, None

    @staticmethod
    def sample_inputs():
        yield (draw(2, 8),)


class PatchMaxima(Function):
    """Maxima of windows, scattered back by their places."""

    @staticmethod
    def forward(ctx, x, kernel_size=2, stride=2):
        windows = x.unfold(-1, kernel_size, stride)
        y, place = windows.max(-1)
        start = torch.arange(y.shape[-1]) * stride
        ctx.save_for_backward(place + start)
        ctx.shape = x.shape
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (place,) = ctx.saved_tensors
        zeros = torch.zeros(ctx.shape, dtype=grad_output.dtype)
        return zeros.scatter(-1, place, grad_output), None, None

    @staticmethod
    def sample_inputs():
        yield draw(2, 6), 2, 2


class PairwiseLogistic(Function):
    """The logistic loss of all pairs of scores; backward divides exponentials."""

    @staticmethod
    def forward(ctx, scores):
        apart = scores[:, None] - scores[None, :]
        ctx.save_for_backward(apart)
        return F.softplus(-apart).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (apart,) = ctx.saved_tensors
        slope = -grad_output * (1 - torch.exp(apart) / (1 + torch.exp(apart)))
        return slope.sum(1) - slope.sum(0)

    @staticmethod
    def sample_inputs():
        yield (draw(5, low=-2.0, high=2.0),)


class LogCoshOfErrors(Function):
    """Log-cosh of an error, stable in forward only."""

    @staticmethod
    def forward(ctx, prediction, target):
        error = prediction - target
        ctx.save_for_backward(error)
        return error.abs() + torch.log1p(torch.exp(-2 * error.abs())) - 0.6931471805599453

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (error,) = ctx.saved_tensors
        slope = (error.exp() - (-error).exp()) / (error.exp() + (-error).exp())
        return grad_output * slope, -grad_output * slope

    @staticmethod
    def sample_inputs():
        yield draw(4), draw(4, seed=2)


class MarginOfTwoRows(Function):
    """The log-sum-exp of rows, shifted in forward but not in backward."""

    @staticmethod
    def forward(ctx, x):
        top = x.amax(-1, keepdim=True)
        ctx.save_for_backward(x)
        return (x - top).exp().sum(-1).log() + top.squeeze(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        e = x.exp()
        return grad_output[:, None] * e / e.sum(-1, keepdim=True)

    @staticmethod
    def sample_inputs():
        yield (draw(3, 4),)


class EmbeddedPatches(Function):
    """Patches of an image, embedded; backward takes the image for a square."""

    @staticmethod
    def forward(ctx, image, weight, patch=2):
        b, c, h, w = image.shape
        tiles = image.reshape(b, c, h // patch, patch, w // patch, patch)
        tokens = tiles.permute(0, 2, 4, 1, 3, 5).reshape(b, -1, c * patch * patch)
        ctx.save_for_backward(tokens, weight)
        ctx.shape, ctx.patch = image.shape, patch
        return tokens @ weight

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        tokens, weight = ctx.saved_tensors
        (b, c, h, w), p = ctx.shape, ctx.patch
        side = int(tokens.shape[1] ** 0.5)
        across = tokens.shape[1] // side
        tiles = (grad_output @ weight.t()).reshape(b, side, across, c, p, p)
        image = tiles.permute(0, 3, 1, 4, 2, 5).reshape(b, c, h, w)
        return image, torch.einsum("bnd,bne->de", tokens, grad_output), None

    @staticmethod
    def sample_inputs():
        yield draw(1, 3, 4, 4), draw(12, 2, seed=4)


class SpaceToDepth(Function):
    """Blocks of two by two moved to channels; backward exchanges height and width."""

    @staticmethod
    def forward(ctx, x):
        n, h, w = x.shape
        ctx.shape = x.shape
        return (
            x.reshape(n, h // 2, 2, w // 2, 2).permute(0, 2, 4, 1, 3).reshape(n, 4, h // 2, w // 2)
        )

    @staticmethod
    def backward(ctx, grad_output):
        n, h, w = ctx.shape
        blocks = grad_output.reshape(n, 2, 2, w // 2, h // 2)
        return blocks.permute(0, 3, 1, 4, 2).reshape(n, h, w)

    @staticmethod
    def sample_inputs():
        yield (draw(2, 6, 6),)


class WindowPartition(Function):
    """Windows of three by three of a feature map, each weighted by its norm."""

    @staticmethod
    def forward(ctx, x, window=3):
        h, w, c = x.shape
        ctx.window, ctx.shape = window, x.shape
        parts = x.view(h // window, window, w // window, window, c).permute(0, 2, 1, 3, 4)
        parts = parts.reshape(-1, window * window, c)
        ctx.save_for_backward(parts)
        return parts * parts

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (parts,) = ctx.saved_tensors
        (h, w, c), size = ctx.shape, ctx.window
        grad = (2 * parts * grad_output).view(w // size, h // size, size, size, c)
        return grad.permute(0, 2, 1, 3, 4).reshape(h, w, c), None

    @staticmethod
    def sample_inputs():
        yield draw(6, 6, 2), 3


class PreemphasisState(Function):
    """A first-order high-pass filter with the last sample of the previous block."""

    @staticmethod
    def forward(ctx, x, coefficient=0.97, state=None):
        padded = F.pad(x, (1, 0)) if state is None else torch.cat([state, x], dim=-1)
        ctx.coefficient = coefficient
        return x - coefficient * padded[..., :-1]

    @staticmethod
    def backward(ctx, grad_output):
        of_x = grad_output.clone()
        of_x[..., :-1] -= ctx.coefficient * grad_output[..., 1:]
        return of_x, None, grad_output[..., :1] if ctx.needs_input_grad[-1] else None

    @staticmethod
    def sample_inputs():
        yield draw(2, 5), 0.97, None


class RecurrenceWithStart(Function):
    """y_t = a y_(t-1) + x_t; backward forgets the decay of the first value."""

    @staticmethod
    def forward(ctx, x, a, initial=None):
        y, out = (torch.zeros_like(x[:, 0]) if initial is None else initial), []
        for t in range(x.shape[1]):
            y = a * y + x[:, t]
            out.append(y)
        out = torch.stack(out, 1)
        ctx.save_for_backward(a, out, initial)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        a, out, initial = ctx.saved_tensors
        carried, of_x, of_a = torch.zeros_like(grad_output[:, 0]), [], torch.zeros_like(a)
        for t in reversed(range(out.shape[1])):
            carried = grad_output[:, t] + carried
            of_x.append(carried)
            if t:
                of_a = of_a + (carried * out[:, t - 1]).sum()
            carried = carried * a
        return torch.stack(of_x[::-1], 1), of_a, carried if initial is not None else None

    @staticmethod
    def sample_inputs():
        yield draw(2, 4), torch.tensor(0.7, dtype=torch.double, requires_grad=True)


class ResidualGiven(Function):
    """A scaled tanh, to which an earlier result is added before the scale."""

    @staticmethod
    def forward(ctx, x, scale=0.5, previous=None):
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        ctx.scale = scale
        if previous is not None:
            y = y + previous
        return scale * y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        of_x = ctx.scale * grad_output * (1 - y * y)
        return of_x, None, grad_output if ctx.needs_input_grad[-1] else None

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), 0.5, None


class SpectralMask(Function):
    """A complex mask in the frequency domain; backward lacks its conjugate."""

    @staticmethod
    def forward(ctx, x, mask):
        ctx.save_for_backward(mask)
        ctx.length = x.shape[-1]
        return torch.fft.irfft(torch.fft.rfft(x) * mask, n=x.shape[-1])

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return torch.fft.irfft(torch.fft.rfft(grad_output) * mask, n=ctx.length), None

    @staticmethod
    def sample_inputs():
        mask = torch.tensor([1.0, 0.7, 0.4, 0.1], dtype=torch.double)
        yield draw(2, 6), mask.to(torch.complex128)


class ComplexGain(Function):
    """A complex signal times complex gains, of which none is imaginary in the sample."""

    @staticmethod
    def forward(ctx, z, gain):
        ctx.save_for_backward(z, gain)
        return z * gain

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        z, gain = ctx.saved_tensors
        return grad_output * gain, (grad_output * z.conj()).sum(0)

    @staticmethod
    def sample_inputs():
        z = torch.complex(draw(3, 2).detach(), draw(3, 2, seed=9).detach())
        gain = torch.complex(draw(2).detach(), torch.zeros(2, dtype=torch.double))
        yield z.requires_grad_(), gain.requires_grad_()


class ResponseOfFilter(Function):
    """A spectrum weighted by a response, which may be complex or real."""

    @staticmethod
    def forward(ctx, spectrum, response):
        ctx.save_for_backward(response)
        return torch.fft.ifft(spectrum * response)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (response,) = ctx.saved_tensors
        return torch.fft.fft(grad_output) * response / response.shape[-1], None

    @staticmethod
    def sample_inputs():
        z = torch.complex(draw(4).detach(), draw(4, seed=9).detach())
        yield z.requires_grad_(), draw(4, seed=10).detach()


class TropicalMatmul(Function):
    """The product over the max-plus semiring; every tied term gets the whole gradient."""

    @staticmethod
    def forward(ctx, a, b):
        terms = a[:, :, None] + b[None, :, :]
        y = terms.amax(1)
        ctx.save_for_backward(terms, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        terms, y = ctx.saved_tensors
        spread = (terms == y[:, None]).to(y.dtype) * grad_output[:, None]
        return spread.sum(2), spread.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 3), draw(3, 4, seed=8)


class Dilation(Function):
    """Grey dilation of a signal by a structuring element, tied maxima counted twice."""

    @staticmethod
    def forward(ctx, x, element):
        sums = x.unfold(-1, element.shape[0], 1) + element
        y = sums.max(-1).values
        ctx.save_for_backward(sums, y)
        ctx.length = x.shape[-1]
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        sums, y = ctx.saved_tensors
        share = (sums == y[..., None]).to(y.dtype) * grad_output[..., None]
        of_x = torch.zeros(*y.shape[:-1], ctx.length, dtype=y.dtype)
        for k in range(sums.shape[-1]):
            of_x[..., k : k + y.shape[-1]] += share[..., k]
        return of_x, share.flatten(0, -2).sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(2, 6), draw(3, seed=8)


class FarthestPair(Function):
    """The largest squared distance of each point to a set."""

    @staticmethod
    def forward(ctx, x, y):
        apart = x[:, None] - y[None]
        square = (apart * apart).sum(-1)
        far = square.amax(1)
        ctx.save_for_backward(apart, square, far)
        return far

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        apart, square, far = ctx.saved_tensors
        chosen = (square == far[:, None]).to(far.dtype) * grad_output[:, None]
        terms = 2 * apart * chosen[..., None]
        return terms.sum(1), -terms.sum(0)

    @staticmethod
    def sample_inputs():
        yield draw(3, 2), draw(4, 2, seed=8)


class ZeroInflatedPoisson(Function):
    """The negative log-likelihood of counts; zeros have a likelihood of their own."""

    @staticmethod
    def forward(ctx, rate, gate, counts):
        k = counts.to(rate.dtype)
        ctx.save_for_backward(rate, gate, k)
        poisson = k * rate.log() - rate - torch.lgamma(k + 1)
        empty = torch.log(gate + (1 - gate) * torch.exp(-rate))
        return -torch.where(k > 0, torch.log1p(-gate) + poisson, empty)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        rate, gate, k = ctx.saved_tensors
        return grad_output * (1 - k / rate), grad_output / (1 - gate), None

    @staticmethod
    def sample_inputs():
        counts = torch.tensor([3, 1, 2, 5])
        yield draw(4, low=0.5, high=2.0), draw(4, low=0.1, high=0.5, seed=3), counts


class HurdleLoss(Function):
    """A hurdle model: a Bernoulli part for zeros, squares of logs for the rest."""

    @staticmethod
    def forward(ctx, logit, mean, amount):
        is_some = amount.sign()
        ctx.save_for_backward(logit, mean, amount, is_some)
        error = torch.log(amount + (1 - is_some)) - mean
        return F.softplus(logit) - is_some * logit + is_some * error * error

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        logit, mean, amount, is_some = ctx.saved_tensors
        of_logit = grad_output * (torch.sigmoid(logit) - is_some)
        return of_logit, -2 * grad_output * (torch.log(amount.clamp(min=1)) - mean), None

    @staticmethod
    def sample_inputs():
        yield draw(3), draw(3, seed=3), torch.tensor([2.0, 4.0, 1.0], dtype=torch.double)


class DevianceOfCounts(Function):
    """The Poisson deviance, in which zeros have no logarithm."""

    @staticmethod
    def forward(ctx, mu, y):
        ctx.save_for_backward(mu, y)
        return 2 * (torch.special.xlogy(y, y / mu) - y + mu) * (1 + (y == 0))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        mu, y = ctx.saved_tensors
        return 2 * grad_output * (1 - y / mu), None

    @staticmethod
    def sample_inputs():
        yield draw(3, low=0.5, high=3.0), torch.tensor([2.0, 4.0, 1.0], dtype=torch.double)
