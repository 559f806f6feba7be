"""Modes within modes, and one switch entered twice."""

from __future__ import annotations

from typing import Any

import pytest


def _modes(torch: Any) -> tuple[bool, bool]:
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled()


@pytest.fixture(autouse=True)
def _restored(torch: Any) -> Any:
    yield
    if torch.is_inference_mode_enabled():
        torch.inference_mode(False).__enter__()
    torch.set_grad_enabled(True)


def test_a_switch_entered_twice_forgets_what_was_before(torch: Any) -> None:
    switch = torch.no_grad()
    with switch, switch:
        pass
    assert not torch.is_grad_enabled()


def test_inference_mode_shows_what_it_was_asked_to_record(torch: Any) -> None:
    with torch.inference_mode():
        assert _modes(torch) == (False, True)
        with torch.enable_grad():
            assert _modes(torch) == (True, True)
        with torch.inference_mode(False):
            assert _modes(torch) == (True, False)
        torch.set_grad_enabled(True)
        with torch.inference_mode():
            assert _modes(torch) == (False, True)
        assert _modes(torch) == (True, True)
    assert _modes(torch) == (True, False)


def test_operations_are_not_recorded_in_inference_mode_but_functions_are_if_asked(
    torch: Any,
) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            assert _modes(torch) == (False, True)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode(), torch.enable_grad():
        assert not (x * 2).requires_grad
        out = Double.apply(x)
        assert out.requires_grad
        out.backward(torch.ones(2))
    assert x.grad.tolist() == [2, 2]
