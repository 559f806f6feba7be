"""A seed gives the numbers that PyTorch draws from it on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

pytestmark = pytest.mark.torch

DRAWS: list[Callable[[Any], Any]] = [
    lambda t: t.rand(5),
    lambda t: t.rand(5, dtype=t.float64),
    lambda t: t.rand(5, dtype=t.float16),
    lambda t: t.rand(5, dtype=t.complex64),
    lambda t: t.randn(5),
    lambda t: t.randn(16),
    lambda t: t.randn(7, 9),
    lambda t: t.randn(7, 9, dtype=t.float64),
    lambda t: t.randn(3, 9, dtype=t.complex128),
    lambda t: t.randn_like(t.zeros(4, 5).t()),
    lambda t: t.randint(-3, 10, (9,)),
    lambda t: t.randint(2**28, (9,)),
    lambda t: t.randint(-5, 2**40, (9,)),
    lambda t: t.randperm(30),
    lambda t: t.bernoulli(t.full((30,), 0.3)),
    lambda t: t.bernoulli(t.full((30,), 0.3, dtype=t.float64)),
    lambda t: t.empty(30).bernoulli_(0.3),
    lambda t: t.normal(2.0, t.arange(1.0, 25.0)),
    lambda t: t.empty(4, 5).t().normal_(),
    lambda t: t.empty(4, 5).t().uniform_(-2, 3),
    lambda t: t.empty(3, dtype=t.int32).random_(),
    lambda t: t.empty(3, dtype=t.int64).random_(),
    lambda t: t.empty(3).random_(),
    lambda t: t.empty(3, dtype=t.int64).random_(9),
    lambda t: t.empty(9).exponential_(2),
    lambda t: t.empty(9).geometric_(0.3),
    lambda t: t.empty(9).cauchy_(),
    lambda t: t.empty(19).log_normal_(),
    lambda t: t.poisson(t.tensor([0.0, 2.0, 20.0] * 9)),
    lambda t: t.multinomial(t.arange(10.0).reshape(2, 5) + 1, 4),
    lambda t: t.multinomial(t.arange(1.0, 6.0), 9, replacement=True),
    lambda t: t.nn.functional.dropout(t.ones(30), 0.3),
    lambda t: t.nn.functional.dropout2d(t.ones(3, 5, 2, 2)),
    lambda t: t.nn.functional.gumbel_softmax(t.arange(20.0).reshape(4, 5)),
    lambda t: t.nn.Linear(5, 4).bias.detach(),
    lambda t: t.nn.MultiheadAttention(4, 2).in_proj_weight.detach(),
    lambda t: t.nn.Conv2d(4, 6, 3, groups=2).bias.detach(),
    lambda t: t.nn.Embedding(6, 5).weight.detach(),
    lambda t: t.nn.init.trunc_normal_(t.empty(5, 60), std=0.5, a=-0.5, b=0.5),
    lambda t: t.nn.init.orthogonal_(t.empty(5, 8)),
    lambda t: t.nn.init.sparse_(t.empty(8, 3), 0.4),
    lambda t: t.nn.init.kaiming_normal_(t.empty(8, 3), nonlinearity="relu"),
]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("seed", [0, -3, 2**40 + 7])
def test_draws_what_pytorch_draws(draw: Callable[[Any], Any], seed: int) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    analytic, following = drawn(engine, draw, seed)
    wanted, following_there = drawn(torch, draw, seed)
    assert (analytic.dtype, analytic.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(analytic, wanted, rtol=2e-5, atol=1e-6)
    assert following == following_there, "another number of words was taken from the stream"


def drawn(torch: Any, draw: Callable[[Any], Any], seed: int) -> tuple[Any, int]:
    torch.manual_seed(seed)
    numbers = draw(torch).numpy()
    return numbers, torch.randint(2**27, (1,)).item()
