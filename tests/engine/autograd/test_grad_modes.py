"""Grad modes as decorators of classes, generators and coroutines."""

from __future__ import annotations

from typing import Any

import pytest


def test_decorating_a_class_warns_and_covers_its_making_only(torch: Any) -> None:
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @torch.no_grad()
        class Made:
            def __init__(self) -> None:
                self.at_making = torch.is_grad_enabled()

            def now(self) -> bool:
                return bool(torch.is_grad_enabled())

    made = Made()
    assert not made.at_making
    assert made.now()


def test_what_is_thrown_into_a_generator_arrives_under_its_mode(torch: Any) -> None:
    seen: list[Any] = []

    @torch.no_grad()
    def generator() -> Any:
        try:
            while True:
                try:
                    seen.append((yield))
                except KeyError:
                    seen.append(torch.is_grad_enabled())
        finally:
            seen.append(("closed", torch.is_grad_enabled()))

    running = generator()
    next(running)
    running.send("sent")
    running.throw(KeyError())
    assert torch.is_grad_enabled()
    running.close()
    assert seen == ["sent", False, ("closed", False)]


def test_an_error_of_a_generator_passes(torch: Any) -> None:
    @torch.inference_mode()
    def generator() -> Any:
        try:
            yield 1
        except KeyError:
            raise ValueError("its own") from None

    running = generator()
    next(running)
    with pytest.raises(ValueError, match="its own"):
        running.throw(KeyError())
    assert not torch.is_inference_mode_enabled()


def test_only_a_bool_sets_the_mode(torch: Any) -> None:
    with pytest.raises(TypeError, match="must be bool, not int"):
        torch.set_grad_enabled(1)
    assert repr(torch.set_grad_enabled(True)) == (
        "torch.autograd.grad_mode.set_grad_enabled(mode=True)"
    )


def test_changes_can_go_uncounted(torch: Any) -> None:
    x = torch.ones(2)
    with torch.autograd.grad_mode._unsafe_preserve_version_counter(x):
        x.add_(1)
    assert x._version == 0
