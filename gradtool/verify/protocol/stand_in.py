"""A Function's gradients beside the outputs of another function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.verify.protocol.differentiable import Differentiable
from gradtool.verify.protocol.observation import Array, Primals, Stacked


class WithForwardOf:
    """A Differentiable that is evaluated as one function and called backward as another.

    Its gradients are those of `function`; its evaluations, and so its numeric derivative, are
    those of `intended`, which takes the same arguments and returns outputs of the same shapes.
    """

    def __init__(self, function: Differentiable, intended: Differentiable) -> None:
        self._function = function
        self._intended = intended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def evaluate(self, primals: Primals) -> tuple[Array | None, ...]:
        """The outputs of the intended function."""
        return self._intended.evaluate(primals)

    def evaluate_many(
        self, primals: Primals, stacked: Sequence[bool], *, or_loop: bool = True
    ) -> Stacked:
        """The outputs of the intended function at many points."""
        return self._intended.evaluate_many(primals, stacked, or_loop=or_loop)
