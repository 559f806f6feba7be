"""What counts as an effect of a batched run, and what is the engine's own business."""

from __future__ import annotations

import pytest

import gradtool
from gradtool.adapters.common.buffers import is_of_the_engine
from gradtool.adapters.common.side_effects import SideEffectError, without_side_effects
from gradtool.engine._modes import modes


class Holder:
    """An object of a user's class."""


def test_what_a_users_object_keeps_is_an_effect_and_is_put_back() -> None:
    holder = Holder()
    seen = without_side_effects([("holder", holder), ("kept", {"of": holder})])
    with pytest.raises(SideEffectError, match="keeps something"), seen:
        holder.calls = 1  # type: ignore[attr-defined]  # as users do
    assert not vars(holder)


def test_what_the_engine_notes_of_itself_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(vars(modes), "levels", raising=False)
    with without_side_effects([("modes", modes)]):
        modes.levels = ()


@pytest.mark.parametrize("own", [modes, gradtool.Function, gradtool.zeros])
def test_engines_objects_are_told_from_users(own: object) -> None:
    assert is_of_the_engine(own)
    assert not is_of_the_engine(Holder)


def test_a_module_is_its_users() -> None:
    assert not is_of_the_engine(gradtool.engine.nn.Linear(2, 2))
