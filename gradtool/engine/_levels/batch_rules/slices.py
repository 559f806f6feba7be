"""Batch rules of views at a key of integers, slices and None, and of their transposes."""

from __future__ import annotations

from typing import Any

from gradtool.engine._levels.batch_rules._rule import Rule, changing, of_examples


def _of_all(key: tuple[Any, ...], _size: int) -> tuple[Any, ...]:
    """A key that picks from every example what `key` picks from one."""
    return (slice(None), *key)


_view = changing(key=_of_all)

RULES: dict[str, Rule] = {
    "select": _view,
    "slice": _view,
    "slice_backward": changing(shape=of_examples, key=_of_all),
    "split": _view,
}
