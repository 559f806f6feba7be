"""The seal names what was replaced, by the memory of dicts where it can and else by comparing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as engine
import gradtool.verify.comparison.compare as compare
import gradtool.workers.worker  # noqa: F401 - what a worker loads is what is sealed
from gradtool.engine.autograd import forward_ad
from gradtool.sandbox import seal
from gradtool.sandbox.unchanged_memory import IS_READABLE, Memory
from gradtool.verify.rules import RULES
from gradtool.verify.subject import Subject

Patch = pytest.MonkeyPatch

_TABLE: Any = RULES


class _Other(type(_TABLE)):  # type: ignore[misc]  # its class is no literal
    pass


def _set(name: str, value: object) -> None:
    object.__setattr__(_TABLE, name, value)


CHANGES: dict[str, tuple[Callable[[Patch], None], str]] = {
    "a function": (lambda patch: patch.setattr(compare, "decide", print), "compare.decide"),
    "a method": (lambda patch: patch.setattr(Subject, "first", 1), "Subject.first"),
    "a function of Python's": (lambda patch: patch.setattr(math, "isfinite", all), "math.isfinite"),
    "a name removed": (lambda patch: patch.delattr(compare, "decide"), "compare.decide"),
    "a name that hides": (
        lambda patch: patch.setattr(compare, "len", print, raising=False),
        "compare.len",
    ),
    "code": (
        lambda patch: patch.setattr(compare.decide, "__code__", (lambda *_, **__: 0).__code__),
        "compare.decide",
    ),
    "all attributes": (
        lambda _: _set("__dict__", dict(vars(_TABLE))),
        "the attributes of one of gradtool's _Rules",
    ),
    "the class": (
        lambda _: _set("__class__", _Other),
        "the attributes of one of gradtool's _Rules",
    ),
}


@pytest.fixture(params=[True, False], ids=["by memory", "by comparing"])
def _by_memory(request: pytest.FixtureRequest, monkeypatch: Patch) -> None:
    if request.param and not IS_READABLE:
        pytest.skip("the layout of this Python's memory is not known")
    monkeypatch.setattr(seal, "IS_READABLE", request.param)


@pytest.mark.usefixtures("_by_memory")
@pytest.mark.parametrize("change", CHANGES)
def test_what_was_replaced_is_named(change: str) -> None:
    apply, named = CHANGES[change]
    kind, attributes = type(_TABLE), vars(_TABLE)
    taken = seal.Seal()
    assert taken.difference() is None
    try:
        with pytest.MonkeyPatch.context() as patch:
            apply(patch)
            assert named in str(taken.difference())
            assert named in str(taken.difference()), "it is named once only"
    finally:
        _set("__class__", kind)
        _set("__dict__", attributes)


@pytest.mark.usefixtures("_by_memory")
def test_settings_of_torch_are_the_users_to_change() -> None:
    taken = seal.Seal()
    engine.set_float32_matmul_precision("high")
    engine.use_deterministic_algorithms(True)
    try:
        assert taken.difference() is None
    finally:
        engine.set_float32_matmul_precision("highest")
        engine.use_deterministic_algorithms(False)


@pytest.mark.usefixtures("_by_memory")
def test_what_gradtool_itself_declares_global_may_change_at_any_time() -> None:
    taken = seal.Seal()
    with pytest.MonkeyPatch.context() as patch:
        for level in (7, print, 8):  # Numbers and functions are covered where nothing sets them.
            patch.setattr(forward_ad, "_current_level", level)
            assert taken.difference() is None
        patch.setattr(forward_ad, "enter_dual_level", print)
        assert "forward_ad.enter_dual_level" in str(taken.difference())


@pytest.mark.usefixtures("_by_memory")
def test_a_new_name_that_hides_nothing_is_no_difference() -> None:
    taken = seal.Seal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(math, "of_my_own", 1, raising=False)
        assert taken.difference() is None


@pytest.mark.skipif(not IS_READABLE, reason="the layout of this Python's memory is not known")
def test_each_write_to_a_dict_or_a_cell_shows_in_memory() -> None:
    class Held:
        attribute = 1

    held = 1

    def reader() -> int:
        return held

    table = {"key": 1}
    memory = Memory([table, vars(Held)], reader.__closure__ or ())
    before, address = memory.versions(), memory.contents()
    assert memory.versions() == before
    assert memory.contents() == address
    table["key"] = 2
    after = memory.versions()
    assert after[:8] != before[:8]
    assert after[8:] == before[8:]
    Held.attribute = 2
    assert memory.versions()[8:] != before[8:]
    held = 2
    assert memory.contents() != address
