"""ExponentialFamily, the base of distributions that have natural parameters."""

from __future__ import annotations

from typing import Any

from gradtool.engine import autograd
from gradtool.engine._tensor import Tensor
from gradtool.engine.distributions.distribution import Distribution


class ExponentialFamily(Distribution):
    """A distribution of which the density is the exponential of a sum over natural parameters."""

    _mean_carrier_measure: float = 0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy, from the gradient of the normalizer."""
        parameters = [each.detach().requires_grad_() for each in self._natural_params]
        normalizer = self._log_normalizer(*parameters)
        gradients = autograd.grad(normalizer.sum(), parameters, create_graph=True)
        result = normalizer - self._mean_carrier_measure
        for parameter, gradient in zip(parameters, gradients, strict=True):
            result = result - (parameter * gradient).reshape((*self._batch_shape, -1)).sum(-1)
        return result


__all__ = ["ExponentialFamily"]
