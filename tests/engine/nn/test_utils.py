"""Weights that are computed from what is learned, and gradients of convolutions alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine


class Uses:
    """Results of one use of ``nn.utils``, from one seed."""

    def __init__(self, use: Callable[[Any], Any], torch: Any) -> None:
        torch.manual_seed(5)
        self.texts: list[str] = []
        self.numbers: list[float] = []
        for each in use(torch):
            if isinstance(each, torch.Tensor):
                self.numbers += each.detach().flatten().tolist()
            else:
                self.texts.append(str(each))


def used(make: str) -> Callable[[Any], Any]:
    def use(torch: Any) -> Any:
        utils = torch.nn.utils
        name, _, kind = make.rpartition(" ")
        places = {"old": utils, "new": utils.parametrizations}
        for layer in (torch.nn.Linear(4, 3), torch.nn.ConvTranspose1d(4, 2, 3)):
            made = getattr(places[kind], name)(layer)
            x = torch.ones(2, 4) if isinstance(layer, torch.nn.Linear) else torch.ones(1, 4, 5)
            for _ in range(3):
                out = made(x)
            out.pow(2).sum().backward()
            yield from (out, made.weight, list(made.state_dict()), made)
            yield from (each.grad for each in made.parameters())

    return use


def removed(torch: Any) -> Any:
    utils = torch.nn.utils
    layer = utils.remove_spectral_norm(utils.spectral_norm(torch.nn.Linear(3, 2)))
    yield from (layer.weight, list(layer.state_dict()))
    layer = utils.remove_weight_norm(utils.weight_norm(torch.nn.Linear(3, 2)))
    yield from (layer.weight, list(layer.state_dict()))


def parametrized(torch: Any) -> Any:
    class Skew(torch.nn.Module):  # type: ignore[misc] # of either library
        def forward(self, x: Any) -> Any:
            return x.triu(1) - x.triu(1).mT

        def right_inverse(self, x: Any) -> Any:
            return x.triu(1)

    parametrize = torch.nn.utils.parametrize
    layer = torch.nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Skew())
    yield from (layer, layer.weight, list(layer.state_dict()), parametrize.is_parametrized(layer))
    layer.weight = layer.weight.detach() * 2
    yield layer.weight
    layer(torch.ones(1, 3)).pow(2).sum().backward()
    yield layer.parametrizations.weight.original.grad
    with parametrize.cached():
        yield layer.weight is layer.weight
    parametrize.remove_parametrizations(layer, "weight")
    yield from (layer, layer.weight, type(layer).__name__)


def of_convolutions(torch: Any) -> Any:
    x, w = torch.randn(2, 4, 7, 7), torch.randn(6, 2, 3, 3)
    options = {"stride": 2, "padding": 1, "groups": 2}
    out = torch.nn.functional.conv2d(x, w, **options)
    g = torch.randn_like(out)
    yield torch.nn.grad.conv2d_input(x.shape, w, g, **options)
    yield torch.nn.grad.conv2d_weight(x, w.shape, g, **options)
    yield torch.nn.grad.conv1d_weight(x[:, 0], (1, 7, 2), torch.ones(2, 1, 6))


def norms(torch: Any) -> Any:
    x, y = torch.ones(3, requires_grad=True), torch.ones(2, requires_grad=True)
    (x.sum() * 3 + y.sum() * 4).backward()
    yield torch.nn.utils.get_total_norm([x.grad, y.grad])
    yield torch.nn.utils.clip_grad_norm_([x, y], 1.0)
    yield x.grad


USES = {
    "old spectral norm": used("spectral_norm old"),
    "new spectral norm": used("spectral_norm new"),
    "old weight norm": used("weight_norm old"),
    "new weight norm": used("weight_norm new"),
    "removed": removed,
    "parametrized": parametrized,
    "convolutions": of_convolutions,
    "norms": norms,
}


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated:FutureWarning")
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_does_what_pytorchs_does(use: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    ours, theirs = Uses(use, engine), Uses(use, torch)
    assert ours.texts == theirs.texts
    np.testing.assert_allclose(ours.numbers, theirs.numbers, rtol=1e-4, atol=1e-5)


def test_a_weight_has_one_hook_of_a_kind(torch: Any) -> None:
    layer = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2))
    with pytest.raises((RuntimeError, KeyError)):
        torch.nn.utils.spectral_norm(layer)
    with pytest.raises(ValueError, match="does not have a parameter, a buffer"):
        torch.nn.utils.parametrize.register_parametrization(layer, "nope", torch.nn.ReLU())
