"""A case as the judge sees it: values to differentiate at, and calls with fresh tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gradtool.engine
from gradtool.adapters.common.binding import bind
from gradtool.adapters.common.random_state import global_generators
from gradtool.cases.sources import ResolvedCase
from gradtool.engine import Tensor
from gradtool.engine.autograd import Function

torch: Any = gradtool.engine

Array = NDArray[Any]
Call = Callable[..., Any]


@dataclass(frozen=True)
class Point:
    """The arguments of a case."""

    args: tuple[Any, ...]
    places: tuple[int, ...]
    """Positions of the arguments that are differentiated with respect to."""
    seed: int

    @classmethod
    def of(cls, target: Any, case: ResolvedCase) -> Point:
        args, named = bind(target, case.args, case.kwargs)
        assert not named, "a Function takes no keyword arguments once they are bound"
        places = tuple(
            at
            for at, arg in enumerate(args)
            if isinstance(arg, Tensor) and arg.requires_grad and arg.numpy(force=True).size
        )
        return cls(tuple(args), places, case.seed)

    @property
    def values(self) -> list[Array]:
        return [self.args[at].numpy(force=True) for at in self.places]

    def tensors(
        self, needs: Sequence[bool], values: Sequence[Array] | None = None
    ) -> tuple[list[Tensor], list[Any]]:
        """A leaf for each of `places`, and the arguments of a call.

        What is handed over is computed from the leaves, because a Function may change it.
        """
        args = [each.detach().clone() if isinstance(each, Tensor) else each for each in self.args]
        leaves = []
        for number, (at, needed) in enumerate(zip(self.places, needs, strict=True)):
            leaf = args[at]
            if values is not None:
                leaf = torch.from_numpy(np.array(values[number]))
            leaves.append(leaf.requires_grad_(needed))
            args[at] = leaves[-1].clone()
        return leaves, args

    @contextmanager
    def calling(self) -> Iterator[None]:
        """In this context a call draws the numbers of this case."""
        with torch.enable_grad(), global_generators(self.seed):
            yield

    def outputs(self, call: Call, values: Sequence[Array] | None = None) -> list[Array | None]:
        """The values of the outputs."""
        nothing = [False] * len(self.places)
        with self.calling():
            outputs = as_tuple(call(*self.tensors(nothing, values)[1]))
        return [None if each is None else np.array(each.numpy(force=True)) for each in outputs]


def as_tuple(output: Any) -> tuple[Tensor | None, ...]:
    """The outputs of a call; None where one is no tensor."""
    outputs = output if isinstance(output, tuple | list) else (output,)
    return tuple(each if isinstance(each, Tensor) else None for each in outputs)


class _Context:
    """Stands in for ctx where a forward runs as an ordinary function."""

    def __init__(self, count: int) -> None:
        self.needs_input_grad = (True,) * count

    def save_for_backward(self, *tensors: Any) -> None: ...

    def save_for_forward(self, *tensors: Any) -> None: ...

    def mark_dirty(self, *tensors: Any) -> None: ...

    def mark_non_differentiable(self, *tensors: Any) -> None: ...

    def set_materialize_grads(self, value: bool) -> None: ...


def plain(target: Any) -> Call:
    """The forward of a Function as an ordinary function, which autograd differentiates itself."""
    if target.setup_context is not Function.setup_context:
        forward: Call = target.forward
        return forward

    def call(*args: Any) -> Any:
        return target.forward(_Context(len(args)), *args)

    return call
