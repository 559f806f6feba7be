"""What gradgradcheck checks: the map from inputs and cotangents to gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.adapters.gradcheck.examined import CotangentCountError, Examined
from gradtool.engine import Tensor
from gradtool.engine._tensor import wrap
from gradtool.engine.autograd import grad
from gradtool.engine.autograd.gradcheck import GradcheckError
from gradtool.verify.randomness import generator


def gradient_function(func: Callable[..., Any], inputs: int) -> Callable[..., tuple[Tensor, ...]]:
    """A function of `inputs` inputs of `func` and the cotangents of its outputs.

    It returns the gradients of the inputs that require one; those that are None are left out.
    A cotangent may be None, for undefined.
    """

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        outputs, cotangents = _graphed(func(*args[:inputs])), args[inputs:]
        if len(outputs) != len(cotangents):
            raise CotangentCountError(
                "gradgradcheck expects one of grad_outputs for each output that requires a "
                f"gradient: there are {len(cotangents)} for {len(outputs)} outputs"
            )
        sent = [pair for pair in zip(outputs, cotangents, strict=True) if pair[1] is not None]
        found = grad(
            [output for output, _ in sent],
            [arg for arg in args[:inputs] if isinstance(arg, Tensor) and arg.requires_grad],
            [cotangent for _, cotangent in sent],
            create_graph=True,
            allow_unused=True,
        )
        return tuple(gradient for gradient in found if gradient is not None)

    return gradients


def drawn_cotangents(examined: Examined, seed: int, *, contiguous: bool) -> list[Tensor]:
    """A cotangent for each output that requires a gradient, uniform on [-1, 1).

    Raises:
        GradcheckError: No output requires a gradient.
    """
    rng = generator(seed, "grad_outputs")
    with examined.called() as outputs:
        drawn = [_drawn(output, rng, contiguous) for output in _graphed(outputs)]
    if not drawn:
        raise GradcheckError(
            "gradgradcheck expects at least one output of func to require a gradient: there is "
            "no second derivative to check"
        )
    return drawn


def _graphed(outputs: Tensor | Sequence[Tensor]) -> list[Tensor]:
    flat = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    return [output for output in flat if output.requires_grad]


def _drawn(output: Tensor, rng: np.random.Generator, contiguous: bool) -> Tensor:
    """In memory of its own; every other element of it where it is not to be contiguous."""
    step = 1 if contiguous else 2
    dtype = output._array.dtype
    memory = np.zeros((*output.shape, step), dtype)
    memory[..., 0] = rng.uniform(-1, 1, output.shape)
    if dtype.kind == "c":
        memory[..., 0] += 1j * rng.uniform(-1, 1, output.shape)
    cotangent: Tensor = wrap(memory[..., 0]).to(output.device)
    return cotangent.requires_grad_()
