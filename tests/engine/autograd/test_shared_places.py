"""Writing to views of which elements share memory: windows that overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

WEIGHTS = np.arange(1.0, 7.0)


def _windows(torch: Any) -> tuple[Any, Any, Any]:
    """A leaf, a function of it, and the windows of that."""
    leaf = torch.arange(6.0).requires_grad_()
    base = leaf * 1
    return leaf, base, base.unfold(0, 3, 1)


def _window(_torch: Any, windows: Any) -> None:
    windows[0] = 7


def _parts(_torch: Any, windows: Any) -> None:
    windows[1, 1:] = 7


def _picked(torch: Any, windows: Any) -> None:
    windows[torch.tensor([0, 3])] = 7


def _picked_in_part(torch: Any, windows: Any) -> None:
    windows[0, torch.tensor([0, 2])] = 7


def _all(_torch: Any, windows: Any) -> None:
    windows.zero_()


def _by_index(torch: Any, windows: Any) -> None:
    windows.index_fill_(0, torch.tensor([0]), 7)


@pytest.mark.parametrize(
    ("write", "values", "slopes"),
    [
        (_window, [7, 7, 7, 3, 4, 5], [0, 0, 0, 1, 1, 1]),
        (_parts, [0, 1, 7, 7, 4, 5], [1, 1, 0, 0, 1, 1]),
        (_picked, [7, 7, 7, 7, 7, 7], [0, 1, 1, 0, 0, 0]),  # of what is written last
        (_picked_in_part, [7, 1, 7, 3, 4, 5], [0, 1, 0, 1, 1, 1]),
        (_all, [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]),
    ],
)
def test_what_is_written_to_windows_reaches_the_memory_once(
    torch: Any, write: Callable[..., None], values: list[int], slopes: list[int]
) -> None:
    leaf, base, windows = _windows(torch)
    write(torch, windows)
    assert base.tolist() == values
    (base * torch.tensor(WEIGHTS)).sum().backward()
    assert leaf.grad.tolist() == (WEIGHTS * slopes).tolist()


def test_a_value_written_to_a_window_gets_its_gradient(torch: Any) -> None:
    leaf, base, windows = _windows(torch)
    value = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    windows[1] = value
    (base * torch.tensor(WEIGHTS)).sum().backward()
    assert leaf.grad.tolist() == [1, 0, 0, 0, 5, 6]
    assert value.grad.tolist() == [2, 3, 4]


def test_windows_read_after_a_write_add_up(torch: Any) -> None:
    leaf, _, windows = _windows(torch)
    windows[0, 0] = 9
    windows.sum().backward()
    assert leaf.grad.tolist() == [0, 2, 3, 3, 2, 1]


@pytest.mark.parametrize("write", [_window, _parts, _picked_in_part, _by_index])
def test_windows_are_written_as_without_a_graph(torch: Any, write: Callable[..., None]) -> None:
    plain = torch.arange(6.0)
    write(torch, plain.unfold(0, 3, 1))
    _, base, windows = _windows(torch)
    write(torch, windows)
    assert base.tolist() == plain.tolist()


@pytest.mark.parametrize("write", [_window, _parts])
def test_tangents_and_examples_are_written_like_values(
    torch: Any, write: Callable[..., None]
) -> None:
    def changed(x: Any) -> Any:
        base = x * 1
        write(torch, base.unfold(0, 3, 1))
        return base * 2

    x = torch.arange(6.0)
    jacobian = torch.func.jacfwd(changed)(x)
    assert jacobian.tolist() == torch.func.jacrev(changed)(x).tolist()
    kept = (changed(x) == 2 * x).tolist()
    assert jacobian.diagonal().tolist() == [2.0 * each for each in kept]
    both = torch.func.vmap(changed)(torch.stack([x, x + 1]))
    assert both.tolist() == [changed(x).tolist(), changed(x + 1).tolist()]


@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "float64"])
def test_copies_of_what_was_expanded_are_contiguous(torch: Any, dtype: str) -> None:
    x = torch.tensor([1, 0, 1], dtype=getattr(torch, dtype)).expand(2, 3)
    copies = [x.to(torch.complex64), x * 1.5, x * 1, torch.zeros_like(x), torch.ones_like(x)]
    assert [each.stride() for each in copies] == [(3, 1)] * 5
    copies[2].flatten()[0] = 7
    assert copies[2][0, 0] == 7


def test_a_write_by_strides_to_what_lies_in_another_order_is_cut_from_the_gradient(
    torch: Any,
) -> None:
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    base = (x * 1).t() * 1
    assert base.stride() == (1, 3)
    base.as_strided((3,), (2,)).mul_(2)
    (base * torch.tensor(WEIGHTS).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[2, 3, 10], [2, 8, 6]]
