"""Normal, the normal distribution."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._ops.creation.random import normal
from gradtool.engine._ops.elementwise.elementwise import log
from gradtool.engine._ops.elementwise.special import erf, erfinv
from gradtool.engine._size import Size
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad
from gradtool.engine.distributions import constraints
from gradtool.engine.distributions.exp_family import ExponentialFamily
from gradtool.engine.distributions.utils import broadcast_all


class Normal(ExponentialFamily):
    """The normal distribution with a mean and a standard deviation."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012 - as torch has it
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """Mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """Most probable value, the mean."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """Standard deviation."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """Square of the standard deviation."""
        return self.stddev.pow(2)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Normal:
        """Return the distribution with parameters expanded to a shape."""
        new: Normal = self._get_checked_instance(Normal, _instance)
        batch_shape = Size(batch_shape)
        new.loc = self.loc.expand(batch_shape)
        new.scale = self.scale.expand(batch_shape)
        super(Normal, new).__init__(batch_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples, without gradient."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples that have gradients with respect to the parameters."""
        shape = self._extended_shape(sample_shape)
        drawn = empty(shape, dtype=self.loc.dtype, device=self.loc.device).normal_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at a value."""
        if self._validate_args:
            self._validate_sample(value)
        distance = (value - self.loc) ** 2 / (2 * self.scale**2)
        return -distance - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of being at most a value."""
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile of a probability."""
        return self.loc + self.scale * erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + log(self.scale)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        x, y = natural_params
        normalizer: Tensor = -0.25 * x.pow(2) / y + 0.5 * log(-math.pi / y)
        return normalizer


__all__ = ["Normal"]
