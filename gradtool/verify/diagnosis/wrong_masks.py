"""The mask of backward that lets the wrong entries of a gradient through.

A gradient with all of a mask true, and another one with all of it false, tell for each entry which
of the two it has to be. Where one mask makes the entries right for several cotangents and points,
it is the mask that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from gradtool.verify.diagnosis.looks import Explanation, Look, Looks
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.protocol.observation import Array, Repair
from gradtool.verify.thresholds.diagnosis import MASKED_MOST_SHOWN
from gradtool.verify.wording import listed

Gradients = Sequence[Array | None]
Runs = Callable[[Look, Sequence[Repair]], Iterable[Gradients | None]]
"""The gradients that backward returns at a look, with each of some repairs."""

_Chosen = tuple[BoolArray, BoolArray]
"""The entries that need the mask to be true, and those that need it to be false."""


def wrong_mask(
    looks: Looks,
    exact: Sequence[Look],
    masks: Iterable[tuple[Repair, Repair]],
    run: Runs,
    name: str,
) -> Explanation | None:
    """The sentence that names the mask; None if no other one makes the gradient right.

    Args:
        looks: The wrong gradient, of one argument with real numbers.
        exact: Where the mask has to be right, with the gradients that are; the case comes first.
        masks: Each mask, with all of it true and with all of it false.
        run: What backward returns with a mask that is edited.
        name: The name of the argument.
    """
    for opened, closed in masks:
        found = [_chosen(looks, look, run(look, (opened, closed))) for look in exact]
        chosen = [each for each in found if each is not None]
        if len(chosen) == len(exact):
            return _explanation(looks, exact[0], chosen[0], opened, name)
    return None


def _chosen(looks: Looks, exact: Look, gradients: Iterable[Gradients | None]) -> _Chosen | None:
    """Tell entries that are right with the mask true from others; None if some are with neither."""
    opened, closed = (
        None if each is None else looks.flat(each, exact.primals) for each in gradients
    )
    if opened is None or closed is None:
        return None
    right = looks.returned(exact)
    allowed = looks.precision * np.abs(right).max(initial=0.0)
    is_open, is_closed = _near(opened, right, allowed), _near(closed, right, allowed)
    if not (is_open | is_closed).all() or not right.any():
        return None
    return is_open & ~is_closed, is_closed & ~is_open


def _near(found: FloatArray, right: FloatArray, allowed: float) -> BoolArray:
    return np.asarray(np.abs(found - right) <= allowed)


def _explanation(
    looks: Looks, exact: Look, chosen: _Chosen, mask: Repair, name: str
) -> Explanation | None:
    """Name the entries in which the mask is wrong at the case."""
    shape = np.shape(exact.primals[looks.arguments[0]])
    right, returned = looks.returned(exact), looks.returned(looks.first)
    is_wrong = ~_near(returned, right, looks.precision * np.abs(right).max())
    states = ((chosen[0] & is_wrong, "true"), (chosen[1] & is_wrong, "false"))
    parts = [f"{word} for {_entries(flags, shape)}" for flags, word in states if flags.any()]
    if not parts or (is_wrong & ~chosen[0] & ~chosen[1]).any():
        return None
    place = f"`{mask.code}` (line {mask.lines[0]})"
    text = f"the gradient of `{name}` is right with {place} {' and '.join(parts)}"
    return Explanation(text, mask.path, mask.lines[0])


def _entries(flags: BoolArray, shape: tuple[int, ...]) -> str:
    places = [list(map(int, place)) for place in np.argwhere(flags.reshape(shape))]
    if not places[0]:
        return "it"
    more = len(places) - MASKED_MOST_SHOWN
    if more <= 0:
        return listed(places)
    return f"{', '.join(map(str, places[:MASKED_MOST_SHOWN]))} and {more} more"
