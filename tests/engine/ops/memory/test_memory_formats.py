"""Copies in a given order of memory, and gradients, which lie as their leaves do."""

from __future__ import annotations

from typing import Any

import pytest

LAST = (18, 1, 6, 2)


@pytest.mark.parametrize(
    "copied",
    [
        lambda x, last: x.contiguous(memory_format=last),
        lambda x, last: x.clone(memory_format=last),
        lambda x, last: x.to(memory_format=last),
        lambda x, last: x.double(memory_format=last),
        lambda x, last: x.contiguous(memory_format=last) * 2,
    ],
)
def test_copies_have_channels_last(torch: Any, copied: Any) -> None:
    x = torch.arange(36.0).view(2, 2, 3, 3).requires_grad_()
    y = copied(x, torch.channels_last)
    assert y.stride() == LAST
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert y.flatten().tolist() in (x.flatten().tolist(), (x * 2).flatten().tolist())
    y.sum().backward()
    assert x.grad.stride() == x.stride()


def test_an_empty_tensor_has_the_format_that_is_asked_for(torch: Any) -> None:
    x = torch.empty(2, 2, 3, 3, memory_format=torch.channels_last, requires_grad=True)
    assert x.stride() == LAST
    assert x.is_leaf
    assert torch.empty(2, 3, memory_format=torch.contiguous_format).stride() == (3, 1)


def test_what_has_the_format_is_not_copied(torch: Any) -> None:
    x = torch.ones(2, 2, 3, 3).contiguous(memory_format=torch.channels_last)
    assert x.to(memory_format=torch.channels_last) is x
    assert x.contiguous().stride() == (18, 9, 3, 1)
    x.requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.stride() == LAST


def test_a_format_is_of_a_number_of_dimensions(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.ones(3).contiguous(memory_format=torch.channels_last)
    layer = torch.nn.Conv2d(2, 2, 3).to(memory_format=torch.channels_last)
    assert layer.weight.stride() == LAST
