"""Grad modes as decorators of classes, generators and coroutines."""

from __future__ import annotations

import importlib
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


def test_numbers_of_changes_can_be_set(torch: Any) -> None:
    x, y = torch.ones(2), torch.ones(2)
    core = importlib.import_module(f"{torch.__name__}._C")
    core._autograd._unsafe_set_version_counter((x, y), (5, 6))
    assert (x._version, y._version) == (5, 6)
    for versions in ((-1,), (1, 2)):
        with pytest.raises(RuntimeError):
            core._autograd._unsafe_set_version_counter((x,), versions)


def test_views_of_changed_bases_can_show_their_steps(torch: Any) -> None:
    def name_of_view() -> str:
        view = torch.ones(2, 2, requires_grad=True).clone().view(-1)
        view.add_(1)
        return str(view.grad_fn).split()[0]

    assert name_of_view() == "<AsStridedBackward0"
    with torch.autograd._force_original_view_tracking(True):
        assert torch.autograd.is_view_replay_enabled()
        assert name_of_view() == "<ViewBackward0"
    assert not torch.autograd.is_view_replay_enabled()


def test_inference_tensors_among_themselves_are_not_recorded(torch: Any) -> None:
    with torch.inference_mode():
        x = torch.ones(2, 2, requires_grad=True)
        y = torch.ones(4, requires_grad=True)
        assert y.resize_(2).shape == (2,)
    assert x.requires_grad
    for result in (x * x, x.sin(), x.view(4), x.t(), x[0]):
        assert not result.requires_grad
        assert result.is_leaf
    assert not (x * x).is_inference()
    assert x.view(4).is_inference()
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * torch.ones(2, 2, requires_grad=True)


def test_a_transform_of_an_inference_tensor_records_as_what_it_is_in(torch: Any) -> None:
    with torch.inference_mode():
        fixed = torch.ones(2)
        gradient = torch.func.grad(lambda x: (x.sum() * fixed).sum())(fixed)
    assert gradient.tolist() == [2.0, 2.0]
    x = torch.ones(2, requires_grad=True)
    for over, given in (
        (torch.func.vmap(lambda each: each * fixed), x),
        (torch.func.vmap(lambda each: each * x), fixed),
        (torch.func.grad(lambda each: (each * x).sum()), fixed),
    ):
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            over(given)
    changed = torch.zeros(2).add_(1)
    assert torch.func.grad(lambda x: (x * fixed * changed).sum())(torch.ones(2)).tolist() == [1, 1]
