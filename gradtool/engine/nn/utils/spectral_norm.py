"""Deprecated ``spectral_norm``: a weight divided by its largest singular value before each call.

Spectral normalization is that of Miyato et al. (2018).
"""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.linalg.linalg import dot, mv
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad
from gradtool.engine.nn.functional import normalize
from gradtool.engine.nn.parameter import Parameter
from gradtool.engine.nn.utils.weight_norm import refuse_second, remove_hook


class SpectralNorm:
    """Hook that divides a weight by its largest singular value, by power iteration."""

    def __init__(self, name: str, iterations: int, dim: int, eps: float) -> None:
        self.name, self.n_power_iterations, self.dim, self.eps = name, iterations, dim, eps

    def as_matrix(self, weight: Tensor) -> Tensor:
        """Reshape the weight to a matrix with its outputs as rows."""
        if self.dim:
            others = [dim for dim in range(weight.ndim) if dim != self.dim]
            weight = weight.permute(self.dim, *others)
        return weight.reshape(weight.shape[0], -1)

    def compute_weight(self, module: Any, iterate: bool) -> Tensor:
        """Divide the weight by its largest singular value, after more iterations if asked."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.as_matrix(weight)
        if iterate:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(normalize(mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        normalized: Tensor = weight / dot(u, mv(matrix, v))
        return normalized

    def __call__(self, module: Any, inputs: Any) -> None:
        """Set the weight for the next call."""
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Normalize a weight of a Module before each call; ``NAME_orig`` is learned."""
    if dim is None:
        dim = int(type(module).__name__.startswith("ConvTranspose"))
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    refuse_second(module, SpectralNorm, name)
    weight = module._parameters.pop(name)
    matrix = hook.as_matrix(weight.detach())
    u, v = (matrix.new_empty(extent).normal_(0, 1) for extent in matrix.shape)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(f"{name}_u", normalize(u, dim=0, eps=eps))
    module.register_buffer(f"{name}_v", normalize(v, dim=0, eps=eps))
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again, with its current value."""
    hook = remove_hook(module, SpectralNorm, name)
    weight = hook.compute_weight(module, iterate=False)
    delattr(module, name)
    for part in ("u", "v", "orig"):
        delattr(module, f"{name}_{part}")
    module.register_parameter(name, Parameter(weight.detach()))
    return module


__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]
