"""Images looked up at places: values and gradients are torch's in every mode."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

CALLS = [
    (mode, padding, align, spatial)
    for mode, padding, align, spatial in itertools.product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (True, False), (2, 3)
    )
    if mode != "bicubic" or spatial == 2
]


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")


def sampled(t: Any, image: Any, places: Any, **options: Any) -> list[Any]:
    """Values, and both gradients of a weighted sum of them."""
    x, grid = (t.tensor(each, requires_grad=True) for each in (image, places))
    out = t.nn.functional.grid_sample(x, grid, **options)
    weights = t.tensor(np.linspace(0.5, 1.5, out.numel()).reshape(tuple(out.shape)))
    gradients = t.autograd.grad((out * weights).sum(), (x, grid), allow_unused=True)
    given = [
        g if g is not None else t.zeros_like(e) for g, e in zip(gradients, (x, grid), strict=True)
    ]
    return [each.detach().numpy() for each in (out, *given)]


@pytest.mark.torch
@pytest.mark.parametrize(("mode", "padding", "align", "spatial"), CALLS)
def test_samples_as_torch_does(
    torch: Any, mode: str, padding: str, align: bool, spatial: int
) -> None:
    rng = np.random.default_rng(1)
    image = rng.standard_normal((2, 3, *(4, 5, 3)[:spatial]))
    places = rng.uniform(-1.6, 1.6, (2, *(3, 2, 2)[:spatial], spatial))
    options = {"mode": mode, "padding_mode": padding, "align_corners": align}
    pairs = zip(*[sampled(t, image, places, **options) for t in (engine, torch)], strict=True)
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, atol=1e-11)


@pytest.mark.torch
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 3, 3, 2), (1, 1, 3, 2, 4)])
def test_places_of_affine_maps_are_torchs(torch: Any, align: bool, size: tuple[int, ...]) -> None:
    spatial = len(size) - 2
    maps = np.random.default_rng(0).standard_normal((size[0], spatial, spatial + 1))
    found = []
    for t in (engine, torch):
        theta = t.tensor(maps, requires_grad=True)
        grid = t.nn.functional.affine_grid(theta, size, align_corners=align)
        (gradient,) = t.autograd.grad((grid * grid).sum(), theta)
        found.append((grid.detach().numpy(), gradient.numpy()))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


REFUSED = {
    "a mode": (lambda f, x, g: f.grid_sample(x, g, mode="area"), ValueError),
    "a padding": (lambda f, x, g: f.grid_sample(x, g, padding_mode="none"), ValueError),
    "another batch": (lambda f, x, g: f.grid_sample(x[:1], g, align_corners=True), RuntimeError),
    "another dtype": (lambda f, x, g: f.grid_sample(x, g.double(), align_corners=True),
                      RuntimeError),
    "too many coordinates": (lambda f, x, g: f.grid_sample(x, x, align_corners=True), RuntimeError),
    "maps of another shape": (lambda f, x, g: f.affine_grid(x[0], (3, 1, 2, 2), True), ValueError),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("what", REFUSED)
def test_refuses_what_torch_refuses(torch: Any, what: str) -> None:
    call, error = REFUSED[what]
    for t in (engine, torch):
        with pytest.raises(error):
            call(t.nn.functional, t.ones(2, 3, 4, 5), t.zeros(2, 3, 3, 2))
