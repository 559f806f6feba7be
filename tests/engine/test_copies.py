"""Copies of tensors and pickles: what they keep of the original."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest


def _pickled(x: Any) -> Any:
    return pickle.loads(pickle.dumps(x))


@pytest.mark.parametrize("again", [copy.deepcopy, _pickled])
def test_copies_keep_what_the_user_attached(torch: Any, again: Any) -> None:
    x = torch.ones(2)
    x.note = ["mine"]
    copied = again(x)
    assert copied.note == ["mine"]
    assert copied.note is not x.note


def test_a_pickled_parameter_keeps_what_the_user_attached_and_a_deep_copy_does_not(
    torch: Any,
) -> None:
    x = torch.nn.Parameter(torch.ones(2))
    x.sum().backward()
    x.note = "mine"
    assert _pickled(x).note == "mine"
    copied = copy.deepcopy(x)
    assert isinstance(copied, torch.nn.Parameter)
    assert copied.grad is None
    assert not hasattr(copied, "note")


def test_a_deep_copy_is_laid_out_as_the_original(torch: Any) -> None:
    assert copy.deepcopy(torch.ones(2, 3).t()).stride() == (1, 3)


def test_a_pickle_without_hooks_is_warned_of(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    x.register_hook(_hook)
    with pytest.warns(UserWarning, match="on tensor will not be serialized"):
        assert _pickled(x).tolist() == [1.0, 1.0]


def _hook(grad: Any) -> Any:
    return grad
