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


def test_leaving_the_graph_by_setting_no_node(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True) * 2
    x._grad_fn = None
    assert (x.requires_grad, x.grad_fn) == (False, None)


def test_saved_tensors_are_unpacked_by_hand_until_they_are_freed(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * x
    assert y.grad_fn._raw_saved_self.unpack().tolist() == [1, 1]
    y.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.grad_fn._raw_saved_self.unpack()


def test_rows_of_cotangents_are_refused_where_there_are_none(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        torch.autograd.grad(x * 2, x, torch.tensor(1.0), is_grads_batched=True)


def test_what_a_tensor_contains(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    assert 2 in x
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar, but you passed in a"):
        _ = "2" in x
    assert list(reversed(x)) == [2, 1]


def test_nodes_show_the_attributes_that_every_node_has(torch: Any) -> None:
    node = (torch.ones(2, requires_grad=True) * 2).grad_fn
    assert node.requires_grad
    shown = {"metadata", "name", "next_functions", "register_hook", "register_prehook"}
    assert shown <= set(dir(node))
    assert not {"plan", "saved", "shown"} & set(dir(node))
