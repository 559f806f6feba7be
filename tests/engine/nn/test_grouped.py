"""Gradients of products of matrices in groups, against products of the groups one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as torch

F = torch.nn.functional
ENDS = ([3, 8], [8, 8], [0, 6])


def pieces(ends: list[int]) -> list[slice]:
    return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def of_rows(a: Any, b: Any, ends: list[int]) -> Any:
    return torch.cat([a[part] @ b[group] for group, part in enumerate(pieces(ends))])


def of_columns(a: Any, b: Any, ends: list[int]) -> Any:
    return torch.cat([a[group] @ b[:, part] for group, part in enumerate(pieces(ends))], dim=1)


def of_inner(a: Any, b: Any, ends: list[int]) -> Any:
    return torch.stack([a[:, part] @ b[part] for part in pieces(ends)])


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize(
    ("shapes", "axis", "expected"),
    [
        (((8, 4), (2, 4, 4)), 0, of_rows),
        (((2, 4, 4), (4, 8)), 1, of_columns),
        (((4, 8), (8, 4)), None, of_inner),
    ],
)
def test_gradients_are_those_of_each_product(
    shapes: tuple[tuple[int, ...], ...],
    axis: int | None,
    expected: Callable[[Any, Any, list[int]], Any],
    ends: list[int],
) -> None:
    torch.manual_seed(0)
    operands = [torch.randn(*shape, requires_grad=True) for shape in shapes]
    offsets = torch.tensor(ends, dtype=torch.int32)
    product = F.grouped_mm(*operands, offs=offsets)
    one_by_one = expected(*operands, ends)
    if axis is not None:
        assert not product.narrow(axis, ends[-1], 8 - ends[-1]).any()
        product = product.narrow(axis, 0, ends[-1])
    assert torch.allclose(product, one_by_one)
    weights = torch.randn_like(one_by_one)
    given = torch.autograd.grad((product * weights).sum(), operands)
    wanted = torch.autograd.grad((one_by_one * weights).sum(), operands)
    assert all(torch.allclose(*pair) for pair in zip(given, wanted, strict=True))


def test_the_node_has_pytorchs_name() -> None:
    a = torch.ones(8, 4, requires_grad=True)
    product = F.grouped_mm(a, torch.ones(2, 4, 4), offs=torch.tensor([3, 8], dtype=torch.int32))
    assert product.grad_fn.name() == "GroupedMmBackward0"
