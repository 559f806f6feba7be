"""Random numbers under vmap: an error, the same, or different ones for each example."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradtool.engine._levels import Wrapped
from gradtool.engine._levels.batch import VmapLevel
from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor

Draw = Callable[..., Tensor]

_NO_NUMBERS = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)

_NONE_IN_ROWS = (
    "vmap: We do not yet support calling random operations inside of vmap. Please perform random "
    "operations outside of vmap as a workaround"
)


def drawing(draw: Draw) -> Draw:
    """Let a function that draws random numbers draw them as the innermost vmap wants them.

    Raises:
        RuntimeError: vmap allows no random numbers, or wants the same ones for each example
            where they are drawn from tensors that differ.
    """

    @functools.wraps(draw)
    def drawn(*args: Any, **params: Any) -> Tensor:
        if not modes.levels:
            return draw(*args, **params)
        level = _innermost_batch()
        if level is None:
            return draw(*args, **params)
        given = [_below_all_above(level, arg) for arg in args]
        named = {name: _below_all_above(level, value) for name, value in params.items()}
        # Not `draw`: the vmaps around this one apply their own mode.
        return _drawn_at(level, drawn, given, named)

    return drawn


def _innermost_batch() -> VmapLevel | None:
    found = [level for level in modes.levels if isinstance(level, VmapLevel)]
    return found[-1] if found else None


def _below_all_above(level: VmapLevel, value: Any) -> Any:
    """A tensor without the levels above this one: random numbers have no derivatives."""
    while isinstance(value, Wrapped) and value._level.number > level.number:
        value = value._value
    return value


def check_draw_over(x: Any) -> None:
    """Refuse to draw different numbers over a tensor that all examples share.

    Raises:
        RuntimeError: the innermost vmap wants them, or allows none.
    """
    level = _innermost_batch()
    if level is None:
        return
    if level.randomness == "error":
        raise RuntimeError(_NO_NUMBERS if level.by_func else _NONE_IN_ROWS)
    if level.randomness == "different" and not level.owns(_below_all_above(level, x)):
        raise RuntimeError(
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will "
            "appear like same randomness. If this is necessary for your usage, please file an "
            "issue with functorch."
        )


def _drawn_at(level: VmapLevel, draw: Draw, args: list[Any], params: dict[str, Any]) -> Tensor:
    batched = any(level.owns(value) for value in (*args, *params.values()))
    if level.randomness == "error":
        raise RuntimeError(_NO_NUMBERS if level.by_func else _NONE_IN_ROWS)
    if level.randomness == "same":
        if batched:
            raise RuntimeError(
                "Vmap does not currently support same randomness with a batched tensor input. "
                "Please file an issue with functorch"
            )
        with level.lowered():
            return draw(*args, **params)
    with level.lowered():
        each = [
            draw(
                *[level.example(arg, number) for arg in args],
                **{name: level.example(value, number) for name, value in params.items()},
            )
            for number in range(level.size)
        ]
    return level.wrap(_stacked(each))


def _stacked(tensors: list[Tensor]) -> Tensor:
    from gradtool.engine._ops.shape.joining import stack

    return stack(tensors)


__all__ = ["drawing"]
