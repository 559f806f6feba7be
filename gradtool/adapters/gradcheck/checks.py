"""The checks of first and second derivatives, validated and ready to run.

Errors in the arguments themselves are raised at once, before any user code runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.adapters.common.binding import names_of
from gradtool.adapters.gradcheck.checked_function import (
    CheckedFunction,
    CotangentCountError,
    check_inputs,
)
from gradtool.adapters.gradcheck.procedure import check
from gradtool.engine import Tensor
from gradtool.engine._tensor import wrap
from gradtool.engine.autograd import grad
from gradtool.engine.autograd.gradcheck import GradcheckError, GradcheckOptions
from gradtool.spelling import plural
from gradtool.verify.randomness import generator

Check = Callable[[], None]
"""Raises GradcheckError for a wrong derivative, and whatever the user's code raises."""


def first_order(
    func: Callable[..., Any], inputs: Tensor | Sequence[Any], options: GradcheckOptions
) -> Check:
    """Check the gradients of `func`."""
    given = _as_tuple(inputs)
    check_inputs(given)
    return lambda: check(CheckedFunction(func, given), options, lambda: names_of(func, len(given)))


def second_order(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor | None] | None,
    options: GradcheckOptions,
    *,
    contiguous: bool,
) -> Check:
    """Check the gradients of the gradients of `func`, with these or drawn cotangents."""
    given = _as_tuple(inputs)
    cotangents = () if grad_outputs is None else _as_tuple(grad_outputs)
    check_inputs((*given, *cotangents))

    def run() -> None:
        sent = cotangents or drawn_cotangents(
            CheckedFunction(func, given), options.seed, contiguous=contiguous
        )
        gradients = gradient_function(func, given)

        def names() -> list[str]:
            of_sent = [f"grad_outputs[{number}]" for number in range(len(sent))]
            return [*names_of(func, len(given)), *of_sent]

        check(CheckedFunction(gradients, (*given, *sent), func), options, names)

    return run


def _as_tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, tuple | list) else (values,)


def gradient_function(
    func: Callable[..., Any], inputs: Sequence[Any]
) -> Callable[..., tuple[Tensor, ...]]:
    """Return the backward of `func` as a function of its inputs and its cotangents.

    Those that `inputs` require a gradient of are made to, as dual tensors in their place do not.

    It returns the gradients of the inputs that require one, and omits those that are None.
    A cotangent may be None, for undefined.
    """
    count = len(inputs)
    graphed = [isinstance(each, Tensor) and each.requires_grad for each in inputs]

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        given = [
            arg.requires_grad_() if needed else arg
            for arg, needed in zip(args, graphed, strict=False)
        ]
        outputs, cotangents = _graphed(func(*given)), args[count:]
        if len(outputs) != len(cotangents):
            raise CotangentCountError(
                "gradgradcheck expects one tensor in grad_outputs for each output that requires a "
                f"gradient: got {len(cotangents)} for {plural(len(outputs), 'output')}"
            )
        sent = [pair for pair in zip(outputs, cotangents, strict=True) if pair[1] is not None]
        found = grad(
            [output for output, _ in sent],
            [arg for arg, needed in zip(given, graphed, strict=True) if needed],
            [cotangent for _, cotangent in sent],
            create_graph=True,
            allow_unused=True,
        )
        return tuple(gradient for gradient in found if gradient is not None)

    return gradients


def drawn_cotangents(function: CheckedFunction, seed: int, *, contiguous: bool) -> list[Tensor]:
    """Draw a cotangent for each output that requires a gradient, uniform on [-1, 1).

    Raises:
        GradcheckError: No output requires a gradient.
    """
    rng = generator(seed, "grad_outputs")
    with function.called() as outputs:
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
    """Draw a cotangent into new memory, of which a non-contiguous one uses every other element."""
    step = 1 if contiguous else 2
    dtype = output._array.dtype
    memory = np.zeros((*output.shape, step), dtype)
    memory[..., 0] = rng.uniform(-1, 1, output.shape)
    if dtype.kind == "c":
        memory[..., 0] += 1j * rng.uniform(-1, 1, output.shape)
    cotangent: Tensor = wrap(memory[..., 0]).to(output.device)
    return cotangent.requires_grad_()
