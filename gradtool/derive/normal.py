"""The density of the normal distribution, as a person writes it."""

from __future__ import annotations

import math

from gradtool.derive.expression import Expression


def normal_density(x: Expression) -> Expression:
    """``exp(-x**2 / 2) / sqrt(2 * pi)``."""
    name = x.graph.torch_name
    text = "math.sqrt(2 * math.pi)" if x.graph.has_math else f"(2 * {name}.pi) ** 0.5"
    density: Expression = (-0.5 * x * x).exp() / x.graph.literal(math.sqrt(2 * math.pi), text)
    x.graph.names[density] = "pdf"
    return density
