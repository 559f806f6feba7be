"""A computation with networks on both engines: values, gradients and second gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

Results = Sequence[Any]
Computation = Callable[[Any], tuple[Any, Results, Results]]
"""From an engine to a module, the tensors to differentiate, and the outputs."""


def assert_same(compute: Computation, seed: int) -> None:
    """Compare the module's text, the outputs and their derivatives."""
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    attention = torch.nn.attention
    with warnings.catch_warnings(), attention.sdpa_kernel([attention.SDPBackend.MATH]):
        warnings.simplefilter("ignore")
        ours, theirs = (derived(compute, t, seed) for t in (engine, torch))
    assert ours[0] == theirs[0]
    for mine, other in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-7, atol=1e-9)


def derived(compute: Computation, t: Any, seed: int) -> tuple[Any, list[Any]]:
    t.manual_seed(seed)
    module, leaves, outputs = compute(t)
    leaves = [*leaves, *module.parameters()]
    loss = sum((each * each.cos()).sum() for each in outputs)
    first = t.autograd.grad(loss, leaves, create_graph=True, allow_unused=True)
    steepness = sum((each * each).sum() for each in first if each is not None)
    second = t.autograd.grad(steepness, leaves, allow_unused=True)
    values = [each for each in (*outputs, *first, *second) if each is not None and each.any()]
    text = [repr(module), [name for name, _ in module.named_parameters()]]
    return text, [each.detach().numpy() for each in values]
