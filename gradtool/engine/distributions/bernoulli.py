"""Bernoulli, the distribution of zeros and ones."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.creation.random import bernoulli
from gradtool.engine._ops.elementwise.elementwise import exp, log1p
from gradtool.engine._ops.elementwise.powers import logit
from gradtool.engine._size import Size
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad
from gradtool.engine.distributions import constraints
from gradtool.engine.distributions.exp_family import ExponentialFamily
from gradtool.engine.distributions.utils import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from gradtool.engine.nn.functional import binary_cross_entropy_with_logits


class Bernoulli(ExponentialFamily):
    """Ones with a probability, or with log odds, else zeros.

    Raises:
        ValueError: both the probability and the log odds are given, or neither.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012 - as torch has it
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        self._param: Tensor = self.probs if probs is not None else self.logits
        super().__init__(self._param.size(), validate_args=validate_args)

    @lazy_property
    def logits(self) -> Tensor:
        """Log odds of a one."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """Probability of a one."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Size:
        """Shape of the parameter."""
        return Size(self._param.size())

    @property
    def mean(self) -> Tensor:
        """Probability of a one."""
        probs: Tensor = self.probs
        return probs

    @property
    def mode(self) -> Tensor:
        """More probable value, NaN if both are equally probable."""
        return (self.mean >= 0.5).to(self.mean.dtype).masked_fill(self.mean == 0.5, float("nan"))

    @property
    def variance(self) -> Tensor:
        """Variance."""
        return self.mean * (1 - self.mean)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Bernoulli:
        """Return the distribution with parameters expanded to a shape."""
        new: Bernoulli = self._get_checked_instance(Bernoulli, _instance)
        batch_shape = Size(batch_shape)
        for name in ("probs", "logits"):
            if name in vars(self):
                new._param = vars(self)[name].expand(batch_shape)
                setattr(new, name, new._param)
        super(Bernoulli, new).__init__(batch_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw zeros and ones."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return bernoulli(self.mean.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of a value."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return zero and one, for each distribution of the batch unless `expand` is false."""
        values = arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (logit(self.probs),)

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        (x,) = natural_params
        return log1p(exp(x))


__all__ = ["Bernoulli"]
