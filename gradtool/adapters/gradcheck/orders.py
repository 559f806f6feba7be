"""The checks of the first and of the second derivative, ready to be made.

What is wrong with the arguments themselves is said at once, before anything is run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtool.adapters.common.binding import names_of
from gradtool.adapters.gradcheck.examined import Examined, check_inputs
from gradtool.adapters.gradcheck.gradient_function import drawn_cotangents, gradient_function
from gradtool.adapters.gradcheck.procedure import check
from gradtool.adapters.gradcheck.settings import Settings
from gradtool.engine import Tensor

Check = Callable[[], None]
"""Raises a GradcheckError when an answer is wrong, and what the user's code raises."""


def first_order(
    func: Callable[..., Any], inputs: Tensor | Sequence[Any], settings: Settings
) -> Check:
    """Check the gradients of `func`."""
    given = _as_tuple(inputs)
    check_inputs(given)
    return lambda: check(Examined(func, given), settings, lambda: names_of(func, len(given)))


def second_order(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor | None] | None,
    settings: Settings,
    *,
    contiguous: bool,
) -> Check:
    """Check the gradients of the gradients of `func`, with these or drawn cotangents."""
    given = _as_tuple(inputs)
    cotangents = () if grad_outputs is None else _as_tuple(grad_outputs)
    check_inputs((*given, *cotangents))

    def run() -> None:
        sent = cotangents or drawn_cotangents(
            Examined(func, given), settings.seed, contiguous=contiguous
        )
        gradients = gradient_function(func, len(given))

        def names() -> list[str]:
            of_sent = [f"grad_outputs[{number}]" for number in range(len(sent))]
            return [*names_of(func, len(given)), *of_sent]

        check(Examined(gradients, (*given, *sent), func), settings, names)

    return run


def _as_tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, tuple | list) else (values,)
