"""One try of a Function at arguments that a search proposes."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradtool.adapters.library import library
from gradtool.collect.subject import Subject
from gradtool.engine._placeholder import EngineLacksError
from gradtool.sandbox.user_errors import describe, summarise


@dataclass(frozen=True)
class Trial:
    """What came of it."""

    refusal: str | None = None
    """Why these arguments will not do; None when they will."""
    finite: bool = True
    """False when the result was refused for values that are not finite."""
    output: tuple[int, ...] = ()
    """Shape of the first floating result."""
    backward: bool = False
    """Backward accepted the results too."""


def attempt(subject: Subject, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trial:
    """Run forward, and backward when forward accepts.

    An exception of the user's code refuses the arguments. What is no refusal passes: the end
    of memory, of the process or of the time.
    """
    inputs = [_inner(arg) for arg in args]
    named = {name: _inner(arg) for name, arg in kwargs.items()}
    with _unheard():
        try:
            result = subject.call(*inputs, **named)
        except MemoryError:
            raise
        except Exception as error:
            if library().contract(error) != "raised":
                return Trial()  # Forward ran through; a rule says what it did wrong.
            return Trial(refusal=summarise(error))
        return _judge(result)


def look_again(subject: Subject, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Run forward once more, heard and seen, and let the debugger look at what it raises."""
    inputs = [_inner(arg) for arg in args]
    named = {name: _inner(arg) for name, arg in kwargs.items()}
    try:
        subject.call(*inputs, **named)
    except Exception as error:
        describe(error, subject.folder)


def _judge(result: Any) -> Trial:
    outputs = [value for value in _flat(result) if isinstance(value, library().Tensor)]
    floating = [value for value in outputs if value.is_floating_point() or value.is_complex()]
    if not floating:
        return Trial(refusal="forward returned no floating tensor")
    try:
        arrays = [library().array(value.detach()) for value in floating]
    except Exception as error:
        return Trial(
            refusal=f"forward returned a tensor without readable values: {summarise(error)}"
        )
    if not all(np.isfinite(array).all() for array in arrays):
        return Trial(refusal="forward returned values that are not finite", finite=False)
    if not any(value.numel() for value in floating):
        return Trial(refusal="forward returned an empty tensor")
    return Trial(output=tuple(floating[0].shape), backward=_backward_accepts(floating))


def _backward_accepts(outputs: list[Any]) -> bool:
    """Whether a backward from all outputs that have a graph runs through."""
    recorded = [value for value in outputs if value.requires_grad]
    if not recorded:
        return False
    torch = library().torch
    try:
        torch.autograd.backward(recorded, [torch.ones_like(value) for value in recorded])
    except MemoryError:
        raise
    except EngineLacksError:
        return True  # Arguments that go round what the engine lacks would hide it.
    except Exception:
        return False
    return True


def _inner(value: Any) -> Any:
    """A tensor that is no leaf, as one in the middle of a model: it may be changed in place."""
    if isinstance(value, library().Tensor):
        return value.clone()
    return value


def _flat(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


@contextlib.contextmanager
def _unheard() -> Iterator[None]:
    """A search tries many arguments that are wrong; what they print or warn of is of no use."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield
