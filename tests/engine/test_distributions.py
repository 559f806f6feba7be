"""Distributions give what PyTorch's give, with the same gradients, samples and errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, ClassVar

import pytest

import gradtool.engine as engine
from gradtool.engine._placeholder import Placeholder

MADE: dict[str, Callable[[Any, Any], Any]] = {
    "normal": lambda t, x: t.distributions.Normal(x, x.exp()),
    "normal_of_a_row": lambda t, x: t.distributions.Normal(x[:1], x.exp()),
    "normal_of_numbers": lambda t, x: t.distributions.Normal(0.5, 2),
    "normal_of_a_number": lambda t, x: t.distributions.Normal(1, x.exp()),
    "normal_expanded": lambda t, x: t.distributions.Normal(x[0], x[1].exp()).expand((2, 3)),
    "normal_of_float32": lambda t, x: t.distributions.Normal(x.float(), 1.5),
    "bernoulli": lambda t, x: t.distributions.Bernoulli(x.sigmoid()),
    "bernoulli_of_logits": lambda t, x: t.distributions.Bernoulli(logits=x),
    "bernoulli_of_a_number": lambda t, x: t.distributions.Bernoulli(0.25),
    "bernoulli_of_bounds": lambda t, x: t.distributions.Bernoulli(
        t.tensor([0.0, 0.5, 1.0], dtype=t.float64)
    ),
    "bernoulli_expanded": lambda t, x: t.distributions.Bernoulli(logits=x[0]).expand([2, 3]),
    "bernoulli_unchecked": lambda t, x: t.distributions.Bernoulli(x, validate_args=False),
}

ASKED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "mean": lambda t, d, value: d.mean,
    "mode": lambda t, d, value: d.mode,
    "variance": lambda t, d, value: d.variance,
    "stddev": lambda t, d, value: d.stddev,
    "entropy": lambda t, d, value: d.entropy(),
    "perplexity": lambda t, d, value: d.perplexity(),
    "entropy_of_family": lambda t, d, value: t.distributions.ExponentialFamily.entropy(d),
    "log_prob": lambda t, d, value: d.log_prob(value),
    "log_prob_of_integers": lambda t, d, value: d.log_prob(value.long()),
    "log_prob_of_a_number": lambda t, d, value: d.log_prob(1.0),
    "log_prob_outside": lambda t, d, value: d.log_prob(value * float("nan")),
    "log_prob_of_another_shape": lambda t, d, value: d.log_prob(value[:, :2]),
    "log_prob_of_more": lambda t, d, value: d.log_prob(t.stack([value, 1 - value])),
    "cdf": lambda t, d, value: d.cdf(value - 0.25),
    "icdf": lambda t, d, value: d.icdf(value / 2 + 0.25),
    "sample": lambda t, d, value: d.sample(),
    "samples": lambda t, d, value: d.sample((4,)),
    "sample_n": lambda t, d, value: d.sample_n(20),
    "rsample": lambda t, d, value: d.rsample(t.Size([2])),
    "enumerate_support": lambda t, d, value: d.enumerate_support(),
    "enumerated_once": lambda t, d, value: d.enumerate_support(expand=False),
    "expand": lambda t, d, value: d.expand(t.Size([4, 2, 3])).log_prob(value),
    "shapes": lambda t, d, value: (d.batch_shape, d.event_shape, d.has_rsample),
    "constraints": lambda t, d, value: (repr(d.support), repr(d.arg_constraints)),
    "text": lambda t, d, value: repr(d),
}

REFUSED: dict[str, Callable[[Any], Any]] = {
    "negative_scale": lambda t: t.distributions.Normal(t.zeros(2), t.tensor([1.0, -1.0])),
    "nan": lambda t: t.distributions.Normal(float("nan"), 1.0),
    "not_a_number": lambda t: t.distributions.Normal("0", 1.0),
    "shapes": lambda t: t.distributions.Normal(t.zeros(2), t.ones(3)),
    "above_one": lambda t: t.distributions.Bernoulli(t.tensor([0.5, 1.5])),
    "both": lambda t: t.distributions.Bernoulli(0.5, logits=0.0),
    "neither": lambda t: t.distributions.Bernoulli(),
    "default": lambda t: t.distributions.Distribution.set_default_validate_args(3),
    "abstract": lambda t: t.distributions.Distribution().log_prob(t.ones(1)),
    "abstract_mode": lambda t: t.distributions.Distribution(validate_args=False).mode,
    "expanded_subclass": lambda t: halved(t)(2.0).expand((3,)),
    "subclass": lambda t: str(halved(t)(t.ones(3))),
}


def halved(torch: Any) -> Any:
    class Halved(torch.distributions.Normal):  # type: ignore[misc]
        def __init__(self, scale: Any) -> None:
            super().__init__(0.0, scale / 2)

    return Halved


def outcome(torch: Any, ask: Callable[[], Any], *wanted: Any) -> list[Any]:
    """The result, its gradients, and how it was refused."""
    found: list[Any] = []
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            out = ask()
            if not isinstance(out, torch.Tensor):
                return [out]
            found += [out.tolist(), str(out.dtype), out.requires_grad]
            if out.requires_grad:
                grads = torch.autograd.grad((out**2).sum(), wanted, allow_unused=True)
                found += [grad if grad is None else grad.tolist() for grad in grads]
        except Exception as error:
            found += [type(error).__name__, *told(error)]
    return [*found, *(each.category for each in caught if each.category is FutureWarning)]


def told(error: Exception) -> list[str]:
    """The message where a distribution refuses, up to the values, which are printed elsewhere."""
    return [str(error).partition(":\n")[0]] if isinstance(error, ValueError) else []


def asked(torch: Any, made: str, question: str) -> list[Any]:
    x = torch.tensor([[0.1, 0.7, 0.4], [0.6, 0.2, 0.9]], dtype=torch.float64, requires_grad=True)
    value = torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    value.requires_grad_(question != "log_prob_of_integers")
    return outcome(torch, lambda: ASKED[question](torch, MADE[made](torch, x), value), x, value)


def close(found: Any, expected: Any) -> bool:
    if isinstance(expected, float):
        return bool(found == pytest.approx(expected, rel=1e-6, abs=1e-12, nan_ok=True))
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    return bool(found == expected)


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("made", MADE)
def test_a_distribution_answers_as_pytorchs(made: str, question: str) -> None:
    torch = pytest.importorskip("torch")
    found, expected = asked(engine, made, question), asked(torch, made, question)
    assert close(found, expected), f"{found}\n{expected}"


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", REFUSED)
def test_a_distribution_is_refused_as_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    found = outcome(engine, lambda: REFUSED[name](engine))
    assert found == outcome(torch, lambda: REFUSED[name](torch))


def test_parameters_of_a_batch_are_checked_together() -> None:
    def density(scale: Any) -> Any:
        return engine.distributions.Normal(0.0, scale).log_prob(scale)

    scales = engine.tensor([1.0, 2.0])
    assert engine.vmap(density)(scales).tolist() == density(scales).tolist()
    with pytest.raises(ValueError, match="parameter scale"):
        engine.vmap(density)(-scales)


def test_gradients_reach_a_parameter_computed_without_gradients() -> None:
    logits = engine.zeros(2, requires_grad=True)
    distribution = engine.distributions.Bernoulli(logits=logits)
    with engine.no_grad():
        distribution.sample()
    distribution.mean.sum().backward()
    assert logits.grad is not None
    assert logits.grad.tolist() == [0.25, 0.25]


def test_a_distribution_can_state_a_set_that_the_engine_lacks() -> None:
    class Uniform(engine.distributions.Distribution):
        arg_constraints: ClassVar = {
            "high": Placeholder("torch.distributions.constraints.dependent")
        }
        support = Placeholder("torch.distributions.constraints.dependent")

        def __init__(self, high: Any) -> None:
            self.high = high
            super().__init__(high.size())

        def log_prob(self, value: Any) -> Any:
            self._validate_sample(value)
            return -self.high.log()

    assert Uniform(engine.ones(2)).log_prob(engine.ones(2)).tolist() == [0, 0]
