"""``torch.distributions``: the normal and the Bernoulli distribution, and the base of others."""

from __future__ import annotations

from gradtool.engine.distributions.bernoulli import Bernoulli
from gradtool.engine.distributions.distribution import Distribution
from gradtool.engine.distributions.exp_family import ExponentialFamily
from gradtool.engine.distributions.normal import Normal

__all__ = ["Bernoulli", "Distribution", "ExponentialFamily", "Normal"]
