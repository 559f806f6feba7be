"""A forward whose rounding has the derivative of the identity.

That is what the backward of a straight-through estimator differentiates: either `forward` without
its rounding, or `forward` with each rounding error held constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any

from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Array, Evaluate, Primals

_NAMES = ("round", "floor", "ceil", "trunc", "fix")
"""Operations of the library, which are methods as well, in place with an underscore."""


def through_rounding(evaluate: Evaluate, primals: Primals) -> list[Evaluate]:
    """Return the forwards that a straight-through estimator may differentiate.

    Args:
        evaluate: Runs forward.
        primals: The point at which the rounding errors are taken.

    Returns:
        Forward without rounding, and forward with the rounding errors of `primals`; nothing if
        forward does not round.
    """
    return [partial(_within, begin, evaluate) for begin in as_identity(evaluate, primals)]


def _within(
    begin: Callable[[], AbstractContextManager[None]], evaluate: Evaluate, primals: Primals
) -> tuple[Array | None, ...]:
    with begin():
        return evaluate(primals)


def as_identity(
    evaluate: Evaluate, primals: Primals
) -> list[Callable[[], AbstractContextManager[None]]]:
    """Return what begins contexts in which rounding has the derivative of the identity.

    In the first nothing is rounded; in the second one call to forward has the rounding errors of
    `primals`. There are none for a forward that does not round.
    """
    errors = _errors_of(evaluate, primals)

    def with_errors() -> AbstractContextManager[None]:
        left = iter(errors)
        return _rounding(lambda _, exact: exact + next(left))

    return [lambda: _rounding(lambda _, exact: exact), with_errors] if errors else []


def _errors_of(evaluate: Evaluate, primals: Primals) -> list[Any]:
    """The errors of each rounding in a call to forward."""
    errors: list[Any] = []

    def recorded(rounded: Any, exact: Any) -> Any:
        errors.append(rounded - exact)
        return rounded

    with _rounding(recorded):
        evaluate(primals)
    return errors


@contextmanager
def _rounding(replacement: Callable[[Any, Any], Any]) -> Iterator[None]:
    """Let `replacement` choose the results of rounding, from the rounded and the exact numbers."""
    with ExitStack() as stack:
        for owner in (library().torch, library().Tensor):
            for name in _NAMES:
                for each, in_place in ((name, False), (f"{name}_", True)):
                    if original := getattr(owner, each, None):
                        stack.enter_context(
                            _replaced(owner, each, _replacing(original, replacement, in_place))
                        )
        yield


def _replacing(original: Any, replacement: Callable[[Any, Any], Any], in_place: bool) -> Any:
    def rounding(x: Any, *args: Any, **kwargs: Any) -> Any:
        exact = x.clone()
        result = replacement(original(x, *args, **kwargs), exact)
        return x.copy_(result) if in_place else result

    return rounding


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    is_own = name in vars(owner)
    original = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if is_own:
            setattr(owner, name, original)
        else:
            delattr(owner, name)
